//! Example and property tests: no byte outside a splice changes.

use proptest::prelude::*;

use super::*;

fn splice(at: usize, delete: usize, insert: &[&str]) -> Splice {
    Splice { at, delete, insert: insert.iter().map(|line| (*line).to_owned()).collect() }
}

#[track_caller]
fn check(before: &[u8], splices: &[Splice], after: &[u8]) {
    let got = TextFile::parse(before).splice(splices);
    assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(after), "{before:?} {splices:?}");
    assert_eq!(got, after);
}

#[test]
fn fidelity_rows() {
    check(b"", &[], b"");
    check(b"", &[splice(0, 0, &["a"])], b"a\n");
    check(b"a\nb\n", &[splice(1, 0, &["x"])], b"a\nx\nb\n");
    check(b"a\r\nb\r\n", &[splice(1, 0, &["x"])], b"a\r\nx\r\nb\r\n");
    check(b"a\rb\r", &[splice(1, 1, &["x"])], b"a\rx\r");
    check(b"a\nb", &[splice(1, 1, &["x"])], b"a\nx");
    check(b"a\nb", &[splice(2, 0, &["x"])], b"a\nb\nx");
    check(b"a\nb", &[splice(1, 1, &[])], b"a");
    check(b"a", &[splice(0, 1, &[])], b"");
    check(b"a\nb\n", &[splice(0, 2, &[])], b"");
    check(b"\xef\xbb\xbfa\n", &[splice(0, 0, &["x"])], b"\xef\xbb\xbfx\na\n");
    check(b"\xef\xbb\xbf", &[splice(0, 0, &["x"])], b"\xef\xbb\xbfx\n");
    check(b"a\r\nb\nc\r\n", &[splice(1, 1, &["x", "y"])], b"a\r\nx\ny\r\nc\r\n");
    check(b"a\r\nb\r\nc", &[splice(2, 1, &["x", "y"])], b"a\r\nb\r\nx\r\ny");
    check(b"\xff\xfe!\nb\n\xff", &[splice(1, 1, &["x"])], b"\xff\xfe!\nx\n\xff");
    check(b"p\rq\nb\n", &[splice(1, 1, &["x"])], b"p\rq\nx\n");
    check(b"\n\n", &[splice(1, 1, &["x"])], b"\nx\n");
    check(b"a\nb\nc\n", &[splice(0, 1, &[]), splice(1, 0, &["x"]), splice(2, 1, &["y"])], b"x\nb\ny\n");
}

#[test]
fn facts_of_a_file() {
    let file = TextFile::parse(&b"\xef\xbb\xbfone\r\n\xfftwo\nthree"[..]);
    assert_eq!(file.line_count(), 3);
    assert!(file.has_bom());
    assert_eq!(file.line(0), "one");
    assert_eq!(file.line(1), "\u{fffd}two");
    assert_eq!(file.raw_line(7), b"");
    assert_eq!([file.eol(0), file.eol(1), file.eol(2)], [Some(Eol::CrLf), Some(Eol::Lf), Some(Eol::Missing)]);
}

#[test]
fn text_and_other_data() {
    for (head, want) in [
        (&b"fn main() {}"[..], None),
        (b"\xff\xe9 latin", None),
        (b"a\0b", Some("binary data")),
        (b"\xff\xfea\0", Some("UTF-16 text")),
        (b"", None),
    ] {
        assert_eq!(binary_reason(head), want, "{head:?}");
    }
}

prop_compose! {
    fn any_file()(bom: bool, lines in proptest::collection::vec(("[ab\u{e9}]{0,3}", 0..3u8, any::<bool>()), 0..12), finished: bool) -> Vec<u8> {
        let mut bytes = if bom { BOM.to_vec() } else { Vec::new() };
        for (text, eol, broken) in &lines {
            bytes.extend_from_slice(text.as_bytes());
            if *broken {
                bytes.push(0xfe);
            }
            bytes.extend_from_slice([&b"\n"[..], b"\r\n", b"\n"][usize::from(*eol)]);
        }
        if !finished {
            bytes.extend_from_slice(b"end");
        }
        bytes
    }
}

proptest! {
    #[test]
    fn no_splice_changes_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(TextFile::parse(&bytes[..]).splice(&[]), bytes);
    }

    #[test]
    fn lines_outside_a_splice_keep_every_byte(bytes in any_file(), at in 0..12usize, delete in 0..4usize, insert in proptest::collection::vec("[xyz]{0,3}", 0..4)) {
        let file = TextFile::parse(&bytes[..]);
        let at = at.min(file.line_count());
        let delete = delete.min(file.line_count() - at);
        let after = TextFile::parse(file.splice(&[Splice { at, delete, insert: insert.clone() }]));
        prop_assert_eq!(after.has_bom(), file.has_bom());
        for index in 0..at {
            prop_assert_eq!(after.raw_line(index), file.raw_line(index));
            if index + 1 < after.line_count() && file.eol(index) != Some(Eol::Missing) {
                prop_assert_eq!(after.eol(index), file.eol(index));
            }
        }
        for (offset, text) in insert.iter().enumerate() {
            prop_assert_eq!(after.raw_line(at + offset), text.as_bytes());
        }
        for index in at + delete..file.line_count() {
            let moved = index - delete + insert.len();
            prop_assert_eq!(after.raw_line(moved), file.raw_line(index));
            prop_assert_eq!(after.eol(moved), file.eol(index));
        }
    }
}
