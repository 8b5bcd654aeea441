//! Tests of the default map on temporary folders.

use omp_types::Touch;

use super::*;

struct Scene(tempfile::TempDir);

impl Scene {
    fn new(made: &[&str]) -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for path in made {
            std::fs::create_dir_all(scene.at(path)).unwrap();
        }
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn map(&self, workspace: &str, variables: &[(&str, &str)]) -> AccessMap {
        self.map_in(workspace, workspace, variables)
    }

    fn map_in(&self, workspace: &str, cwd: &str, variables: &[(&str, &str)]) -> AccessMap {
        let temp = self.at("tmp").display().to_string();
        let env: Env = variables.iter().copied().chain([("TMPDIR", temp.as_str())]).collect();
        default_map(&MapSources {
            mode: ContainMode::WorkspaceWrite,
            network: NetworkMode::On,
            workspace: &self.at(workspace),
            cwd: &self.at(cwd),
            home: &self.at("home"),
            agent: &self.at("home/.omp/agent"),
            env: &env,
            writable: vec![self.at("extra")],
            hidden: Vec::new(),
            shown: Vec::new(),
            sockets: vec![self.at("run/allowed")],
            hosts: Vec::new(),
        })
    }

    #[track_caller]
    fn check(&self, map: &AccessMap, touch: Touch, path: &str, expect: bool) {
        assert_eq!(map.allows(touch, &self.at(path)).is_ok(), expect, "{touch:?} {path}");
    }
}

#[test]
fn what_may_be_touched_by_default() {
    let scene = Scene::new(&["home/app/.git", "home/.cargo/registry", "tmp", "extra"]);
    let map = scene.map("home/app", &[]);
    let rows = [
        ("home/app/src/a.rs", true, true),
        ("home/app/.git/index", true, true),
        ("home/app/.git/hooks/pre-commit", true, false),
        ("home/app/.git/config", true, false),
        ("home/app/.omp/config.yml", true, false),
        ("home/app/.envrc", true, false),
        ("home/.cargo/registry/cache/x", true, true),
        ("home/.cargo/config.toml", true, false),
        ("home/.cargo/bin/cargo", true, false),
        ("home/.cargo/credentials.toml", false, false),
        ("home/.ssh/id", false, false),
        ("home/.omp/agent/auth.json", false, false),
        ("home/.omp/agent/config.yml", true, false),
        ("home/.omp/agent/.env", false, false),
        ("home/.omp/agent/models.yml", false, false),
        ("home/.omp/agent/undo/objects/ab", false, false),
        ("home/.omp/.env", false, false),
        ("home/.env", false, false),
        ("home/app/.env", true, true),
        ("home/.cache/git/credential/socket", false, false),
        ("home/app/sub/.git/config", true, false),
        ("home/app/sub/.git/index", true, true),
        ("home/.bashrc", true, false),
        ("tmp/x", true, true),
        ("extra/x", true, true),
        ("home/other/x", true, false),
    ];
    for (path, read, write) in rows {
        scene.check(&map, Touch::Read, path, read);
        scene.check(&map, Touch::Write, path, write);
    }
}

#[test]
fn a_cache_that_is_missing_may_be_written_and_is_not_made() {
    let scene = Scene::new(&["home/.cargo", "home/app", "bin", "tmp"]);
    for name in ["bin/npm", "bin/go", "home/app/go.mod", "home/app/Cargo.toml"] {
        std::fs::write(scene.at(name), "").unwrap();
    }
    let map = scene.map("home/app", &[("PATH", scene.at("bin").to_str().unwrap())]);
    for (path, write) in [
        ("home/.npm/_cacache/x", true),
        ("home/.cache/go-build/00", true),
        ("home/.cargo/registry/cache", true),
        ("home/.npmx", false),
        ("home/.cache/x", false),
        ("home/.cargo/config.toml", false),
        // A cache without a program: used if it exists.
        ("home/.stack/x", false),
    ] {
        scene.check(&map, Touch::Write, path, write);
    }
    assert!(!scene.at("home/.npm").exists() && !scene.at("home/.cache").exists());
    let cache = |path: &str| map.caches.iter().find(|cache| cache.path == scene.at(path)).unwrap();
    assert!(cache("home/.npm").programs.contains(&"npm"));
    // There is no npm project here, and cargo is not installed.
    let expected: Vec<&str> = [".npm", ".cache/go-build", "go/pkg", ".cargo/git"]
        .into_iter()
        .filter(|path| cache(&format!("home/{path}")).is_expected)
        .collect();
    assert_eq!(expected, [".cache/go-build", "go/pkg"]);
    std::fs::create_dir(scene.at("home/.npm")).unwrap();
    let map = scene.map("home/app", &[]);
    assert!(map.caches.iter().all(|cache| cache.path != scene.at("home/.npm")));
    scene.check(&map, Touch::Write, "home/.npm/_cacache/x", true);
}

