//! Tests: changes are applied completely or not at all, and the metadata of files is kept.

use std::fs;

use super::*;

fn plan(path: &Path, expected: Option<&str>, content: &str) -> EditPlan {
    EditPlan {
        path: path.into(),
        expected: expected.map(|text| text.as_bytes().to_vec()),
        content: content.as_bytes().to_vec(),
        executable: false,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn creates_and_replaces_without_leftovers() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("deep/er/b"));
    fs::write(&a, "old").unwrap();
    commit(&[plan(&a, Some("old"), "new"), plan(&b, None, "made")]).unwrap();
    assert_eq!((fs::read_to_string(&a).unwrap(), fs::read_to_string(&b).unwrap()), ("new".into(), "made".into()));
    assert_eq!(names(folder.path()), ["a", "deep"]);
    assert_eq!(names(&folder.path().join("deep/er")), ["b"]);
}

#[test]
fn a_change_by_somebody_else_stops_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&a, "a").unwrap();
    fs::write(&b, "changed").unwrap();
    let error = commit(&[plan(&a, Some("a"), "A"), plan(&b, Some("b"), "B")]).unwrap_err();
    assert!(matches!(&error, CommitError::Changed(path) if *path == b), "{error}");
    assert_eq!(fs::read_to_string(&a).unwrap(), "a");
    let error = commit(&[plan(&a, None, "A")]).unwrap_err();
    assert!(matches!(error, CommitError::Changed(_)), "{error}");
    let error = commit(&[plan(&folder.path().join("gone"), Some("x"), "y")]).unwrap_err();
    assert!(matches!(error, CommitError::Changed(_)), "{error}");
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_others_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (a, blocked) = (folder.path().join("a"), folder.path().join("a/below"));
    fs::write(&a, "a").unwrap();
    let fresh = folder.path().join("new/folder/c");
    commit(&[plan(&a, Some("a"), "A"), plan(&fresh, None, "c"), plan(&blocked, None, "x")]).unwrap_err();
    assert_eq!(fs::read_to_string(&a).unwrap(), "a");
    assert_eq!(names(folder.path()), ["a"], "made folders are taken back");
}

/// The same file twice: the second comparison finds the content of the first plan, after staging had succeeded.
#[test]
fn what_was_already_placed_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&a, "a").unwrap();
    let plans = [plan(&a, Some("a"), "A"), plan(&b, None, "B"), plan(&a, Some("a"), "other")];
    assert!(matches!(commit(&plans), Err(CommitError::Changed(_))));
    assert_eq!(fs::read_to_string(&a).unwrap(), "a");
    assert_eq!(names(folder.path()), ["a"]);
}

#[test]
fn folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = commit(&[plan(folder.path(), None, "x")]).unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::ordinary_user::as_ordinary_user;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn modes_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link, hard) = (folder.path().join("real"), folder.path().join("link"), folder.path().join("hard"));
        fs::write(&real, "longer than the next").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o750)).unwrap();
        symlink("real", &link).unwrap();
        fs::hard_link(&real, &hard).unwrap();
        commit(&[plan(&link, Some("longer than the next"), "one")]).unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            (fs::read_to_string(&real).unwrap(), fs::read_to_string(&hard).unwrap()),
            ("one".into(), "one".into())
        );
        assert_eq!(mode(&real), 0o750);
        fs::remove_file(&hard).unwrap();
        commit(&[plan(&link, Some("one"), "two")]).unwrap();
        assert!(link.is_symlink());
        assert_eq!((fs::read_to_string(&real).unwrap(), mode(&real)), ("two".into(), 0o750));
    }

    #[test]
    fn dangling_links_make_their_target_and_loops_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, ring) = (folder.path().join("link"), folder.path().join("ring"));
        symlink("sub/target", &link).unwrap();
        commit(&[plan(&link, None, "x")]).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("sub/target")).unwrap(), "x");
        symlink("ring", &ring).unwrap();
        let error = commit(&[plan(&ring, None, "x")]).unwrap_err().to_string();
        assert!(error.contains("links"), "{error}");
    }

    #[test]
    fn new_files_follow_the_mask_and_scripts_can_run() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, script) = (folder.path().join("plain"), folder.path().join("script"));
        let witness = folder.path().join("witness");
        fs::write(&witness, "").unwrap();
        commit(&[plan(&plain, None, "x"), EditPlan { executable: true, ..plan(&script, None, "#!/bin/sh") }]).unwrap();
        assert_eq!(mode(&plain), mode(&witness));
        assert_eq!(mode(&script) & 0o100, 0o100);
        commit(&[EditPlan { executable: true, ..plan(&plain, Some("x"), "#!") }]).unwrap();
        assert_eq!(mode(&plain) & 0o100, 0o100);
    }

    #[test]
    fn pipes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = commit(&[plan(&pipe, None, "x")]).unwrap_err().to_string();
        assert!(error.contains("pipe"), "{error}");
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The folder is writable: replacing the file by a new one would work, but must not be done.
    #[test]
    fn read_only_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o777);
        let (locked, other) = (folder.path().join("locked"), folder.path().join("other"));
        fs::write(&locked, "x").unwrap();
        set_mode(&locked, 0o444);
        let plans = [plan(&other, None, "new"), plan(&locked, Some("x"), "y")];
        let error = as_ordinary_user(|| commit(&plans)).unwrap_err().to_string();
        assert!(error.contains("permission denied"), "{error}");
        assert_eq!((fs::read_to_string(&locked).unwrap(), mode(&locked)), ("x".into(), 0o444));
        assert_eq!(names(folder.path()), ["locked"]);
    }

    #[test]
    fn a_closed_folder_is_written_in_place() {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o755);
        let closed = folder.path().join("closed");
        fs::create_dir(&closed).unwrap();
        let (file, new) = (closed.join("a"), closed.join("b"));
        fs::write(&file, "longer").unwrap();
        set_mode(&file, 0o666);
        let before = fs::metadata(&file).unwrap().ino();
        set_mode(&closed, 0o555);
        let replaced = as_ordinary_user(|| commit(&[plan(&file, Some("longer"), "y")]));
        let made = as_ordinary_user(|| commit(&[plan(&new, None, "z")]));
        set_mode(&closed, 0o755);
        replaced.unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "y");
        assert_eq!(fs::metadata(&file).unwrap().ino(), before, "the same file, not a new one");
        let error = made.unwrap_err().to_string();
        assert!(error.contains("permission denied"), "{error}");
        assert_eq!(names(&closed), ["a"]);
    }
}
