//! Tests that missing guarded paths cannot be planted: by one command, by its background processes, or by other names.

use omp_exec::{Containment, Reaper, Rung, SetAside};
use omp_types::{Access, ContainMode, NetworkMode};

use super::{ALL, Scene, VIEWS, eventually, map_in, map_of, run};

/// None of them exists, nor do most of their folders.
const GUARDED: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".omp/config.yml",
    ".omp/hooks/pre/evil.sh",
    ".mcp.json",
    ".husky/pre-commit",
    ".envrc",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".cursor/mcp.json",
    ".git/hooks/pre-push",
    ".git/info/attributes",
];

fn bare() -> Scene {
    let scene = Scene::writing();
    std::fs::remove_dir(scene.at("home/work/.claude")).unwrap();
    scene
}

impl Scene {
    /// The map as a session that begins now sees it.
    fn remapped(self) -> Self {
        let access = Access::new(map_of(
            &self.at("").canonicalize().unwrap(),
            &self.env,
            ContainMode::WorkspaceWrite,
            NetworkMode::On,
        ));
        Self { access, ..self }
    }

    fn nothing_is_planted(&self, after: &str) {
        for path in GUARDED {
            let planted = std::fs::symlink_metadata(self.at("home/work").join(path));
            assert!(planted.is_err(), "{path}: {after}");
        }
    }
}

#[tokio::test]
async fn one_command_makes_neither_the_file_nor_the_folder_around_it() {
    let scene = bare();
    for path in GUARDED {
        let folder = path.split('/').next().unwrap();
        for script in [
            format!("mkdir -p $(dirname {path}); echo x > {path}"),
            format!("mkdir -p o/$(dirname {path}); echo x > o/{path}; mv -T o/{folder} {folder}"),
            format!("mkdir -p o/$(dirname {path}); echo x > o/{path}; rm -rf {folder}; cp -rT o/{folder} {folder}"),
            format!("mkdir -p o/$(dirname {path}); echo x > o/{path}; mv {folder} away; ln -s o/{folder} {folder}"),
            format!("mkdir -p o/$(dirname {path}); echo x > o/{path}; mv {path} away; ln o/{path} {path}"),
        ] {
            for rung in VIEWS {
                scene.run(&script, *rung).await;
                scene.nothing_is_planted(&script);
                scene.run("rm -rf o away", Rung::Full).await;
            }
        }
    }
    // Files beside it may be created by the command.
    scene
        .allows("mkdir -p .claude/agents .vscode && echo x > .claude/agents/a.md && echo x > .vscode/notes", VIEWS)
        .await;
    scene.nothing_is_planted("beside");
    assert!(scene.at("home/work/.claude/agents/a.md").exists());
}

#[tokio::test]
async fn nor_does_what_it_leaves_running() {
    let scene = bare();
    let plant: String = GUARDED.iter().map(|path| format!("mkdir -p $(dirname {path}); echo x > {path}; ")).collect();
    let script = format!(
        "(while test ! -e go; do sleep 0.05; done; {plant} echo x > tried; sleep 600) >/dev/null 2>&1 & echo begun"
    );
    let (said, finished) = run(scene.spawn(&script, Rung::Full)).await;
    assert_eq!(said, "begun\n");
    let reaper = Reaper::default();
    reaper.adopt(finished.leftover.expect("it waits"));
    // Another command runs meanwhile.
    scene.allows("true", VIEWS).await;
    std::fs::write(scene.at("home/work/go"), "").unwrap();
    eventually(|| scene.at("home/work/tried").exists()).await;
    // While it still runs, and without any other command.
    let is_gone = |path: &&str| std::fs::symlink_metadata(scene.at("home/work").join(path)).is_err();
    eventually(|| GUARDED.iter().all(is_gone)).await;
    assert_eq!(reaper.groups().len(), 1);
    drop(reaper);
    scene.nothing_is_planted("the end");
}

