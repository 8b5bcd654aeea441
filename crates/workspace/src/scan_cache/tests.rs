//! Tests of when a cached scan is used and when it must not be.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::glob::PathTarget;
use crate::path::PathResolver;
use crate::walk::Walk;

const NEVER: StopCheck<'static> = &|| false;
const LONG: Duration = Duration::from_secs(600);
/// Scans stay cached until they are invalidated.
const STEADY: ScanPolicy = ScanPolicy { ttl: LONG, empty_recheck: LONG, max_scans: 16, max_entries: 1000 };

struct Scene {
    folder: tempfile::TempDir,
    scans: ScanCache,
}

impl Scene {
    fn new(policy: ScanPolicy) -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap(), scans: ScanCache::new(policy) };
        scene.write("src/a.rs");
        scene.write("lib/b.rs");
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn walk(&self, typed: &str) -> Walk {
        let target = PathTarget::parse(typed, &PathResolver::new(self.folder.path(), None)).unwrap();
        Walk { targets: vec![target], hidden: true, gitignore: true }
    }

    /// Returns the number of files, and whether it comes from a cached scan.
    fn count(&self, typed: &str) -> (usize, bool) {
        let newest = self.walk(typed).newest(100, &self.scans, NEVER, &|_| {});
        (newest.total, newest.report.cached_for.is_some())
    }
}

#[test]
fn the_second_question_needs_no_walk() {
    let scene = Scene::new(STEADY);
    assert_eq!(scene.count("."), (2, false));
    assert_eq!(scene.count("*.rs"), (2, true), "another glob of the same folder");
    scene.write("src/c.rs");
    assert_eq!(scene.count("."), (2, true), "nobody told of the new file");
    assert_eq!(scene.count("src"), (2, false), "another folder");
    let without_hidden = Walk { hidden: false, ..scene.walk(".") };
    let report = |walk: &Walk| walk.newest(9, &scene.scans, NEVER, &|_| {}).report;
    assert!(report(&without_hidden).cached_for.is_none());
    assert!(report(&Walk { gitignore: false, ..scene.walk(".") }).cached_for.is_none());
    assert!(report(&without_hidden).cached_for.is_some());
}

