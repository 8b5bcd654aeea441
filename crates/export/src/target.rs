//! The target of an export: named after its session, never replacing a file that is not an export.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::ExportError;
use crate::page::BEGINNING;

/// Returns `omp-session-<name of the session's file>.html` in a folder.
pub fn default_path(session: &Path, folder: &Path) -> PathBuf {
    let stem = session.file_stem().unwrap_or_default().to_string_lossy();
    folder.join(format!("omp-session-{stem}.html"))
}

/// A file that atomically replaces the target, or is discarded.
pub(crate) struct ExportFile<'a> {
    path: &'a Path,
    folder: PathBuf,
    /// Whether it replaces an earlier export.
    replaces: bool,
}

impl<'a> ExportFile<'a> {
    pub fn new(path: &'a Path) -> Result<Self, ExportError> {
        let replaces = match std::fs::metadata(path) {
            Ok(found) if found.is_file() && is_export(path) => true,
            Ok(_) => return Err(ExportError::Foreign(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(ExportError::unwritable(path, error)),
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        if path.file_name().is_none() {
            return Err(ExportError::Foreign(path.to_owned()));
        }
        Ok(Self { path, folder, replaces })
    }

    /// Creates an unnamed temporary file next to the target.
    pub fn spool(&self) -> Result<File, ExportError> {
        tempfile::tempfile_in(&self.folder).map_err(|error| ExportError::unwritable(self.path, error))
    }

    pub fn file(&self) -> Result<NamedTempFile, ExportError> {
        NamedTempFile::new_in(&self.folder).map_err(|error| ExportError::unwritable(self.path, error))
    }

    pub fn finish(self, file: NamedTempFile) -> Result<(), ExportError> {
        let persisted = if self.replaces { file.persist(self.path) } else { file.persist_noclobber(self.path) };
        match persisted {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ExportError::Foreign(self.path.to_owned()))
            }
            Err(failed) => Err(ExportError::unwritable(self.path, failed.error)),
        }
    }
}

fn is_export(path: &Path) -> bool {
    let mut beginning = vec![0; BEGINNING.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == BEGINNING.as_bytes()
}
