//! Overview of a project's files: a tree as deep as fits into a few lines, without ignored and hidden files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use omp_stdx::{format, sanitize};

#[derive(Clone, Copy, Debug)]
pub struct TreeLimits {
    /// Number of levels below the folder.
    pub depth: usize,
    /// Maximum number of entries shown per folder.
    pub entries: usize,
    pub lines: usize,
    /// Maximum number of entries read; a larger project is shown with fewer levels.
    pub scanned: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { depth: 3, entries: 12, lines: 120, scanned: 4_000 }
    }
}

/// Maximum number of characters shown of a name.
const LONGEST_NAME: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectTree {
    /// One line per entry, indented by level.
    pub lines: Vec<String>,
    /// Whether entries other than ignored and hidden files were left out.
    pub cut: bool,
}

/// Returns the deepest tree that fits the limits and the available time. Links are listed and not followed.
pub fn project_tree(folder: &Path, limits: TreeLimits, is_over: &dyn Fn() -> bool) -> ProjectTree {
    let mut best = ProjectTree::default();
    for depth in 1..=limits.depth {
        let scan = scan(folder, depth, limits.scanned, is_over);
        let mut tree = ProjectTree { lines: Vec::new(), cut: scan.cut };
        add(&scan, Path::new(""), limits, 0, &mut tree);
        let fits = tree.lines.len() <= limits.lines && !scan.cut;
        if depth > 1 && !fits {
            best.cut = true;
            break;
        }
        tree.cut |= depth == limits.depth && scan.has_deeper_folders;
        best = tree;
        if !fits {
            best.lines.truncate(limits.lines);
            best.cut = true;
            break;
        }
    }
    best
}

struct TreeListing {
    /// Entries by folder (relative to the root): whether the entry is a folder (folders first), and its name.
    folders: BTreeMap<PathBuf, Vec<(bool, String)>>,
    cut: bool,
    has_deeper_folders: bool,
}

/// Lists entries in disk order: sorting a folder would mean reading all of it, however large it is.
fn scan(root: &Path, depth: usize, most: usize, is_over: &dyn Fn() -> bool) -> TreeListing {
    // As in searches, ignore files above the root do not apply outside a repository.
    let in_repository = root.ancestors().any(|folder| folder.join(".git").exists());
    let walk = WalkBuilder::new(root).require_git(in_repository).parents(in_repository).max_depth(Some(depth)).build();
    let mut scan = TreeListing { folders: BTreeMap::new(), cut: false, has_deeper_folders: false };
    for (number, entry) in walk.flatten().filter(|entry| entry.depth() > 0).enumerate() {
        if number >= most || is_over() {
            scan.cut = true;
            break;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        scan.has_deeper_folders |= is_folder && entry.depth() == depth;
        let Ok(relative) = entry.path().strip_prefix(root) else { continue };
        let parent = relative.parent().unwrap_or(Path::new("")).to_owned();
        scan.folders.entry(parent).or_default().push((!is_folder, entry.file_name().to_string_lossy().into_owned()));
    }
    for entries in scan.folders.values_mut() {
        entries.sort();
    }
    scan
}

fn add(scan: &TreeListing, folder: &Path, limits: TreeLimits, level: usize, tree: &mut ProjectTree) {
    let Some(entries) = scan.folders.get(folder) else { return };
    let indent = "  ".repeat(level);
    for (is_file, name) in entries.iter().take(limits.entries) {
        let slash = if *is_file { "" } else { "/" };
        tree.lines.push(format!("{indent}{}{slash}", shown(name)));
        if !is_file {
            add(scan, &folder.join(name), limits, level + 1, tree);
        }
    }
    let left = entries.len().saturating_sub(limits.entries);
    if left > 0 {
        tree.cut = true;
        tree.lines.push(format!("{indent}… {} more", format::grouped(left as u64)));
    }
}

fn shown(name: &str) -> String {
    let name: String = name.replace(char::is_control, "\u{fffd}").chars().take(LONGEST_NAME).collect();
    sanitize::reveal_invisible(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = if file.ends_with(".gitignore") { "target\n*.log\n" } else { "" };
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[track_caller]
    fn check(files: &[&str], limits: TreeLimits, expect: &[&str], cut: bool) {
        let tree = project_tree(project(files).path(), limits, &|| false);
        assert_eq!((tree.lines.iter().map(String::as_str).collect::<Vec<_>>(), tree.cut), (expect.to_vec(), cut));
    }

    const FILES: [&str; 8] =
        [".gitignore", ".git/HEAD", "target/x", "src/a/b/c.rs", "src/main.rs", "src/x.log", "Cargo.toml", "README"];

    #[test]
    fn folders_first_and_nothing_ignored() {
        let usual = TreeLimits::default();
        check(&FILES, usual, &["src/", "  a/", "    b/", "  main.rs", "Cargo.toml", "README"], true);
        check(&["a/b"], usual, &["a/", "  b"], false);
        check(&[], usual, &[], false);
        check(&[".gitignore", "x.log", "y"], usual, &["y"], false);
    }

    #[test]
    fn limits_make_it_shallow_rather_than_lopsided() {
        let limits = |depth, entries, lines, scanned| TreeLimits { depth, entries, lines, scanned };
        check(&FILES, limits(1, 12, 120, 4_000), &["src/", "Cargo.toml", "README"], true);
        check(&FILES, limits(3, 12, 5, 4_000), &["src/", "  a/", "  main.rs", "Cargo.toml", "README"], true);
        check(&FILES, limits(3, 12, 2, 4_000), &["src/", "Cargo.toml"], true);
        check(
            &FILES,
            limits(3, 2, 120, 4_000),
            &["src/", "  a/", "    b/", "  main.rs", "Cargo.toml", "… 1 more"],
            true,
        );
        check(&FILES, limits(3, 12, 120, 4), &["src/", "Cargo.toml", "README"], true);
    }

    #[test]
    fn what_takes_too_long_is_shown_less_deep() {
        let folder = project(&FILES);
        for (most, lines, cut) in [(0, 0, true), (1, 1, true), (3, 3, true), (100, 6, true)] {
            let looks = std::cell::Cell::new(0);
            let is_over = || looks.replace(looks.get() + 1) >= most;
            let tree = project_tree(folder.path(), TreeLimits::default(), &is_over);
            assert_eq!((tree.lines.len(), tree.cut), (lines, cut), "{most}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn odd_names_are_shown_and_links_are_not_followed() {
        let folder = project(&["a\nb"]);
        std::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        assert_eq!(project_tree(folder.path(), TreeLimits::default(), &|| false).lines, ["a\u{fffd}b", "root"]);
    }
}
