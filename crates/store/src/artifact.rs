//! Artifacts: files next to a session for tool output that is too long for it, `<session>/<id>.<tool>.log`.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::platform;

/// Maximum folder depth that is copied; sub-agents have artifact folders of their own.
const DEEPEST: usize = 16;

/// The folder of a session's artifacts; it is created with the first artifact.
#[derive(Debug)]
pub struct ArtifactDir {
    dir: PathBuf,
    next: Option<u64>,
}

/// A new, empty artifact, open for writing.
#[derive(Debug)]
pub struct Artifact {
    pub id: u64,
    pub path: PathBuf,
    pub file: File,
}

impl ArtifactDir {
    /// Derives the folder from the session's path without `.jsonl`.
    pub fn of_session(session: &Path) -> Self {
        Self::at(session.with_extension(""))
    }

    pub fn at(dir: PathBuf) -> Self {
        Self { dir, next: None }
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Creates an artifact with the ID after the highest existing one; no file is overwritten.
    pub fn create(&mut self, tool: &str) -> io::Result<Artifact> {
        platform::create_private_folder(&self.dir)?;
        let mut id = match self.next {
            Some(next) => next,
            None => self.list()?.last().map_or(0, |(highest, _)| highest + 1),
        };
        let tool = file_name_part(tool);
        loop {
            let path = self.dir.join(format!("{id}.{tool}.log"));
            match platform::private_file().create_new(true).write(true).open(&path) {
                Ok(file) => {
                    self.next = Some(id + 1);
                    return Ok(Artifact { id, path, file });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub fn find(&self, id: u64) -> io::Result<Option<PathBuf>> {
        Ok(self.list()?.into_iter().find(|(found, _)| *found == id).map(|(_, path)| path))
    }

    /// Writes a file with a name instead of a number, for users. Does not overwrite an existing file.
    pub fn write_named(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        platform::create_private_folder(&self.dir)?;
        let path = self.dir.join(name);
        platform::private_file().create_new(true).write(true).open(&path)?.write_all(text.as_bytes())?;
        Ok(path)
    }

    /// Returns all artifacts by ID; none if the folder does not exist.
    pub fn list(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let files = match std::fs::read_dir(&self.dir) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for file in files {
            let path = file?.path();
            if let Some(id) = id_in(&path) {
                found.push((id, path));
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Copies an artifact folder, including files and folders of sub-agents. Returns a message for each file that could not be
/// copied; a missing folder counts as empty.
pub(crate) fn copy_artifacts(from: &Path, to: &Path) -> Vec<String> {
    let mut warnings = Vec::new();
    if from.is_dir() {
        copy_folder(from, to, DEEPEST, &mut warnings);
    }
    warnings
}

fn copy_folder(from: &Path, to: &Path, depth: usize, warnings: &mut Vec<String>) {
    let entries = platform::create_private_folder(to).and_then(|()| std::fs::read_dir(from));
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return warnings.push(not_copied(from, &error)),
    };
    for entry in entries.filter_map(Result::ok) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let copied = match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => {
                copy_folder(&path, &to, depth - 1, warnings);
                continue;
            }
            Ok(kind) if kind.is_file() => std::fs::copy(&path, &to).map(drop),
            // Links and pipes lead out of the session.
            Ok(_) => Err(io::ErrorKind::Unsupported.into()),
            Err(error) => Err(error),
        };
        if let Err(error) = copied {
            warnings.push(not_copied(&path, &error));
        }
    }
}

fn not_copied(path: &Path, error: &io::Error) -> String {
    format!("the artifact {} was not copied: {error}", path.display())
}

fn id_in(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?.strip_suffix(".log")?;
    name.split_once('.')?.0.parse().ok().filter(|id| *id < u64::MAX)
}

/// Sanitizes a tool name, which may come from extensions and servers, so that the path cannot leave the folder.
fn file_name_part(tool: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '-' };
    let name: String = tool.chars().take(64).map(safe).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_on_where_they_ended() {
        let temp = tempfile::tempdir().unwrap();
        let session = temp.path().join("2026_x.jsonl");
        let mut artifacts = ArtifactDir::of_session(&session);
        assert_eq!(artifacts.list().unwrap(), []);
        assert_eq!(artifacts.create("bash").unwrap().path, temp.path().join("2026_x/0.bash.log"));
        assert_eq!(artifacts.create("../read").unwrap().path, temp.path().join("2026_x/1.---read.log"));
        std::fs::write(temp.path().join("2026_x/7.search.log"), "").unwrap();
        std::fs::write(temp.path().join("2026_x/Anna.md"), "").unwrap();
        let mut resumed = ArtifactDir::of_session(&session);
        assert_eq!(resumed.create("bash").unwrap().id, 8);
        assert_eq!(resumed.find(7).unwrap(), Some(temp.path().join("2026_x/7.search.log")));
        assert_eq!(resumed.find(3).unwrap(), None);
    }

    #[test]
    fn an_artifact_that_appeared_meanwhile_is_not_written_over() {
        let temp = tempfile::tempdir().unwrap();
        let mut artifacts = ArtifactDir::at(temp.path().to_owned());
        artifacts.create("bash").unwrap();
        std::fs::write(temp.path().join("1.bash.log"), "theirs").unwrap();
        assert_eq!(artifacts.create("bash").unwrap().id, 2);
        assert_eq!(std::fs::read_to_string(temp.path().join("1.bash.log")).unwrap(), "theirs");
    }
}
