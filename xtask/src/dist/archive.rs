//! Writes the archive with sorted entries and fixed owner and times, so that the same input gives the same bytes.

use std::io;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Relative to the archive's top folder.
    pub path: String,
    pub bytes: Vec<u8>,
    pub is_program: bool,
}

/// The gzip header value for an unknown operating system.
const UNKNOWN_SYSTEM: u8 = 255;

pub fn packed(folder: &str, seconds: u64, entries: &[ArchiveFile]) -> io::Result<Vec<u8>> {
    let packer = GzBuilder::new().mtime(0).operating_system(UNKNOWN_SYSTEM).write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(packer);
    for entry in sorted(entries) {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(if entry.is_program { 0o755 } else { 0o644 });
        header.set_mtime(seconds);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, format!("{folder}/{}", entry.path), entry.bytes.as_slice())?;
    }
    archive.into_inner()?.finish()
}

pub fn sorted(entries: &[ArchiveFile]) -> Vec<&ArchiveFile> {
    let mut sorted: Vec<&ArchiveFile> = entries.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    sorted
}

pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
