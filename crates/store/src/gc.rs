//! Cleanup: moves sessions beyond a quota and unreferenced images to the trash, and deletes old files from the trash.
//! Sessions that are being written to are never touched.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::blob::BlobStore;
use crate::error::{FindError, MoveError};
use crate::folder::SessionsDir;
use crate::list::SessionInfo;

/// Retention time of the trash.
const TRASH_KEEPS: Duration = Duration::from_secs(30 * 24 * 3600);
/// Minimum age of an image to collect: an image may be stored shortly before the entry that refers to it.
const FRESH: Duration = Duration::from_secs(24 * 3600);
const REFERENCE: &[u8] = b"blob:sha256:";
const HASH_DIGITS: usize = 64;
/// Maximum folder depth; sub-agents have files in folders below a session.
const DEEPEST: usize = 16;

/// Limits for sessions. Without limits, only unreferenced images and old trash are removed.
#[derive(Clone, Copy, Debug)]
pub struct GcOptions {
    pub now: SystemTime,
    /// Sessions that were not written to for longer are moved to the trash.
    pub max_age: Option<Duration>,
    /// Size limit for sessions with their artifacts; the oldest are moved to the trash until the rest fits.
    pub max_bytes: Option<u64>,
    /// Only report what would be done.
    pub dry_run: bool,
}

/// What was done, or would be done in a dry run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GcReport {
    /// Sessions moved to the trash, with their sizes.
    pub sessions: Vec<(PathBuf, u64)>,
    pub blobs: usize,
    pub blob_bytes: u64,
    /// Number of files deleted from the trash.
    pub purged: usize,
    pub purged_bytes: u64,
    /// What was skipped, with the reason.
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
            // A dry run only checks the lock; moving a session acquires it.
            if options.dry_run
                && let Some(holder) = crate::lock::in_use(&info.path)
            {
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

    /// Images are moved, not deleted: a session in a separate folder may refer to them.
    fn collect_blobs(&self, blobs: &BlobStore, options: &GcOptions, report: &mut GcReport) {
        let mut shown = HashSet::new();
        for root in [self.root(), self.archived().root(), self.trashed().root()] {
            if let Err(error) = for_each_file(root, DEEPEST, &mut |path, _| references_in(path, &mut shown)) {
                let root = root.display();
                return report.skipped.push(format!("no images were removed, because {root} cannot be read: {error}"));
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

    /// The age of a file counts from its move to the trash or its last write, whichever is later.
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
            // A trash folder that cannot be read is not emptied.
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

/// Visits the regular files below a folder; a missing folder has none. Links are not followed.
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
            // Skips files that were removed meanwhile.
            let Ok(found) = entry.metadata() else { continue };
            visit(&entry.path(), &found)?;
        }
    }
    Ok(())
}

/// Collects every reference in a session, including damaged lines and files set aside. The reference program compresses
/// archived sessions with gzip.
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

/// Moves a file to the trash and sets its time to `now`, from which the retention time counts.
fn move_into(path: &Path, folder: &Path, now: SystemTime) -> io::Result<()> {
    crate::platform::create_private_folder(folder)?;
    let to = folder.join(path.file_name().unwrap_or_default());
    std::fs::rename(path, &to)?;
    // If the time cannot be set, the file only leaves the trash earlier.
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
