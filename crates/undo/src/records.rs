//! Turns and undo records on disk: one file each, so that eviction is removing files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::objects::{private_folder, replace};
use crate::rel_path::RelPath;
use crate::scan::now;
use crate::tree::TreeChange;
use crate::turn::Turn;

/// One `/undo` and its changes, so that it can itself be reverted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Taken {
    pub id: String,
    pub session: String,
    /// The turns that it undid completely.
    pub turns: Vec<String>,
    pub changes: Vec<TreeChange>,
    #[serde(default)]
    pub redone: bool,
    /// For an undo of a single path: the path, and the turns of which everything at the path is undone.
    #[serde(default)]
    pub part: Option<(RelPath, Vec<String>)>,
}

pub(crate) struct Records {
    turns: PathBuf,
    taken: PathBuf,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Returns a unique ID that sorts by time.
pub(crate) fn new_id() -> String {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{:020}-{}-{number:06}", now(), std::process::id())
}

impl Records {
    pub fn open(store: &Path) -> io::Result<Self> {
        let records = Self { turns: store.join("turns"), taken: store.join("taken") };
        private_folder(&records.turns)?;
        private_folder(&records.taken)?;
        Ok(records)
    }

    pub fn save_turn(&self, turn: &Turn) -> io::Result<()> {
        save(&self.turns.join(folder_of(&turn.session)), &turn.id, turn)
    }

    pub fn save_taken(&self, taken: &Taken) -> io::Result<()> {
        save(&self.taken.join(folder_of(&taken.session)), &taken.id, taken)
    }

    pub fn forget_turn(&self, turn: &Turn) {
        drop(fs::remove_file(self.turns.join(folder_of(&turn.session)).join(format!("{}.json", turn.id))));
    }

    pub fn forget_taken(&self, taken: &Taken) {
        drop(fs::remove_file(self.taken.join(folder_of(&taken.session)).join(format!("{}.json", taken.id))));
    }

    /// Returns the turns of all sessions, oldest first. Unreadable files are skipped.
    pub fn turns(&self) -> Vec<(PathBuf, Turn)> {
        let mut turns: Vec<(PathBuf, Turn)> = sessions(&self.turns).iter().flat_map(|folder| load(folder)).collect();
        turns.sort_by(|(_, one), (_, other)| one.id.cmp(&other.id));
        turns
    }

    pub fn taken(&self) -> Vec<(PathBuf, Taken)> {
        sessions(&self.taken).iter().flat_map(|folder| load(folder)).collect()
    }

    pub fn turns_of(&self, session: &str) -> Vec<Turn> {
        load(&self.turns.join(folder_of(session))).into_iter().map(|(_, turn)| turn).collect()
    }

    pub fn taken_of(&self, session: &str) -> Vec<Taken> {
        load(&self.taken.join(folder_of(session))).into_iter().map(|(_, taken)| taken).collect()
    }
}

/// Encodes a session name, which may contain any characters.
fn folder_of(session: &str) -> String {
    Digest::of(session.as_bytes()).to_string()[..32].to_owned()
}

fn sessions(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|listed| listed.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

fn save(folder: &Path, id: &str, record: &impl Serialize) -> io::Result<()> {
    private_folder(folder)?;
    replace(&folder.join(format!("{id}.json")), &serde_json::to_vec(record)?)
}

fn load<T: DeserializeOwned>(folder: &Path) -> Vec<(PathBuf, T)> {
    let Ok(listed) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: PathBuf| serde_json::from_slice(&fs::read(&file).ok()?).ok().map(|record| (file, record));
    files.into_iter().filter_map(read).collect()
}
