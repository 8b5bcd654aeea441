//! Removes a file so that it can be restored: it is renamed to a temporary name first and deleted once everything else has
//! succeeded.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::{Builder, TempPath};

use super::{CommitError, entry_location};
use crate::open::FileError;
use crate::reach::WriteSpot;
use crate::texts::Texts;

/// A removal that has been checked.
pub(super) struct Removal<'a> {
    texts: Texts<'a>,
    path: PathBuf,
    spot: Rc<WriteSpot>,
    place: PathBuf,
    expected: Vec<u8>,
}

/// A file that was renamed aside but not deleted yet.
pub(super) struct Removed {
    spot: Rc<WriteSpot>,
    aside: TempPath,
}

impl<'a> Removal<'a> {
    pub fn prepare(texts: Texts<'a>, path: PathBuf, place: PathBuf, expected: Vec<u8>) -> Result<Self, CommitError> {
        let spot = Rc::new(texts.reach().entry(&path)?);
        let removal = Self { texts, path, spot, place, expected };
        removal.check()?;
        if !removal.spot.way.is_symlink() {
            // A file without write permission is not deleted either.
            super::place::open_itself(&removal.spot.way).map_err(|error| FileError::io(&removal.path, error))?;
        }
        Ok(removal)
    }

    pub fn carry_out(self) -> Result<Removed, CommitError> {
        self.check()?;
        let io_error = |error| FileError::io(&self.path, error);
        let folder = self.spot.way.parent().unwrap_or(Path::new("."));
        let aside = Builder::new().prefix(".omp-").suffix(".tmp").tempfile_in(folder).map_err(io_error)?;
        let aside = aside.into_temp_path();
        std::fs::rename(&self.spot.way, &aside).map_err(io_error)?;
        Ok(Removed { spot: self.spot, aside })
    }

    fn check(&self) -> Result<(), CommitError> {
        if entry_location(&self.path) != self.place || entry_location(&self.spot.way) != self.place {
            return Err(CommitError::Swapped(self.path.clone()));
        }
        match self.texts.read_spot(&self.spot)? {
            Some(now) if now == self.expected => Ok(()),
            _ => Err(CommitError::Changed(self.path.clone())),
        }
    }
}

impl Removed {
    pub fn finish(self) {
        // A file that cannot be deleted stays under its temporary name; its own name is free.
        let _ = self.aside.close();
    }

    /// On failure, returns the path that is still missing; its content is kept under the temporary name.
    pub fn put_back(self) -> Result<(), PathBuf> {
        let free = self.spot.way.symlink_metadata().is_err();
        if free && std::fs::rename(&self.aside, &self.spot.way).is_ok() {
            return Ok(());
        }
        let _ = self.aside.keep();
        Err(self.spot.asked.clone())
    }
}
