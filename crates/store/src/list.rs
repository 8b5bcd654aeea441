//! Lists and finds sessions by reading only the start and end of their files. A file without a valid title line is searched
//! for its title.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omp_types::{Content, Message};

use crate::error::FindError;
use crate::folder::{SessionsDir, canonical};
use crate::header::{SessionHeader, id_in_name};
use crate::index::Index;
use crate::lines::for_each_line;
use crate::message;
use crate::skim::skim;
use crate::stamp;
use crate::title::{self, Changed, TitleSlot};

/// Number of bytes read at each end of a file.
const END: u64 = 64 * 1024;
/// Maximum number of characters kept of the first message.
const FIRST_MESSAGE: usize = 200;
const AMBIGUOUS_SHOWN: usize = 5;
const WORTH_AN_INDEX: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    pub path: PathBuf,
    pub id: String,
    pub title: Option<String>,
    /// Empty if the header is lost.
    pub cwd: String,
    pub modified: SystemTime,
    pub bytes: u64,
    /// The start of the first user message.
    pub first_message: Option<String>,
}

/// A session file that was found but not read.
#[derive(Debug)]
pub(crate) struct SessionFile {
    pub path: PathBuf,
    pub modified: SystemTime,
    pub bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListScope {
    Folder,
    All,
}

impl SessionsDir {
    /// Returns the sessions of a working folder, newest first.
    pub fn list(&self, cwd: &Path) -> Result<Vec<SessionInfo>, FindError> {
        let found = self.candidates(cwd)?;
        Ok(self.look_into(found, ListScope::Folder).into_iter().filter(|info| self.belongs(info, cwd)).collect())
    }

    /// Returns the sessions of all working folders, newest first.
    pub fn list_all(&self) -> Result<Vec<SessionInfo>, FindError> {
        Ok(self.look_into(self.all_candidates()?, ListScope::All))
    }

    /// Returns the most recently written session of a working folder.
    pub fn most_recent(&self, cwd: &Path) -> Result<Option<SessionInfo>, FindError> {
        let found = self.candidates(cwd)?;
        Ok(found.into_iter().filter_map(SessionFile::look_into).find(|info| self.belongs(info, cwd)))
    }

    /// Resolves the argument of `--resume <id|path>`: a path if it looks like one, otherwise an ID prefix, searched among
    /// the sessions of `cwd` first and then among all.
    pub fn resolve(&self, cwd: &Path, id_or_path: &str) -> Result<PathBuf, FindError> {
        if Self::is_path(id_or_path) {
            return Ok(cwd.join(id_or_path));
        }
        let mut found = self.find_by_id_prefix(cwd, id_or_path)?;
        match found.len() {
            0 => Err(FindError::NoMatch(id_or_path.to_owned())),
            1 => Ok(found.remove(0)),
            _ => {
                let matches = found.iter().take(AMBIGUOUS_SHOWN).filter_map(|path| id_in_name(path)).collect();
                Err(FindError::Ambiguous { prefix: id_or_path.to_owned(), matches })
            }
        }
    }

    /// Returns whether the argument of `--resume` is a path rather than an ID.
    pub fn is_path(id_or_path: &str) -> bool {
        id_or_path.contains(['/', '\\']) || id_or_path.ends_with(".jsonl")
    }

    /// Returns all sessions with this ID prefix, newest first; those of other folders only if `cwd` has none.
    pub fn find_by_id_prefix(&self, cwd: &Path, prefix: &str) -> Result<Vec<PathBuf>, FindError> {
        let here = matching(self.candidates(cwd)?, prefix);
        if !here.is_empty() || self.is_flat() || prefix.is_empty() {
            return Ok(here);
        }
        Ok(matching(self.all_candidates()?, prefix))
    }

    /// For a few files, reading is faster than using the index.
    fn look_into(&self, found: Vec<SessionFile>, scope: ListScope) -> Vec<SessionInfo> {
        if found.len() < WORTH_AN_INDEX {
            return found.into_iter().filter_map(SessionFile::look_into).collect();
        }
        let mut index = Index::load(self.index_file());
        let infos = found.into_iter().filter_map(|candidate| index.look_up(candidate)).collect();
        index.save(scope == ListScope::All);
        infos
    }

    fn all_candidates(&self) -> Result<Vec<SessionFile>, FindError> {
        let unreadable = |source| FindError::Unreadable { path: self.root().to_owned(), source };
        let mut folders = subfolders(self.root()).map_err(unreadable)?;
        if self.is_flat() {
            folders = vec![self.root().to_owned()];
        }
        let mut all: Vec<_> = folders.iter().flat_map(|folder| session_files(folder).unwrap_or_default()).collect();
        newest_first(&mut all);
        Ok(all)
    }

    fn candidates(&self, cwd: &Path) -> Result<Vec<SessionFile>, FindError> {
        let mut found = Vec::new();
        for folder in self.folders_of(cwd) {
            let files =
                session_files(&folder).map_err(|source| FindError::Unreadable { path: folder.clone(), source })?;
            found.extend(files);
        }
        newest_first(&mut found);
        Ok(found)
    }

