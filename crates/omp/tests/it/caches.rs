//! Package manager caches in a fresh home: created only for the commands that need them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene};

/// Changes its cache and prints messages as npm does.
const NPM: &str = r#"#!/bin/sh
mkdir -p "$HOME/.npm/_cacache" 2>/dev/null || {
  echo "npm error EROFS: read-only file system, mkdir '$HOME/.npm/_cacache'" >&2
  exit 1
}
echo kept > "$HOME/.npm/_cacache/index" && echo "added 1 package"
"#;
const BUILD: &str = "#!/bin/sh\nexec npm install\n";

struct Fresh(Scene);

impl Fresh {
    /// A scene with an npm in its PATH, and a script that starts it.
    async fn new(commands: &[&str]) -> Self {
        let turns = commands.iter().map(|command| Turn::call("bash", json!({"command": command})));
        let script = Script::new(turns.chain([Turn::text("Done.")]).collect::<Vec<_>>());
        let fresh = Self(Scene::new(Wire::Completions, script).await);
        for (name, text) in [("bin/npm", NPM), ("bin/pip3", "#!/bin/sh\n"), ("build.sh", BUILD)] {
            let path = fresh.0.workspace.write(name, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        fresh
    }

    fn omp(&self) -> Omp {
        let env = self.0.workspace.env();
        let path = format!("{}:{}", self.0.workspace.path("bin").display(), env["PATH"]);
        self.0.omp(&["--yolo", "-p", "go"]).env("PATH", path)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.0.workspace.home().join(name)
    }

    /// Returns the entries of the home besides omp's own folder.
    fn folders(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.home("")).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != ".omp");
        names.sort();
        names
    }

    /// The results of the commands.
    fn told(&self) -> String {
        self.0.last_request().json().unwrap()["messages"].to_string()
    }
}

#[tokio::test]
async fn a_home_gets_no_folders_of_programs_that_nobody_uses() {
    let fresh = Fresh::new(&["true", "echo npm", "ls; pip3 --version; cat go.mod uv.lock; true"]).await;
    let before = fresh.folders();
    fresh.omp().run().await.exits(0).prints("Done.\n");
    assert_eq!(fresh.folders(), before);
}

#[tokio::test]
async fn a_program_that_is_named_finds_its_cache() {
    let fresh = Fresh::new(&["npm install"]).await;
    fresh.omp().run().await.exits(0).prints("Done.\n");
    assert!(fresh.told().contains("added 1 package"), "{}", fresh.told());
    assert!(fresh.home(".npm/_cacache/index").is_file() && !fresh.home(".cache").exists());
}

#[tokio::test]
async fn words_that_are_names_of_caches_do_not_open_the_home() {
    let fresh = Fresh::new(&["echo git registry cache repository pkg store pip uv .npm; sh log.sh"]).await;
    fresh.0.workspace.write("log.sh", "echo z > $HOME/zlog\n").unwrap();
    let before = fresh.folders();
    fresh.omp().run().await.exits(0);
    assert!(fresh.told().contains("zlog: Read-only file system"), "{}", fresh.told());
    assert_eq!(fresh.folders(), before);
}

#[tokio::test]
async fn a_program_that_a_script_starts_finds_its_cache_the_next_time() {
    let fresh = Fresh::new(&["./build.sh", "test ! -e ~/.npm/_cacache && ./build.sh"]).await;
    fresh.omp().run().await.exits(0).prints("Done.\n");
    let told = fresh.told();
    let missing = format!("Sandbox: {} did not exist, and commands cannot create it.", fresh.home(".npm").display());
    assert!(
        told.contains(&missing) && told.contains("run the command again") && told.contains("added 1 package"),
        "{told}"
    );
}

#[tokio::test]
async fn a_program_of_the_project_finds_its_cache_whoever_starts_it() {
    let fresh = Fresh::new(&["./build.sh"]).await;
    fresh.0.workspace.write("package-lock.json", "{}").unwrap();
    fresh.omp().run().await.exits(0).prints("Done.\n");
    assert!(fresh.told().contains("added 1 package"), "{}", fresh.told());
}

#[tokio::test]
async fn the_real_npm_installs_in_a_fresh_home() {
    let scene = Scene::new(
        Wire::Completions,
        [
            Turn::call(
                "bash",
                json!({"command": "npm install --offline --no-audit --no-fund ./dep && ls node_modules"}),
            ),
            Turn::text("Done."),
        ],
    )
    .await;
    scene.workspace.write("package.json", r#"{"name": "app", "version": "1.0.0"}"#).unwrap();
    scene.workspace.write("dep/package.json", r#"{"name": "dep", "version": "1.0.0"}"#).unwrap();
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("added 1 package") && !told.contains("Sandbox:"), "{told}");
    assert!(scene.workspace.home().join(".npm").is_dir());
}
