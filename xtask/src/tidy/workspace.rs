//! The files of the workspace as the rules see them: read once, by relative path.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::manifest::Manifest;
use super::rust::Rust;

/// Larger files are data; they are known by path only.
const LARGEST_TEXT: u64 = 8 << 20;

pub struct Workspace {
    pub files: BTreeMap<String, File>,
    /// The members' manifests by folder, such as `crates/stdx`.
    pub members: BTreeMap<String, Manifest>,
}

pub struct File {
    /// Empty for a binary file.
    pub text: String,
    /// Set for `.rs` files.
    pub rust: Option<Rust>,
}

impl Workspace {
    /// Reads all files that git does not ignore.
    pub fn load(root: &Path) -> io::Result<Self> {
        let mut texts = Vec::new();
        let mut walk = ignore::WalkBuilder::new(root);
        walk.hidden(false).parents(false).git_global(false).require_git(false);
        walk.filter_entry(|entry| entry.file_name() != ".git");
        for entry in walk.build() {
            let entry = entry.map_err(io::Error::other)?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            if let Ok(path) = entry.path().strip_prefix(root) {
                texts.push((path.to_string_lossy().replace('\\', "/"), read_text(entry.path())?));
            }
        }
        Ok(Self::of(texts))
    }

    pub fn of<P: Into<String>, T: Into<String>>(texts: impl IntoIterator<Item = (P, T)>) -> Self {
        let mut files = BTreeMap::new();
        let mut members = BTreeMap::new();
        for (path, text) in texts {
            let (path, text): (String, String) = (path.into(), text.into());
            if let Some(folder) = path.strip_suffix("/Cargo.toml").filter(|folder| is_member(folder)) {
                members.insert(folder.to_owned(), Manifest::parse(&text));
            }
            let rust = path.ends_with(".rs").then(|| Rust::new(&text, is_test_path(&path)));
            files.insert(path, File { text, rust });
        }
        let mut workspace = Self { files, members };
        workspace.mark_test_modules();
        workspace
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|file| file.text.as_str())
    }

    pub fn rust_files(&self) -> impl Iterator<Item = (&str, &str, &Rust)> {
        self.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.text.as_str(), file.rust.as_ref()?)))
    }

    /// The Rust files of one member.
    pub fn rust_files_of(&self, folder: &str) -> impl Iterator<Item = (&str, &str, &Rust)> {
        let prefix = format!("{folder}/");
        self.rust_files().filter(move |(path, ..)| path.starts_with(&prefix))
    }

    /// A file declared with `#[cfg(test)] mod name;` is a test, whatever its name.
    fn mark_test_modules(&mut self) {
        let declared: BTreeSet<String> = self
            .rust_files()
            .flat_map(|(path, _, rust)| rust.test_modules.iter().flat_map(|name| module_paths(path, name)))
            .collect();
        for (path, file) in &mut self.files {
            if let Some(rust) = &mut file.rust
                && declared.contains(path)
            {
                rust.is_test = true;
            }
        }
    }
}

/// The possible files of `mod name;` in `path`.
pub fn module_paths(path: &str, name: &str) -> [String; 2] {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let inside = match stem {
        "lib" | "main" | "mod" => folder.to_owned(),
        _ => format!("{folder}/{stem}"),
    };
    [format!("{inside}/{name}.rs"), format!("{inside}/{name}/mod.rs")]
}

fn is_member(folder: &str) -> bool {
    folder == "xtask" || folder.strip_prefix("crates/").is_some_and(|name| !name.contains('/'))
}

fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("/benches/")
}

fn read_text(path: &Path) -> io::Result<String> {
    // Another program can delete a file between listing and reading.
    match path.metadata() {
        Ok(metadata) if metadata.len() > LARGEST_TEXT => return Ok(String::new()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    }
    let bytes = std::fs::read(path)?;
    if bytes.contains(&0) {
        return Ok(String::new());
    }
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_looked_up_beside_or_below() {
        for (path, want) in [
            ("crates/a/src/lib.rs", "crates/a/src/x.rs"),
            ("crates/a/src/b/mod.rs", "crates/a/src/b/x.rs"),
            ("crates/a/src/b.rs", "crates/a/src/b/x.rs"),
        ] {
            assert_eq!(module_paths(path, "x")[0], want);
        }
    }

    #[test]
    fn declared_test_modules_are_tests() {
        let workspace = Workspace::of([
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod rows;\nmod work;"),
            ("crates/a/src/rows.rs", ""),
            ("crates/a/src/work.rs", ""),
        ]);
        let tests: Vec<_> = workspace.rust_files().filter(|(_, _, rust)| rust.is_test).map(|(path, ..)| path).collect();
        assert_eq!(tests, ["crates/a/src/rows.rs"]);
    }
}
