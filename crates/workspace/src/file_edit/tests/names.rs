//! Tests of two names for one file in one call, and of names that only look the same.

use super::*;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("dir")).unwrap();
        fs::write(folder.path().join("f"), "one\ntwo\nthree\n").unwrap();
        Self { folder }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("f")).unwrap()
    }

    fn carry_out(edits: Vec<FileEdit>) -> Result<Vec<String>, String> {
        commit_changes(edits.iter().flat_map(FileEdit::changes).collect()).map_err(|error| error.to_string())?;
        Ok(edits.into_iter().flat_map(|edit| edit.warnings).collect())
    }

    /// Edits line 1 under the first name and line 3 under the second.
    fn hashline(&self, first: &str, second: &str) -> Result<Vec<String>, String> {
        let paths = PathResolver::new(self.folder.path(), None);
        let tag = TextFile::parse(self.text().into_bytes()).tag();
        let patch = hashline::parse(&format!("[{first}#{tag}]\n1:1\n[{second}#{tag}]\n3:3")).unwrap();
        let planner = HashlinePlanner { files: &paths, seen: &|_, _| None, options: HashlineOptions::default() };
        Self::carry_out(planner.plan(patch).map_err(|error| error.to_string())?)
    }

    fn patch(&self, body: &str) -> Result<Vec<String>, String> {
        Self::carry_out(self.plan_patch(body)?)
    }

    #[cfg(unix)]
    fn planned(&self, body: &str) -> Vec<crate::FileChange> {
        self.plan_patch(body).unwrap().iter().flat_map(FileEdit::changes).collect()
    }

    fn plan_patch(&self, body: &str) -> Result<Vec<FileEdit>, String> {
        let paths = PathResolver::new(self.folder.path(), None);
        let ops = parse_envelope(&format!("*** Begin Patch\n{body}\n*** End Patch")).unwrap();
        let planner = PatchPlanner { files: &paths, last_seen: &|_: &Path| None, rules: EditRules::default() };
        planner.plan(&ops).map_err(|error| error.to_string())
    }
}

fn both(first: &str, second: &str) -> String {
    format!("*** Update File: {first}\n@@\n-one\n+1\n*** Update File: {second}\n@@\n-three\n+3")
}

#[test]
fn spellings_of_one_path_are_one_file() {
    for second in ["./f", "dir/../f", "f"] {
        let bench = Bench::new();
        assert_eq!(bench.hashline("f", second), Ok(Vec::new()));
        assert_eq!(bench.text(), "1\ntwo\n3\n", "{second}");
        let bench = Bench::new();
        assert_eq!(bench.patch(&both("f", second)), Ok(Vec::new()));
        assert_eq!(bench.text(), "1\ntwo\n3\n", "{second}");
    }
    let bench = Bench::new();
    let absolute = bench.folder.path().join("f").to_str().unwrap().to_owned();
    bench.hashline(&absolute, "f").unwrap();
    assert_eq!(bench.text(), "1\ntwo\n3\n");
}

