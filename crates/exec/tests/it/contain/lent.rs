//! What a yes opens outside the workspace: exactly that path, for exactly that call, whatever the command does with it.

use omp_exec::Containment;
use omp_types::Touch;

use super::{Scene, VIEWS, run};

#[tokio::test]
async fn what_was_lent_outside_can_be_made_replaced_and_removed() {
    for (path, script) in [
        ("new", "touch ../out/new"),
        ("folder", "mkdir ../out/folder && echo a > ../out/folder/a"),
        ("deep/er", "mkdir -p ../out/deep/er && echo a > ../out/deep/er/a"),
        ("copied", "cp -r . ../out/copied"),
        ("clone", "git init -q ../out/clone"),
        ("old", "echo b > ../out/old.tmp; cat ../out/old; rm ../out/old"),
        ("old", "echo changed > ../out/old"),
    ] {
        for rung in VIEWS {
            let scene = Scene::writing();
            std::fs::create_dir_all(scene.at("home/out")).unwrap();
            std::fs::write(scene.at("home/out/old"), "kept").unwrap();
            std::fs::write(scene.at("home/out/other"), "kept").unwrap();
            std::os::unix::fs::symlink("other", scene.at("home/out/link")).unwrap();
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            let lent = scene.at("home/out").canonicalize().unwrap().join(path);
            let loan = scene.access.lend("call", Touch::Write, &lent);
            let of_call = containment.for_call("call");
            let (said, finished) = run(scene.spawn(script, *rung).contained(&of_call)).await;
            assert_eq!(finished.exit.code, 0, "{rung:?} {script}: {said}");
            // Nothing beside it, and nothing of it in the next call.
            let beside = "rm ../out/other; mv ../out/other ../out/x; echo evil > ../out/other; rm ../out/link; echo x > ../out/beside";
            run(scene.spawn(beside, *rung).contained(&of_call)).await;
            containment.take_set_aside();
            assert_eq!(std::fs::read_to_string(scene.at("home/out/other")).unwrap(), "kept", "{rung:?} {script}");
            assert!(!scene.at("home/out/beside").exists(), "{rung:?} {script}");
            assert!(scene.at("home/out/link").is_symlink(), "{rung:?} {script}");
            drop((loan, of_call));
            let again = format!("{script}; rm -r ../out/{path}; touch ../out/{path}-2");
            let there = lent.exists();
            run(scene.spawn(&again, *rung).contained(&containment)).await;
            assert_eq!(lent.exists(), there, "{rung:?} {script}");
            assert!(!scene.at("home/out").join(format!("{path}-2")).exists(), "{rung:?} {script}");
        }
    }
}
