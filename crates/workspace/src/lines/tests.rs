//! Tests that windows from memory and from streams agree and stay within their limits.

use proptest::prelude::*;

use super::*;

const LIMITS: WindowLimits = WindowLimits { lines: 3, bytes: 20, line_bytes: 6 };

fn shown(window: &LineWindow) -> String {
    let mut text: Vec<String> = window
        .lines
        .iter()
        .map(|line| {
            format!("{}:{}{}", line.number, line.text, line.full_length.map_or(String::new(), |l| format!("({l})")))
        })
        .collect();
    if window.stopped_by_limit {
        text.push("…".into());
    }
    text.join(" ")
}

#[track_caller]
fn check(text: &str, first: usize, last: Option<usize>, want: &str) {
    let whole = window(&TextFile::parse(text.as_bytes()), first, last, LIMITS);
    assert_eq!(shown(&whole), want, "{text:?}");
    let streamed = stream_window(text.as_bytes(), (first, last), LIMITS, &|| false).unwrap();
    assert_eq!(shown(&streamed), want, "streamed {text:?}");
}

#[test]
fn windows() {
    check("", 1, None, "");
    check("a\nb\n", 1, None, "1:a 2:b");
    check("a\r\nb", 1, None, "1:a 2:b");
    check("a\nb\nc\n", 2, Some(2), "2:b");
    check("a\nb\nc\n", 2, Some(9), "2:b 3:c");
    check("a\nb\n", 5, None, "");
    check("a\nb\nc\nd\n", 1, None, "1:a 2:b 3:c …");
    check("a\nb\nc\nd\n", 1, Some(3), "1:a 2:b 3:c");
    check("abcdefgh\nx\n", 1, None, "1:abcdef(8) 2:x");
    check("abcdef\r\nx\n", 1, None, "1:abcdef 2:x");
    check("abcdeé\n", 1, None, "1:abcde(7)");
    check("aaaaaa\nbbbbbb\ncccccc\n", 1, None, "1:aaaaaa 2:bbbbbb …");
}

/// A reader that generates one endless line.
struct OneLine(u64);

impl Read for OneLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.min(buffer.len() as u64) as usize;
        buffer[..count].fill(b'x');
        self.0 -= count as u64;
        Ok(count)
    }
}

#[test]
fn an_endless_line_is_not_kept() {
    let window = stream_window(OneLine(1 << 28), (1, None), LIMITS, &|| false).unwrap();
    assert_eq!(window.lines[0].text, "xxxxxx");
    assert_eq!(window.lines[0].full_length, Some(1 << 28));
    assert_eq!(window.total_lines, Some(1));
}

#[test]
fn a_cancelled_stream_stops() {
    let error = stream_window(OneLine(u64::MAX), (1, None), LIMITS, &|| true).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
}

proptest! {
    #[test]
    fn streams_and_memory_agree(text in "([ab\u{e9}]{0,9}(\n|\r\n)){0,9}[ab]{0,9}", first in 1..9usize, last in proptest::option::of(1..9usize)) {
        // A file without line feeds may use carriage returns, which streams do not detect.
        let whole = window(&TextFile::parse(text.as_bytes()), first, last, LIMITS);
        let streamed = stream_window(text.as_bytes(), (first, last), LIMITS, &|| false).unwrap();
        prop_assert_eq!(shown(&whole), shown(&streamed));
        if streamed.total_lines.is_some() {
            prop_assert_eq!(streamed.total_lines, whole.total_lines);
        }
    }
}
