//! Taking a file away so that it can be put back: it is renamed aside first and deleted when all else has worked.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use super::{CommitError, entry_location};
use crate::open::FileError;
use crate::texts::Texts;

/// A removal that has been checked.
pub(super) struct Removal<'a> {
    texts: Texts<'a>,
    path: PathBuf,
    place: PathBuf,
    expected: Vec<u8>,
}

/// A file that is out of sight but not gone yet.
pub(super) struct Removed {
    path: PathBuf,
    aside: TempPath,
}

impl<'a> Removal<'a> {
    pub fn prepare(texts: Texts<'a>, path: PathBuf, place: PathBuf, expected: Vec<u8>) -> Result<Self, CommitError> {
        let removal = Self { texts, path, place, expected };
        removal.check()?;
        if !removal.path.is_symlink() {
            // A file that may not be written to is not deleted either.
            OpenOptions::new().write(true).open(&removal.path).map_err(|error| FileError::io(&removal.path, error))?;
        }
        Ok(removal)
    }

    pub fn carry_out(self) -> Result<Removed, CommitError> {
        self.check()?;
        let io_error = |error| FileError::io(&self.path, error);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let aside = Builder::new().prefix(".omp-").suffix(".tmp").tempfile_in(folder).map_err(io_error)?;
        let aside = aside.into_temp_path();
        std::fs::rename(&self.path, &aside).map_err(io_error)?;
        Ok(Removed { path: self.path, aside })
    }

    fn check(&self) -> Result<(), CommitError> {
        if entry_location(&self.path) != self.place {
            return Err(CommitError::Swapped(self.path.clone()));
        }
        match self.texts.read_if_exists(&self.path)? {
            Some(now) if now == self.expected => Ok(()),
            _ => Err(CommitError::Changed(self.path.clone())),
        }
    }
}

impl Removed {
    pub fn finish(self) {
        // What cannot be deleted stays under its temporary name; the file is gone from its own.
        let _ = self.aside.close();
    }

    /// Fails with the path that is still missing; its content is kept under the temporary name then.
    pub fn put_back(self) -> Result<(), PathBuf> {
        let free = self.path.symlink_metadata().is_err();
        if free && std::fs::rename(&self.aside, &self.path).is_ok() {
            return Ok(());
        }
        let _ = self.aside.keep();
        Err(self.path)
    }
}
