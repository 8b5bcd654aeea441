//! The location of a file to write: the folder is kept open, and all operations are relative to its handle.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{FileReach, handle, no_place, nowhere};
use crate::open::FileError;
use crate::write::{missing_parents, refuse_file_as_folder, target_of};

/// The location at which one file is written, replaced or removed.
#[derive(Debug)]
pub(crate) struct WriteSpot {
    /// The requested path, with a link at its end followed.
    pub asked: PathBuf,
    /// The path for system calls, in the open folder. The file may have been replaced by a link, so links must not be
    /// followed.
    pub way: PathBuf,
    /// Folders that were created, outermost first.
    pub made: Vec<PathBuf>,
    /// Whether hard links of the file must not be written through.
    pub contained: bool,
    _folders: Vec<File>,
}

impl WriteSpot {
    /// Converts a path used for system calls to the path that users know.
    pub fn known(&self, path: &Path) -> Option<PathBuf> {
        match () {
            () if path == self.way => Some(self.asked.clone()),
            () if Some(path) == self.way.parent() => self.asked.parent().map(Path::to_owned),
            () => None,
        }
    }
}

impl FileReach {
    /// Returns the location for writing `path`. Missing folders are created after the location is allowed.
    pub(crate) fn spot(&self, path: &Path) -> Result<WriteSpot, FileError> {
        self.place(target_of(path)?, true)
    }

    /// Returns the location of the directory entry itself, for removal; a link is not followed.
    pub(crate) fn entry(&self, path: &Path) -> Result<WriteSpot, FileError> {
        self.place(path.to_owned(), false)
    }

    fn place(&self, asked: PathBuf, make: bool) -> Result<WriteSpot, FileError> {
        if self.is_open() {
            let made = missing_parents(&asked);
            return Ok(WriteSpot { way: asked.clone(), asked, made, contained: false, _folders: Vec::new() });
        }
        let Some(name) = asked.file_name() else { return Err(FileError::Directory(asked)) };
        refuse_file_as_folder(&asked)?;
        let (folder, missing) = nearest_folder(&asked)?;
        if !make && !missing.is_empty() {
            return Err(FileError::NotFound(asked));
        }
        let mut place = HeldFolder::of(&asked, folder)?;
        let whole = missing.iter().fold(place.real.clone(), |real, part| real.join(part)).join(name);
        self.allow_write(&whole)?;
        self.allow_write(&place.called(name, &whole))?;
        let (mut folders, mut made) = (Vec::new(), Vec::new());
        for part in missing {
            let way = place.anchor.join(part);
            match std::fs::create_dir(&way) {
                Ok(()) => made.push(way.clone()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(crate::write::folder_error(asked.parent().unwrap_or(&asked), error)),
            }
            let below = handle::look_at_own_folder(&way).map_err(|error| FileError::io(&asked, error))?;
            folders.push(std::mem::replace(&mut place, HeldFolder::of(&asked, below)?).folder);
        }
        let way = place.anchor.join(name);
        folders.push(place.folder);
        Ok(WriteSpot { way, asked, made, contained: true, _folders: folders })
    }
}

/// A folder that is kept open.
struct HeldFolder {
    folder: File,
    real: PathBuf,
    anchor: PathBuf,
}

impl HeldFolder {
    fn of(asked: &Path, folder: File) -> Result<Self, FileError> {
        let metadata = folder.metadata().map_err(|error| FileError::io(asked, error))?;
        let above = asked.parent().unwrap_or(asked);
        let real = handle::real_path(&folder, &metadata, above).map_err(|error| no_place(asked, error))?;
        let real = real.ok_or_else(|| nowhere(asked))?;
        Ok(Self { anchor: handle::anchor(&folder, &metadata, &real), folder, real })
    }

    /// Returns the name as the file system spells it.
    fn called(&self, name: &std::ffi::OsStr, otherwise: &Path) -> PathBuf {
        let way = self.anchor.join(name);
        if way.is_symlink() {
            return otherwise.to_owned();
        }
        std::fs::canonicalize(way).unwrap_or_else(|_| otherwise.to_owned())
    }
}

/// Returns the nearest existing folder of a path and the missing names below it.
fn nearest_folder(asked: &Path) -> Result<(File, Vec<&std::ffi::OsStr>), FileError> {
    let mut missing = Vec::new();
    for folder in asked.ancestors().skip(1) {
        match handle::look_at_folder(folder) {
            Ok(found) => {
                missing.reverse();
                return Ok((found, missing));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // `..` has no meaning below a missing folder.
                missing.push(folder.file_name().ok_or_else(|| FileError::NotFound(asked.into()))?);
            }
            Err(error) => return Err(FileError::io(asked, error)),
        }
    }
    Err(FileError::NotFound(asked.into()))
}