#[test]
fn a_name_that_folds_into_another_is_told_by_hashline_too() {
    let bench = Bench::new();
    fs::write(bench.folder.path().join("caf\u{e9}"), "x\n").unwrap();
    let paths = PathResolver::new(bench.folder.path(), None);
    let planner = HashlinePlanner { files: &paths, seen: &|_, _| None, options: HashlineOptions::default() };
    let plan = |patch: &str| planner.plan(hashline::parse(patch).unwrap());
    let made = plan("[cafe\u{301}]\nBOF↓y").unwrap();
    assert!(made[0].warnings[0].contains("next to caf\u{e9}"), "{:?}", made[0].warnings);
    let missing = plan("[F#1a2b]\n1:x").map(drop).unwrap_err().to_string();
    assert!(missing.starts_with("File not found: F\nhint: there is f,"), "{missing}");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    fn linked() -> [(Bench, &'static str); 3] {
        let [soft, hard, through] = [Bench::new(), Bench::new(), Bench::new()];
        symlink("f", soft.folder.path().join("other")).unwrap();
        fs::hard_link(hard.folder.path().join("f"), hard.folder.path().join("other")).unwrap();
        symlink(".", through.folder.path().join("here")).unwrap();
        [(soft, "other"), (hard, "other"), (through, "here/f")]
    }

    #[test]
    fn hashline_takes_two_names_for_the_one_file_they_are() {
        for (bench, other) in linked() {
            let warnings = bench.hashline("f", other).unwrap();
            assert_eq!(bench.text(), "1\ntwo\n3\n", "{other}");
            assert_eq!(warnings, [format!("f and {other} are two names of one file; their operations were combined.")]);
            assert_eq!(fs::read_to_string(bench.folder.path().join(other)).unwrap(), "1\ntwo\n3\n");
        }
    }

    #[test]
    fn hashline_refuses_to_change_a_line_twice_under_two_names() {
        for (bench, other) in linked() {
            let paths = PathResolver::new(bench.folder.path(), None);
            let tag = TextFile::parse(bench.text().into_bytes()).tag();
            let patch = hashline::parse(&format!("[f#{tag}]\n1:a\n[{other}#{tag}]\n1:b")).unwrap();
            let planner = HashlinePlanner { files: &paths, seen: &|_, _| None, options: HashlineOptions::default() };
            let error = planner.plan(patch).map(drop).unwrap_err().to_string();
            assert!(error.contains("already targeted"), "{other}: {error}");
        }
    }

    #[test]
    fn patches_refuse_two_names_of_one_file() {
        for (bench, other) in linked() {
            // Another name of the folder leads to the same directory entry, which is recognized as one file.
            if other == "here/f" {
                bench.patch(&both("f", other)).unwrap();
                assert_eq!(bench.text(), "1\ntwo\n3\n");
                continue;
            }
            for body in [
                both("f", other),
                both(other, "f"),
                format!("*** Delete File: {other}\n*** Update File: f\n@@\n-one\n+1"),
            ] {
                let error = bench.patch(&body).unwrap_err();
                assert!(error.contains("are two names of one file; nothing was written"), "{body}: {error}");
                assert_eq!(bench.text(), "one\ntwo\nthree\n");
            }
        }
    }

    #[test]
    fn a_hard_link_keeps_its_file() {
        let bench = Bench::new();
        let path = |name: &str| bench.folder.path().join(name);
        fs::hard_link(path("f"), path("other")).unwrap();
        bench.patch("*** Update File: other\n@@\n-two\n+2").unwrap();
        assert_eq!(bench.text(), "one\n2\nthree\n");
        assert_eq!(fs::metadata(path("f")).unwrap().ino(), fs::metadata(path("other")).unwrap().ino());
        bench.patch("*** Delete File: other").unwrap();
        assert_eq!((bench.text(), path("other").exists()), ("one\n2\nthree\n".into(), false));
    }

    /// While planned edits are written, another thread keeps swapping the file for a link to the same content outside the
    /// folder and back.
    #[test]
    fn a_link_that_comes_and_goes_never_leads_an_edit_outside() {
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("secret");
        fs::write(&secret, "one\ntwo\nthree\n").unwrap();
        for hard in [false, true] {
            let bench = Bench::new();
            let path = |name: &str| bench.folder.path().join(name);
            if hard {
                fs::hard_link(path("f"), path("second")).unwrap();
            }
            let there = bench.planned("*** Update File: f\n@@\n-two\n+2");
            commit_changes(there.clone()).unwrap();
            let back = bench.planned("*** Update File: f\n@@\n-2\n+two");
            commit_changes(back.clone()).unwrap();
            symlink(&secret, path("link")).unwrap();
            std::thread::scope(|scope| {
                let swapper = scope.spawn(|| (0..200).for_each(|_| swap(bench.folder.path(), &secret)));
                while !swapper.is_finished() {
                    let _ = commit_changes(there.clone());
                    let _ = commit_changes(back.clone());
                }
                swapper.join().unwrap();
            });
            assert_eq!(fs::read_to_string(&secret).unwrap(), "one\ntwo\nthree\n");
            assert!(["one\ntwo\nthree\n", "one\n2\nthree\n"].contains(&bench.text().as_str()));
        }
    }

    fn swap(folder: &Path, secret: &Path) {
        let path = |name: &str| folder.join(name);
        fs::rename(path("f"), path("kept")).unwrap();
        fs::rename(path("link"), path("f")).unwrap();
        fs::rename(path("f"), path("link")).unwrap();
        // An edit may have replaced the link itself.
        if !path("link").is_symlink() {
            fs::remove_file(path("link")).unwrap();
            symlink(secret, path("link")).unwrap();
        }
        fs::rename(path("kept"), path("f")).unwrap();
    }
}