#[test]
fn a_worktree_writes_to_its_repository_and_not_to_what_runs_there() {
    let scene = Scene::new(&["main/.git/worktrees/wt", "wt", "tmp"]);
    std::fs::write(scene.at("wt/.git"), format!("gitdir: {}\n", scene.at("main/.git/worktrees/wt").display())).unwrap();
    std::fs::write(scene.at("main/.git/worktrees/wt/commondir"), "../..\n").unwrap();
    std::fs::write(scene.at("main/.git/worktrees/wt/gitdir"), format!("{}\n", scene.at("wt/.git").display())).unwrap();
    std::fs::write(scene.at("main/.git/config"), "[core]\n\thooksPath = tools/hooks\n").unwrap();
    let map = scene.map("wt", &[]);
    scene.check(&map, Touch::Write, "main/.git/objects/ab/c", true);
    scene.check(&map, Touch::Write, "main/.git/worktrees/wt/index", true);
    scene.check(&map, Touch::Write, "main/.git/hooks/pre-commit", false);
    scene.check(&map, Touch::Write, "main/.git/config", false);
    scene.check(&map, Touch::Write, "wt/.git", false);
    scene.check(&map, Touch::Write, "main/src/a.rs", false);
}

/// Whoever created a folder has written its `.git` as well.
#[test]
fn a_folder_cannot_name_another_as_its_repository() {
    for plant in ["file", "dots", "link", "commondir", "worktree of another"] {
        let scene = Scene::new(&["evil/sub", "victim/.git/worktrees/other", "tmp"]);
        let victim = scene.at("victim/.git").display().to_string();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(scene.at(path).parent().unwrap()).unwrap();
            std::fs::write(scene.at(path), text).unwrap();
        };
        match plant {
            "file" => write("evil/.git", &format!("gitdir: {}\n", scene.at("victim").display())),
            "dots" => write("evil/.git", "gitdir: ../victim/.git"),
            "link" => std::os::unix::fs::symlink(&victim, scene.at("evil/.git")).unwrap(),
            "commondir" => {
                write("evil/.git", "gitdir: own/worktrees/x\n");
                write("evil/own/worktrees/x/commondir", &victim);
            }
            _ => {
                write("evil/.git", &format!("gitdir: {victim}/worktrees/other\n"));
                write("victim/.git/worktrees/other/gitdir", &scene.at("other/.git").display().to_string());
                write("victim/.git/worktrees/other/commondir", "../..\n");
            }
        }
        for workspace in ["evil", "evil/sub"] {
            let map = scene.map(workspace, &[]);
            for path in ["victim/x", "victim/.git/index", "victim/.git/worktrees/other/index"] {
                assert!(map.allows(Touch::Write, &scene.at(path)).is_err(), "{plant}: {path}");
            }
            scene.check(&map, Touch::Write, &format!("{workspace}/a"), true);
        }
    }
}

#[test]
fn submodules_run_nothing_that_commands_have_written() {
    let module = "app/.git/modules/libs/one";
    let scene = Scene::new(&["app/libs/one", &format!("{module}/modules/two"), "tmp"]);
    for head in ["", "/modules/two"] {
        std::fs::write(scene.at(&format!("{module}{head}/HEAD")), "ref: refs/heads/main\n").unwrap();
    }
    let map = scene.map("app", &[]);
    for folder in [module.to_owned(), format!("{module}/modules/two")] {
        for name in ["hooks/pre-commit", "config", "config.worktree", "commondir"] {
            let guard = scene.at(&format!("{folder}/{name}"));
            assert!(map.guarded.iter().any(|path| guard.starts_with(path)), "{guard:?}");
        }
        scene.check(&map, Touch::Write, &format!("{folder}/index"), true);
    }
}

#[test]
fn what_the_settings_of_git_name_is_guarded() {
    let scene = Scene::new(&["app/.git", "home", "tmp"]);
    let write = |path: &str, text: &str| std::fs::write(scene.at(path), text).unwrap();
    write("app/.git/config", "[core]\n\thooksPath = old\n\thookspath = tools/hooks\n[include] path = ../.gitconfig\n");
    write("app/.gitconfig", "[includeIf \"gitdir:~/\"]\n\tpath = \"more.inc\"\n\tpath = missing.inc\n");
    write("app/more.inc", "[core]\n\thooksPath = third\n");
    write("home/.gitconfig", "[core]\n\thooksPath = everywhere\n");
    let map = scene.map("app", &[]);
    let guarded = ["old/x", "tools/hooks/pre-commit", ".gitconfig", "more.inc", "third/x", "everywhere/x"];
    for path in guarded.map(|path| format!("app/{path}")) {
        scene.check(&map, Touch::Write, &path, false);
    }
    scene.check(&map, Touch::Write, "app/missing.inc", true);
}

