//! Stores contents by digest: written once, under a name that verifies the content. Small contents share files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use zstd::bulk::Compressor;

use crate::UndoError;
use crate::digest::Digest;
use crate::packed::Packed;

const RAW: u8 = 0;
const ZSTD: u8 = 1;
const LEVEL: i32 = 1;
const MOST_COMPRESSORS: usize = 4;
/// Minimum size for compression.
const WORTHWHILE: usize = 256;
/// Minimum size for a separate file; the loss to partial disk blocks is small then.
const OWN_FILE: usize = 64 << 10;

/// Shared by all sessions; stored objects are immutable.
pub(crate) struct Objects {
    folder: PathBuf,
    /// Small contents of this workspace.
    packed: Packed,
    /// Bytes that this process has added since the last count.
    added: AtomicU64,
    /// Reusable compressors: creating one takes longer than compressing a small file.
    compressors: Mutex<Vec<Compressor<'static>>>,
    names: AtomicU64,
}

impl Objects {
    pub fn open(store: &Path, workspace: &str) -> io::Result<Self> {
        let folder = store.join("objects");
        private_folder(&folder)?;
        private_folder(&packs(store))?;
        let packed = Packed::new(packs(store).join(workspace));
        let compressors = Mutex::default();
        Ok(Self { folder, packed, added: AtomicU64::new(0), compressors, names: AtomicU64::new(0) })
    }

    /// Writes buffered contents to disk. Before this call, stored contents may be only in memory.
    pub fn flush(&self) -> io::Result<()> {
        self.packed.flush()
    }

    /// Closes the current pack, so that a collector of this process may rewrite it.
    pub fn seal(&self) -> io::Result<()> {
        self.packed.seal()
    }

    pub fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    pub fn counted(&self) {
        self.added.store(0, Ordering::Relaxed);
    }

