//! Tests that guarded paths which no mount protects are restored when a command has ended, and that the change is reported.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use omp_exec::{Containment, Deed, Reaper, Rung, SetAside};
use omp_types::Touch;

use super::{Scene, VIEWS, eventually, run};

/// A path, what was done to it, whether the change is kept, and whether the earlier state is restored.
type Row = (&'static str, Deed, bool, bool);

/// A scene with a hook of the user.
fn scene() -> (Scene, Containment) {
    let scene = Scene::writing();
    std::fs::write(scene.at("home/work/.git/hooks/pre-push"), "mine").unwrap();
    std::fs::write(scene.at("home/work/.claude/settings.json"), "{}").unwrap();
    let containment = Containment::new(scene.access.clone()).at_most(Rung::Landlock);
    (scene, containment)
}

/// All guarded paths of the workspace with their modes, except those that were set aside.
fn guarded(scene: &Scene) -> Vec<String> {
    let mut all = Vec::new();
    for place in [
        ".git/hooks",
        ".git/config",
        ".git/config.worktree",
        ".git/info/attributes",
        ".git/commondir",
        ".omp",
        ".claude/settings.json",
        ".mcp.json",
        ".envrc",
        ".husky",
    ] {
        list(&scene.at("home/work"), Path::new(place), &mut all);
    }
    all
}

fn list(work: &Path, path: &Path, all: &mut Vec<String>) {
    let Ok(data) = std::fs::symlink_metadata(work.join(path)) else { return };
    if path.to_string_lossy().contains("set-aside") {
        return;
    }
    let bytes = if data.is_file() { std::fs::read_to_string(work.join(path)).unwrap() } else { String::new() };
    all.push(format!("{} {:o} {bytes}", path.display(), data.permissions().mode()));
    if data.is_dir() {
        let mut names: Vec<_> =
            std::fs::read_dir(work.join(path)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names.iter().for_each(|name| list(work, &path.join(name), all));
    }
}

/// Paths relative to the workspace, what was done, whether the change is kept, and whether the earlier state is restored.
fn told(scene: &Scene, found: Vec<SetAside>) -> Vec<(String, Deed, bool, bool)> {
    let work = scene.at("home/work").canonicalize().unwrap();
    let one = |found: SetAside| {
        let is_kept = found.to.as_ref().is_some_and(|to| std::fs::symlink_metadata(to).is_ok());
        (found.path.strip_prefix(&work).unwrap().display().to_string(), found.deed, is_kept, found.put_back)
    };
    let mut told: Vec<_> = found.into_iter().map(one).collect();
    told.sort_by(|one, other| one.0.cmp(&other.0));
    told
}

#[tokio::test]
async fn what_a_command_makes_changes_or_removes_is_as_before() {
    use Deed::{Changed, Made, Removed};
    let rows: &[(&str, &[Row])] = &[
        ("cat .git/config; touch a; git status", &[]),
        ("echo evil > .git/hooks/pre-commit", &[(".git/hooks/pre-commit", Made, true, false)]),
        ("echo evil > .git/hooks/pre-push", &[(".git/hooks/pre-push", Changed, true, true)]),
        // The same size and the old modification time.
        (
            "touch -r .git/hooks/pre-push t; echo -n evil > .git/hooks/pre-push; touch -r t .git/hooks/pre-push",
            &[(".git/hooks/pre-push", Changed, true, true)],
        ),
        ("chmod +x .git/hooks/pre-push", &[(".git/hooks/pre-push", Changed, true, true)]),
        ("rm .git/hooks/pre-push", &[(".git/hooks/pre-push", Removed, false, true)]),
        ("rm -r .git/hooks", &[(".git/hooks", Removed, false, true)]),
        (
            "mv .git/hooks h; mkdir e; echo evil > e/pre-commit; ln -s ../e .git/hooks",
            &[(".git/hooks", Changed, true, true)],
        ),
        ("ln .git/config c; echo [evil >> c", &[(".git/config", Changed, true, true)]),
        (
            "echo ../e > .git/commondir; mkdir -p .git/info; echo x > .git/info/attributes",
            &[(".git/commondir", Made, true, false), (".git/info/attributes", Made, true, false)],
        ),
        (
            "mkdir -p .omp/hooks; echo evil > .omp/hooks/a; echo {} > .mcp.json",
            &[(".mcp.json", Made, true, false), (".omp", Made, true, false)],
        ),
        ("rm -r .claude", &[(".claude/settings.json", Removed, false, true)]),
        (
            "mv .claude c; mkdir e; echo evil > e/settings.json; ln -s e .claude",
            &[(".claude/settings.json", Changed, true, true)],
        ),
        ("mkdir e; echo evil > e/x; ln -s e .husky", &[(".husky", Made, true, false)]),
        // A missing repository runs nothing.
        ("rm -rf .git", &[]),
    ];
    for (script, expect) in rows {
        let (scene, containment) = scene();
        let before = guarded(&scene);
        let (said, _) = run(scene.spawn(script, Rung::Landlock).contained(&containment)).await;
        let expect: Vec<_> =
            expect.iter().map(|(path, deed, kept, back)| ((*path).to_owned(), *deed, *kept, *back)).collect();
        assert_eq!(told(&scene, containment.take_set_aside()), expect, "{script}: {said}");
        if scene.at("home/work/.git").exists() {
            assert_eq!(guarded(&scene), before, "{script}");
        }
        // It is reported once, and the next command finds the restored state.
        run(scene.spawn("true", Rung::Landlock).contained(&containment)).await;
        assert_eq!(containment.take_set_aside(), [], "{script}");
    }
}

#[tokio::test]
async fn no_other_repository_takes_the_place_of_the_users() {
    for plant in ["echo 'gitdir: evil' > .git", "ln -s evil .git"] {
        let (scene, containment) = scene();
        let script = format!("mv .git old; mkdir -p evil/hooks; echo evil > evil/hooks/pre-commit; {plant}");
        run(scene.spawn(&script, Rung::Landlock).contained(&containment)).await;
        assert!(std::fs::symlink_metadata(scene.at("home/work/.git")).is_err(), "{plant}");
        assert_eq!(
            told(&scene, containment.take_set_aside()),
            [(".git".to_owned(), Deed::Made, true, false)],
            "{plant}"
        );
    }
}

#[tokio::test]
async fn what_goes_on_in_the_background_is_looked_at_until_it_has_ended() {
    for detach in ["", "setsid "] {
        let (scene, containment) = scene();
        let before = guarded(&scene);
        let wait = |go: &str| format!("while test ! -e {go}; do sleep 0.05; done");
        let plant = "echo evil > .git/hooks/pre-commit; echo [evil >> .git/config; echo x";
        let script = format!("{}; {plant} > first; {}; {plant} > second", wait("one"), wait("two"));
        std::fs::write(scene.at("home/work/later.sh"), script).unwrap();
        let script = format!("{detach}sh later.sh >/dev/null 2>&1 & echo begun");
        let (said, finished) = run(scene.spawn(&script, Rung::Landlock).contained(&containment)).await;
        assert_eq!(said, "begun\n");
        let reaper = Reaper::default();
        reaper.adopt(finished.leftover.expect("it waits"));
        std::fs::write(scene.at("home/work/one"), "").unwrap();
        eventually(|| scene.at("home/work/first").exists()).await;
        // Without any other command.
        eventually(|| guarded(&scene) == before).await;
        let expect = [
            (".git/config".to_owned(), Deed::Changed, true, true),
            (".git/hooks/pre-commit".to_owned(), Deed::Made, true, false),
        ];
        assert_eq!(told(&scene, containment.take_set_aside()), expect, "{detach}");
        std::fs::write(scene.at("home/work/two"), "").unwrap();
        eventually(|| scene.at("home/work/second").exists()).await;
        // Restored before the next command starts.
        let (said, _) =
            run(scene.spawn("ls .git/hooks; cat .git/config", Rung::Landlock).contained(&containment)).await;
        assert!(!said.contains("pre-commit\n") && said.ends_with("[core]\n"), "{said}");
        assert_eq!(told(&scene, containment.take_set_aside()), expect, "{detach}");
        // Changes that the user makes when nothing runs any more are kept, once the end was noticed.
        eventually(|| reaper.groups().is_empty()).await;
        drop(reaper);
        std::fs::write(scene.at("home/work/.git/config"), "[core]\n[user]\n").unwrap();
        run(scene.spawn("true", Rung::Landlock).contained(&containment)).await;
        assert_eq!(containment.take_set_aside(), []);
        assert_eq!(std::fs::read_to_string(scene.at("home/work/.git/config")).unwrap(), "[core]\n[user]\n");
    }
}

#[tokio::test]
async fn what_the_user_allows_stays() {
    let (scene, containment) = scene();
    let config = scene.at("home/work/.git/config").canonicalize().unwrap();
    // A process runs all the while, for which the change was not allowed.
    let (_, finished) = run(scene.spawn("sleep 600 >/dev/null 2>&1 &", Rung::Landlock).contained(&containment)).await;
    let reaper = Reaper::default();
    reaper.adopt(finished.leftover.expect("it sleeps"));
    let loan = scene.access.lend("call", Touch::Write, &config);
    let lent = containment.for_call("call");
    run(scene.spawn("echo pager=once >> .git/config; echo x > .git/hooks/a", Rung::Landlock).contained(&lent)).await;
    drop(loan);
    assert_eq!(told(&scene, containment.take_set_aside()), [(".git/hooks/a".to_owned(), Deed::Made, true, false)]);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "[core]\npager=once\n");
    // Written by a file tool, which has no process tree.
    let loan = scene.access.lend("tool", Touch::Write, &config);
    std::fs::write(&config, "[core]\npager=twice\n").unwrap();
    drop(loan);
    assert_eq!(containment.take_set_aside(), []);
    // Both permissions were for one call.
    run(scene.spawn("printf '[core]\\npager=again\\n' > .git/config", Rung::Landlock).contained(&containment)).await;
    assert_eq!(told(&scene, containment.take_set_aside()), [(".git/config".to_owned(), Deed::Changed, true, true)]);
    assert!(std::fs::read_to_string(&config).unwrap().ends_with("[core]\n\tpager=twice\n"));
    // Allowed permanently.
    scene.access.change(|map| map.open_to(Touch::Write, &config));
    run(scene.spawn("echo pager=always >> .git/config", Rung::Landlock).contained(&containment)).await;
    assert!(std::fs::read_to_string(&config).unwrap().ends_with("\tpager=twice\npager=always\n"));
    drop(reaper);
}

#[tokio::test]
async fn two_omps_do_not_put_back_what_the_other_has_set_aside() {
    let (scene, one) = scene();
    let other = Containment::new(scene.access.clone()).at_most(Rung::Landlock);
    let script = "echo evil > .git/hooks/pre-commit; echo [evil >> .git/config; echo begun; read line";
    let mut child = scene.spawn(script, Rung::Landlock).contained(&one).start().unwrap();
    let mut said = [0; 16];
    child.read(&mut said).await.unwrap();
    // Starts after the file is planted, and ends after it was set aside.
    let mut late = scene.spawn("echo begun; read line", Rung::Landlock).contained(&other).start().unwrap();
    late.read(&mut said).await.unwrap();
    drop(child);
    assert_eq!(one.take_set_aside().len(), 2);
    drop(late);
    assert!(!scene.at("home/work/.git/hooks/pre-commit").exists());
    assert_eq!(std::fs::read_to_string(scene.at("home/work/.git/config")).unwrap(), "[core]\n");
    assert!(other.take_set_aside().iter().all(|found| !found.put_back && found.to.is_none()));
}

#[tokio::test]
async fn too_much_is_told_and_a_large_file_that_was_changed_does_not_run() {
    let (scene, containment) = scene();
    let omp = scene.at("home/work/.omp");
    std::fs::create_dir(&omp).unwrap();
    (0..2_100).for_each(|number| std::fs::write(omp.join(number.to_string()), "").unwrap());
    std::fs::write(scene.at("home/work/.git/hooks/large"), vec![b'x'; 300 * 1024]).unwrap();
    run(scene.spawn("echo evil >> .git/hooks/large", Rung::Landlock).contained(&containment)).await;
    let expect = [
        (".git/hooks/large".to_owned(), Deed::Changed, true, false),
        (".omp".to_owned(), Deed::Unwatched, false, false),
    ];
    assert_eq!(told(&scene, containment.take_set_aside()), expect);
    assert!(!scene.at("home/work/.git/hooks/large").exists());
    run(scene.spawn("true", Rung::Landlock).contained(&containment)).await;
    assert_eq!(containment.take_set_aside(), []);
}

#[tokio::test]
async fn a_link_to_what_is_guarded_is_not_replaced_on_any_rung() {
    for rung in VIEWS.iter().chain(&[Rung::Landlock]) {
        let scene = Scene::writing();
        let work = scene.at("home/work");
        std::fs::create_dir(work.join("cfg")).unwrap();
        std::fs::remove_dir(work.join(".claude")).unwrap();
        std::os::unix::fs::symlink("cfg", work.join(".claude")).unwrap();
        scene.again();
        let containment = Containment::new(scene.access.clone()).at_most(*rung);
        let script = "rm .claude; mkdir .claude; echo evil > .claude/settings.json; echo x > cfg/agents";
        run(scene.spawn(script, *rung).contained(&containment)).await;
        assert_eq!(std::fs::read_link(work.join(".claude")).unwrap(), Path::new("cfg"), "{rung:?}");
        assert!(!work.join("cfg/settings.json").exists() && work.join("cfg/agents").exists(), "{rung:?}");
        assert_eq!(
            told(&scene, containment.take_set_aside()),
            [(".claude".to_owned(), Deed::Changed, true, true)],
            "{rung:?}"
        );
    }
}
