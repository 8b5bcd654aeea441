//! Tests that ordinary git works in the sandbox, and that the files that git runs are unchanged.

use omp_exec::{Containment, Rung};

use super::{ALL, Scene, eventually, run};

/// A repository with a commit, a hook of the user, and an alias that runs something.
async fn scene() -> Scene {
    let scene = Scene::writing();
    std::fs::remove_dir_all(scene.at("home/work/.git")).unwrap();
    let script = "git init -q -b main . && git config user.name a && git config user.email a@b && echo x > a && git add a \
        && git commit -qm one && git config alias.mine '!echo own' && printf '#!/bin/sh\\necho hook ran\\n' > .git/hooks/pre-commit \
        && chmod +x .git/hooks/pre-commit && git init -q ../lib && git -C ../lib -c user.name=a -c user.email=a@b commit -q --allow-empty -m lib";
    let (said, finished) = run(scene.spawn(script, Rung::Full).contained(&Containment::of_user())).await;
    assert_eq!(finished.exit.code, 0, "{said}");
    scene.again();
    scene
}

#[tokio::test]
async fn ordinary_git_works_and_stays() {
    for rung in ALL {
        let scene = scene().await;
        let containment = Containment::new(scene.access.clone()).at_most(*rung);
        for script in [
            "git remote add origin https://host/a.git && git remote set-url origin https://host/b.git",
            "git config user.name me && git config --unset user.name && git config user.name b",
            "git checkout -q -b topic && git branch -m topic other && git branch --track tracked main",
            "git config branch.other.remote origin && git config branch.other.merge refs/heads/other",
            "echo y > a && git stash -q && git stash pop -q && git commit -qam two && git checkout -q main",
            "git branch -q -D other && git branch -q -D tracked",
            "git worktree add -q wt -b wt && git -C wt commit -q --allow-empty -m three && git worktree remove wt",
            "git -c protocol.file.allow=always submodule --quiet add $HOME/lib lib && git commit -qm four",
            "git submodule --quiet sync && git -C lib config user.name c && git submodule status",
            "git config extensions.worktreeConfig true && git config --worktree core.sparseCheckout true",
        ] {
            let (said, finished) = run(scene.spawn(script, *rung).contained(&containment)).await;
            assert_eq!(finished.exit.code, 0, "{rung:?}: {script}: {said}");
            assert_eq!(containment.take_set_aside(), [], "{rung:?}: {script}");
            assert!(!script.contains("commit -q") || said.contains("hook ran"), "{rung:?}: {script}: {said}");
        }
        let (said, _) = run(scene.spawn("git config --get-regexp '^(remote|user|alias)'", *rung)).await;
        for line in ["remote.origin.url https://host/b.git", "user.name b", "alias.mine !echo own"] {
            assert!(said.contains(line), "{rung:?}: {said}");
        }
    }
}

#[tokio::test]
async fn a_key_that_runs_something_is_put_back_and_the_rest_stays() {
    for rung in ALL {
        for (script, key) in [
            ("git config core.fsmonitor evil; git config user.name kept", "core.fsmonitor"),
            ("git config user.name kept; git config --unset alias.mine", "alias.mine"),
            ("git config alias.mine '!evil'; git config user.name kept", "alias.mine"),
            ("printf '[user]\\n name = kept\\n[core] hooksPath = evil\\n' >> .git/config", "core.hookspath"),
            ("git config user.name kept; git config --worktree core.pager evil", "core.pager"),
        ] {
            let scene = scene().await;
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            let (said, _) = run(scene.spawn(script, *rung).contained(&containment)).await;
            let found = containment.take_set_aside();
            let mut keys: Vec<&str> = found.iter().flat_map(|found| &found.keys).map(String::as_str).collect();
            // git may have read the file before it was put back, and written it after.
            keys.dedup();
            assert_eq!(keys, [key], "{rung:?}: {script}: {said} {found:?}");
            assert!(found.iter().all(|found| found.put_back && found.to.as_ref().is_some_and(|to| to.exists())));
            let (said, _) = run(scene.spawn("git config --list; git mine", *rung).contained(&containment)).await;
            assert!(said.contains("user.name=kept") && said.ends_with("own\n"), "{rung:?}: {script}: {said}");
            assert!(!said.contains("evil"), "{rung:?}: {script}: {said}");
        }
    }
}

