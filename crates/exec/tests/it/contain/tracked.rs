//! Tests that guarded files that git tracks change with every checkout, merge and rebase, and always match a commit that
//! existed when the session began.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use omp_exec::{Containment, Reaper, Rung};
use omp_types::Touch;

use super::{Scene, VIEWS, eventually, map_in, run};

/// `.envrc` and `.vscode/settings.json` differ between the branches, `.mcp.json` is only on `main`, `.husky` and
/// `.claude/settings.json` only on `other`; `topic` begins at the first commit of `main`.
const MAKE: &str = "git init -q -b main . && git config user.name a && git config user.email a@b && git config gc.auto 0 \
    && mkdir -p .vscode && echo one > .envrc && echo 1 > .vscode/settings.json && echo x > a && git add -A && git commit -qm one \
    && git branch topic && git branch old && echo main > .envrc && echo {} > .mcp.json && git add -A && git commit -qm two \
    && git checkout -q -b other && git rm -q .mcp.json && echo other > .envrc && echo 2 > .vscode/settings.json \
    && mkdir -p .husky/deep .claude && echo h > .husky/pre-commit && chmod +x .husky/pre-commit && echo d > .husky/deep/d \
    && echo [] > .claude/settings.json && git add -A && git commit -qm other \
    && git checkout -q topic && echo b > b && git add b && git commit -qm b && echo t > .vscode/tasks.json && git add -A \
    && git commit -qm tasks && git checkout -q main";

async fn free(scene: &Scene, script: &str) {
    let (said, finished) = run(scene.spawn(script, Rung::Full).contained(&Containment::of_user())).await;
    assert_eq!(finished.exit.code, 0, "{script}: {said}");
}

async fn first() -> Scene {
    let scene = Scene::writing();
    std::fs::remove_dir_all(scene.at("home/work/.git")).unwrap();
    free(&scene, MAKE).await;
    scene
}

/// Copying a repository is faster than creating one.
async fn copied(first: &Scene) -> Scene {
    let scene = Scene::writing();
    std::fs::remove_dir_all(scene.at("home/work")).unwrap();
    std::fs::create_dir(scene.at("home/work")).unwrap();
    free(&scene, &format!("cp -a {}/. . && git status >/dev/null", first.at("home/work").display())).await;
    scene.again();
    scene
}

fn contained(scene: &Scene, rung: Rung) -> Containment {
    Containment::new(scene.access.clone()).with_past(omp_undo::open_past).at_most(rung)
}

/// Returns the output, and checks that the script succeeds.
async fn works(scene: &Scene, containment: &Containment, script: &str) -> String {
    let spawn = scene.spawn(script, Rung::Full).contained(containment);
    let (said, finished) = run(spawn).await;
    let rung = containment.rung();
    assert_eq!(finished.exit.code, 0, "{rung:?}: {script}: {said}");
    said
}

fn text(scene: &Scene, path: &str) -> String {
    std::fs::read_to_string(scene.at("home/work").join(path)).unwrap_or_default()
}

/// Paths relative to the workspace that were put back or set aside.
fn put_back(scene: &Scene, containment: &Containment) -> Vec<String> {
    let work = scene.at("home/work").canonicalize().unwrap();
    let name = |path: &Path| path.strip_prefix(&work).unwrap().display().to_string();
    let found = containment.take_set_aside();
    assert!(found.iter().all(|found| found.in_git), "{found:?}");
    let mut names: Vec<String> = found.iter().map(|found| name(&found.path)).collect();
    names.sort();
    names
}

/// A command that involves git, so that tracked files are not mounted for it.
fn of_git(script: &str) -> String {
    format!("git --version >/dev/null; {script}")
}

/// One of the rungs with mounts stands for both.
const BOTH: &[Rung] = &[Rung::Full, Rung::Landlock];

const CLEAN: &str = "git status --porcelain && test -z \"$(git status --porcelain)\"";

