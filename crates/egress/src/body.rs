//! Determines the length of a request body, so that bytes after it are not sent to the host as another request.

/// Limits a line between chunks.
const LONGEST_LINE: usize = 4096;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// The number of missing bytes.
    Length(u64),
    Chunked(ChunkReader),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChunkReader {
    at: ChunkPart,
    line: Vec<u8>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum ChunkPart {
    #[default]
    Size,
    Data(u64),
    /// The line end after a chunk.
    Gap,
    Trailer,
    End,
}

/// The error for an invalid body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misframed;

impl Body {
    /// Returns `None` if the length is ambiguous.
    pub(super) fn of<'a>(
        lengths: impl Iterator<Item = &'a [u8]>,
        encodings: impl Iterator<Item = &'a [u8]>,
    ) -> Option<Self> {
        let (lengths, encodings): (Vec<_>, Vec<_>) = (lengths.collect(), encodings.collect());
        match (lengths.as_slice(), encodings.as_slice()) {
            ([], []) => Some(Self::Length(0)),
            ([length], []) => {
                let digits = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
                let length = std::str::from_utf8(length).ok().filter(|_| digits)?;
                length.parse().ok().map(Self::Length)
            }
            ([], [encoding]) if encoding.eq_ignore_ascii_case(b"chunked") => {
                Some(Self::Chunked(ChunkReader::default()))
            }
            _ => None,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked(ChunkReader { at: ChunkPart::End, .. }))
    }

    /// Returns how many of `bytes` belong to the body.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<usize, Misframed> {
        match self {
            Self::Length(missing) => {
                let taken = bytes.len().min(usize::try_from(*missing).unwrap_or(usize::MAX));
                *missing -= taken as u64;
                Ok(taken)
            }
            Self::Chunked(chunks) => chunks.take(bytes),
        }
    }
}

impl ChunkReader {
    fn take(&mut self, bytes: &[u8]) -> Result<usize, Misframed> {
        let mut taken = 0;
        while taken < bytes.len() && self.at != ChunkPart::End {
            if let ChunkPart::Data(missing) = &mut self.at {
                let piece = (bytes.len() - taken).min(usize::try_from(*missing).unwrap_or(usize::MAX));
                taken += piece;
                *missing -= piece as u64;
                if *missing == 0 {
                    self.at = ChunkPart::Gap;
                }
                continue;
            }
            self.line.push(bytes[taken]);
            taken += 1;
            if self.line.len() > LONGEST_LINE {
                return Err(Misframed);
            }
            if self.line.ends_with(b"\n") {
                self.end_line()?;
            }
        }
        Ok(taken)
    }

    fn end_line(&mut self) -> Result<(), Misframed> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r\n").ok_or(Misframed)?;
        if line.contains(&b'\r') {
            return Err(Misframed);
        }
        self.at = match self.at {
            ChunkPart::Size => match size(line).ok_or(Misframed)? {
                0 => ChunkPart::Trailer,
                size => ChunkPart::Data(size),
            },
            ChunkPart::Gap if line.is_empty() => ChunkPart::Size,
            ChunkPart::Trailer if line.is_empty() => ChunkPart::End,
            ChunkPart::Trailer => ChunkPart::Trailer,
            _ => return Err(Misframed),
        };
        Ok(())
    }
}

fn size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?;
    let plain = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| plain)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut body: impl FnMut() -> Body, bytes: &[u8], expect: Result<(usize, bool), Misframed>) {
        for size in [1, 2, 7, bytes.len().max(1)] {
            let (mut body, mut taken) = (body(), Ok(0));
            for piece in bytes.chunks(size) {
                taken = taken.and_then(|before| body.take(piece).map(|taken| before + taken));
            }
            assert_eq!(taken.map(|taken| (taken, body.has_ended())), expect_like(&expect), "pieces of {size}");
        }
    }

    fn expect_like(expect: &Result<(usize, bool), Misframed>) -> Result<(usize, bool), Misframed> {
        expect.as_ref().map(|pair| *pair).map_err(|_| Misframed)
    }

    #[test]
    fn a_body_ends_where_it_says() {
        check(|| Body::Length(3), b"abcGET", Ok((3, true)));
        check(|| Body::Length(9), b"abc", Ok((3, false)));
        let chunked = || Body::Chunked(ChunkReader::default());
        check(chunked, b"3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1", Ok((13, true)));
        check(chunked, b"3;x=y\r\nabc\r\n0\r\nTrailer: x\r\n\r\n", Ok((29, true)));
        check(chunked, b"A\r\nabc", Ok((6, false)));
    }

    #[test]
    fn chunks_that_could_be_read_in_two_ways_are_none() {
        let chunked = || Body::Chunked(ChunkReader::default());
        for bytes in [
            b"3\nabc\n0\n\n".as_slice(),
            b"x\r\n",
            b"\r\n",
            b"-1\r\n",
            b"0x3\r\n",
            b"3\r\nabcd\r\n",
            b"1000000000000000\r\n",
        ] {
            check(chunked, bytes, Err(Misframed));
        }
        check(chunked, &[b'1'; LONGEST_LINE + 1], Err(Misframed));
    }
}