#[tokio::test]
async fn settings_that_git_cannot_read_or_that_are_a_link_are_put_back_whole() {
    for rung in ALL {
        for script in [
            "echo '[core' > .git/config",
            "mv .git/config c; ln -s ../c .git/config; git config core.pager evil",
            "rm .git/config; mkdir .git/config",
            "rm .git/config",
            "head -c 300000 /dev/zero | tr '\\0' '#' >> .git/config",
        ] {
            let scene = scene().await;
            let before = std::fs::read_to_string(scene.at("home/work/.git/config")).unwrap();
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            run(scene.spawn(script, *rung).contained(&containment)).await;
            let now = std::fs::read_to_string(scene.at("home/work/.git/config")).unwrap();
            assert_eq!(now, before, "{rung:?}: {script}");
            assert!(!containment.take_set_aside().is_empty(), "{rung:?}: {script}");
        }
    }
}

#[tokio::test]
async fn it_is_put_back_while_the_command_still_runs() {
    let scene = scene().await;
    let containment = Containment::new(scene.access.clone());
    let script = "git config core.fsmonitor evil; echo x > .envrc; echo begun; sleep 600";
    let mut child = scene.spawn(script, Rung::Full).contained(&containment).start().unwrap();
    child.read(&mut [0; 16]).await.unwrap();
    let config = scene.at("home/work/.git/config");
    eventually(|| std::fs::read_to_string(&config).is_ok_and(|text| !text.contains("fsmonitor"))).await;
    eventually(|| !scene.at("home/work/.envrc").exists()).await;
    assert_eq!(containment.take_set_aside().len(), 2);
    drop(child);
}

/// Adds a submodule that has a hook of the user.
async fn with_submodule() -> Scene {
    let scene = scene().await;
    let script = "git -c protocol.file.allow=always submodule --quiet add $HOME/lib lib && git commit -qm two \
        && printf '#!/bin/sh\\necho hook of lib\\n' > .git/modules/lib/hooks/pre-commit && chmod +x .git/modules/lib/hooks/pre-commit";
    let (said, finished) = run(scene.spawn(script, Rung::Full).contained(&Containment::of_user())).await;
    assert_eq!(finished.exit.code, 0, "{said}");
    scene.again();
    scene
}

#[tokio::test]
async fn submodules_are_moved_removed_and_fetched_again() {
    for rung in ALL {
        for scripts in [
            &["git mv lib moved && git commit -qm three && git -C moved status --short && git submodule status"][..],
            &["git mv lib moved", "git mv moved deep-er && git commit -qm three && git -C deep-er log -1 --format=%s"],
            &["git rm -q lib && git commit -qm three && test ! -e lib"],
            &["git submodule --quiet deinit lib && test ! -e lib/.git"],
            &[
                "git submodule --quiet deinit -f lib",
                "git submodule --quiet update --init lib && git -C lib log -1 --format=%s",
            ],
            &["git submodule --quiet deinit lib && git submodule --quiet update --init && test -e lib/.git"],
            &["rm -rf lib && git checkout -q -- . && git submodule --quiet update --init && test -e lib/.git"],
            &[
                "git checkout -q -b other HEAD~1 2>&1; rm -rf lib; git checkout -q main && git submodule --quiet update --init",
            ],
            &["mv lib away && git submodule --quiet update --init && rm -rf away"],
        ] {
            let scene = with_submodule().await;
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            for script in scripts {
                let (said, finished) = run(scene.spawn(script, *rung).contained(&containment)).await;
                assert_eq!(finished.exit.code, 0, "{rung:?}: {script}: {said}");
                assert_eq!(containment.take_set_aside(), [], "{rung:?}: {script}");
            }
            let hook = std::fs::read_to_string(scene.at("home/work/.git/modules/lib/hooks/pre-commit")).unwrap();
            assert!(hook.contains("hook of lib"), "{rung:?}: {scripts:?}");
        }
    }
}