#[tokio::test]
async fn git_goes_from_commit_to_commit() {
    let first = first().await;
    let rows: &[(&[&str], &str)] = &[
        (&["git checkout -q other", "git checkout -q main"], "main\n"),
        (&["git checkout -q other && git checkout -q main && git checkout -q other"], "other\n"),
        (
            &["git checkout -q other", "git checkout -q old", "git checkout -q topic", "git checkout -q other"],
            "other\n",
        ),
        (&["git checkout -q HEAD~1", "git checkout -q main"], "main\n"),
        (&["git checkout -q topic && git merge -q --no-edit main"], "main\n"),
        (&["git merge -q --no-edit topic", "git reset -q --hard HEAD~1"], "main\n"),
        (&["git merge -q other", "git checkout -q topic"], "one\n"),
        (&["git checkout -q topic", "git rebase -q main"], "main\n"),
        (&["git checkout -q old && git pull -q . other"], "other\n"),
        (&["git reset -q --hard other", "git reset -q --hard old"], "one\n"),
        (&["git cherry-pick other >/dev/null", "git checkout -q -f topic"], "one\n"),
        (&["git worktree add -q wt other && git worktree remove wt"], "main\n"),
    ];
    for rung in BOTH {
        for (scripts, expect) in rows {
            let scene = copied(&first).await;
            let containment = contained(&scene, *rung);
            for script in *scripts {
                works(&scene, &containment, script).await;
                assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?}: {script}");
                works(&scene, &containment, CLEAN).await;
            }
            assert_eq!(text(&scene, ".envrc"), *expect, "{rung:?}: {scripts:?}");
            let has_hook = expect.starts_with("other");
            assert_eq!(text(&scene, ".husky/pre-commit"), if has_hook { "h\n" } else { "" }, "{rung:?}: {scripts:?}");
            assert_eq!(scene.at("home/work/.husky").exists(), has_hook, "{rung:?}: {scripts:?}");
            if has_hook {
                let mode = scene.at("home/work/.husky/pre-commit").metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o111, 0o111, "{rung:?}");
            }
        }
    }
}

#[tokio::test]
async fn what_the_user_has_not_committed_comes_back_from_a_stash() {
    let first = first().await;
    for rung in BOTH {
        for scripts in [
            &["git stash -q && git checkout -q other && git checkout -q main && git stash pop -q"][..],
            &["git stash -q", "git checkout -q other", "git checkout -q main && git stash pop -q"],
            &["git stash -q", "git stash pop -q --index"],
        ] {
            let scene = copied(&first).await;
            std::fs::write(scene.at("home/work/.envrc"), "mine\n").unwrap();
            std::fs::write(scene.at("home/work/a"), "y\n").unwrap();
            let containment = contained(&scene, *rung);
            for script in scripts {
                works(&scene, &containment, script).await;
                assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?}: {script}");
            }
            assert_eq!((text(&scene, ".envrc"), text(&scene, "a")), ("mine\n".into(), "y\n".into()), "{rung:?}");
        }
    }
}

#[tokio::test]
async fn it_stays_while_the_command_and_others_run() {
    const SLEEP: &str = "sleep 600 >/dev/null 2>&1 &";
    let first = first().await;
    for (rung, background) in BOTH.iter().flat_map(|rung| [(rung, SLEEP.to_owned()), (rung, of_git(SLEEP))]) {
        let scene = copied(&first).await;
        let containment = contained(&scene, *rung);
        let (_, finished) = run(scene.spawn(&background, *rung).contained(&containment)).await;
        let reaper = Reaper::default();
        reaper.adopt(finished.leftover.expect("it sleeps"));
        let script = "git checkout -q other; echo begun; read line";
        let mut child = scene.spawn(script, *rung).contained(&containment).start().unwrap();
        child.read(&mut [0; 16]).await.unwrap();
        for _ in 0..3 {
            assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?} {background}");
        }
        let branch = (text(&scene, ".envrc"), text(&scene, ".husky/pre-commit"));
        assert_eq!(branch, ("other\n".into(), "h\n".into()), "{rung:?} {background}");
        drop(child);
        works(&scene, &containment, &format!("{CLEAN} && git checkout -q main && {CLEAN}")).await;
        let back = (put_back(&scene, &containment), text(&scene, ".envrc"));
        assert_eq!(back, (Vec::new(), "main\n".into()), "{rung:?} {background}");
        drop(reaper);
    }
}