#[tokio::test]
async fn nor_does_another_name_of_a_folder_above() {
    let scene = bare();
    let home = scene.at("home").canonicalize().unwrap();
    // The folders above the workspace are writable as well.
    scene.access.change(|map| map.writable.push(home));
    for path in [".claude/settings.json", ".mcp.json", ".git/hooks/pre-push"] {
        for script in [
            format!("cd ..; mkdir -p n/$(dirname {path}); echo x > n/{path}; mv work old; mv n work"),
            format!("cd ..; mkdir -p n/$(dirname {path}); echo x > n/{path}; mv -T --exchange n work"),
            format!("cd ..; mv work old; mkdir -p old/$(dirname {path}); echo x > old/{path}; mv old work"),
        ] {
            for rung in VIEWS {
                scene.run(&script, *rung).await;
                scene.nothing_is_planted(&script);
                scene.run("rm -rf ../n", Rung::Full).await;
            }
        }
    }
}

#[tokio::test]
async fn a_file_in_the_way_keeps_nothing_open() {
    let scene = bare();
    let path = ".claude/settings.json";
    for rung in VIEWS {
        let _ = std::fs::remove_dir_all(scene.at("home/work/.claude"));
        std::fs::write(scene.at("home/work/.claude"), "no folder").unwrap();
        scene.plants_nothing("rm .claude && mkdir .claude && echo x > .claude/settings.json", path, &[*rung]).await;
    }
}

/// What was set aside, relative to the workspace.
fn names(scene: &Scene, found: Vec<SetAside>) -> Vec<String> {
    let work = scene.at("home/work").canonicalize().unwrap();
    let name = |found: SetAside| {
        assert!(found.to.is_some_and(|to| std::fs::symlink_metadata(to).is_ok()));
        found.path.strip_prefix(&work).unwrap().display().to_string()
    };
    let mut names: Vec<String> = found.into_iter().map(name).collect();
    names.sort();
    names
}

/// In a repository created by git.
async fn repository() -> Scene {
    let scene = bare();
    std::fs::remove_dir_all(scene.at("home/work/.git")).unwrap();
    let script = "git init -q . && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm one";
    let (said, finished) = run(scene.spawn(script, Rung::Full).contained(&Containment::of_user())).await;
    assert_eq!(finished.exit.code, 0, "{said}");
    scene.remapped()
}

const PLANT: &str = "echo x > .envrc; mkdir -p .husky sub; echo x > .husky/pre-commit; mkdir .claude; echo x > .claude/settings.json; \
    mkdir -p .git/info; echo x > .git/info/attributes; git config core.pager evil";

#[tokio::test]
async fn git_takes_nothing_of_what_was_set_aside() {
    for rung in ALL {
        let scene = repository().await;
        let containment = Containment::new(scene.access.clone()).at_most(*rung);
        for _ in 0..2 {
            run(scene.spawn(PLANT, *rung).contained(&containment)).await;
        }
        let found = containment.take_set_aside();
        let shelf = scene.at("home/work/.git/omp-set-aside").canonicalize().unwrap();
        for found in &found {
            let to = found.to.as_ref().unwrap();
            assert!(to.starts_with(&shelf) && to.symlink_metadata().is_ok(), "{rung:?}: {found:?}");
        }
        let mut kept: Vec<String> =
            std::fs::read_dir(&shelf).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        kept.sort();
        let names = [".envrc", ".husky", "attributes", "config", "settings.json"];
        let expect: Vec<String> = names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}-2")]).collect();
        assert_eq!(kept, expect, "{rung:?}");
        let (said, _) = run(scene.spawn("git add -A && git status --short", *rung).contained(&containment)).await;
        assert_eq!(said, "", "{rung:?}");
        assert_eq!(std::fs::read_to_string(shelf.join(".husky/pre-commit")).unwrap(), "x\n");
    }
}

#[tokio::test]
async fn a_worktree_has_it_in_the_repository_that_stays() {
    let scene = repository().await;
    let (said, _) = run(scene
        .spawn("git worktree add -q ../tree && rm -r ../work/a", Rung::Full)
        .contained(&Containment::of_user()))
    .await;
    let tree = scene.at("home/tree").canonicalize().unwrap();
    let root = scene.at("").canonicalize().unwrap();
    let map = map_in(&root, &scene.env, ContainMode::WorkspaceWrite, NetworkMode::On, &tree);
    let containment = Containment::new(Access::new(map));
    run(scene.spawn("echo x > .envrc", Rung::Full).cwd(&tree).contained(&containment)).await;
    let found = containment.take_set_aside();
    assert_eq!(found.len(), 1, "{said}");
    assert_eq!(found[0].to, Some(root.join("home/work/.git/omp-set-aside/.envrc")));
}

