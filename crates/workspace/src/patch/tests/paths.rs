//! Tests of misleading paths: each is refused or resolved to the file that it really refers to.

use super::*;

fn add(path: &str) -> FileOp {
    FileOp { path: path.into(), op: PatchOp::Create { content: "x\n".into() } }
}

#[test]
fn names_that_fold_into_each_other_are_told() {
    let bench = Bench::new(&[("caf\u{e9}", b"1\n"), ("Makefile", b"2\n")]);
    for (name, real) in [("cafe\u{301}", "caf\u{e9}"), ("makefile", "Makefile")] {
        let missing = bench.plan(&[FileOp { path: name.into(), op: PatchOp::Delete }]).unwrap_err();
        assert!(missing.contains(&format!("there is {real}")), "{missing}");
        let made = bench.plan(&[add(name)]).unwrap();
        assert!(made[0].warnings[0].contains(&format!("next to {real}")), "{:?}", made[0].warnings);
    }
}

#[test]
fn dots_and_absolute_paths_lead_where_they_say() {
    let bench = Bench::new(&[("app/in", b"1\n"), ("app-evil/out", b"2\n")]);
    let root = bench.folder.path().canonicalize().unwrap();
    let paths = PathResolver::new(root.join("app"), None);
    let planner = PatchPlanner { files: &paths, last_seen: &|_: &Path| None, rules: EditRules::default() };
    let absolute = root.join("app/in").to_str().unwrap().to_owned();
    for (typed, display, inside) in [
        ("in", "in", true),
        ("./x/../in", "in", true),
        (absolute.as_str(), "in", true),
        ("../app-evil/out", "", false),
        ("../app/../app-evil/out", "", false),
    ] {
        let planned = planner.plan(&[FileOp { path: typed.into(), op: PatchOp::Delete }]).unwrap();
        assert_eq!(paths.is_inside(&planned[0].path.absolute), inside, "{typed}");
        let evil = root.join("app-evil/out").to_str().unwrap().to_owned();
        assert_eq!(planned[0].path.display, if inside { display } else { &evil }, "{typed}");
    }
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Between planning and writing, the file is replaced by a link to a file with the same content.
    #[test]
    fn a_file_swapped_for_a_link_is_refused() {
        let bench = Bench::new(&[("f", b"a\n"), ("g", b"1\n")]);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "a\n").unwrap();
        let swap = || {
            fs::remove_file(bench.folder.path().join("f")).unwrap();
            symlink(outside.path().join("secret"), bench.folder.path().join("f")).unwrap();
        };
        let mut update_g = update("@@\n-1\n+2").unwrap();
        update_g.path = "g".into();
        let edits = bench.plan(&[update_g, update("@@\n-a\n+b").unwrap()]).unwrap();
        swap();
        let changes = edits.iter().flat_map(FileEdit::changes).collect();
        let error = commit_changes(changes).unwrap_err().to_string();
        assert!(error.contains("points to another place"), "{error}");
        assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "a\n");
        assert_eq!(fs::read_to_string(bench.folder.path().join("g")).unwrap(), "1\n");
    }

    #[test]
    fn a_folder_swapped_for_a_link_is_refused() {
        let bench = Bench::new(&[("dir/f", b"a\n")]);
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("f"), "a\n").unwrap();
        let ops = [
            vec![FileOp { path: "dir/new".into(), op: PatchOp::Create { content: "x".into() } }],
            vec![FileOp { path: "dir/f".into(), op: PatchOp::Delete }],
        ];
        let planned: Vec<_> = ops.iter().map(|ops| bench.plan(ops).unwrap()).collect();
        fs::rename(bench.folder.path().join("dir"), bench.folder.path().join("old")).unwrap();
        symlink(outside.path(), bench.folder.path().join("dir")).unwrap();
        for edits in planned {
            let error = commit_changes(edits[0].changes()).unwrap_err().to_string();
            assert!(error.contains("points to another place"), "{error}");
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }

    /// A dangling link that points outside is treated as outside.
    #[test]
    fn a_dangling_link_is_outside() {
        let bench = Bench::new(&[]);
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().canonicalize().unwrap().join("new");
        symlink(&target, bench.folder.path().join("link")).unwrap();
        let paths = PathResolver::new(bench.folder.path(), None);
        assert!(!paths.is_inside(&bench.folder.path().join("link")));
        assert_eq!(crate::real_location(&bench.folder.path().join("link")), target);
        symlink("ring", bench.folder.path().join("ring")).unwrap();
        let error = bench.plan(&[add("ring")]).and_then(|_| bench.carry_out(&[add("ring")])).unwrap_err();
        assert!(error.contains("links") || error.contains("ring"), "{error}");
    }

    /// If a later step fails, a deleted file is restored with its metadata.
    #[test]
    fn a_removal_is_undone() {
        let bench = Bench::new(&[("gone", b"1\n"), ("f", b"a\n")]);
        let path = bench.folder.path().join("gone");
        let before = {
            use std::os::unix::fs::MetadataExt;
            fs::metadata(&path).unwrap().ino()
        };
        let edits = bench.plan(&[FileOp { path: "gone".into(), op: PatchOp::Delete }]).unwrap();
        let mut changes = edits[0].changes();
        // The same removal twice: it passes the first check and fails the second.
        changes.extend(edits[0].changes());
        let error = commit_changes(changes).unwrap_err().to_string();
        assert!(error.contains("changed while the edit"), "{error}");
        let after = {
            use std::os::unix::fs::MetadataExt;
            fs::metadata(&path).unwrap().ino()
        };
        assert_eq!((before, fs::read_to_string(&path).unwrap()), (after, "1\n".to_owned()));
        assert_eq!(bench.files().len(), 2, "no leftovers");
    }
}