/// Repeats until it is faster than the restore.
const COMMIT: &str = "until git show main:.envrc | grep -q evil; do echo evil > .envrc; git commit -qam evil; done";
const STASH: &str = "until git show stash:.envrc | grep -q evil; do echo evil > .envrc; git stash -q; done";
const COMMIT_HOOK: &str = "git checkout -q other; until git show other:.husky/pre-commit | grep -q evil; \
    do echo evil > .husky/pre-commit; git commit -qam evil; done";

#[tokio::test]
async fn what_no_commit_had_is_put_back() {
    let first = first().await;
    let rows: &[(&[&str], &[&str])] = &[
        (&["echo evil > .envrc"], &[".envrc"]),
        // The same size and the old modification time.
        (&["touch -r .envrc t; echo evil > .envrc; touch -r t .envrc"], &[".envrc"]),
        (&["ln .envrc l; echo evil >> l"], &[".envrc"]),
        (&["chmod +x .envrc"], &[".envrc"]),
        (&["chmod 666 .envrc"], &[".envrc"]),
        (&["rm .envrc"], &[".envrc"]),
        (&["rm .envrc; mkdir .envrc; echo evil > .envrc/x"], &[".envrc"]),
        (&["mv .envrc e; ln -s e .envrc"], &[".envrc"]),
        (&["mv .vscode v; ln -s v .vscode"], &[".vscode", ".vscode/settings.json"]),
        (&["mv .vscode v; mkdir .vscode; echo evil > .vscode/settings.json"], &[".vscode/settings.json"]),
        // Content that git has at another path.
        (&["cp .vscode/settings.json .envrc"], &[".envrc"]),
        (&["git merge -q --no-commit topic; git show other:.envrc > .vscode/tasks.json"], &[".vscode/tasks.json"]),
        (&["mkdir -p .husky; echo evil > .husky/pre-commit"], &[".husky/pre-commit"]),
        (
            &["git checkout -q other; echo evil > .husky/deep/d; echo evil > .husky/new; rm -r .claude"],
            &[".husky/deep/d", ".husky/new"],
        ),
        (&["git checkout -q other", "rm -r .husky/deep; echo evil > .husky/deep"], &[".husky/deep"]),
        // One call creates the commit, another checks it out.
        (&[COMMIT, "git checkout -q -f main"], &[".envrc"]),
        (
            &[
                "f=$(echo evil | git hash-object -w --stdin) && git update-index --cacheinfo 100644,$f,.envrc && git commit -qm evil \
             && git branch -f other && git gc -q --prune=now",
                "git checkout -q -f other",
            ],
            &[".envrc"],
        ),
        (&[STASH, "git stash pop -q"], &[".envrc"]),
        (&[COMMIT_HOOK, "git checkout -q main", "git checkout -q other"], &[".husky/pre-commit"]),
    ];
    for rung in BOTH {
        for (scripts, expect) in rows {
            let scene = copied(&first).await;
            let containment = contained(&scene, *rung);
            let mut told = Vec::new();
            for script in *scripts {
                run(scene.spawn(&of_git(script), *rung).contained(&containment)).await;
                told = put_back(&scene, &containment);
            }
            assert_eq!(told, *expect, "{rung:?}: {scripts:?}");
            let (said, _) =
                run(scene.spawn(&of_git("grep -rl evil .envrc .vscode .husky .claude .mcp.json"), *rung)).await;
            assert!(said.lines().all(|line| line.contains("No such file")), "{rung:?}: {scripts:?}: {said}");
            for path in [".envrc", ".vscode"] {
                let data = std::fs::symlink_metadata(scene.at("home/work").join(path)).unwrap();
                assert!(
                    !data.is_symlink() && (path == ".vscode" || data.permissions().mode() & 0o133 == 0),
                    "{scripts:?}"
                );
            }
            // Nothing is lost, and it is reported once.
            let has_gone = **scripts == ["rm .envrc"];
            assert_eq!(scene.at("home/work/.git/omp-set-aside").exists(), !has_gone, "{rung:?}: {scripts:?}");
            run(scene.spawn(&of_git("true"), *rung).contained(&containment)).await;
            assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?}: {scripts:?}");
        }
    }
}

