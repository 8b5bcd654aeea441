//! Reads lines by file position through one buffer, so that adjacent lines share one system call.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

const WINDOW: usize = 256 * 1024;

pub(crate) struct Window<'a> {
    file: &'a File,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Window<'a> {
    pub fn new(file: &'a File) -> Self {
        Self { file, start: 0, bytes: Vec::new() }
    }

    pub fn read(&mut self, offset: u64, len: usize) -> io::Result<&[u8]> {
        let end = offset + len as u64;
        if offset < self.start || end > self.start + self.bytes.len() as u64 {
            self.fill(offset, len)?;
        }
        let from = (offset - self.start) as usize;
        self.bytes.get(from..from + len).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn fill(&mut self, offset: u64, len: usize) -> io::Result<()> {
        let mut handle = self.file;
        handle.seek(SeekFrom::Start(offset))?;
        self.start = offset;
        self.bytes.clear();
        // Releases the memory of a very long line.
        self.bytes.shrink_to(WINDOW);
        handle.take(len.max(WINDOW) as u64).read_to_end(&mut self.bytes).map(drop)
    }
}
