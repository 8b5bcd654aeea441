//! The fingerprint of an item: its words, and the content of every file of the folder that they name.
//!
//! A hook that says `./check.sh` runs what stands in that file, so a change of the file is a change of the hook. What
//! such a file loads in its turn is not followed.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::discovery::ItemSource;

/// Bytes of all the files of one item.
const MOST_BYTES: u64 = 32 << 20;
/// Files below the folder of one module.
const MOST_FILES: usize = 5_000;
/// Words of one item that are looked at as names of files.
const MOST_WORDS: usize = 512;
const LONGEST_PATH: usize = 4_096;

pub(super) struct Fingerprint {
    hash: Sha256,
    root: PathBuf,
    /// Where relative names may start.
    bases: Vec<PathBuf>,
    files: BTreeSet<PathBuf>,
    words: usize,
    is_too_large: bool,
}

impl Fingerprint {
    pub fn new(kind: &str, source: &ItemSource, root: &Path) -> Self {
        let mut bases = vec![root.to_owned()];
        // A file of `.omp` or `.claude` may mean its own folder or the one above.
        bases.extend(source.path.ancestors().skip(1).take(2).map(Path::to_owned));
        let print = Self {
            hash: Sha256::new(),
            root: root.to_owned(),
            bases,
            files: BTreeSet::new(),
            words: 0,
            is_too_large: false,
        };
        print.text(kind)
    }

    /// With its length, so that no two texts run together.
    pub fn text(mut self, text: &str) -> Self {
        self.hash.update((text.len() as u64).to_le_bytes());
        self.hash.update(text.as_bytes());
        self
    }

    /// Whatever a declaration says, and the files that any text in it names.
    pub fn value(self, value: &Value) -> Self {
        let mut print = self.text(&value.to_string());
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => print = print.named_in(text),
                Value::Array(values) => waiting.extend(values),
                Value::Object(fields) => waiting.extend(fields.values()),
                _ => {}
            }
        }
        print
    }

    /// The files that a command line names.
    pub fn named_in(mut self, line: &str) -> Self {
        let root = self.root.display().to_string();
        let mut plain = line.replace(['"', '\''], "");
        for variable in
            ["${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "${workspaceFolder}", "${PWD}", "$PWD", "$(pwd)"]
        {
            plain = plain.replace(variable, &root);
        }
        let is_between = |c: char| c.is_whitespace() || ";|&()<>=,`".contains(c);
        let whole = std::iter::once(line.trim());
        for word in whole.chain(plain.split(is_between)).filter(|word| !word.is_empty()) {
            self.words += 1;
            if self.words > MOST_WORDS {
                self.is_too_large = true;
                break;
            }
            let named = self.bases.iter().filter_map(|base| inside(&self.root, &base.join(word)));
            self.files.extend(named.collect::<Vec<_>>());
        }
        self
    }

    /// A file as it is; with all that lies around it where its folder holds nothing else.
    pub fn file_or_folder(mut self, path: &Path) -> Self {
        self.files.extend(inside(&self.root, path));
        let folder = path.parent().filter(|_| path.file_stem().is_some_and(|stem| stem == "index"));
        // A module whose entry has another name lies in `extensions/<name>/…`.
        let below = |folder: &Path| folder.parent().is_some_and(|above| above.ends_with("extensions"));
        let folder = folder.or_else(|| path.ancestors().skip(1).find(|folder| below(folder)));
        if let Some(folder) = folder {
            self.folder(folder);
        }
        self
    }

    fn folder(&mut self, folder: &Path) {
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                if self.files.len() + waiting.len() > MOST_FILES {
                    self.is_too_large = true;
                    return;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                    // A link is followed to a file only, so there is no going round.
                    Ok(_) => self.files.extend(inside(&self.root, &entry.path())),
                    Err(_) => {}
                }
            }
        }
    }

    /// The folder, and the hash; none for what is too large or cannot be read.
    pub fn finish(mut self) -> (PathBuf, Option<String>) {
        let mut room = MOST_BYTES;
        for file in std::mem::take(&mut self.files) {
            if self.is_too_large {
                break;
            }
            let name = file.strip_prefix(&self.root).unwrap_or(&file).display().to_string();
            self = self.text(&name);
            match content_hash(&file, room) {
                Some((hash, bytes)) => {
                    self.hash.update(hash);
                    room -= bytes;
                }
                None => self.is_too_large = true,
            }
        }
        let hash = (!self.is_too_large).then(|| hex(&self.hash.finalize()));
        (self.root, hash)
    }
}

/// The real path of a plain file that lies in the folder, wherever its name leads.
fn inside(root: &Path, path: &Path) -> Option<PathBuf> {
    if path.as_os_str().len() > LONGEST_PATH {
        return None;
    }
    let real = path.canonicalize().ok().filter(|real| real.starts_with(root))?;
    real.is_file().then_some(real)
}

fn content_hash(file: &Path, room: u64) -> Option<(impl AsRef<[u8]>, u64)> {
    let opened = std::fs::File::open(file).ok()?;
    opened.metadata().ok().filter(|found| found.len() <= room)?;
    let mut reader = opened.take(room + 1);
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer).ok()? {
            0 => return (bytes <= room).then(|| (hash.finalize(), bytes)),
            read => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