#[tokio::test]
async fn it_is_put_back_while_the_command_still_runs() {
    let first = first().await;
    for rung in BOTH {
        let scene = copied(&first).await;
        let containment = contained(&scene, *rung);
        let script = "echo evil > .envrc; echo begun; sleep 600";
        let mut child = scene.spawn(&of_git(script), *rung).contained(&containment).start().unwrap();
        child.read(&mut [0; 16]).await.unwrap();
        eventually(|| text(&scene, ".envrc") == "main\n").await;
        assert_eq!(put_back(&scene, &containment), [".envrc"], "{rung:?}");
        drop(child);
    }
}

#[tokio::test]
async fn git_ends_well_where_a_newer_version_is_put_back() {
    let first = first().await;
    for rung in BOTH {
        let scene = copied(&first).await;
        let newer = "git clone -q work remote && cd remote && git config user.name a && git config user.email a@b \
            && echo newer > .envrc && echo z > a && git commit -qam newer";
        free(&scene, &format!("cd .. && {newer} && cd ../work && git remote add origin ../remote")).await;
        scene.again();
        let containment = contained(&scene, *rung);
        works(&scene, &containment, "git pull -q origin main").await;
        assert_eq!(put_back(&scene, &containment), [".envrc"], "{rung:?}");
        assert_eq!((text(&scene, ".envrc"), text(&scene, "a")), ("main\n".into(), "z\n".into()), "{rung:?}");
        let status = works(&scene, &containment, "git status --porcelain && git log -1 --format=%s").await;
        assert_eq!(status, " M .envrc\nnewer\n", "{rung:?}");
        // In the next session it is one of the existing commits.
        let next = contained(&scene, *rung);
        works(&scene, &next, &format!("git checkout -q .envrc && {CLEAN}")).await;
        assert_eq!((put_back(&scene, &next), text(&scene, ".envrc")), (Vec::new(), "newer\n".into()), "{rung:?}");
    }
}

#[tokio::test]
async fn a_loan_is_for_one_call() {
    let first = first().await;
    for rung in BOTH {
        let scene = copied(&first).await;
        free(&scene, "git checkout -q other").await;
        let containment = contained(&scene, *rung);
        let work = scene.at("home/work").canonicalize().unwrap();
        for (path, beside) in [(".vscode/settings.json", ".envrc"), (".husky/pre-push", ".husky/pre-commit")] {
            let loan = scene.access.lend("call", Touch::Write, &work.join(path));
            let lent = containment.for_call("call");
            let script = format!("echo allowed > new && mv new {path}; echo evil > {beside}");
            run(scene.spawn(&of_git(&script), *rung).contained(&lent)).await;
            drop(loan);
            assert_eq!(put_back(&scene, &containment), [beside], "{rung:?}");
            run(scene.spawn(&of_git(&format!("echo evil > {path}")), *rung).contained(&containment)).await;
            assert!(!containment.take_set_aside().is_empty() || path.ends_with("pre-push"), "{rung:?}");
            assert_eq!(text(&scene, path), "allowed\n", "{rung:?}");
        }
        // An allowed change goes into a stash and comes back.
        works(&scene, &containment, "git stash -q").await;
        assert_eq!(text(&scene, ".vscode/settings.json"), "2\n", "{rung:?}");
        works(&scene, &containment, "git stash pop -q").await;
        assert_eq!(text(&scene, ".vscode/settings.json"), "allowed\n", "{rung:?}");
        assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?}");
    }
}

