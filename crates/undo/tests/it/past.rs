//! Tests that contents which git had before are distinguished from those added later to any git file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_types::{Past, PastVersion};
use omp_undo::open_past;

use crate::git::git;

struct Scene(tempfile::TempDir);

/// Three branches: `.envrc` differs, `.husky` and `.mcp.json` are on one of them, a stash and an older branch hold more.
const MAKE: &str = "git init -q -b main . && echo one > .envrc && echo x > a && git add . && git commit -qm one \
    && git checkout -qb other && echo two > .envrc && mkdir -p .husky/deep && echo h > .husky/pre-commit && chmod +x .husky/pre-commit \
    && echo d > .husky/deep/d && echo '{}' > .mcp.json && ln -s a .omp && git add . && git commit -qm two \
    && git tag -am t v1 && git checkout -q main && echo three > .envrc && git commit -qam three \
    && echo older > .envrc && git stash -q && echo newer > .envrc && git stash -q && echo staged > .envrc && git add .envrc";

const PLACES: &[&str] = &[".envrc", ".husky", ".mcp.json", ".omp", "a"];

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        fs::create_dir(scene.at("")).unwrap();
        git(&scene.at(""), MAKE);
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("work").join(path)
    }

    fn past(&self) -> Arc<dyn Past> {
        self.past_in("")
    }

    fn past_in(&self, folder: &str) -> Arc<dyn Past> {
        let places: Vec<PathBuf> = PLACES.iter().map(|place| self.at(folder).join(place)).collect();
        open_past(&self.at(folder), &places).unwrap()
    }
}

fn file(text: &str) -> PastVersion<'_> {
    PastVersion::File { bytes: text.as_bytes(), is_executable: false }
}

#[track_caller]
fn check(past: &Arc<dyn Past>, top: &Path, rows: &[(&str, PastVersion<'_>, bool)]) {
    for (path, version, expect) in rows {
        let until = Instant::now() + Duration::from_secs(60);
        assert_eq!(past.had(&top.join(path), *version, until), *expect, "{path} {version:?}");
    }
}

const HOOK: PastVersion<'_> = PastVersion::File { bytes: b"h\n", is_executable: true };

#[test]
fn what_any_ref_reaches_is_known_and_nothing_else() {
    for pack in ["true", "git gc -q", "git pack-refs --all", "git repack -adfq --depth=50"] {
        let scene = Scene::new();
        git(&scene.at(""), pack);
        let past = scene.past();
        let rows = [
            (".envrc", file("one\n"), true),
            (".envrc", file("two\n"), true),
            (".envrc", file("three\n"), true),
            (".envrc", file("older\n"), true),
            (".envrc", file("newer\n"), true),
            (".envrc", file("staged\n"), true),
            (".envrc", file("evil\n"), false),
            (".envrc", PastVersion::File { bytes: b"one\n", is_executable: true }, false),
            (".envrc", PastVersion::Nothing, false),
            (".envrc", PastVersion::Folder, false),
            (".mcp.json", PastVersion::Nothing, true),
            (".mcp.json", file("{}\n"), true),
            // Exists only at another path.
            (".mcp.json", file("one\n"), false),
            (".husky", PastVersion::Folder, true),
            (".husky", PastVersion::Nothing, true),
            (".husky/pre-commit", HOOK, true),
            (".husky/pre-commit", file("h\n"), false),
            (".husky/pre-push", HOOK, false),
            (".husky/deep/d", file("d\n"), true),
            (".husky/deep", PastVersion::Anything, true),
            (".husky/other", PastVersion::Anything, false),
            // There is a link, which is not a file with that content.
            (".omp", file("a"), false),
            (".omp", PastVersion::Anything, true),
            ("elsewhere", PastVersion::Nothing, false),
        ];
        check(&past, &scene.at(""), &rows);
        for (path, expect) in [(".envrc", true), ("a", true), (".husky", false), (".mcp.json", false)] {
            assert_eq!(past.tracks(&scene.at(path)), expect, "{path}");
        }
        git(&scene.at(""), "git reset -q --hard && git checkout -q other");
        let past = scene.past();
        for (path, expect) in [(".husky", true), (".husky/deep/d", true), (".husky/dee", false), (".omp", false)] {
            assert_eq!(past.tracks(&scene.at(path)), expect, "{path}");
        }
    }
}

#[test]
fn what_was_added_since_counts_in_no_form() {
    let evil = "echo evil > .envrc && git add .envrc";
    let forged = "f=$(git commit-tree -m f $(git write-tree))";
    for forge in [
        format!("{evil} && git commit -qm four"),
        format!("{evil} && git commit -qm four && git gc -q && git pack-refs --all"),
        format!("{evil} && {forged} && git replace main $f"),
        format!("{evil} && {forged} && echo $(git rev-parse main) $f > .git/info/grafts"),
        format!("{evil} && {forged} && git update-ref refs/heads/other $f && git stash -q"),
        // The ID of a reachable object with other content.
        format!(
            "{evil} && b=$(git rev-parse main:.envrc) && e=$(git rev-parse :.envrc) && chmod -R u+w .git/objects \
             && cp .git/objects/$(echo $e | sed 's,^..,&/,') .git/objects/$(echo $b | sed 's,^..,&/,')"
        ),
        format!(
            "{evil} && t=$(git rev-parse 'main^{{tree}}') && e=$(git write-tree) && chmod -R u+w .git/objects \
             && cp .git/objects/$(echo $e | sed 's,^..,&/,') .git/objects/$(echo $t | sed 's,^..,&/,')"
        ),
    ] {
        let scene = Scene::new();
        let past = scene.past();
        git(&scene.at(""), &forge);
        check(&past, &scene.at(""), &[(".envrc", file("evil\n"), false), (".envrc", file("two\n"), true)]);
    }
}

#[test]
fn worktrees_folders_and_repositories_of_other_kinds() {
    let scene = Scene::new();
    git(&scene.at(""), "git worktree add -q ../tree other && mkdir sub");
    let tree = scene.at("../tree").canonicalize().unwrap();
    let past = open_past(&tree, &[tree.join(".envrc"), tree.join(".husky")]).unwrap();
    assert!(past.tracks(&tree.join(".husky/pre-commit")));
    check(&past, &tree, &[(".envrc", file("three\n"), true), (".envrc", file("evil\n"), false)]);

    git(
        &scene.at(""),
        "git reset -q --hard && echo s > sub/.envrc && git add sub && git commit -qm sub && rm sub/.envrc",
    );
    let past = scene.past_in("sub");
    assert!(past.tracks(&scene.at("sub/.envrc")));
    check(&past, &scene.at("sub"), &[(".envrc", file("s\n"), true), (".envrc", file("one\n"), false)]);
    check(&past, &scene.at("sub"), &[(".envrc", PastVersion::Nothing, true)]);

    for make in [
        "true",
        "git init -q .",
        "git init -q --object-format=sha256 . && echo x > a && git add a && git commit -qm one",
    ] {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), make);
        assert!(open_past(folder.path(), &[folder.path().join("a")]).is_none(), "{make}");
    }
}

#[test]
fn time_is_kept_and_a_later_look_goes_on() {
    let scene = Scene::new();
    let past = scene.past();
    assert!(!past.had(&scene.at(".envrc"), file("two\n"), Instant::now()), "there was no time");
    check(&past, &scene.at(""), &[(".envrc", file("two\n"), true)]);
    // Known results need no further reading.
    assert!(past.had(&scene.at(".envrc"), file("two\n"), Instant::now()));
}