#[test]
fn writes_below_or_above_a_scan_end_it() {
    for (changed, root_kept, src_kept) in [
        ("src/new.rs", false, false),
        ("lib/deep/not/there", false, true),
        ("src", false, false),
        (".gitignore", false, false),
        ("lib/.ignore", false, true),
        ("../elsewhere", true, true),
        ("srcs", false, true),
    ] {
        let scene = Scene::new(STEADY);
        scene.count(".");
        scene.count("src");
        scene.scans.invalidate(&scene.at(changed));
        assert_eq!((scene.count(".").1, scene.count("src").1), (root_kept, src_kept), "{changed}");
    }
    let scene = Scene::new(STEADY);
    scene.count(".");
    scene.scans.clear();
    assert!(!scene.count(".").1);
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_same_scan() {
    let scene = Scene::new(STEADY);
    std::os::unix::fs::symlink("src", scene.at("link")).unwrap();
    assert_eq!(scene.count("src"), (1, false));
    assert_eq!(scene.count("link"), (1, true));
    let newest = scene.walk("link").newest(9, &scene.scans, NEVER, &|_| {});
    assert_eq!(newest.files, [scene.at("link/a.rs")], "shown as it was asked for");
    scene.scans.invalidate(&scene.at("link/new.rs"));
    assert!(!scene.count("src").1);
}

#[test]
fn time_ends_a_scan() {
    for ttl in [Duration::ZERO, Duration::from_nanos(1)] {
        let scene = Scene::new(ScanPolicy { ttl, ..STEADY });
        scene.count(".");
        scene.write("new");
        assert_eq!(scene.count("."), (3, false), "{ttl:?}");
    }
}

#[test]
fn nothing_is_asked_again_when_the_scan_is_old_enough() {
    for (empty_recheck, expect) in [(Duration::ZERO, (1, false)), (LONG, (0, true))] {
        let scene = Scene::new(ScanPolicy { empty_recheck, ..STEADY });
        assert_eq!(scene.count("*.md"), (0, false));
        scene.write("new.md");
        assert_eq!(scene.count("*.md"), expect);
    }
}

#[test]
fn only_so_many_are_kept() {
    let scene = Scene::new(ScanPolicy { max_scans: 2, ..STEADY });
    for typed in [".", "src", "lib"] {
        scene.count(typed);
    }
    assert!(scene.count("lib").1 && scene.count("src").1 && !scene.count(".").1, "the oldest went");
}

#[test]
fn a_walk_that_was_overtaken_by_a_write_is_not_kept() {
    let scene = Scene::new(STEADY);
    let told = |_: &Met<'_>| scene.scans.invalidate(&scene.at("src/a.rs"));
    scene.walk(".").newest(9, &scene.scans, NEVER, &told);
    assert!(!scene.count(".").1);
}

#[test]
fn walks_that_end_early_say_so_and_are_not_kept() {
    let scene = Scene::new(ScanPolicy { max_entries: 3, ..STEADY });
    let newest = scene.walk(".").newest(9, &scene.scans, NEVER, &|_| {});
    assert!(newest.report.capped && newest.total <= 2, "{newest:?}");
    assert!(!scene.count(".").1);
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 1;
    assert!(scene.walk(".").newest(9, &scene.scans, &stop, &|_| {}).report.stopped);
}

#[test]
fn replays_stop_when_told() {
    let scene = Scene::new(STEADY);
    scene.count(".");
    let newest = scene.walk(".").newest(9, &scene.scans, &|| true, &|_| {});
    assert!(newest.report.stopped && newest.report.cached_for.is_some(), "{newest:?}");
}

/// Returns the entries that a walk visits, sorted; folders end with a slash.
fn walked(
    root: &Path,
    key: &ScanKey,
    limits: ScanLimits,
    slow: bool,
    stop: StopCheck<'_>,
) -> (Vec<String>, WalkReport) {
    let all = Mutex::new(Vec::new());
    let make = || {
        let visitor = |met: &Met<'_>| {
            assert_eq!(*met.path(), *root.join(&met.entry.relative));
            let slash = if met.entry.is_folder { "/" } else { "" };
            all.lock().unwrap().push(format!("{}{slash}", met.entry.relative.display()));
        };
        Box::new(visitor) as Box<dyn FnMut(&Met<'_>) + Send + '_>
    };
    let visit = Visit { slow, wants: &|_| true, make: &make };
    let (_, report) = FolderScan::walk(root, key, limits, stop, &visit);
    let mut all = all.into_inner().unwrap();
    all.sort();
    (all, report)
}

/// No folder is set aside.
const PLAIN: ScanLimits = ScanLimits { max_entries: 1000, room: 1000, enormous: u64::MAX };
/// Every folder is set aside.
const ALL_ASIDE: ScanLimits = ScanLimits { enormous: 0, ..PLAIN };

#[test]
fn enormous_folders_are_walked_by_the_same_rules() {
    let scene = Scene::new(STEADY);
    for path in ["src/.hidden/x", "src/deep/keep.log", "src/deep/no.log", "out/lib/y", ".git/config", "lib/.git/z"] {
        scene.write(path);
    }
    fs::write(scene.at(".gitignore"), "*.log\n/out\n").unwrap();
    fs::write(scene.at("src/deep/.ignore"), "!keep.log\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("src", scene.at("link")).unwrap();
    let small = ScanLimits { room: 3, ..ALL_ASIDE };
    for (hidden, gitignore) in [(true, true), (true, false), (false, true), (false, false)] {
        for root in ["", "src", "src/deep"] {
            let root = scene.at(root);
            let root = root.components().as_path();
            let key = ScanKey::new(root, hidden, gitignore);
            let (expect, _) = walked(root, &key, PLAIN, true, NEVER);
            assert!(!expect.is_empty());
            for (limits, slow) in [(PLAIN, false), (ALL_ASIDE, true), (ALL_ASIDE, false), (small, true), (small, false)]
            {
                let (found, report) = walked(root, &key, limits, slow, NEVER);
                assert_eq!(found, expect, "{root:?} {hidden} {gitignore} {limits:?} {slow}");
                assert_eq!(report, WalkReport::default());
            }
        }
    }
}

#[test]
fn an_enormous_folder_is_left_at_once_when_told() {
    let scene = Scene::new(STEADY);
    (0..200).for_each(|number| scene.write(&format!("src/{number}")));
    let key = ScanKey::new(&scene.at("src"), true, true);
    for slow in [true, false] {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 20;
        let (found, report) = walked(&scene.at("src"), &key, ALL_ASIDE, slow, &stop);
        assert!(report.stopped && found.len() <= 20, "{found:?}");
        // The check runs before each name; after it returned true, each thread may call it once more.
        assert!(asked.into_inner() <= 21 + crate::walk::threads());
    }
    let few = ScanLimits { max_entries: 10, ..ALL_ASIDE };
    let (found, report) = walked(&scene.at("src"), &key, few, false, NEVER);
    assert!(report.capped && found.len() == 10, "{found:?}");
}