#[tokio::test]
async fn what_is_not_tracked_is_kept_as_before() {
    let first = first().await;
    let scene = copied(&first).await;
    let work = scene.at("home/work");
    free(
        &scene,
        "git checkout -q other && mkdir .husky/_ && echo u > .husky/_/husky.sh && echo t > .vscode/tasks.json",
    )
    .await;
    std::fs::write(work.join(".omp"), "o").unwrap();
    scene.again();
    for rung in VIEWS {
        let containment = contained(&scene, *rung);
        for script in [
            "echo evil > .husky/_/husky.sh",
            "echo evil > .husky/_/new",
            "mv .husky/_ u",
            "mv .husky h",
            "echo evil > .vscode/tasks.json",
            "echo evil > .omp",
            "echo evil > .git/hooks/pre-commit",
            "git add -f .omp .vscode/tasks.json; echo evil > .omp || echo evil > .vscode/tasks.json",
        ] {
            let (said, finished) = run(scene.spawn(&of_git(script), *rung).contained(&containment)).await;
            assert_ne!(finished.exit.code, 0, "{rung:?}: {script}: {said}");
        }
        works(&scene, &containment, "git reset -q && git checkout -q main && git checkout -q other").await;
        assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?}");
        // Everything else is removed, even if there is too much of it.
        let script = "echo evil > .husky/pre-commit; cd .husky; seq 2100 | xargs touch";
        run(scene.spawn(&of_git(script), *rung).contained(&containment)).await;
        let told = put_back(&scene, &containment);
        assert!(told.contains(&".husky".to_owned()), "{rung:?}: {told:?}");
        let kept = [".husky/_/husky.sh", ".husky/pre-commit", ".husky/deep/d", ".vscode/tasks.json", ".omp"];
        assert_eq!(kept.map(|path| text(&scene, path)), ["u\n", "h\n", "d\n", "t\n", "o"], "{rung:?}");
        assert_eq!(std::fs::read_dir(work.join(".husky")).unwrap().count(), 3, "{rung:?}");
    }
}

#[tokio::test]
async fn a_folder_with_too_much_to_look_at_is_as_before() {
    let first = first().await;
    let script = "mkdir f; cd f; seq 2100 | xargs touch; cd ..; mv f .husky";
    for rung in BOTH {
        // The file existed before, or not.
        for (begin, hook) in [("git checkout -q other", "h\n"), ("true", "")] {
            let scene = copied(&first).await;
            free(&scene, begin).await;
            let containment = contained(&scene, *rung);
            run(scene.spawn(&of_git(script), *rung).contained(&containment)).await;
            assert_eq!(put_back(&scene, &containment), [".husky"], "{rung:?}: {begin}");
            assert_eq!(text(&scene, ".husky/pre-commit"), hook, "{rung:?}: {begin}");
            let left = std::fs::read_dir(scene.at("home/work/.husky")).map_or(0, Iterator::count);
            assert_eq!(left, if hook.is_empty() { 0 } else { 2 }, "{rung:?}: {begin}");
        }
    }
}

