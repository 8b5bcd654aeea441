//! Access control for the file tools: a path is opened first, then checked by the resolved path of the open file, and read
//! or written through the same handle. A link that is swapped between check and use has no effect.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use omp_types::{Access, AccessMap, ContainMode, Denied, Touch};

use crate::open::{self, FileError, FileKind, kind_of, refuse_other_kinds};

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
#[path = "handle_elsewhere.rs"]
mod handle;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "handle_linux.rs"]
mod handle;
#[cfg(target_os = "macos")]
#[path = "handle_macos.rs"]
mod handle;
mod judge;
mod mounts;
mod spot;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use judge::Judge;
pub(crate) use spot::WriteSpot;

/// File access for everything that a model requests. Clones share their caches.
#[derive(Clone, Debug)]
pub struct FileReach {
    access: Access,
    judge: Arc<Mutex<Option<Arc<Judge>>>>,
}

/// An open file or folder. The handle guarantees that reads go to the file that was checked.
#[derive(Debug)]
pub struct OpenedPath {
    /// Keeps `way` valid; `None` if access is not restricted.
    file: Option<File>,
    metadata: Metadata,
    real: PathBuf,
    way: PathBuf,
}

impl Default for FileReach {
    fn default() -> Self {
        Self::new(Access::new(AccessMap::open(PathBuf::new())))
    }
}

/// Number of retries for a file that is being replaced at the same time.
const TRIES: usize = 8;

impl FileReach {
    pub fn new(access: Access) -> Self {
        Self { access, judge: Arc::default() }
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the access of one tool call, including its temporary grants; `None` if it has none.
    pub fn of_call(&self, call: &str) -> Option<Self> {
        self.access.of_call(call).map(Self::new)
    }

    /// Returns whether everything may be read and written.
    pub fn is_open(&self) -> bool {
        self.access.map().mode == ContainMode::Off
    }

    /// Opens a regular file for reading.
    pub fn open_regular(&self, path: &Path) -> Result<(File, Metadata), FileError> {
        if self.is_open() {
            return open::open_regular(path);
        }
        self.opened(path, &self.hold(path)?)
    }

    /// Opens a regular file for reading if `allowed` accepts its resolved path.
    pub fn open_where(&self, path: &Path, allowed: impl FnOnce(&Path) -> bool) -> Result<Option<File>, FileError> {
        let held = self.hold(path)?;
        if !allowed(&held.real) {
            return Ok(None);
        }
        self.opened(path, &held).map(|(file, _)| Some(file))
    }

    fn opened(&self, path: &Path, held: &OpenedPath) -> Result<(File, Metadata), FileError> {
        refuse_other_kinds(path, &held.metadata)?;
        // Without restrictions, `real` is the path that was requested.
        let Some(file) = &held.file else { return open::open_regular(&held.real) };
        let file = handle::reopened(file, &held.real).map_err(|error| FileError::io(path, error))?;
        let metadata = file.metadata().map_err(|error| FileError::io(path, error))?;
        Ok((file, metadata))
    }

    /// Reads a regular file of at most [`open::MAX_WHOLE_FILE`] bytes.
    pub fn read_whole(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let (file, metadata) = self.open_regular(path)?;
        open::read_opened(path, file, &metadata)
    }

    /// Opens a file or folder that may be read. Pipes, sockets and devices are refused without being opened.
    pub fn hold(&self, path: &Path) -> Result<OpenedPath, FileError> {
        if self.is_open() {
            let metadata = std::fs::metadata(path).map_err(|error| FileError::io(path, error))?;
            refuse_special(path, &metadata)?;
            return Ok(OpenedPath {
                file: None,
                metadata,
                real: crate::path::real_location(path),
                way: path.to_owned(),
            });
        }
        for _ in 0..TRIES {
            let file = handle::look(path)?;
            let metadata = file.metadata().map_err(|error| FileError::io(path, error))?;
            refuse_special(path, &metadata)?;
            let Some(real) = handle::real_path(&file, &metadata, path).map_err(|error| no_place(path, error))? else {
                continue;
            };
            self.judge().read(&real, Some(&metadata))?;
            self.access.map().allows_through(path, &real)?;
            let way = handle::anchor(&file, &metadata, &real);
            return Ok(OpenedPath { file: Some(file), metadata, real, way });
        }
        Err(nowhere(path))
    }

    /// Checks a file that the caller has already opened, before anything is read from it.
    pub(crate) fn allow_opened(&self, path: &Path, file: &File) -> Result<(), FileError> {
        if self.is_open() {
            return Ok(());
        }
        let metadata = file.metadata().map_err(|error| FileError::io(path, error))?;
        match handle::real_path(file, &metadata, path).map_err(|error| no_place(path, error))? {
            Some(real) => {
                self.judge().read(&real, Some(&metadata))?;
                Ok(self.access.map().allows_through(path, &real)?)
            }
            None => Err(nowhere(path)),
        }
    }

    /// Returns the paths at or below `folder` that may not be read.
    pub fn kept_below(&self, folder: &Path) -> Vec<PathBuf> {
        if self.is_open() {
            return Vec::new();
        }
        let folder = crate::path::real_location(folder);
        self.judge().hidden().filter_map(|hidden| hidden.strip_prefix(&folder).ok()).map(Path::to_owned).collect()
    }

    /// Returns the resolved path of an existing file if it may be written to, for callers that open it themselves.
    pub fn writable(&self, path: &Path) -> Result<PathBuf, FileError> {
        let held = self.hold(path)?;
        if self.is_open() {
            return Ok(held.real);
        }
        self.allow_write(&held.real)?;
        judge::refuse_other_names(&held.real, &held.metadata)?;
        Ok(held.real)
    }

    fn judge(&self) -> Arc<Judge> {
        let map = self.access.map();
        let mut known = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(judge) if judge.is_of(&map) => judge.clone(),
            _ => known.insert(Arc::new(Judge::new(map))).clone(),
        }
    }

    fn allow_write(&self, real: &Path) -> Result<(), FileError> {
        Ok(self.judge().allows(Touch::Write, real)?)
    }
}

impl OpenedPath {
    /// Returns the resolved path.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Returns a path for opening that cannot be redirected. It is valid until this is dropped.
    pub fn way(&self) -> &Path {
        &self.way
    }

    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl From<Denied> for FileError {
    fn from(denied: Denied) -> Self {
        FileError::Denied(denied)
    }
}

fn refuse_special(path: &Path, metadata: &Metadata) -> Result<(), FileError> {
    match kind_of(metadata) {
        FileKind::Special(kind) => Err(FileError::Special { path: path.into(), kind }),
        FileKind::File | FileKind::Directory => Ok(()),
    }
}

fn no_place(path: &Path, error: io::Error) -> FileError {
    let reason = format!(
        "its real location is unknown ({error}), so it is not touched\nhint: is /proc mounted? \
         containment.mode: off, set by the user, works without it"
    );
    FileError::Io { path: path.into(), error: io::Error::other(reason) }
}

fn nowhere(path: &Path) -> FileError {
    let reason = "its location is not visible from here: it was deleted, keeps being replaced, or belongs to \
                  another container\nhint: try again, or name it by its own path";
    FileError::Io { path: path.into(), error: io::Error::other(reason) }
}
