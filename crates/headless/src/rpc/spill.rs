//! Frames that do not fit in memory: an unnamed temporary file, read in the order of writing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Caps the size of the file. Tests fill it.
pub const MAX_SPILL: u64 = if cfg!(test) { 32 << 20 } else { 256 << 20 };
/// Bytes read back at once.
const BLOCK: u64 = 256 << 10;

/// Created when first needed, deleted when it was read completely.
#[derive(Default)]
pub struct Spill {
    file: Option<File>,
    read: u64,
    written: u64,
}

impl Spill {
    pub fn is_empty(&self) -> bool {
        self.read == self.written
    }

    #[cfg(test)]
    pub fn unread(&self) -> u64 {
        self.written - self.read
    }

    /// Fails if the file is full or cannot be written; then nothing of `lines` is stored.
    pub fn push(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.written + lines.len() as u64 > MAX_SPILL {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(lines)?;
        self.written += lines.len() as u64;
        Ok(())
    }

    /// Appends the next block, which may end in the middle of a line.
    pub fn read(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(self.read))?;
        let wanted = BLOCK.min(self.written - self.read);
        let read = file.take(wanted).read_to_end(into)? as u64;
        if read != wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read += read;
        if self.is_empty() {
            *self = Self::default();
        }
        Ok(())
    }
}
