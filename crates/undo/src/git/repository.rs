//! Locates the index and the objects of a repository. Only files that belong to this workspace are read.

use std::path::{Path, PathBuf};

use omp_stdx::plain_file;

/// Size limit of files that hold a path.
const SHORT: u64 = 4 * 1024;
/// Maximum number of object folders of other repositories that this one borrows from.
const MOST_ALTERNATES: usize = 8;

pub(super) struct Repository {
    /// The folder that contains `.git`.
    pub root: PathBuf,
    /// The git folder of this work tree.
    pub git: PathBuf,
    /// The git folder shared by all work trees.
    pub common: PathBuf,
    /// Object folders, its own first.
    pub objects: Vec<PathBuf>,
    /// Path from the root to the workspace, with a trailing slash; empty if they are the same.
    pub prefix: Vec<u8>,
}

impl Repository {
    pub fn around(workspace: &Path) -> Option<Self> {
        let root = workspace.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
        let marker = root.join(".git");
        let git = match marker.symlink_metadata().ok()?.is_dir() {
            true => marker,
            false => {
                let text = plain_file::read(&marker, SHORT).ok()?;
                let named = std::str::from_utf8(&text).ok()?.strip_prefix("gitdir:")?.trim();
                root.join(named).canonicalize().ok()?
            }
        };
        let common = match plain_file::read(&git.join("commondir"), SHORT) {
            Ok(text) => git.join(std::str::from_utf8(&text).ok()?.trim()).canonicalize().ok()?,
            Err(_) => git.clone(),
        };
        let own = common.join("objects");
        let mut objects = alternates(&own);
        objects.insert(0, own);
        let inner = workspace.strip_prefix(root).ok()?.as_os_str().as_encoded_bytes();
        let mut prefix = inner.to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        Some(Self { root: root.to_owned(), git, common, objects, prefix })
    }
}

fn alternates(objects: &Path) -> Vec<PathBuf> {
    let Ok(text) = plain_file::read(&objects.join("info/alternates"), SHORT) else { return Vec::new() };
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '"']));
    lines.take(MOST_ALTERNATES).map(|line| objects.join(line)).collect()
}