#[tokio::test]
async fn in_a_worktree_and_from_a_subfolder() {
    let first = first().await;
    for rung in BOTH {
        let scene = copied(&first).await;
        free(&scene, "git worktree add -q ../tree other && mkdir sub && echo s > sub/.envrc && git add sub && git commit -qm sub").await;
        let root = scene.folder.path().canonicalize().unwrap();
        let tree = root.join("home/tree");
        scene.access.change(|map| *map = map_in(&root, &scene.env, map.mode, map.network, &tree));
        let containment = contained(&scene, *rung);
        let in_tree = |script: &str| scene.spawn(&of_git(script), *rung).contained(&containment).cwd(&tree);
        let (said, finished) = run(in_tree(&format!("git checkout -q old && {CLEAN} && cat .envrc"))).await;
        assert_eq!((finished.exit.code, said.as_str()), (0, "one\n"), "{rung:?}");
        let (said, finished) =
            run(in_tree(&format!("git checkout -q other && {CLEAN} && cat .husky/pre-commit"))).await;
        assert_eq!((finished.exit.code, said.as_str()), (0, "h\n"), "{rung:?}");
        assert_eq!(containment.take_set_aside(), [], "{rung:?}");
        run(in_tree("echo evil > .envrc")).await;
        assert_eq!(containment.take_set_aside().len(), 1, "{rung:?}");
        assert_eq!(std::fs::read_to_string(tree.join(".envrc")).unwrap(), "other\n", "{rung:?}");

        // Guarded as well in the folder where omp was started.
        scene.again();
        let sub = scene.at("home/work/sub").canonicalize().unwrap();
        scene.access.change(|map| map.guarded.push(sub.join(".envrc")));
        let containment = contained(&scene, *rung);
        let in_sub = |script: &str| scene.spawn(&of_git(script), *rung).contained(&containment).cwd(&sub);
        let (said, finished) = run(in_sub("git checkout -q topic && git checkout -q main && cat .envrc")).await;
        assert_eq!((finished.exit.code, said.as_str()), (0, "s\n"), "{rung:?}");
        assert_eq!(put_back(&scene, &containment), [""; 0], "{rung:?}");
        run(in_sub("echo evil > .envrc; echo evil > ../.envrc")).await;
        assert_eq!(put_back(&scene, &containment), [".envrc", "sub/.envrc"], "{rung:?}");
        assert_eq!((text(&scene, ".envrc"), text(&scene, "sub/.envrc")), ("main\n".into(), "s\n".into()), "{rung:?}");
    }
}

#[tokio::test]
async fn while_another_omp_works_there_only_what_git_has_is_believed() {
    let first = first().await;
    for rung in VIEWS {
        let scene = copied(&first).await;
        let (one, other) = (contained(&scene, *rung), contained(&scene, *rung));
        let mut child = scene.spawn(&of_git("echo begun; read line"), *rung).contained(&one).start().unwrap();
        child.read(&mut [0; 16]).await.unwrap();
        works(&scene, &other, &format!("git checkout -q other && {CLEAN}")).await;
        run(scene.spawn(&of_git("echo evil > .envrc"), *rung).contained(&other)).await;
        assert_eq!((put_back(&scene, &other), text(&scene, ".envrc")), (vec![".envrc".into()], "other\n".into()));
        drop(child);
        // For a file that is in no commit it is unknown who has written it, and it could not be restored, so it is mounted.
        let scene = copied(&first).await;
        std::fs::write(scene.at("home/work/.envrc"), "mine\n").unwrap();
        let (one, other) = (contained(&scene, *rung), contained(&scene, *rung));
        let mut child = scene.spawn(&of_git("echo begun; read line"), *rung).contained(&one).start().unwrap();
        child.read(&mut [0; 16]).await.unwrap();
        let (said, finished) = run(scene.spawn(&of_git("echo evil > .envrc"), *rung).contained(&other)).await;
        assert!(finished.exit.code != 0 && said.contains("Read-only"), "{rung:?}: {said}");
        assert_eq!((put_back(&scene, &other), text(&scene, ".envrc")), (Vec::new(), "mine\n".into()), "{rung:?}");
        drop(child);
    }
}

#[tokio::test]
async fn what_the_user_changes_while_a_server_runs_stays() {
    let first = first().await;
    for rung in VIEWS {
        let scene = copied(&first).await;
        let containment = contained(&scene, *rung);
        let script = "echo begun; while ! test -e go; do sleep 0.01; done; echo evil > .envrc";
        let mut child = scene.spawn(script, *rung).contained(&containment).start().unwrap();
        child.read(&mut [0; 16]).await.unwrap();
        std::fs::write(scene.at("home/work/.envrc"), "mine\n").unwrap();
        assert_eq!((put_back(&scene, &containment), text(&scene, ".envrc")), (Vec::new(), "mine\n".into()), "{rung:?}");
        std::fs::write(scene.at("home/work/go"), "").unwrap();
        let said = crate::read_all(&mut child).await;
        let finished = child.finish().await.unwrap();
        assert!(finished.exit.code != 0 && said.contains("Read-only"), "{rung:?}: {said}");
        assert_eq!((put_back(&scene, &containment), text(&scene, ".envrc")), (Vec::new(), "mine\n".into()), "{rung:?}");
    }
}
