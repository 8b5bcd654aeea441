//! Cleans up: sessions beyond a quota go to the trash, images that no session shows any more too, and what has been in
//! the trash for long goes for good. A session that somebody writes to is never touched.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::blob::BlobStore;
use crate::error::{FindError, MoveError};
use crate::folder::SessionsDir;
use crate::list::SessionInfo;

/// How long the trash keeps what is in it.
const TRASH_KEEPS: Duration = Duration::from_secs(30 * 24 * 3600);
/// An image may be stored a moment before the entry that shows it.
const FRESH: Duration = Duration::from_secs(24 * 3600);
const REFERENCE: &[u8] = b"blob:sha256:";
const HASH_DIGITS: usize = 64;
/// Sub-agents have files of their own below a session.
const DEEPEST: usize = 16;

/// What is allowed to stay. Without limits only leftovers are cleaned up.
#[derive(Clone, Copy, Debug)]
pub struct GcOptions {
    pub now: SystemTime,
    /// Sessions that were not written to for longer go.
    pub max_age: Option<Duration>,
    /// Of sessions with their artifacts, the oldest go until the rest fits.
    pub max_bytes: Option<u64>,
    /// Only tell what would be done.
    pub dry_run: bool,
}

/// What was done, or would be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcReport {
    /// Sessions that went to the trash, and their bytes.
    pub sessions: Vec<(PathBuf, u64)>,
    pub blobs: usize,
    pub blob_bytes: u64,
    /// Files that left the trash for good, and their bytes.
    pub purged: usize,
    pub purged_bytes: u64,
    /// What was left alone and why.
    pub skipped: Vec<String>,
}

impl SessionsDir {
    pub fn gc(&self, blobs: &BlobStore, options: &GcOptions) -> Result<GcReport, FindError> {
        let mut report = GcReport::default();
        self.purge_trash(options, &mut report);
        self.enforce_quota(options, &mut report)?;
        if !self.is_flat() {
            self.collect_blobs(blobs, options, &mut report);
        }
        Ok(report)
    }

    fn enforce_quota(&self, options: &GcOptions, report: &mut GcReport) -> Result<(), FindError> {
        let sessions: Vec<(u64, SessionInfo)> =
            self.list_all()?.into_iter().map(|info| (size_with_artifacts(&info), info)).collect();
        let mut total: u64 = sessions.iter().map(|(bytes, _)| bytes).sum();
        for (bytes, info) in sessions.into_iter().rev() {
            let age = options.now.duration_since(info.modified).unwrap_or_default();
            let too_old = options.max_age.is_some_and(|most| age > most);
            let too_much = options.max_bytes.is_some_and(|most| total > most);
            if !(too_old || too_much) {
                continue;
            }
            if let Some(holder) = crate::lock::in_use(&info.path) {
                report.skipped.push(format!("{} is in use by {holder}", info.path.display()));
                continue;
            }
            match if options.dry_run { Ok(info.path.clone()) } else { self.trash(&info.path) } {
                Ok(_) => {
                    total -= bytes;
                    report.sessions.push((info.path, bytes));
                }
                Err(MoveError::InUse { path, holder }) => {
                    report.skipped.push(format!("{} is in use by {holder}", path.display()));
                }
                Err(error) => report.skipped.push(first_line(&error)),
            }
        }
        Ok(())
    }

    /// Images are moved, not destroyed: a session kept in a folder of its own may show them.
    fn collect_blobs(&self, blobs: &BlobStore, options: &GcOptions, report: &mut GcReport) {
        let mut shown = HashSet::new();
        for root in [self.root(), self.archived().root(), self.trashed().root()] {
            if let Err(error) = for_each_file(root, DEEPEST, &mut |path, _| references_in(path, &mut shown)) {
                let root = root.display();
                return report.skipped.push(format!("no image was cleaned up, because {root} cannot be read: {error}"));
            }
        }
        let trash = self.trashed().root().with_file_name("blobs");
        let mut unused = Vec::new();
        let listed = for_each_file(blobs.dir(), 0, &mut |path, found| {
            let hash = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().split('.').next();
            let is_blob = hash.is_some_and(|hash| hash.len() == HASH_DIGITS && !shown.contains(hash));
            if is_blob && age_of(found, options.now) > FRESH {
                unused.push((path.to_owned(), found.len()));
            }
            Ok(())
        });
        if let Err(error) = listed {
            report.skipped.push(format!("the images cannot be listed: {error}"));
        }
        for (path, bytes) in unused {
            let moved = options.dry_run || move_into(&path, &trash, options.now).is_ok();
            if moved {
                report.blobs += 1;
                report.blob_bytes += bytes;
            } else {
                report.skipped.push(format!("{} cannot be moved", path.display()));
            }
        }
    }

