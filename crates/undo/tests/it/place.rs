//! A workspace with its own undo, and its state in the file system.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use omp_undo::{Call, TreeChange, Undo, UndoOptions};

pub struct Place {
    pub root: tempfile::TempDir,
    pub undo: Undo,
}

pub fn options(root: &Path) -> UndoOptions {
    UndoOptions {
        store: root.join("store"),
        workspace: root.join("workspace"),
        session: "s1".to_owned(),
        quota: 1 << 30,
        max_file: 1 << 20,
        max_entries: 100_000,
        patience: omp_undo::PATIENCE,
        attributes: Vec::new(),
    }
}

impl Place {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut UndoOptions)) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("workspace")).unwrap();
        let mut options = options(root.path());
        change(&mut options);
        let undo = Undo::open(options).unwrap();
        Self { root, undo }
    }

    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("workspace")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs one call with this effect.
    pub fn call(&self, id: &str, work: impl FnOnce(&Path)) -> Vec<TreeChange> {
        self.undo.before_call(Call { id: id.to_owned(), tool: "bash".to_owned() }, false).unwrap();
        work(&self.workspace());
        self.undo.after_call(id).unwrap()
    }

    /// Runs a turn with one such call.
    pub fn turn(&self, work: impl FnOnce(&Path)) -> Vec<TreeChange> {
        self.undo.begin_turn("a prompt");
        self.call("c", work)
    }

    pub fn shell(&self, script: &str) -> Vec<TreeChange> {
        self.turn(|workspace| sh(workspace, script))
    }

    pub fn state(&self) -> State {
        state(&self.workspace())
    }
}

pub fn sh(folder: &Path, script: &str) {
    std::process::Command::new("sh")
        .arg("-c")
        .arg(script)
        .current_dir(folder)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
}

pub type State = BTreeMap<Vec<u8>, String>;

/// Returns every path below, with its mode and content.
pub fn state(folder: &Path) -> State {
    let mut all = State::new();
    gather(folder, folder, &mut all);
    all
}

fn gather(root: &Path, folder: &Path, all: &mut State) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().as_os_str().to_owned().into_vec();
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_symlink() {
            all.insert(name, format!("-> {:?}", fs::read_link(&path).unwrap()));
        } else if metadata.is_dir() {
            all.insert(name, format!("folder {mode:o}"));
            gather(root, &path, all);
        } else if metadata.is_file() {
            let content = fs::read(&path).unwrap();
            all.insert(name, format!("{mode:o} {:?}", String::from_utf8_lossy(&content)));
        } else {
            all.insert(name, "special".to_owned());
        }
    }
}
