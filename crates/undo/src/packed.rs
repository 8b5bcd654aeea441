//! Stores small contents of one workspace, many per file, because a file each would take a disk block each.
//!
//! A pack is append-only and written by one process, which holds its lock. A list next to it contains the positions. A pack
//! without a writer may be rewritten without unneeded contents; readers then look up positions again.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::digest::Digest;
use crate::folder::read_at;
use crate::objects::private_folder;
use crate::scan::now;

/// Size at which a new pack is started.
const LARGEST_PACK: u64 = 32 << 20;
/// Size of the write buffer.
const BUFFER: usize = 256 << 10;
/// Size of a list record: digest, offset and length of the content.
const RECORD: usize = 32 + 4 + 4;
/// Maximum number of packs that are kept open for reading.
const MOST_OPEN: usize = 16;

/// A prefix of a digest for lookup; the whole digest is compared when the content is read.
type DigestPrefix = [u8; 16];

#[derive(Clone, Copy)]
struct PackOffset {
    pack: u32,
    offset: u32,
    length: u32,
}

pub(crate) struct Packed {
    folder: PathBuf,
    state: Mutex<PackTable>,
}

#[derive(Default)]
struct PackTable {
    /// Number and length of the lists that were read; `None` before the first read.
    read: Option<(usize, u64)>,
    table: HashMap<DigestPrefix, PackOffset>,
    /// Paths without extension.
    packs: Vec<PathBuf>,
    open: HashMap<u32, Arc<File>>,
    writer: Option<PackWriter>,
}