#[test]
fn sockets_of_other_logins_and_programs_are_hidden() {
    let user = nix::unistd::geteuid();
    let scene =
        Scene::new(&["app", "tmp/ssh-XXabc", "tmp/ssh", "home/.cache/git/credential", &format!("tmp/emacs{user}")]);
    let kitty = format!("unix:{}", scene.at("run/kitty").display());
    let map = scene.map("app", &[("KITTY_LISTEN_ON", &kitty)]);
    for path in
        ["tmp/ssh-XXabc/agent.7", "home/.cache/git/credential/socket", "run/kitty", &format!("tmp/emacs{user}/server")]
    {
        scene.check(&map, Touch::Read, path, false);
    }
    scene.check(&map, Touch::Read, "tmp/ssh/x", true);
}

#[test]
fn sockets_are_hidden_by_the_variables_that_name_them_unless_allowed() {
    let scene = Scene::new(&["app", "run", "tmp"]);
    let path = |name: &str| scene.at(name).display().to_string();
    let (bus, allowed) = (format!("unix:path={},guid=1", path("run/bus")), path("run/allowed"));
    let tmux = format!("{},1,0", path("run/tmux"));
    let map = scene.map("app", &[("DBUS_SESSION_BUS_ADDRESS", &bus), ("SSH_AUTH_SOCK", &allowed), ("TMUX", &tmux)]);
    scene.check(&map, Touch::Read, "run/bus", false);
    scene.check(&map, Touch::Read, "run/tmux", false);
    scene.check(&map, Touch::Read, "run/allowed", true);
}

#[test]
fn links_to_what_is_guarded_are_known_and_where_they_end_is_guarded() {
    let scene = Scene::new(&["app/tools", "tmp", "outside"]);
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, scene.at(at)).unwrap();
    link("tools", "app/.claude");
    link("step", "app/.mcp.json");
    link("not-there-yet", "app/step");
    link("ring", "app/.envrc");
    link(".envrc", "app/ring");
    let map = scene.map("app", &[]);
    let mut links: Vec<PathBuf> = map.links.clone();
    links.sort();
    assert_eq!(
        links,
        ["app/.claude", "app/.envrc", "app/.mcp.json", "app/ring", "app/step"].map(|path| scene.at(path))
    );
    for kept in ["app/.claude", "app/tools/settings.json", "app/step", "app/not-there-yet"] {
        scene.check(&map, Touch::Write, kept, false);
    }
    for free in ["app/tools/agents", "app/tools"] {
        scene.check(&map, Touch::Write, free, true);
    }
    // There are none in a workspace without links.
    assert!(Scene::new(&["app/.claude", "tmp"]).map("app", &[]).links.is_empty());
}

#[test]
fn own_temporary_folders_are_where_commands_do_not_write() {
    let scene = Scene::new(&["home/.cache", "tmp"]);
    let text = |path: &str| scene.at(path).display().to_string();
    let env: Env = [("HOME", text("home")), ("TMPDIR", text("tmp"))].into_iter().collect();
    for (rung, place) in [(Rung::Full, "tmp"), (Rung::Namespaces, "tmp"), (Rung::Landlock, "home/.cache")] {
        assert_eq!(own_place(&env, rung), scene.at(place), "{rung:?}");
    }
    std::fs::remove_dir(scene.at("home/.cache")).unwrap();
    assert_eq!(own_place(&env, Rung::Landlock), scene.at("tmp"));
}

#[test]
fn settings_are_guarded_from_the_folder_up_to_the_workspace() {
    let scene = Scene::new(&["home/app/.git", "home/app/crates/a/src", "home/app/crates/new", "tmp"]);
    let map = |cwd: &str| scene.map_in("home/app", cwd, &[]);
    let inner = map("home/app/crates/a");
    for (path, written) in [
        ("home/app/Cargo.lock", true),
        ("home/app/crates/b/x", true),
        ("home/app/.envrc", false),
        ("home/app/crates/.envrc", false),
        ("home/app/crates/a/.envrc", false),
        ("home/app/crates/a/src/.envrc", true),
    ] {
        scene.check(&inner, Touch::Write, path, written);
    }
    scene.check(&map("home/app/crates/new"), Touch::Write, "home/app/crates/new/.vscode/settings.json", true);
}

#[test]
fn the_repository_of_the_home_folder_is_not_written_from_a_folder_below() {
    let scene = Scene::new(&["home/.git", "home/project/src", "home/other/.git", "home/other/deep", "tmp"]);
    let below = scene.map("home/project", &[]);
    scene.check(&below, Touch::Write, "home/project/x", true);
    scene.check(&below, Touch::Write, "home/.git/index", false);
    scene.check(&scene.map("home", &[]), Touch::Write, "home/.git/index", true);
    // With `containment.workspace: folder`.
    scene.check(&scene.map("home/other/deep", &[]), Touch::Write, "home/other/.git/index", true);
}
