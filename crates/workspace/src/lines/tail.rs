//! Reads the last lines of a file of any size, backwards from its end.

use std::io::{self, Read, Seek, SeekFrom};

use super::WindowLimits;

const BLOCK: usize = 64 * 1024;

/// The last lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    pub lines: Vec<String>,
    /// Some requested lines did not fit.
    pub stopped_by_limit: bool,
    /// Only the end of the first line is included, because the line alone exceeds the limit.
    pub first_is_cut: bool,
    /// The first of these lines is the first line of the file.
    pub from_start: bool,
}

/// Reads at most `count` lines within the limits. Nothing before them is read, so the time does not depend on the file size.
pub fn tail_window(mut file: impl Read + Seek, count: usize, limits: WindowLimits) -> io::Result<Tail> {
    let size = file.seek(SeekFrom::End(0))?;
    let count = count.min(limits.lines);
    let mut bytes: Vec<u8> = Vec::new();
    let mut start = size;
    while start > 0 && bytes.len() <= limits.bytes && line_starts(&bytes) <= count {
        let length = (BLOCK as u64).min(start);
        start -= length;
        file.seek(SeekFrom::Start(start))?;
        let mut block = vec![0; length as usize];
        file.read_exact(&mut block)?;
        block.append(&mut bytes);
        bytes = block;
    }
    Ok(last_lines(&bytes, start == 0, count, limits.bytes))
}

/// Counts the line feeds that are followed by another line.
fn line_starts(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes.strip_suffix(b"\n").unwrap_or(bytes)).count()
}

fn last_lines(bytes: &[u8], whole: bool, count: usize, most: usize) -> Tail {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() {
        return Tail { from_start: true, ..Tail::default() };
    }
    let mut tail = Tail::default();
    let mut end = text.len();
    let mut left = most;
    loop {
        let start = memchr::memrchr(b'\n', &text[..end]).map_or(0, |at| at + 1);
        let is_first = start == 0;
        let line = &text[start..end];
        let is_cut = line.len() >= left || (is_first && !whole);
        if is_cut && !tail.lines.is_empty() {
            tail.stopped_by_limit = true;
            break;
        }
        let shown = &line[line.len().saturating_sub(left)..];
        tail.first_is_cut = is_cut;
        tail.lines.push(String::from_utf8_lossy(shown.strip_suffix(b"\r").unwrap_or(shown)).into_owned());
        left = left.saturating_sub(line.len() + 1);
        tail.from_start = is_first && whole && !is_cut;
        if is_first || is_cut || tail.lines.len() == count {
            break;
        }
        end = start - 1;
    }
    tail.lines.reverse();
    tail
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const LIMITS: WindowLimits = WindowLimits { lines: 1000, bytes: 100_000, line_bytes: 2000 };

    fn tail(text: &str, count: usize) -> Tail {
        tail_window(Cursor::new(text), count, LIMITS).unwrap()
    }

    #[test]
    fn ends_of_files() {
        for (text, count, want, from_start) in [
            ("a\nb\nc\n", 2, &["b", "c"][..], false),
            ("a\nb\nc", 2, &["b", "c"], false),
            ("a\r\nb\r\n", 1, &["b"], false),
            ("a\nb\nc\n", 3, &["a", "b", "c"], true),
            ("a\nb\nc\n", 9, &["a", "b", "c"], true),
            ("a\n\n\n", 2, &["", ""], false),
            ("\n", 5, &[""], true),
            ("", 5, &[], true),
        ] {
            let tail = tail(text, count);
            assert_eq!(
                (&tail.lines[..], tail.from_start),
                (want.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>().as_slice(), from_start),
                "{text:?} {count}"
            );
            assert!(!tail.stopped_by_limit && !tail.first_is_cut);
        }
    }

    #[test]
    fn blocks_are_put_together() {
        let text: String = (1..=60_000).map(|n| format!("line {n}\n")).collect();
        let tail = tail(&text, 900);
        assert_eq!(
            (tail.lines.len(), tail.lines[0].as_str(), tail.lines[899].as_str()),
            (900, "line 59101", "line 60000")
        );
    }

    #[test]
    fn limits() {
        let text = format!("{}\n{}\n", "x".repeat(90_000), "y".repeat(20_000));
        let tail = tail(&text, 2);
        assert_eq!((tail.lines.len(), tail.stopped_by_limit), (1, true));
        let one = tail_window(Cursor::new("z".repeat(300_000)), 5, LIMITS).unwrap();
        assert_eq!((one.lines.len(), one.lines[0].len(), one.first_is_cut, one.from_start), (1, 100_000, true, false));
    }

    /// A reader that counts the bytes read.
    struct Meter<'a>(Cursor<&'a [u8]>, usize);

    impl Read for Meter<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(buffer)?;
            self.1 += count;
            Ok(count)
        }
    }

    impl Seek for Meter<'_> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn only_the_end_is_read() {
        let text = "0123456789abcde\n".repeat(1_000_000);
        let mut meter = Meter(Cursor::new(text.as_bytes()), 0);
        assert_eq!(tail_window(&mut meter, 50, LIMITS).unwrap().lines.len(), 50);
        assert_eq!(meter.1, BLOCK);
    }

    #[test]
    fn five_gigabytes() {
        use std::io::Write as _;
        let mut file = tempfile::tempfile().unwrap();
        let size = 5 * 1024 * 1024 * 1024;
        file.set_len(size).unwrap();
        file.seek(SeekFrom::Start(size)).unwrap();
        (0..60).for_each(|n| writeln!(file, "\nlast {n}").unwrap());
        let tail = tail_window(&file, 50, LIMITS).unwrap();
        assert_eq!((tail.lines.len(), tail.lines[49].as_str()), (50, "last 59"));
    }
}