struct PackWriter {
    number: u32,
    pack: File,
    list: File,
    /// Length of the pack on disk.
    written: u64,
    buffer: Vec<u8>,
    records: Vec<u8>,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Packed {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, state: Mutex::default() }
    }

    /// Stores a content; it is on disk after [`Packed::flush`]. Returns `false` if it was already stored.
    pub fn put(&self, digest: &Digest, content: &[u8]) -> io::Result<bool> {
        let mut state = self.ready();
        if let Some(at) = state.table.get(&key(digest)).copied()
            && state.read_at(at).is_some_and(|known| known == content)
        {
            // Refreshes the age of a reused content, so that a collector in another process keeps it.
            if let Ok(pack) = state.file(at.pack) {
                drop(pack.set_modified(SystemTime::now()));
            }
            // A pack that was removed is still readable here, but by no other process.
            if state.packs[at.pack as usize].with_extension("list").exists() {
                return Ok(false);
            }
        }
        let length = u32::try_from(content.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let is_full = |writer: &PackWriter| writer.end() + u64::from(length) > LARGEST_PACK;
        if state.writer.as_ref().is_some_and(is_full) {
            state.flush()?;
            state.writer = None;
        }
        if state.writer.is_none() {
            state.begin(&self.folder)?;
        }
        let Some(writer) = &mut state.writer else { return Ok(false) };
        let offset = u32::try_from(writer.end()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        writer.buffer.extend_from_slice(content);
        writer.records.extend_from_slice(&digest.0);
        writer.records.extend_from_slice(&offset.to_le_bytes());
        writer.records.extend_from_slice(&length.to_le_bytes());
        let (pack, is_much) = (writer.number, writer.buffer.len() >= BUFFER);
        state.table.insert(key(digest), PackOffset { pack, offset, length });
        if is_much {
            state.flush()?;
        }
        Ok(true)
    }

    pub fn get(&self, digest: &Digest) -> Option<Vec<u8>> {
        let mut state = self.ready();
        for is_last in [false, true] {
            if let Some(at) = state.table.get(&key(digest)).copied()
                && let Some(content) = state.read_at(at)
            {
                return Some(content);
            }
            // Another process may have written the content, or rewritten its pack.
            if is_last || !self.reload(&mut state, true) {
                return None;
            }
        }
        None
    }

    pub fn has(&self, digest: &Digest) -> bool {
        let mut state = self.ready();
        state.table.contains_key(&key(digest))
            || (self.reload(&mut state, false) && state.table.contains_key(&key(digest)))
    }

    /// Forgets a damaged content, so that it is written again on the next occurrence.
    pub fn forget(&self, digest: &Digest) {
        self.lock().table.remove(&key(digest));
    }

    pub fn flush(&self) -> io::Result<()> {
        self.lock().flush()
    }

    /// Closes the pack that is being written, so that it can be rewritten.
    pub fn seal(&self) -> io::Result<()> {
        let mut state = self.lock();
        let flushed = state.flush();
        *state = PackTable::default();
        flushed
    }

    fn lock(&self) -> MutexGuard<'_, PackTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ready(&self) -> MutexGuard<'_, PackTable> {
        let mut state = self.lock();
        if state.read.is_none() {
            self.reload(&mut state, true);
        }
        state
    }

    /// Reads the lists if there are new ones or `insists` is set. Returns `false` if nothing was read.
    fn reload(&self, state: &mut PackTable, insists: bool) -> bool {
        let lists = lists(&self.folder);
        let total = lists.iter().filter_map(|list| Some(list.metadata().ok()?.len())).sum();
        let found = Some((lists.len(), total));
        if state.read == found && !insists {
            return false;
        }
        // Data that is not on disk yet is known only to this process.
        if state.flush().is_err() {
            return false;
        }
        let writing = state.writer.as_ref().map(|writer| state.packs[writer.number as usize].clone());
        let writer = state.writer.take();
        *state = PackTable { read: found, ..PackTable::default() };
        for list in lists {
            let number = state.packs.len() as u32;
            let Ok(bytes) = fs::read(&list) else { continue };
            for record in bytes.chunks_exact(RECORD) {
                if let Some((digest, at)) = parsed(record, number) {
                    state.table.insert(key(&digest), at);
                }
            }
            state.packs.push(list.with_extension(""));
        }
        if let (Some(path), Some(writer)) = (writing, writer)
            && let Some(number) = state.packs.iter().position(|pack| *pack == path)
        {
            state.writer = Some(PackWriter { number: number as u32, ..writer });
        }
        true
    }
}

impl PackTable {
    fn begin(&mut self, folder: &Path) -> io::Result<()> {
        private_folder(folder)?;
        let (pack, list, path) = new_pack(folder)?;
        let number = self.packs.len() as u32;
        self.packs.push(path);
        self.writer = Some(PackWriter {
            number,
            pack,
            list,
            written: 0,
            buffer: Vec::with_capacity(BUFFER),
            records: Vec::new(),
        });
        Ok(())
    }

    fn file(&mut self, pack: u32) -> io::Result<Arc<File>> {
        if let Some(file) = self.open.get(&pack) {
            return Ok(file.clone());
        }
        let path = self.packs.get(pack as usize).ok_or(io::ErrorKind::NotFound)?;
        let file = Arc::new(OpenOptions::new().read(true).write(true).open(path.with_extension("pack"))?);
        if self.open.len() >= MOST_OPEN {
            self.open.clear();
        }
        self.open.insert(pack, file.clone());
        Ok(file)
    }

    fn read_at(&mut self, at: PackOffset) -> Option<Vec<u8>> {
        if let Some(writer) = self.writer.as_ref().filter(|writer| writer.number == at.pack)
            && let Some(start) = u64::from(at.offset).checked_sub(writer.written)
        {
            let start = usize::try_from(start).ok()?;
            return writer.buffer.get(start..start + at.length as usize).map(<[u8]>::to_vec);
        }
        let file = self.file(at.pack).ok()?;
        read_exactly(&file, at.offset, at.length)
    }

    /// Starts a new pack after the current one was removed: data that is not on disk yet is written to the new one.
    fn begin_again(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        self.open.remove(&writer.number);
        self.table.retain(|_, at| at.pack != writer.number);
        let folder = self.packs[writer.number as usize].parent().map(Path::to_owned).unwrap_or_default();
        self.begin(&folder)?;
        let Some(new) = &mut self.writer else { return Ok(()) };
        for record in writer.records.chunks_exact(RECORD) {
            let Some((digest, at)) = parsed(record, new.number) else { continue };
            let offset = at.offset - writer.written as u32;
            new.records.extend_from_slice(&[&digest.0[..], &offset.to_le_bytes(), &at.length.to_le_bytes()].concat());
            self.table.insert(key(&digest), PackOffset { offset, ..at });
        }
        new.buffer = writer.buffer;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let is_gone = |writer: &PackWriter| !self.packs[writer.number as usize].with_extension("list").exists();
        if self.writer.as_ref().is_some_and(|writer| !writer.records.is_empty() && is_gone(writer)) {
            self.begin_again()?;
        }
        let Some(writer) = self.writer.as_mut().filter(|writer| !writer.records.is_empty()) else { return Ok(()) };
        let done = writer.pack.write_all(&writer.buffer).and_then(|()| writer.list.write_all(&writer.records));
        match done {
            Ok(()) => {
                writer.written += writer.buffer.len() as u64;
                writer.buffer.clear();
                writer.records.clear();
                Ok(())
            }
            Err(error) => {
                // A partial write is beyond the end of everything in the list; the next write starts a new pack.
                let lost = std::mem::take(&mut writer.records);
                let is_whole = |length: u64| length - length % RECORD as u64;
                let listed = writer.list.metadata().map_or(0, |metadata| is_whole(metadata.len()));
                drop(writer.list.set_len(listed));
                for record in lost.chunks_exact(RECORD) {
                    if let Some((digest, _)) = parsed(record, 0) {
                        self.table.remove(&key(&digest));
                    }
                }
                self.writer = None;
                Err(error)
            }
        }
    }
}

impl PackWriter {
    fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }
}