    pub fn put(&self, content: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(content);
        let place = self.place(&digest);
        if content.len() >= OWN_FILE
            && let Ok(file) = File::open(&place)
            && holds(&file, content)
        {
            // Refreshes the age of a reused object, so that a collector in another process keeps it.
            drop(file.set_modified(SystemTime::now()));
            return Ok(digest);
        }
        let packed = self.compressed(content)?;
        if packed.len() < OWN_FILE {
            if self.packed.put(&digest, &packed)? {
                self.added.fetch_add(packed.len() as u64, Ordering::Relaxed);
            }
            return Ok(digest);
        }
        if let Some(shard) = place.parent() {
            private_folder(shard)?;
        }
        let number = self.names.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!("new-{}-{number}", std::process::id()));
        let written = write_new(&temporary, &packed).and_then(|()| fs::rename(&temporary, &place));
        if let Err(error) = written {
            drop(fs::remove_file(&temporary));
            return Err(error);
        }
        self.added.fetch_add(packed.len() as u64, Ordering::Relaxed);
        Ok(digest)
    }

    /// Compresses the content if that makes it smaller.
    fn compressed(&self, content: &[u8]) -> io::Result<Vec<u8>> {
        let compressors = || self.compressors.lock().unwrap_or_else(PoisonError::into_inner);
        if content.len() >= WORTHWHILE {
            let known = compressors().pop();
            let mut compressor = known.map_or_else(|| Compressor::new(LEVEL), Ok)?;
            let payload = compressor.compress(content)?;
            let mut kept = compressors();
            if kept.len() < MOST_COMPRESSORS {
                kept.push(compressor);
            }
            if payload.len() + 1 < content.len() {
                return Ok([&[ZSTD], &payload[..]].concat());
            }
        }
        Ok([&[RAW], content].concat())
    }

    /// Returns exactly the stored content or an error: a damaged object is moved away, so that it can be written again.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, UndoError> {
        if let Some(packed) = self.packed.get(digest) {
            let content = unpacked(&packed).filter(|content| Digest::of(content) == *digest);
            return content.ok_or_else(|| {
                self.packed.forget(digest);
                UndoError::Damaged
            });
        }
        let place = self.place(digest);
        let mut packed = Vec::new();
        match File::open(&place).and_then(|mut file| file.read_to_end(&mut packed)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(UndoError::Evicted),
            Err(error) => return Err(UndoError::Store(error)),
        }
        match unpacked(&packed).filter(|content| Digest::of(content) == *digest) {
            Some(content) => Ok(content),
            None => {
                drop(fs::remove_file(&place));
                Err(UndoError::Damaged)
            }
        }
    }

    pub fn has(&self, digest: &Digest) -> bool {
        self.packed.has(digest) || self.place(digest).exists()
    }

    /// Visits every object with its size and age, including incomplete files of killed processes.
    pub fn each(&self, mut see: impl FnMut(Option<Digest>, &Path, &fs::Metadata)) -> io::Result<()> {
        for shard in fs::read_dir(&self.folder)? {
            let shard = shard?;
            let name = shard.file_name().to_string_lossy().into_owned();
            if !shard.file_type()?.is_dir() {
                if let Ok(metadata) = shard.metadata() {
                    see(None, &shard.path(), &metadata);
                }
                continue;
            }
            for object in fs::read_dir(shard.path())? {
                let object = object?;
                let rest = object.file_name().to_string_lossy().into_owned();
                if let Ok(metadata) = object.metadata() {
                    see(Digest::from_hex(&format!("{name}{rest}")), &object.path(), &metadata);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn place(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }
}

/// Returns the folder of the packs of all workspaces.
pub(crate) fn packs(store: &Path) -> PathBuf {
    store.join("packs")
}

/// Checks an existing object. After a system crash it may be empty; then it is written again.
fn holds(mut file: &File, content: &[u8]) -> bool {
    let mut packed = Vec::new();
    file.read_to_end(&mut packed).is_ok() && unpacked(&packed).is_some_and(|known| known == content)
}

fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let (kind, payload) = packed.split_first()?;
    match *kind {
        RAW => Some(payload.to_vec()),
        ZSTD => zstd::stream::decode_all(payload).ok(),
        _ => None,
    }
}

/// Writes to a temporary file and renames it.
pub(crate) fn replace(place: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = beside(place);
    drop(fs::remove_file(&temporary));
    let written = write_new(&temporary, content).and_then(|()| fs::rename(&temporary, place));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// Returns the temporary name of a file that is being written.
pub(crate) fn beside(place: &Path) -> PathBuf {
    let mut temporary = place.as_os_str().to_owned();
    temporary.push(format!(".new-{}", std::process::id()));
    temporary.into()
}

fn write_new(place: &Path, content: &[u8]) -> io::Result<()> {
    new_file(place)?.write_all(content)
}

/// Creates a file that only its owner can access.
pub(crate) fn new_file(place: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(place)
}

pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns reproducible data that is hard to compress.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 7_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 8) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    fn objects(store: &Path) -> Objects {
        Objects::open(store, "w").unwrap()
    }

    #[test]
    fn content_comes_back_and_damage_is_noticed() {
        let store = tempfile::tempdir().unwrap();
        let objects = objects(store.path());
        for content in [Vec::new(), b"short".to_vec(), b"long ".repeat(1000), noise(999), noise(200_000)] {
            let digest = objects.put(&content).unwrap();
            assert_eq!(objects.get(&digest).unwrap(), content, "before it is on the disk");
            objects.flush().unwrap();
            assert_eq!(objects.get(&digest).unwrap(), content);
            let place = match objects.place(&digest) {
                own if own.exists() => own,
                _ => crate::packed::lists(&store.path().join("packs/w")).pop().unwrap().with_extension("pack"),
            };
            let mut bytes = fs::read(&place).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::write(&place, &bytes).unwrap();
            assert!(matches!(objects.get(&digest), Err(UndoError::Damaged)));
            assert_eq!(objects.put(&content).unwrap(), digest);
            assert_eq!(objects.get(&digest).unwrap(), content, "a damaged object is written anew");
            objects.flush().unwrap();
            let again = self::objects(store.path());
            assert_eq!(again.get(&digest).unwrap(), content, "also for another process");
            fs::write(&place, b"").unwrap();
            assert_eq!(objects.put(&content).unwrap(), digest);
            assert_eq!(objects.get(&digest).unwrap(), content, "what was cut off is written anew");
        }
    }

    #[test]
    fn small_contents_share_files_and_processes_see_each_others() {
        let store = tempfile::tempdir().unwrap();
        let (one, other) = (objects(store.path()), objects(store.path()));
        let digests: Vec<Digest> = (0..5000).map(|number| one.put(format!("{number}").as_bytes()).unwrap()).collect();
        assert!(!other.has(&digests[0]));
        one.flush().unwrap();
        for (number, digest) in digests.iter().enumerate() {
            assert_eq!(other.get(digest).unwrap(), format!("{number}").into_bytes());
        }
        assert_eq!(fs::read_dir(store.path().join("packs/w")).unwrap().count(), 2, "a pack and its list");
        // A content that one has moved to a new pack is found there by the other.
        one.seal().unwrap();
        let list = crate::packed::lists(&store.path().join("packs/w")).remove(0);
        crate::packed::rewrite(&list, |digest| digests[..10].contains(digest)).unwrap();
        assert_eq!(other.get(&digests[3]).unwrap(), b"3");
        let third = objects(store.path());
        assert!(matches!(third.get(&digests[30]), Err(UndoError::Evicted)));
        other.put(b"30").unwrap();
        other.flush().unwrap();
        assert_eq!(third.get(&digests[30]).unwrap(), b"30", "not only where the old pack is still open");
    }
}
