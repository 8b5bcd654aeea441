//! A folder that is open, so that what is listed is what was judged.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::{handle, unknown_place};
use crate::open::FileError;

/// See [`super::Reach::open_folder`].
#[derive(Debug)]
pub struct OpenFolder {
    /// Keeps the way open.
    _handle: Option<File>,
    real: PathBuf,
    way: PathBuf,
}

impl OpenFolder {
    pub(super) fn anywhere(path: &Path) -> Self {
        Self { _handle: None, real: path.to_owned(), way: path.to_owned() }
    }

    pub(super) fn held(asked: &Path, folder: File) -> Result<Self, FileError> {
        let real = real_of(asked, &folder)?;
        Ok(Self { way: handle::anchor(&folder, &real), real, _handle: Some(folder) })
    }

    /// Where it really is.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// A path to be opened that cannot be led elsewhere; it is of no use once this is dropped.
    pub fn way(&self) -> &Path {
        &self.way
    }
}

pub(super) fn real_of(asked: &Path, folder: &File) -> Result<PathBuf, FileError> {
    let metadata = folder.metadata().map_err(|error| FileError::io(asked, error))?;
    let real = handle::real_path(folder, &metadata, asked).map_err(|error| unknown_place(asked, error))?;
    real.ok_or_else(|| FileError::NotFound(asked.into()))
}
