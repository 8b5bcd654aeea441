//! Tests what a yes opens outside the workspace: exactly that path, for exactly that call, whatever the command does with
//! it.

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
        ("there", "rm -r ../out/there && mkdir ../out/there"),
    ] {
        for rung in VIEWS {
            let scene = scene_with_out();
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            let lent = scene.at("home/out").canonicalize().unwrap().join(path);
            let loan = scene.access.lend("call", Touch::Write, &lent);
            let of_call = containment.for_call("call").for_command(script, std::slice::from_ref(&lent));
            let (said, finished) = run(scene.spawn(script, *rung).contained(&of_call)).await;
            assert_eq!(finished.exit.code, 0, "{rung:?} {script}: {said}");
            // It opens nothing beside the path, and nothing in the next call.
            touches_nothing_beside(&scene, &containment, &of_call, script).await;
            drop((loan, of_call));
            let again = format!("{script}; rm -r ../out/{path}; touch ../out/{path}-2");
            let there = lent.exists();
            run(scene.spawn(&again, *rung).contained(&containment)).await;
            assert_eq!(lent.exists(), there, "{rung:?} {script}");
            assert!(!scene.at("home/out").join(format!("{path}-2")).exists(), "{rung:?} {script}");
        }
    }
}

fn scene_with_out() -> Scene {
    let scene = Scene::writing();
    std::fs::create_dir_all(scene.at("home/out/there")).unwrap();
    std::fs::create_dir_all(scene.at("home/out/folder-beside")).unwrap();
    for kept in ["old", "other", "another", "there/a", "folder-beside/a"] {
        std::fs::write(scene.at("home/out").join(kept), "kept").unwrap();
    }
    std::os::unix::fs::symlink("other", scene.at("home/out/link")).unwrap();
    // The link does not close the workspace.
    std::os::unix::fs::symlink("../work", scene.at("home/out/work")).unwrap();
    scene
}

async fn touches_nothing_beside(scene: &Scene, containment: &Containment, of_call: &Containment, script: &str) {
    let rung = containment.rung().unwrap();
    let beside = "cd ../out; rm other another; mv other x; mv another y; echo evil > other; echo evil > another; rm link; \
                  rm -r folder-beside; echo evil > folder-beside/a; mv folder-beside z; echo x > beside; \
                  cd ../work; echo mine > of-workspace";
    let said = run(scene.spawn(beside, rung).contained(of_call)).await.0;
    containment.take_set_aside();
    for kept in ["other", "another", "folder-beside/a"] {
        let text = std::fs::read_to_string(scene.at("home/out").join(kept)).unwrap_or_default();
        assert_eq!(text, "kept", "{rung:?} {script}: {kept}: {said}");
    }
    assert!(!scene.at("home/out/beside").exists(), "{rung:?} {script}");
    assert!(scene.at("home/out/link").is_symlink(), "{rung:?} {script}");
    assert!(scene.at("home/work/of-workspace").exists(), "{rung:?} {script}: {said}");
}

/// A permanent permission opens the same as a yes for one call, for every call.
#[tokio::test]
async fn what_is_allowed_for_good_can_be_made_replaced_and_removed() {
    for (path, script) in [
        ("new", "echo a > ../out/new && mv ../out/new ../out/new && rm ../out/new"),
        ("folder", "mkdir ../out/folder && echo a > ../out/folder/a && rm -r ../out/folder"),
        ("deep/er", "mkdir -p ../out/deep/er && echo a > ../out/deep/er/a && rm -r ../out/deep/er"),
        ("clone", "git init -q ../out/clone && rm -r ../out/clone"),
        ("old", "cat ../out/old && rm ../out/old && echo kept > tmp && mv tmp ../out/old"),
        ("there", "mkdir -p ../out/there && echo a > ../out/there/a && rm -r ../out/there"),
    ] {
        for rung in VIEWS {
            let scene = scene_with_out();
            let real = scene.at("home/out").canonicalize().unwrap().join(path);
            scene.access.change(|map| map.open_to(Touch::Write, &real));
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            let script = script.replace("mv ../out/new ../out/new", "mv ../out/new moved && mv moved ../out/new");
            for time in 0..2 {
                // Naming the path is enough, unless an existing folder is to be removed.
                let writes = if path == "there" { vec![real.clone()] } else { Vec::new() };
                let of_call = containment.for_call("call").for_command(&script, &writes);
                assert!(of_call.opens_around(&real.join("x")) && of_call.opens_around(&real), "{script}");
                let (said, finished) = run(scene.spawn(&script, *rung).contained(&of_call)).await;
                assert_eq!(finished.exit.code, 0, "{rung:?} {script} {time}: {said}");
                touches_nothing_beside(&scene, &containment, &of_call, &script).await;
            }
            // Another command opens nothing, so files that the user creates there are not set aside.
            let other = containment.for_call("call").for_command("make", &[]);
            let is_there = real.exists();
            // There is none if only a deeper folder was open.
            drop(std::fs::remove_file(scene.at("home/out/beside.set-aside")));
            run(scene.spawn("echo x > ../out/beside", *rung).contained(&other)).await;
            assert!(!other.opens_around(&real) && real.exists() == is_there, "{rung:?} {script}");
            assert!(!scene.at("home/out/beside.set-aside").exists(), "{rung:?} {script}");
        }
    }
}

/// The opened folder may contain the workspace, at any depth.
#[tokio::test]
async fn beside_the_workspace_nothing_is_opened_with_it() {
    for (rung, is_repository) in VIEWS.iter().flat_map(|rung| [(*rung, true), (*rung, false)]) {
        let scene = Scene::writing();
        for made in ["home/work/app", "home/work/other"] {
            std::fs::create_dir_all(scene.at(made)).unwrap();
        }
        std::fs::write(scene.at("home/work/other/file"), "kept").unwrap();
        std::fs::remove_dir_all(scene.at("home/work/.git")).unwrap();
        if is_repository {
            std::fs::create_dir_all(scene.at("home/work/app/.git/hooks")).unwrap();
        }
        let home = scene.at("home").canonicalize().unwrap();
        scene.access.change(|map| {
            map.guarded.retain(|guard| !guard.starts_with(&map.workspace));
            map.writable.retain(|path| !path.starts_with(&map.workspace));
            map.workspace.push("app");
            map.writable.extend(is_repository.then(|| map.workspace.join(".git")));
        });
        let containment = Containment::new(scene.access.clone()).at_most(rung);
        let loan = scene.access.lend("call", Touch::Write, &home.join("new"));
        let of_call = containment.for_call("call");
        let script = "cd app; echo a > a && mkdir b && echo n > ../../new && echo worked; echo evil > ../other/file; \
                      echo x > ../beside; mv ../other ../moved; mv ../app ../gone; cd ..; mv ../work ../gone; true";
        let (said, _) = run(scene.spawn(script, rung).contained(&of_call)).await;
        drop(loan);
        containment.take_set_aside();
        assert!(said.contains("worked"), "{rung:?} {is_repository}: {said}");
        assert_eq!(
            std::fs::read_to_string(scene.at("home/work/other/file")).unwrap_or_default(),
            "kept",
            "{rung:?} {is_repository}"
        );
        assert!(
            !scene.at("home/work/beside").exists() && scene.at("home/work/app/a").exists(),
            "{rung:?} {is_repository}"
        );
    }
}