#[tokio::test]
async fn no_link_leads_elsewhere_what_is_set_aside() {
    for link in
        ["ln -s $HOME/.ssh .git/omp-set-aside", "mkdir -p n; ln -s $HOME/.ssh n/.envrc; cp -rT n .git/omp-set-aside"]
    {
        for rung in ALL {
            let scene = repository().await;
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            run(scene.spawn(&format!("{link}; {PLANT}"), *rung).contained(&containment)).await;
            let found = containment.take_set_aside();
            assert!(found.len() >= 5, "{rung:?}: {link}: {found:?}");
            for found in &found {
                let to = found.to.as_ref().unwrap().canonicalize().unwrap();
                assert!(to.starts_with(scene.at("home/work").canonicalize().unwrap()), "{rung:?}: {link}: {found:?}");
            }
            let keys: Vec<_> =
                std::fs::read_dir(scene.at("home/.ssh")).unwrap().map(|it| it.unwrap().file_name()).collect();
            assert_eq!(keys, ["id"], "{rung:?}: {link}");
            scene.nothing_is_planted(link);
        }
    }
}

#[tokio::test]
async fn an_empty_folder_is_empty_for_commands_and_what_they_plant_is_set_aside() {
    let scene = bare();
    let work = scene.at("home/work");
    std::fs::remove_dir_all(&work).unwrap();
    std::fs::create_dir(&work).unwrap();
    let containment = Containment::new(scene.access.clone());
    let script = "ls -A; mkdir -p .claude .omp; echo x > .claude/settings.json; echo x > .mcp.json; echo x > app";
    let (said, _) = run(scene.spawn(script, Rung::Full).contained(&containment)).await;
    assert_eq!(said, "");
    assert_eq!(names(&scene, containment.take_set_aside()), [".claude/settings.json", ".mcp.json", ".omp"]);
    scene.nothing_is_planted("an empty folder");
    assert!(work.join("app").exists());
    // The folder is no longer empty.
    scene.plants_nothing("echo x > .mcp.json", ".mcp.json", VIEWS).await;
}

#[tokio::test]
async fn a_repository_that_a_command_makes_runs_nothing() {
    let scene = bare();
    std::fs::remove_dir_all(scene.at("home/work/.git")).unwrap();
    let containment = Containment::new(scene.access.clone());
    let spawn = |script: &str| scene.spawn(script, Rung::Full).contained(&containment);
    let init = "git init -q . && echo x > a && git add a && git -c user.name=a -c user.email=a@b commit -qm one";
    // A repository as git creates it is left alone.
    let (said, finished) = run(spawn(&format!("{init}; rm -rf .git"))).await;
    assert_eq!(finished.exit.code, 0, "{said}");
    assert_eq!(names(&scene, containment.take_set_aside()), [""; 0]);
    let later =
        "(while test ! -e go; do sleep 0.05; done; echo evil > .git/hooks/pre-push; echo x > tried) >/dev/null 2>&1 &";
    let plant = "git config core.fsmonitor evil; echo evil > .git/hooks/pre-commit; echo ../evil > .git/commondir";
    let (said, finished) = run(spawn(&format!("{init} && {plant}; {later}"))).await;
    assert_eq!(finished.exit.code, 0, "{said}");
    assert_eq!(names(&scene, containment.take_set_aside()), [".git/commondir", ".git/config", ".git/hooks/pre-commit"]);
    let reaper = Reaper::default();
    reaper.adopt(finished.leftover.expect("it waits"));
    std::fs::write(scene.at("home/work/go"), "").unwrap();
    eventually(|| scene.at("home/work/tried").exists()).await;
    // Found before the next command starts.
    run(spawn("test ! -e .git/hooks/pre-push")).await;
    assert_eq!(names(&scene, containment.take_set_aside()), [".git/hooks/pre-push"]);
    drop(reaper);
}

