//! Lists, reads and replaces files inside `.tar`, `.tar.gz`, `.tgz` and `.zip` without unpacking to disk.
//!
//! Archives are untrusted: sizes may be wrong, names may climb out, links may lead elsewhere. So limits apply to the bytes
//! really unpacked, names that leave the archive cannot be addressed, and links are listed but never followed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

mod address;
mod index;
mod name;
mod rewrite;
mod tar_stream;
mod unpack;
mod zip_file;
mod zip_rewrite;

pub use address::{ArchiveAddress, locate_archive, new_archive_address};
pub use index::{ArchiveChild, ArchiveFolder};
pub use name::inner_path;
pub use rewrite::write_entry;

use crate::open::FileError;
use crate::reach::FileReach;

/// Size limit for reading an entry; larger entries are only listed.
pub const MAX_ENTRY: u64 = 64 * 1024 * 1024;
/// Limit on the bytes unpacked from a compressed stream.
pub const MAX_UNPACKED: u64 = 1024 * 1024 * 1024;
/// Size limit for rewriting an archive.
pub const MAX_REWRITE: u64 = 256 * 1024 * 1024;
/// Maximum number of entries kept in memory for a listing; further entries are only counted.
pub const MAX_LISTED: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    Tar,
    TarGz,
    Zip,
}

impl ArchiveFormat {
    /// Determined by the file extension, ignoring case.
    pub fn of_name(name: &str) -> Option<Self> {
        let ends = |suffix: &str| {
            let start = name.len().checked_sub(suffix.len());
            start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
        };
        match () {
            () if ends(".tar") => Some(Self::Tar),
            () if ends(".tar.gz") || ends(".tgz") => Some(Self::TarGz),
            () if ends(".zip") => Some(Self::Zip),
            () => None,
        }
    }
}

/// Metadata of an archive entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// With `/` as the separator and without `.` and empty components; the original name if `reachable` is false.
    pub path: String,
    pub kind: MemberKind,
    /// Unpacked size according to the archive.
    pub size: u64,
    /// False for names that are absolute or climb out with `..`: these are listed, but never opened.
    pub reachable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberKind {
    File,
    Folder,
    /// Holds the target if the listing knows it.
    Link(Option<String>),
    Other(&'static str),
}

/// All entries of an archive, in archive order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveListing {
    pub entries: Vec<ArchiveEntry>,
    /// Number of entries beyond [`MAX_LISTED`].
    pub not_listed: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0} is damaged or not the kind of archive that its name says: {1}")]
    Damaged(String, String),
    #[error("Archive write path must target a file inside the archive")]
    NoEntryNamed,
    #[error("Archive write path must target a file, not a directory")]
    FolderTarget,
    #[error("Archive path cannot contain '..'")]
    ParentPart,
    #[error("Archive path cannot be absolute: '{0}'\nhint: give the path inside the archive, such as 'docs/a.txt'")]
    Absolute(String),
    #[error("the path inside the archive contains a NUL character")]
    Nul,
    #[error("'{0}' is not in the archive{1}")]
    NoSuchEntry(String, String),
    #[error("'{0}' is {1} in the archive, not a file")]
    NotAFile(String, String),
    #[error(
        "'{path}' unpacks to {}, more than the limit of {}\nhint: unpack it with a shell command",
        omp_stdx::format::bytes(*.size),
        omp_stdx::format::bytes(MAX_ENTRY)
    )]
    EntryTooLarge { path: String, size: u64 },
    #[error(
        "{0} unpacks to so much more than its own size that it looks like a decompression bomb; reading stopped\n\
         hint: unpack it with a shell command if you trust it"
    )]
    Bomb(String),
    #[error("reading {0} was cancelled")]
    Cancelled(String),
    #[error("'{0}' is encrypted")]
    Encrypted(String),
    #[error(
        "'{wanted}' and '{existing}' would be the same file where letter case or Unicode form does not count\nhint: write to '{existing}', or choose another name"
    )]
    SameWhenFolded { wanted: String, existing: String },
    #[error("{0} is not rewritten: {1}")]
    NotRewritable(String, String),
    #[error("{0} changed on disk while it was being rewritten; it was left as it is\nhint: try again")]
    Changed(String),
}

/// An archive file, which is opened again for each operation.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    format: ArchiveFormat,
    cancelled: Cancelled,
    reach: FileReach,
}

/// Cancellation check, polled while an archive is read.
#[derive(Clone, Default)]
struct Cancelled(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl std::fmt::Debug for Cancelled {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Cancelled")
    }
}

impl Archive {
    pub fn new(path: impl Into<PathBuf>, format: ArchiveFormat) -> Self {
        Self { path: path.into(), format, cancelled: Cancelled::default(), reach: FileReach::default() }
    }

    /// Stops reading when `cancelled` returns true.
    #[must_use]
    pub fn unless(self, cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { cancelled: Cancelled(Some(Arc::new(cancelled))), ..self }
    }

    /// Restricts opening to the files that `reach` allows.
    #[must_use]
    pub fn within(self, reach: &FileReach) -> Self {
        Self { reach: reach.clone(), ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn list(&self) -> Result<ArchiveListing, ArchiveError> {
        match self.format {
            ArchiveFormat::Zip => zip_file::list(&self.path, &self.reach),
            ArchiveFormat::Tar | ArchiveFormat::TarGz => {
                unpack::list(&self.path, &self.reach, self.format, &self.cancelled)
            }
        }
    }

    /// Reads one file of at most [`MAX_ENTRY`] bytes. If several entries have the same name, the last one counts.
    pub fn read(&self, inner: &str) -> Result<Vec<u8>, ArchiveError> {
        let inner = inner_path(inner)?;
        let found = match self.format {
            ArchiveFormat::Zip => zip_file::read(&self.path, &self.reach, &inner)?,
            ArchiveFormat::Tar | ArchiveFormat::TarGz => {
                unpack::read(&self.path, &self.reach, self.format, &self.cancelled, &inner)?
            }
        };
        match found {
            Some(bytes) => Ok(bytes),
            None => Err(self.explain_missing(&inner)),
        }
    }

    /// Returns the direct children of a folder in the archive; `""` is its root. Returns `None` if there is no such folder.
    pub fn folder(&self, inner: &str) -> Result<Option<ArchiveFolder>, ArchiveError> {
        let folder = match inner.trim_matches('/') {
            "" | "." => String::new(),
            _ => inner_path(inner.trim_end_matches('/'))?,
        };
        Ok(index::folder_of(&self.list()?, &folder))
    }

    fn explain_missing(&self, inner: &str) -> ArchiveError {
        let Ok(listing) = self.list() else { return ArchiveError::NoSuchEntry(inner.into(), String::new()) };
        if index::folder_of(&listing, inner).is_some() {
            return ArchiveError::NotAFile(inner.into(), "a folder".into());
        }
        let key = name::folded(inner);
        let near = listing.entries.iter().find(|entry| entry.reachable && name::folded(&entry.path) == key);
        let hint = near.map_or_else(String::new, |entry| format!("\nhint: there is '{}'", entry.path));
        ArchiveError::NoSuchEntry(inner.into(), hint)
    }
}

pub(super) fn damaged(path: &Path, error: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Damaged(shown(path), error.to_string())
}

pub(super) fn shown(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
