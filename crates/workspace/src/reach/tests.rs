//! Tests of bypasses of the access map for reading, writing and removing, and of paths that change concurrently.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::texts::Texts;
use crate::write::{EditPlan, FileChange, entry_location};

const SECRET: &str = "the secret";

/// `work` is the workspace with `work/.git/hooks` guarded; `home/keys` is hidden; `home/notes` is neither hidden nor
/// guarded.
struct Scene {
    folder: tempfile::TempDir,
    reach: FileReach,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["work/sub", "work/.git", "home/keys", "home/notes"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        std::fs::write(root.join("home/keys/id"), SECRET).unwrap();
        std::fs::write(root.join("home/notes/list"), "a list").unwrap();
        std::fs::write(root.join("work/own"), "own").unwrap();
        let map = AccessMap {
            mode: ContainMode::WorkspaceWrite,
            workspace: root.join("work"),
            hidden: vec![root.join("home/keys"), root.join("work/.env")],
            guarded: vec![root.join("work/.git/hooks"), root.join("work/.omp")],
            ..AccessMap::default()
        };
        Self { folder, reach: FileReach::new(Access::new(map)) }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.at(name)).unwrap();
    }

    fn put(&self, path: &Path, expected: Option<&str>, content: &str) -> Result<(), String> {
        let expected = expected.map(|text| text.as_bytes().to_vec());
        let plan = EditPlan { path: path.into(), expected, content: content.into(), executable: false };
        self.commit(plan.into())
    }

    fn remove(&self, path: &Path, expected: &str) -> Result<(), String> {
        self.commit(FileChange::Remove {
            path: path.into(),
            place: entry_location(path),
            expected: expected.as_bytes().to_vec(),
        })
    }

    fn commit(&self, change: FileChange) -> Result<(), String> {
        let texts = Texts::on_disk().within(&self.reach);
        texts.commit_changes(vec![change]).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn unreadable(&self, path: impl AsRef<Path>, why: &str) {
        let path = path.as_ref();
        let error = self.reach.read_whole(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_err();
        assert!(error.to_string().contains(why), "{}: {error}", path.display());
    }

    #[track_caller]
    fn unwritable(&self, path: impl AsRef<Path>, expected: Option<&str>, why: &str) {
        let path = path.as_ref();
        let error = self.put(path, expected, "written").unwrap_err();
        assert!(error.contains(why), "{}: {error}", path.display());
        assert!(!error.contains("/proc/self/fd"), "{error}");
    }
}

#[test]
fn hidden_files_are_not_read_under_any_name() {
    let scene = Scene::new();
    let id = scene.at("home/keys/id");
    scene.link(&id, "work/link");
    scene.link("link", "work/link-to-link");
    scene.link(scene.at("home"), "work/folder");
    std::fs::hard_link(&id, scene.at("work/hard")).unwrap();
    let own = std::process::id();
    let held = File::open(&id).unwrap();
    let open = std::os::fd::AsRawFd::as_raw_fd(&held);
    let inside = id.strip_prefix("/").unwrap().display();
    for path in [
        id.clone(),
        scene.at("work/link"),
        scene.at("work/link-to-link"),
        scene.at("work/folder/keys/id"),
        scene.at("work/folder/notes/../keys/id"),
        scene.at("work/sub/../../home/keys/./id"),
        scene.at("work/hard"),
        format!("/proc/self/root/{inside}").into(),
        format!("/proc/{own}/root/{inside}").into(),
        format!("/proc/thread-self/root/{inside}").into(),
        format!("/dev/fd/{open}").into(),
        format!("/proc/self/fd/{open}").into(),
        "/proc/self/environ".into(),
        format!("/proc/{own}/mem").into(),
    ] {
        scene.unreadable(&path, "may not be read: it is hidden from the model\nhint: ");
    }
    for path in ["work/own", "home/notes/list"] {
        assert!(scene.reach.read_whole(&scene.at(path)).is_ok(), "{path}");
    }
    // A link in the repository is followed nowhere else, whether the target is hidden or not.
    scene.unreadable(
        scene.at("work/folder/notes/list"),
        "a link in the workspace leads there, out of the workspace\nhint: ",
    );
    std::fs::hard_link(scene.at("work/own"), scene.at("work/other-own")).unwrap();
    assert_eq!(scene.reach.read_whole(&scene.at("work/other-own")).unwrap(), b"own");
    assert_eq!(
        scene
            .reach
            .read_whole(Path::new("/proc/self/root/").join(scene.at("work/own").strip_prefix("/").unwrap()).as_path())
            .unwrap(),
        b"own"
    );
}

#[test]
fn what_is_no_file_is_not_opened() {
    let scene = Scene::new();
    let pipe = scene.at("work/pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (read_end, _write_end) = std::io::pipe().unwrap();
    let open = std::os::fd::AsRawFd::as_raw_fd(&read_end);
    scene.unreadable(&pipe, "a named pipe");
    scene.unreadable(format!("/dev/fd/{open}"), "a named pipe");
    scene.unreadable("/dev/zero", "a character device");
    scene.unreadable(scene.at("work"), "is a directory");
    scene.unwritable(&pipe, None, "a named pipe");
    let deleted = File::create(scene.at("work/gone")).unwrap();
    std::fs::remove_file(scene.at("work/gone")).unwrap();
    scene.unreadable(
        format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&deleted)),
        "its location is not visible from here",
    );
}