#[tokio::test]
async fn no_command_leads_git_to_other_settings() {
    let scene = bare();
    let containment = Containment::new(scene.access.clone());
    let script = "mkdir evil && echo ../evil > .git/commondir";
    let (_, finished) = run(scene.spawn(script, Rung::Full).contained(&containment)).await;
    assert_eq!(finished.exit.code, 0);
    assert!(!scene.at("home/work/.git/commondir").exists());
    assert_eq!(names(&scene, containment.take_set_aside()), [".git/commondir"]);
}

/// A workspace with a submodule created by git.
async fn with_submodule() -> Scene {
    let scene = bare();
    let work = scene.at("home/work");
    std::fs::remove_dir_all(work.join(".git")).unwrap();
    let git = "git -c user.name=a -c user.email=a@b -c protocol.file.allow=always";
    let script = format!(
        "git init -q ../lib && cd ../lib && echo x > a && git add a && {git} commit -qm one && cd ../work && git init -q . \
         && {git} submodule --quiet add ../lib libs/one && {git} commit -qm one"
    );
    let open = Containment::of_user();
    let (said, finished) = run(scene.spawn(&script, Rung::Full).contained(&open)).await;
    assert_eq!(finished.exit.code, 0, "{said}");
    scene.remapped()
}

/// What `git status` runs when the user starts it in the workspace.
async fn ran_by_git_status(scene: &Scene) -> String {
    let (said, _) =
        run(scene.spawn("git status --short; git diff >/dev/null", Rung::Full).contained(&Containment::of_user()))
            .await;
    said
}

#[tokio::test]
async fn a_submodule_runs_nothing() {
    let scene = with_submodule().await;
    let module = ".git/modules/libs/one";
    for script in [
        format!("echo evil > {module}/hooks/pre-commit"),
        format!("python3 -c 'import os; os.rename(\"{module}\", \"away\")'"),
        "python3 -c 'import os; os.rename(\".git/modules\", \"away\")'".to_owned(),
    ] {
        scene.denies(&script, VIEWS).await;
    }
    let containment = Containment::new(scene.access.clone());
    let script = format!("mkdir -p evil && echo ../../../../evil > {module}/commondir");
    let (_, finished) = run(scene.spawn(&script, Rung::Full).contained(&containment)).await;
    assert_eq!(finished.exit.code, 0);
    assert_eq!(names(&scene, containment.take_set_aside()), [format!("{module}/commondir")]);
    scene
        .allows("echo y > libs/one/b && git -C libs/one add b && git -C libs/one status --short && git status", VIEWS)
        .await;
}

/// Git may move, remove and create the file that points to a submodule; it cannot be pointed to another repository.
#[tokio::test]
async fn no_submodule_leads_to_a_repository_that_runs_something() {
    let evil = "git init -q e && git -C e -c user.name=a -c user.email=a@b commit -q --allow-empty -m e && mv e/.git f \
        && git config -f f/config core.fsmonitor 'echo RAN >&2; false' && echo 'echo RAN >&2' > f/hooks/post-index-change \
        && chmod +x f/hooks/post-index-change && cp -r f g";
    let pointer = "gitdir: ../../.git/modules/libs/one\n";
    for (plant, is_put_back) in [
        ("echo gitdir: ../../f > libs/one/.git", true),
        ("echo gitdir: $PWD/f > n; mv n libs/one/.git", true),
        ("mv libs/one away; mkdir libs/one; echo gitdir: ../../f > libs/one/.git", true),
        ("cp -r f $TMPDIR/f; echo gitdir: $TMPDIR/f > libs/one/.git", true),
        ("rm libs/one/.git; ln -s ../../f libs/one/.git", false),
        ("rm libs/one/.git; cp -r f libs/one/.git", false),
        ("cp -r f .git/modules/other; echo gitdir: ../../.git/modules/other > libs/one/.git", false),
        ("rm -r libs; ln -s away libs; mkdir -p away/one; echo gitdir: ../../f > away/one/.git", false),
    ] {
        for rung in &[Rung::Full, Rung::Landlock] {
            let scene = with_submodule().await;
            let containment = Containment::new(scene.access.clone()).at_most(*rung);
            let script = format!("{evil}; {plant}");
            let (said, finished) = run(scene.spawn(&script, *rung).contained(&containment)).await;
            assert_eq!(finished.exit.code, 0, "{rung:?}: {plant}: {said}");
            let found = containment.take_set_aside();
            let ran = ran_by_git_status(&scene).await;
            assert!(!ran.contains("RAN"), "{rung:?}: {plant}: {ran} {found:?}");
            assert!(!found.is_empty(), "{rung:?}: {plant}");
            let now = std::fs::read_to_string(scene.at("home/work/libs/one/.git")).unwrap_or_default();
            assert_eq!(now == pointer, is_put_back, "{rung:?}: {plant}: {now}");
            // A file of this kind would have run.
            if is_put_back {
                std::fs::write(scene.at("home/work/libs/one/.git"), "gitdir: ../../g\n").unwrap();
                assert!(ran_by_git_status(&scene).await.contains("RAN"), "{rung:?}: {plant}");
            }
        }
    }
}

