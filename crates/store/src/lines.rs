//! Reads a file line by line through one buffer, which grows only for a line whose head is not complete yet.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

use crate::skim::skim;

/// Maximum length of a line whose end is searched for its ID, and of an entry that is loaded.
pub(crate) const LONGEST_LINE: usize = 64 * 1024 * 1024;
pub(crate) const CHUNK: usize = 256 * 1024;
/// Number of bytes kept of a longer line without a head.
const BEGINNING: usize = 256;

/// One line, or the start of one that is too long to hold.
pub(crate) struct StoredLine<'a> {
    pub bytes: &'a [u8],
    pub offset: u64,
    /// Length of the whole line.
    pub len: u64,
    pub number: u32,
    pub ended: bool,
}

impl StoredLine<'_> {
    /// Returns the byte range in the file, including the newline.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.len + u64::from(self.ended)
    }
}

/// Calls `take` for every line and returns the number of bytes read and of lines. Of a line longer than [`LONGEST_LINE`], or
/// one whose head is complete early, only the start is passed on.
pub(crate) fn for_each_line(file: &File, mut take: impl FnMut(StoredLine<'_>)) -> io::Result<(u64, u32)> {
    let mut reader = LineReader::default();
    let mut handle = file;
    loop {
        let filled = reader.filled;
        let count = match handle.read(&mut reader.buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        reader.filled += count;
        reader.drain(filled, &mut take);
        reader.make_room();
    }
    reader.finish(&mut take);
    Ok((reader.offset + reader.filled as u64, reader.number))
}

struct LineReader {
    buffer: Vec<u8>,
    filled: usize,
    /// File offset of the buffer's first byte.
    offset: u64,
    number: u32,
    /// Start and offset of a line whose middle is being skipped.
    skipping: Option<(Vec<u8>, u64)>,
}

impl Default for LineReader {
    fn default() -> Self {
        Self { buffer: vec![0; CHUNK], filled: 0, offset: 0, number: 0, skipping: None }
    }
}

impl LineReader {
    /// Passes on all lines that end after `from`, where the last search stopped.
    fn drain(&mut self, from: usize, take: &mut impl FnMut(StoredLine<'_>)) {
        let mut start = 0;
        let mut search = from;
        while let Some(found) = memchr::memchr(b'\n', &self.buffer[search..self.filled]) {
            let end = search + found;
            self.emit(start, end, true, take);
            start = end + 1;
            search = start;
        }
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
        self.offset += start as u64;
    }

    fn finish(&mut self, take: &mut impl FnMut(StoredLine<'_>)) {
        if self.filled > 0 || self.skipping.is_some() {
            self.emit(0, self.filled, false, take);
        }
    }

    fn emit(&mut self, start: usize, end: usize, ended: bool, take: &mut impl FnMut(StoredLine<'_>)) {
        self.number = self.number.saturating_add(1);
        let number = self.number;
        let here = self.offset + start as u64;
        match self.skipping.take() {
            None => take(StoredLine {
                bytes: &self.buffer[start..end],
                offset: here,
                len: (end - start) as u64,
                number,
                ended,
            }),
            Some((beginning, offset)) => {
                let len = self.offset + end as u64 - offset;
                take(StoredLine { bytes: &beginning, offset, len, number, ended });
            }
        }
    }

    /// Called if the buffer holds no complete line.
    fn make_room(&mut self) {
        if self.filled < self.buffer.len() {
            return;
        }
        if self.skipping.is_none() {
            let tells_head = skim(&self.buffer).is_ok();
            if !tells_head && self.buffer.len() < LONGEST_LINE {
                self.buffer.resize(self.buffer.len() * 2, 0);
                return;
            }
            let keep = if tells_head { self.buffer.len() } else { BEGINNING };
            self.skipping = Some((self.buffer[..keep].to_vec(), self.offset));
        }
        self.offset += self.filled as u64;
        self.filled = 0;
        self.buffer.truncate(CHUNK);
        self.buffer.shrink_to_fit();
    }
}
