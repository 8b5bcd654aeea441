//! Contents by their digest: written once, under a name that says what must be in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::UndoError;
use crate::digest::Digest;

const RAW: u8 = 0;
const ZSTD: u8 = 1;
const LEVEL: i32 = 1;
/// Smaller contents are not worth compressing.
const WORTHWHILE: usize = 256;

/// Shared by all sessions; nothing in it is ever changed.
pub(crate) struct Objects {
    folder: PathBuf,
    /// What this process has added since the last count.
    added: AtomicU64,
    names: AtomicU64,
}

impl Objects {
    pub fn open(store: &Path) -> io::Result<Self> {
        let folder = store.join("objects");
        private_folder(&folder)?;
        Ok(Self { folder, added: AtomicU64::new(0), names: AtomicU64::new(0) })
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
        if let Ok(file) = File::open(&place)
            && holds(&file, content)
        {
            // What is named anew is not old any more: a collector in another process leaves it alone.
            drop(file.set_modified(SystemTime::now()));
            return Ok(digest);
        }
        let packed = packed(content)?;
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

    /// What is read is what was written, or an error: a damaged object is put away, so that it can be written anew.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, UndoError> {
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
        self.place(digest).exists()
    }

    /// Every object with its size on disk and its age; also what a killed process has left half written.
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

/// A machine that went down may have left it empty: then it is written anew.
fn holds(mut file: &File, content: &[u8]) -> bool {
    let mut packed = Vec::new();
    file.read_to_end(&mut packed).is_ok() && unpacked(&packed).is_some_and(|known| known == content)
}

fn packed(content: &[u8]) -> io::Result<Vec<u8>> {
    if content.len() >= WORTHWHILE {
        let mut packed = vec![ZSTD];
        packed.extend(zstd::bulk::compress(content, LEVEL)?);
        if packed.len() < content.len() {
            return Ok(packed);
        }
    }
    let mut raw = Vec::with_capacity(content.len() + 1);
    raw.push(RAW);
    raw.extend_from_slice(content);
    Ok(raw)
}

fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let (kind, payload) = packed.split_first()?;
    match *kind {
        RAW => Some(payload.to_vec()),
        ZSTD => zstd::stream::decode_all(payload).ok(),
        _ => None,
    }
}

/// Written whole beside it, then put in its place.
pub(crate) fn replace(place: &Path, content: &[u8]) -> io::Result<()> {
    let mut temporary = place.as_os_str().to_owned();
    temporary.push(format!(".new-{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    drop(fs::remove_file(&temporary));
    let written = write_new(&temporary, content).and_then(|()| fs::rename(&temporary, place));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

fn write_new(place: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(place)?.write_all(content)
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

    #[test]
    fn content_comes_back_and_damage_is_noticed() {
        let store = tempfile::tempdir().unwrap();
        let objects = Objects::open(store.path()).unwrap();
        for content in [Vec::new(), b"short".to_vec(), b"long ".repeat(1000), (0..=255).cycle().take(999).collect()] {
            let digest = objects.put(&content).unwrap();
            assert_eq!(objects.get(&digest).unwrap(), content);
            let place = objects.place(&digest);
            let mut bytes = fs::read(&place).unwrap();
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::write(&place, bytes).unwrap();
            assert!(matches!(objects.get(&digest), Err(UndoError::Damaged)));
            assert!(matches!(objects.get(&digest), Err(UndoError::Evicted)), "a damaged object is put away");
            assert_eq!(objects.put(&content).unwrap(), digest);
            assert_eq!(objects.get(&digest).unwrap(), content);
            fs::write(&place, b"").unwrap();
            assert_eq!(objects.put(&content).unwrap(), digest, "a damaged object is written anew");
            assert_eq!(objects.get(&digest).unwrap(), content);
        }
    }
}