    /// Two working folders can share one session folder (`a/b-c` and `a-b/c`); the header distinguishes them. A session
    /// without a header is shown rather than hidden.
    fn belongs(&self, info: &SessionInfo, cwd: &Path) -> bool {
        self.is_flat()
            || info.cwd.is_empty()
            || info.cwd == cwd.to_string_lossy()
            || canonical(Path::new(&info.cwd)) == canonical(cwd)
    }
}

impl SessionFile {
    /// Returns `None` if no line at the start belongs to a session.
    pub fn look_into(self) -> Option<SessionInfo> {
        let mut file = File::open(&self.path).ok()?;
        let head = read_end(&mut file, 0).unwrap_or_default();
        let mut info = SessionInfo {
            id: id_in_name(&self.path).unwrap_or_default(),
            path: self.path,
            title: None,
            cwd: String::new(),
            modified: self.modified,
            bytes: self.bytes,
            first_message: None,
        };
        let mut found = FileBeginning::default();
        for line in head.split(|byte| *byte == b'\n') {
            info.learn(line, &mut found);
            if info.first_message.is_some() {
                break;
            }
        }
        if !found.recognised {
            return None;
        }
        let changed = match &found.slot {
            Some(_) => last_change(&mut file, self.bytes, &head),
            None => last_change_of_all(&mut file),
        };
        info.title = title::current(found.slot.as_ref(), changed, found.header.as_ref()).0;
        Some(info)
    }
}

/// Data at the start of a file, other than entries.
#[derive(Default)]
struct FileBeginning {
    /// Whether any line belongs to a session.
    recognised: bool,
    slot: Option<TitleSlot>,
    header: Option<SessionHeader>,
}

impl SessionInfo {
    /// Reads the metadata at the start of a session file; returns `None` if it is not a session.
    pub fn of_file(path: &Path) -> Option<Self> {
        candidate(path.to_owned())?.look_into()
    }

    /// Returns the time of the last write, in the format of session files.
    pub fn modified_at(&self) -> String {
        stamp::iso(self.modified)
    }

    fn learn(&mut self, bytes: &[u8], found: &mut FileBeginning) {
        let (Ok(head), Ok(line)) = (skim(bytes), std::str::from_utf8(bytes)) else { return };
        match head.kind.text() {
            Some("title") if found.header.is_none() => found.slot = serde_json::from_str(line).ok(),
            Some("session") => {
                let Ok(header) = serde_json::from_str::<SessionHeader>(line) else { return };
                self.id.clone_from(&header.id);
                self.cwd.clone_from(&header.cwd);
                found.header = Some(header);
                found.recognised = true;
            }
            Some("message") => {
                if let Ok((Message::User(user), _)) = message::of_message_entry(line) {
                    let text: String = user.content.iter().filter_map(Content::as_text).collect();
                    self.first_message = Some(said_in(&text).chars().take(FIRST_MESSAGE).collect());
                }
            }
            _ => {}
        }
        found.recognised |= head.id.text().is_some();
    }
}

/// Returns the user's own text without the attached files in front of it, or the name of the first file if there is no text.
fn said_in(text: &str) -> Cow<'_, str> {
    const END: &str = "</file>";
    let text = text.trim();
    let Some(first) = text.strip_prefix("<file name=\"") else { return text.into() };
    let said = text.rfind(END).map_or(text, |at| text[at + END.len()..].trim());
    match (said, first.split_once('"')) {
        ("", Some((name, _))) => format!("@{name}").into(),
        (said, _) => said.into(),
    }
}

/// Returns the last title change near either end; it may be newer than a title line that was not overwritten.
fn last_change(file: &mut File, length: u64, head: &[u8]) -> Option<Changed> {
    let newest = |bytes: &[u8]| bytes.rsplit(|byte| *byte == b'\n').find_map(change_in);
    let beyond = (length > END).then(|| read_end(file, length.saturating_sub(END).max(END)).ok()).flatten();
    beyond.and_then(|tail| newest(&tail)).or_else(|| newest(head))
}

/// Returns the last title change in the whole file, for the few files without a valid title line.
fn last_change_of_all(file: &mut File) -> Option<Changed> {
    file.rewind().ok()?;
    let mut last = None;
    for_each_line(file, |line| last = change_in(line.bytes).or(last.take())).ok()?;
    last
}

fn change_in(line: &[u8]) -> Option<Changed> {
    memchr::memmem::find(line, b"\"title_change\"")?;
    skim(line).ok().filter(|head| head.kind.text() == Some("title_change"))?;
    serde_json::from_slice(line).ok()
}

fn read_end(file: &mut File, from: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(END).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns regular, non-empty files only: opening a pipe would block.
fn session_files(folder: &Path) -> io::Result<Vec<SessionFile>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        found.extend(candidate(path));
    }
    Ok(found)
}

fn candidate(path: PathBuf) -> Option<SessionFile> {
    let metadata = std::fs::metadata(&path).ok()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    (metadata.is_file() && metadata.len() > 0).then_some(SessionFile { path, modified, bytes: metadata.len() })
}

fn subfolders(root: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(root)?.into_iter().filter(|path| path.is_dir()).collect())
}

/// Returns no entries for a missing folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => Ok(entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Of two files with the same time, the one with the later name is newer.
fn newest_first(found: &mut [SessionFile]) {
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.path.file_name().cmp(&a.path.file_name())));
}

fn matching(found: Vec<SessionFile>, prefix: &str) -> Vec<PathBuf> {
    let prefix = prefix.to_ascii_lowercase();
    let starts_so = |path: &PathBuf| id_in_name(path).is_some_and(|id| id.to_ascii_lowercase().starts_with(&prefix));
    found.into_iter().map(|candidate| candidate.path).filter(starts_so).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_stands_behind_the_files() {
        for (text, expect) in [
            (" why? ", "why?"),
            ("<file name=\"a.txt\">\none\n</file>\nwhy?", "why?"),
            ("<file name=\"a.html\">\n</file>\nx\n</file>\n<file name=\"p.png\"></file>\nwhy?\nreally", "why?\nreally"),
            ("<file name=\"a.txt\">\none\n</file>\n", "@a.txt"),
            ("<file> is no tag of ours", "<file> is no tag of ours"),
        ] {
            assert_eq!(said_in(text), expect, "{text}");
        }
    }
}
