//! The fingerprint of an item: its text, and the content of every file in the folder that the text names.
//!
//! A hook `./check.sh` runs the content of that file, so a change of the file is a change of the hook. Files that such a
//! file loads itself are not followed.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use omp_stdx::plain_file;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::discovery::ItemSource;

/// Limits the bytes of all files of one item.
const MOST_BYTES: u64 = 32 << 20;
/// Limits the files below the folder of one module.
const MOST_FILES: usize = 5_000;
/// Limits the words of one item that are checked as file names.
const MOST_WORDS: usize = 512;
const LONGEST_PATH: usize = 4_096;
/// Limits the folders that one line names; a line with more is not fingerprinted.
const MOST_BASES: usize = 64;
/// Programs that run the files passed to them, whatever their names.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "source",
    ".",
    "env",
    "node",
    "deno",
    "bun",
    "npx",
    "tsx",
    "ts-node",
    "python",
    "python3",
    "uv",
    "ruby",
    "perl",
    "php",
    "lua",
    "java",
    "make",
    "awk",
    "gawk",
    "sed",
    "expect",
    "osascript",
    "pwsh",
    "powershell",
    "cmd",
    "xargs",
    "exec",
    "eval",
];
const CODE_ENDINGS: &[&str] = &[
    "sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "ts", "mts", "cts", "rb", "pl", "php", "lua", "jar", "ps1",
    "cmd", "bat", "exe", "awk", "mk",
];

pub(super) struct Fingerprint {
    hash: Sha256,
    root: PathBuf,
    /// Folders that relative names are resolved against.
    bases: Vec<PathBuf>,
    files: BTreeSet<PathBuf>,
    words: usize,
    is_too_large: bool,
}

impl Fingerprint {
    pub fn new(kind: &str, source: &ItemSource, root: &Path) -> Self {
        let mut bases = vec![root.to_owned()];
        // A file in `.omp` or `.claude` may refer to its own folder or the one above.
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

    /// Adds a text with its length, so that adjacent texts cannot be confused.
    pub fn text(mut self, text: &str) -> Self {
        self.hash.update((text.len() as u64).to_le_bytes());
        self.hash.update(text.as_bytes());
        self
    }

    /// Adds a declaration, and the files that any text in it names.
    pub fn value(self, value: &Value) -> Self {
        let mut print = self.text(&value.to_string());
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => print = print.named(text, true),
                Value::Array(values) => waiting.extend(values),
                Value::Object(fields) => waiting.extend(fields.values()),
                _ => {}
            }
        }
        print
    }

    /// Adds the code files that a command line names: files that it merely reads or writes may change.
    pub fn named_in(self, line: &str) -> Self {
        let runs_files = |word: &str| INTERPRETERS.contains(&word.rsplit('/').next().unwrap_or(word));
        let any = line.split(|c: char| c.is_whitespace() || ";|&()`".contains(c)).any(runs_files);
        self.named(line, any)
    }

    fn named(mut self, line: &str, with_data: bool) -> Self {
        let root = self.root.display().to_string();
        let plain = with_root(&line.replace(['"', '\''], ""), &root);
        let is_between = |c: char| c.is_whitespace() || ";|&()<>=,`".contains(c);
        let expanded = quoted(line, &root);
        let words = plain.split(is_between).chain(expanded.iter().map(String::as_str));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let bases = self.with_folders(&words);
        if bases.len() > MOST_BASES {
            self.is_too_large = true;
            return self;
        }
        for word in std::iter::once(line.trim()).chain(words).filter(|word| !word.is_empty()) {
            self.words += 1;
            if self.words > MOST_WORDS {
                self.is_too_large = true;
                break;
            }
            let named = bases.iter().filter_map(|base| inside(&self.root, &base.join(word)));
            let code = named.filter(|file| with_data || is_code(file));
            self.files.extend(code.collect::<Vec<_>>());
        }
        self
    }

    /// Returns the base folders after `cd tools`, `make -C tools` or similar words.
    fn with_folders(&self, words: &[&str]) -> Vec<PathBuf> {
        let mut bases = self.bases.clone();
        let mut next = 0;
        while let Some(base) = bases.get(next).cloned().filter(|_| bases.len() <= MOST_BASES) {
            let folders = words.iter().take(MOST_WORDS).filter_map(|word| folder_inside(&self.root, &base.join(word)));
            for folder in folders {
                if !bases.contains(&folder) {
                    bases.push(folder);
                }
            }
            next += 1;
        }
        bases
    }

    /// Adds a file, and everything around it if its folder contains nothing else.
    pub fn file_or_folder(mut self, path: &Path) -> Self {
        self.files.extend(inside(&self.root, path));
        let folder = path.parent().filter(|_| path.file_stem().is_some_and(|stem| stem == "index"));
        // A module whose entry file has another name is in `extensions/<name>/…`.
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
                    // Only links to files are followed, so there is no loop.
                    Ok(_) => self.files.extend(inside(&self.root, &entry.path())),
                    Err(_) => {}
                }
            }
        }
    }

    /// Returns the folder and the hash; no hash if the item is too large or cannot be read.
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

fn with_root(line: &str, root: &str) -> String {
    let variables = ["${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "${workspaceFolder}", "${PWD}", "$PWD", "$(pwd)"];
    variables.iter().fold(line.to_owned(), |line, variable| line.replace(variable, root))
}

/// Returns names with spaces: quoted text with adjacent text, and names with escaped spaces.
fn quoted(line: &str, root: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None) => word.extend(letters.next()),
            ('"' | '\'', None) => quote = Some(letter),
            (end, Some(open)) if end == open => quote = None,
            (letter, None) if letter.is_whitespace() || ";|&()<>`".contains(letter) => {
                words.push(std::mem::take(&mut word));
            }
            (letter, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| word.contains(char::is_whitespace));
    words.iter().map(|word| with_root(word, root)).collect()
}

/// Whether the file is a script, by its name or first line, or a program.
fn is_code(file: &Path) -> bool {
    let named =
        file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| CODE_ENDINGS.contains(&ending));
    named || is_runnable(file) || begins_as_script(file)
}

fn begins_as_script(file: &Path) -> bool {
    let mut start = [0; 2];
    plain_file::open(file).and_then(|(mut file, _)| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

#[cfg(unix)]
fn is_runnable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_runnable(_file: &Path) -> bool {
    false
}

/// Returns the real path of a regular file if it is inside the folder.
fn inside(root: &Path, path: &Path) -> Option<PathBuf> {
    if path.as_os_str().len() > LONGEST_PATH {
        return None;
    }
    let real = path.canonicalize().ok().filter(|real| real.starts_with(root))?;
    real.is_file().then_some(real)
}

fn folder_inside(root: &Path, path: &Path) -> Option<PathBuf> {
    let short = path.as_os_str().len() <= LONGEST_PATH;
    path.canonicalize().ok().filter(|real| short && real.starts_with(root) && real.is_dir())
}

fn content_hash(file: &Path, room: u64) -> Option<(impl AsRef<[u8]>, u64)> {
    let (opened, _) = plain_file::open(file).ok().filter(|(_, found)| found.len() <= room)?;
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
