//! The history of sent prompts, in one file for all projects: a line of JSON per message, readable by the user alone.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use omp_interactive::PromptHistory;
use omp_types::now_ms;
use serde::{Deserialize, Serialize};

use crate::private_file;

const MOST_ENTRIES: usize = 1000;
const MOST_BYTES: u64 = 1 << 20;
/// Longer messages are not stored: most of them are pasted files.
const LONGEST: usize = 32 << 10;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    /// Milliseconds since 1970.
    at: u64,
    /// The project in which it was sent.
    cwd: String,
    text: String,
}

pub struct HistoryFile {
    path: PathBuf,
    cwd: String,
    entries: Mutex<VecDeque<Entry>>,
    hide: Hide,
}

/// Removes secrets from typed text.
pub type Hide = Box<dyn Fn(&str) -> String + Send + Sync>;

impl HistoryFile {
    /// Reads the history. An unreadable file counts as empty, because the history is only a convenience.
    pub fn open(agent: &Path, cwd: &Path, hide: Hide) -> Self {
        let path = agent.join("prompt-history.jsonl");
        let entries = Mutex::new(read(&path).unwrap_or_default());
        Self { path, cwd: cwd.to_string_lossy().into_owned(), entries, hide }
    }

    fn write(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = private_file::append(&self.path)?;
        // A single write, so that lines of two processes do not mix.
        file.write_all(&line)?;
        if file.metadata()?.len() > MOST_BYTES {
            self.shorten()?;
        }
        Ok(())
    }

    /// Keeps the newer half, so that this does not run for every message. Entries that another process added are read first.
    fn shorten(&self) -> io::Result<()> {
        let entries = read(&self.path)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let mut kept = VecDeque::new();
        let mut bytes = 0;
        for entry in entries.iter().rev().take(MOST_ENTRIES) {
            let line = serde_json::to_string(entry)?;
            bytes += line.len() as u64 + 1;
            if bytes > MOST_BYTES / 2 {
                break;
            }
            kept.push_front(line);
        }
        for line in kept {
            writeln!(file, "{line}")?;
        }
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

impl PromptHistory for HistoryFile {
    fn entries(&self) -> Vec<String> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (here, elsewhere): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.cwd == self.cwd);
        elsewhere.into_iter().chain(here).map(|entry| entry.text.clone()).collect()
    }

    fn keep(&self, text: &str) {
        let text = &(self.hide)(text);
        let entry = Entry { at: now_ms(), cwd: self.cwd.clone(), text: text.clone() };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let again = entries.iter().rev().find(|one| one.cwd == entry.cwd).is_some_and(|last| last.text == *text);
        if again || text.trim().is_empty() || text.len() > LONGEST {
            return;
        }
        // If the write fails, the message is remembered for this run only.
        let _ = self.write(&entry);
        entries.push_back(entry);
        while entries.len() > MOST_ENTRIES {
            entries.pop_front();
        }
    }
}

fn read(path: &Path) -> io::Result<VecDeque<Entry>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(VecDeque::new()),
        other => other?,
    };
    let mut entries = VecDeque::new();
    // Caps what is read of a file that another program has made enormous.
    for line in BufReader::new(file.take(MOST_BYTES * 4)).split(b'\n') {
        // Skips a damaged line.
        let Ok(entry) = serde_json::from_slice::<Entry>(&line?) else { continue };
        entries.push_back(entry);
        if entries.len() > MOST_ENTRIES {
            entries.pop_front();
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(agent: &Path, cwd: &str) -> HistoryFile {
        HistoryFile::open(agent, Path::new(cwd), Box::new(|text| text.replace("sesame", "<<1>>")))
    }

    #[test]
    fn messages_of_this_project_come_first() {
        let agent = tempfile::tempdir().unwrap();
        for (cwd, text) in [("/a", "one"), ("/b", "two"), ("/a", "three"), ("/a", "three"), ("/b", " \n")] {
            open(agent.path(), cwd).keep(text);
        }
        assert_eq!(open(agent.path(), "/a").entries(), ["two", "one", "three"]);
        assert_eq!(open(agent.path(), "/b").entries(), ["one", "three", "two"]);
        assert_eq!(open(&agent.path().join("none"), "/a").entries(), Vec::<String>::new());
    }

    #[test]
    fn no_secret_is_kept() {
        let agent = tempfile::tempdir().unwrap();
        open(agent.path(), "/a").keep("open sesame");
        assert_eq!(open(agent.path(), "/a").entries(), ["open <<1>>"]);
    }

    #[test]
    fn damage_costs_a_line_and_too_long_texts_are_not_kept() {
        let agent = tempfile::tempdir().unwrap();
        let history = open(agent.path(), "/a");
        history.keep("first");
        let file = agent.path().join("prompt-history.jsonl");
        std::fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{\"at\":1,\xff\n\n").unwrap();
        history.keep("second\nline");
        history.keep(&"x".repeat(LONGEST + 1));
        assert_eq!(open(agent.path(), "/a").entries(), ["first", "second\nline"]);
    }

    #[test]
    fn the_file_stays_small_and_private() {
        let agent = tempfile::tempdir().unwrap();
        let history = open(agent.path(), "/a");
        for number in 0..60 {
            history.keep(&format!("{number} {}", "x".repeat(30_000)));
        }
        let file = agent.path().join("prompt-history.jsonl");
        let metadata = std::fs::metadata(&file).unwrap();
        assert!(metadata.len() <= MOST_BYTES, "{}", metadata.len());
        let kept = open(agent.path(), "/a").entries();
        assert!(kept.len() < 40 && kept.last().unwrap().starts_with("59 "), "{}", kept.len());
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o600);
    }

    #[test]
    fn no_more_than_the_newest_thousand_are_remembered() {
        let agent = tempfile::tempdir().unwrap();
        let history = open(agent.path(), "/a");
        (0..MOST_ENTRIES + 5).for_each(|number| history.keep(&number.to_string()));
        for entries in [history.entries(), open(agent.path(), "/a").entries()] {
            assert_eq!((entries.len(), entries[0].as_str()), (MOST_ENTRIES, "5"));
        }
    }
}
