//! Tests of what remains of files that commands have created, changed or removed.

use super::*;

struct Scene {
    folder: tempfile::TempDir,
    asides: Arc<Asides>,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), asides: Arc::default() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn watch(&self) -> TreeWatch {
        let guarded = ["hooks", "config", "config.worktree", "info/attributes", "commondir"];
        let guarded = guarded.map(|name| self.at("work/.git").join(name)).to_vec();
        let map = AccessMap { workspace: self.at("work"), guarded, ..AccessMap::default() };
        PlannedWatch::new(Arc::new(map), &self.asides).begin()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::fs::write(self.at(path), text).unwrap();
    }

    /// What was set aside, relative to the workspace.
    fn found(&self) -> Vec<String> {
        let shown = |found: SetAside| {
            assert!(found.to.is_some_and(|to| exists(&to)) && exists(&found.path) == found.put_back);
            found.path.strip_prefix(self.at("work")).unwrap().display().to_string()
        };
        let mut found: Vec<String> = self.asides.take().into_iter().map(shown).collect();
        found.sort();
        found
    }
}

#[test]
fn a_new_repository_runs_nothing_that_a_command_has_put_there() {
    let scene = Scene::new();
    std::fs::create_dir(scene.at("work")).unwrap();
    let watch = scene.watch();
    scene.write("work/.git/config", "[core]\n\tbare = false\n");
    scene.write("work/.git/hooks/pre-commit.sample", "");
    drop(watch);
    assert_eq!(scene.found(), [""; 0]);
    std::fs::remove_dir_all(scene.at("work/.git")).unwrap();

    let watch = scene.watch();
    scene.write("work/.git/config", "[core]\n\tfsmonitor = evil\n");
    scene.write("work/.git/hooks/pre-commit", "evil");
    scene.write("work/.git/commondir", "../evil");
    scene.write("work/.git/info/attributes", "* filter=evil");
    scene.asides.look();
    assert_eq!(scene.found(), [".git/commondir", ".git/config", ".git/hooks/pre-commit", ".git/info/attributes"]);
    assert_eq!(std::fs::read_to_string(scene.at("work/.git/config")).unwrap(), "[core]\n");
    // Background processes are checked again.
    scene.write("work/.git/hooks/pre-commit", "evil");
    drop(watch);
    assert_eq!(scene.found(), [".git/hooks/pre-commit"]);
    // For the next command the repository exists and is protected by mounts.
    let watch = scene.watch();
    scene.write("work/.git/hooks/pre-commit", "allowed by the user");
    drop(watch);
    assert_eq!(scene.found(), [""; 0]);
}

#[test]
fn no_other_folder_takes_the_place_of_a_repository() {
    for plant in ["file", "link", "hooks"] {
        let scene = Scene::new();
        scene.write("work/evil/hooks/pre-commit", "evil");
        scene.write("outside/hooks/pre-commit", "the user's own");
        let watch = scene.watch();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(scene.at(to), scene.at(at)).unwrap();
        match plant {
            "file" => scene.write("work/.git", "gitdir: evil"),
            "link" => link("outside", "work/.git"),
            _ => {
                std::fs::create_dir(scene.at("work/.git")).unwrap();
                link("outside/hooks", "work/.git/hooks");
            }
        }
        drop(watch);
        assert_eq!(scene.found(), [if plant == "hooks" { ".git/hooks" } else { ".git" }], "{plant}");
        assert!(exists(&scene.at("outside/hooks/pre-commit")));
    }
}

#[test]
fn worktrees_keep_their_repository() {
    let scene = Scene::new();
    scene.write("work/.git/worktrees/one/commondir", "../..\n");
    scene.write("work/.git/worktrees/two/commondir", "../..\n");
    std::fs::create_dir_all(scene.at("work/evil")).unwrap();
    let watch = scene.watch();
    scene.write("work/.git/worktrees/two/commondir", "../../../evil\n");
    drop(watch);
    assert_eq!(scene.found(), [".git/worktrees/two/commondir"]);
    assert!(exists(&scene.at("work/.git/worktrees/one/commondir")));
}