#[tokio::test]
async fn a_repository_that_is_added_to_another_runs_nothing_when_the_user_asks_for_changes() {
    let evil = "git config core.fsmonitor 'echo RAN >&2; false'";
    let commit = "echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm one";
    let sub = format!("git init -q sub && cd sub && {commit} && {evil} && cd ..");
    for (plant, form) in [
        (format!("{sub} && git add sub"), "2"),
        (format!("{sub} && git add sub"), "4"),
        (format!("{sub} && git update-index --split-index && git add sub && git update-index --split-index"), "2"),
        (format!("{sub} && mv sub/.git evil && echo 'gitdir: ../evil' > sub/.git && git add sub"), "2"),
        (format!("{sub} && mv sub/.git evil && ln -s ../evil sub/.git && git add sub"), "2"),
        (format!("git init -q out && cd out && {sub} && git add sub && {commit} && cd .. && git add out"), "2"),
    ] {
        let scene = bare();
        let work = scene.at("home/work");
        std::fs::remove_dir_all(work.join(".git")).unwrap();
        let made =
            scene.spawn("git init -q . && echo a > a && git add a", Rung::Full).contained(&Containment::of_user());
        run(made).await;
        let scene = scene.remapped();
        let containment = Containment::new(scene.access.clone());
        let script = format!("{plant} 2>/dev/null; git update-index --index-version {form}");
        let (said, _) = run(scene.spawn(&script, Rung::Full).contained(&containment)).await;
        let ran = ran_by_git_status(&scene).await;
        assert!(!ran.contains("RAN"), "{plant}: {said}{ran}");
        let found = containment.take_set_aside();
        assert!(!found.is_empty(), "{plant}");
        // Under its own name it would have run.
        for SetAside { path, to, .. } in found {
            std::fs::rename(to.unwrap(), path).unwrap();
        }
        assert!(ran_by_git_status(&scene).await.contains("RAN"), "{plant}");
    }
}

#[tokio::test]
async fn a_repository_within_that_runs_nothing_is_left_alone_and_guarded_from_then_on() {
    let scene = bare();
    std::fs::remove_dir_all(scene.at("home/work/.git")).unwrap();
    run(scene.spawn("git init -q .", Rung::Full).contained(&Containment::of_user())).await;
    let scene = scene.remapped();
    let containment = Containment::new(scene.access.clone());
    let commit = "echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm one";
    let script = format!("git init -q sub && cd sub && {commit} && cd .. && git add sub");
    let (said, finished) = run(scene.spawn(&script, Rung::Full).contained(&containment)).await;
    assert_eq!((finished.exit.code, names(&scene, containment.take_set_aside())), (0, Vec::new()), "{said}");
    run(scene.spawn("git -C sub config core.fsmonitor evil", Rung::Full).contained(&containment)).await;
    assert_eq!(containment.take_set_aside()[0].keys, ["core.fsmonitor"]);
    for script in ["echo x > sub/.git/hooks/pre-commit", "rm -rf sub"] {
        let (_, finished) = run(scene.spawn(script, Rung::Full).contained(&containment)).await;
        assert_ne!(finished.exit.code, 0, "{script}");
    }
    containment.take_set_aside();
    // The user's own settings stay.
    run(scene.spawn("git -C sub config alias.x '!true'", Rung::Full).contained(&Containment::of_user())).await;
    run(scene.spawn("git status", Rung::Full).contained(&containment)).await;
    assert_eq!(names(&scene, containment.take_set_aside()), [""; 0]);
}