#[test]
fn nothing_is_written_outside_or_where_it_is_guarded() {
    let scene = Scene::new();
    let list = scene.at("home/notes/list");
    scene.link(&list, "work/link");
    scene.link(scene.at("home/notes"), "work/folder");
    scene.link(scene.at("home/notes/new"), "work/dangling");
    scene.link(".git", "work/git");
    let outside = "outside the workspace\nhint: ";
    scene.unwritable(&list, Some("a list"), outside);
    scene.unwritable(scene.at("work/link"), Some("a list"), outside);
    scene.unwritable(scene.at("work/folder/list"), Some("a list"), outside);
    scene.unwritable(scene.at("work/folder/deep/er/new"), None, outside);
    scene.unwritable(scene.at("work/dangling"), None, outside);
    scene.unwritable(scene.at("work/../home/notes/list"), Some("a list"), outside);
    scene.unwritable(scene.at("work-evil"), None, outside);
    scene.unwritable(Path::new("/proc/self/root").join(list.strip_prefix("/").unwrap()), Some("a list"), outside);
    scene.unwritable(scene.at("home/keys/new"), None, "hidden from the model");
    let guarded = "it decides what runs or is allowed\nhint: ";
    for path in [".git/hooks/pre-commit", "git/hooks/pre-commit", ".GIT/Hooks/pre-commit", ".omp/config.yml", ".omp"] {
        scene.unwritable(scene.at("work").join(path), None, guarded);
    }
    assert!(
        !scene.at("work/.git/hooks").exists()
            && !scene.at("work/.omp").exists()
            && !scene.at("home/notes/deep").exists()
    );
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "a list");
}

#[test]
fn removing_is_writing() {
    let scene = Scene::new();
    let list = scene.at("home/notes/list");
    scene.link(scene.at("home/notes"), "work/folder");
    scene.link(&list, "work/link");
    for path in [list.clone(), scene.at("work/folder/list")] {
        let error = scene.remove(&path, "a list").unwrap_err();
        assert!(error.contains("outside the workspace"), "{error}");
    }
    scene.remove(&scene.at("work/link"), "a list").unwrap();
    assert!(list.exists() && !scene.at("work/link").is_symlink());
    scene.remove(&scene.at("work/own"), "own").unwrap();
    assert!(!scene.at("work/own").exists());
    assert!(scene.remove(&scene.at("work/none/own"), "own").is_err());
    assert!(!scene.at("work/none").exists());
}

#[test]
fn ordinary_writes_go_on() {
    let scene = Scene::new();
    scene.link("own", "work/link");
    scene.put(&scene.at("work/link"), Some("own"), "2").unwrap();
    scene.put(&scene.at("work/a/b/c"), None, "new").unwrap();
    assert!(scene.at("work/link").is_symlink());
    assert_eq!(std::fs::read_to_string(scene.at("work/own")).unwrap(), "2");
    assert_eq!(std::fs::read_to_string(scene.at("work/a/b/c")).unwrap(), "new");
    assert!(scene.put(&scene.at("work/own"), Some("own"), "3").unwrap_err().contains("work/own changed"));
    // A permission of the user takes effect at once.
    let notes = scene.at("home/notes");
    scene.reach.access().change(|map| map.writable.push(notes.clone()));
    scene.put(&notes.join("list"), Some("a list"), "longer").unwrap();
    let left: Vec<_> = std::fs::read_dir(scene.at("work")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".omp-")), "{left:?}");
}

#[test]
fn other_names_of_a_file_keep_what_they_held() {
    let scene = Scene::new();
    let list = scene.at("home/notes/list");
    std::fs::hard_link(&list, scene.at("work/hard")).unwrap();
    scene.put(&scene.at("work/hard"), Some("a list"), "changed").unwrap();
    assert_eq!(std::fs::read_to_string(scene.at("work/hard")).unwrap(), "changed");
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "a list");
    std::fs::hard_link(&list, scene.at("work/again")).unwrap();
    assert!(scene.reach.writable(&scene.at("work/again")).unwrap_err().to_string().contains("other names"));
}

/// Runs `work` while another thread swaps a path between two targets.
fn while_swapped(path: &Path, targets: [&Path; 2], mut work: impl FnMut()) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let aside = path.with_extension("aside");
            for target in targets.iter().cycle() {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                let _ = symlink(target, &aside);
                let _ = std::fs::rename(&aside, path);
            }
        });
        (0..3000).for_each(|_| work());
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_link_that_is_swapped_never_shows_what_is_hidden() {
    let scene = Scene::new();
    let link = scene.at("work/swapped");
    scene.link(scene.at("work/own"), "work/swapped");
    let (mut read, mut refused) = (0, 0);
    while_swapped(&link, [&scene.at("work/own"), &scene.at("home/keys/id")], || match scene.reach.read_whole(&link) {
        Ok(bytes) => {
            assert_eq!(bytes, b"own");
            read += 1;
        }
        Err(_) => refused += 1,
    });
    assert!(read > 0 && refused > 0, "both were met: {read} {refused}");
}

#[test]
fn a_folder_that_is_swapped_never_takes_a_file_elsewhere() {
    let scene = Scene::new();
    let link = scene.at("work/swapped");
    scene.link(scene.at("work/sub"), "work/swapped");
    let mut written = 0;
    let mut next = 0;
    while_swapped(&link, [&scene.at("work/sub"), &scene.at("home/notes")], || {
        next += 1;
        written += usize::from(scene.put(&link.join(format!("new-{next}")), None, "x").is_ok());
    });
    assert!(written > 0);
    let elsewhere: Vec<_> =
        std::fs::read_dir(scene.at("home/notes")).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(elsewhere, ["list"]);
    assert_eq!(std::fs::read_dir(scene.at("work/sub")).unwrap().count(), written);
}