    /// A file counts from when it was put there or last written, whichever is later.
    fn purge_trash(&self, options: &GcOptions, report: &mut GcReport) {
        let trash = self.trashed();
        let images = trash.root().with_file_name("blobs");
        for root in [trash.root(), images.as_path()] {
            let old = &mut |path: &Path, found: &std::fs::Metadata| {
                if since_arrival(found, options.now) > TRASH_KEEPS
                    && (options.dry_run || std::fs::remove_file(path).is_ok())
                {
                    report.purged += 1;
                    report.purged_bytes += found.len();
                }
                Ok(())
            };
            // A trash that cannot be read is not emptied.
            let _ = for_each_file(root, DEEPEST, old);
        }
    }
}

fn size_with_artifacts(info: &SessionInfo) -> u64 {
    let mut bytes = info.bytes;
    let _ = for_each_file(&info.path.with_extension(""), DEEPEST, &mut |_, found| {
        bytes += found.len();
        Ok(())
    });
    bytes
}

/// Regular files below a folder; one that does not exist has none. Links are not followed.
fn for_each_file(
    folder: &Path,
    depth: usize,
    visit: &mut dyn FnMut(&Path, &std::fs::Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            for_each_file(&entry.path(), depth - 1, visit)?;
        } else if kind.is_file() {
            // Gone in the meantime is gone.
            let Ok(found) = entry.metadata() else { continue };
            visit(&entry.path(), &found)?;
        }
    }
    Ok(())
}

/// Every reference in a session, also in damaged lines and in what was set aside. The reference program packs archived
/// sessions with gzip.
fn references_in(path: &Path, shown: &mut HashSet<String>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !name.contains(".jsonl") || name.ends_with(".lock") {
        return Ok(());
    }
    let file = File::open(path)?;
    if name.ends_with(".gz") {
        return collect_references(flate2::read::MultiGzDecoder::new(file), shown);
    }
    collect_references(file, shown)
}

fn collect_references(mut reader: impl Read, shown: &mut HashSet<String>) -> io::Result<()> {
    let mut buffer = Vec::new();
    let overlap = REFERENCE.len() + HASH_DIGITS;
    loop {
        let read = reader.by_ref().take(256 * 1024).read_to_end(&mut buffer)?;
        for at in memchr::memmem::find_iter(&buffer, REFERENCE) {
            let hash = buffer.get(at + REFERENCE.len()..at + overlap);
            if let Some(hash) = hash.and_then(|hash| std::str::from_utf8(hash).ok()) {
                shown.insert(hash.to_ascii_lowercase());
            }
        }
        if read == 0 {
            return Ok(());
        }
        buffer.drain(..buffer.len().saturating_sub(overlap));
    }
}

/// The time of the move is what the trash counts from.
fn move_into(path: &Path, folder: &Path, now: SystemTime) -> io::Result<()> {
    crate::platform::create_private_folder(folder)?;
    let to = folder.join(path.file_name().unwrap_or_default());
    std::fs::rename(path, &to)?;
    // Should the time not be taken, it may only go earlier from the trash.
    let _ = File::options().append(true).open(&to).and_then(|file| file.set_modified(now));
    Ok(())
}

fn age_of(found: &std::fs::Metadata, now: SystemTime) -> Duration {
    found.modified().ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default()
}

fn since_arrival(found: &std::fs::Metadata, now: SystemTime) -> Duration {
    let arrived = crate::platform::changed(found);
    age_of(found, now).min(arrived.map_or(Duration::MAX, |at| now.duration_since(at).unwrap_or_default()))
}

fn first_line(error: &MoveError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