/// Creates a pack with its lock and its list, and returns their path without extension.
fn new_pack(folder: &Path) -> io::Result<(File, File, PathBuf)> {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{:016x}-{}-{number}", now(), std::process::id()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let pack = options.open(path.with_extension("pack"))?;
    // No other process knows the pack yet. On a file system without locks a collector may rewrite it, which only loses
    // content.
    drop(pack.try_lock());
    match options.open(path.with_extension("list")) {
        Ok(list) => Ok((pack, list, path)),
        Err(error) => {
            drop(fs::remove_file(path.with_extension("pack")));
            Err(error)
        }
    }
}

/// Result of [`rewrite`] for a pack.
pub(crate) enum RewrittenPack {
    /// The pack is being written, or all of it is needed.
    AsItWas,
    Smaller,
    Gone,
}

/// Rewrites a pack without contents that are no longer needed.
pub(crate) fn rewrite(list: &Path, mut is_needed: impl FnMut(&Digest) -> bool) -> io::Result<RewrittenPack> {
    let place = list.with_extension("pack");
    let pack = File::open(&place)?;
    if pack.try_lock().is_err() {
        return Ok(RewrittenPack::AsItWas);
    }
    let bytes = fs::read(list)?;
    let records: Vec<(Digest, PackOffset)> =
        bytes.chunks_exact(RECORD).filter_map(|record| parsed(record, 0)).collect();
    let needed: Vec<&(Digest, PackOffset)> = records.iter().filter(|(digest, _)| is_needed(digest)).collect();
    if needed.len() == records.len() && !needed.is_empty() {
        return Ok(RewrittenPack::AsItWas);
    }
    if !needed.is_empty() {
        let folder = list.parent().unwrap_or(list);
        let (mut new, mut new_list, path) = new_pack(folder)?;
        let mut end = 0_u32;
        let written = needed.iter().try_for_each(|(digest, at)| {
            // Unreadable content is already lost.
            let Some(content) = read_exactly(&pack, at.offset, at.length) else { return Ok(()) };
            new.write_all(&content)?;
            let record = [&digest.0[..], &end.to_le_bytes(), &at.length.to_le_bytes()].concat();
            end += at.length;
            new_list.write_all(&record)
        });
        if let Err(error) = written {
            drop(fs::remove_file(path.with_extension("pack")));
            drop(fs::remove_file(path.with_extension("list")));
            return Err(error);
        }
        // Keeps the modification time of the original pack.
        if let Ok(modified) = pack.metadata().and_then(|metadata| metadata.modified()) {
            drop(new.set_modified(modified));
        }
    }
    fs::remove_file(list)?;
    fs::remove_file(&place)?;
    Ok(if needed.is_empty() { RewrittenPack::Gone } else { RewrittenPack::Smaller })
}

/// Returns the lists in a pack folder.
pub(crate) fn lists(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut lists: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_some_and(|extension| extension == "list")).collect();
    lists.sort();
    lists
}

fn parsed(record: &[u8], pack: u32) -> Option<(Digest, PackOffset)> {
    let number = |at: usize| Some(u32::from_le_bytes(record.get(at..at + 4)?.try_into().ok()?));
    let digest = Digest(record.get(..32)?.try_into().ok()?);
    Some((digest, PackOffset { pack, offset: number(32)?, length: number(36)? }))
}

fn read_exactly(file: &File, offset: u32, length: u32) -> Option<Vec<u8>> {
    // A damaged list could contain any length.
    let mut content = vec![0; (length as usize).min(LARGEST_PACK as usize)];
    let mut done = 0;
    while done < content.len() {
        match read_at(file, &mut content[done..], u64::from(offset) + done as u64) {
            Ok(read) if read > 0 => done += read,
            _ => return None,
        }
    }
    (done == length as usize).then_some(content)
}

fn key(digest: &Digest) -> DigestPrefix {
    let mut key = DigestPrefix::default();
    key.copy_from_slice(&digest.0[..16]);
    key
}
