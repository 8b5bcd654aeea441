//! Tests decoding, and that splits do not matter.

use super::*;
use proptest::prelude::*;

type Events = Vec<(String, String)>;

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Events, SseError> {
    let mut decoder = SseDecoder::new();
    let mut events = Events::new();
    for chunk in chunks {
        decoder.push(chunk, |name, data| events.push((name.to_owned(), data.to_owned())))?;
    }
    decoder.finish(|name, data| events.push((name.to_owned(), data.to_owned())))?;
    Ok(events)
}

#[track_caller]
fn check(bytes: &str, expect: &[(&str, &str)]) {
    let expect: Events = expect.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
    assert_eq!(decode([bytes.as_bytes()]).unwrap(), expect, "whole");
    assert_eq!(decode(bytes.as_bytes().chunks(1)).unwrap(), expect, "byte by byte");
}

#[test]
fn events_are_read_as_the_standard_says() {
    check("data: a\n\n", &[("message", "a")]);
    check("event: ping\ndata: {}\n\ndata: b\n\n", &[("ping", "{}"), ("message", "b")]);
    check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[("message", "a"), ("message", "b"), ("message", "c")]);
    check("data: a\r\n\n", &[("message", "a")]);
    check("data: one\ndata: two\n\n", &[("message", "one\ntwo")]);
    check("data:tight\ndata:  spaced\n\n", &[("message", "tight\n spaced")]);
    check("data\n\n", &[("message", "")]);
    check(": comment\n\n:\n\ndata: a\n: in between\n\n", &[("message", "a")]);
    check("\u{feff}data: a\n\n", &[("message", "a")]);
    check("id: 1\nretry: 5\nother: x\ndatax: y\ndata: a\n\n", &[("message", "a")]);
    check("event: lonely\n\ndata: a\n\n", &[("message", "a")]);
    check("data: größe 😀\n\n", &[("message", "größe 😀")]);
    check("", &[]);
    check("\n\n\n", &[]);
}

#[test]
fn the_last_event_needs_no_line_end() {
    check("data: a\n\ndata: b", &[("message", "a"), ("message", "b")]);
    check("event: x\ndata: b\n", &[("x", "b")]);
    check("event: x", &[]);
}

#[test]
fn bytes_that_are_no_text_do_not_stop_the_stream() {
    let events = decode([&b"data: a\xffb\n\ndata: c\n\n"[..]]).unwrap();
    assert_eq!(events, [("message".to_owned(), "a\u{fffd}b".to_owned()), ("message".to_owned(), "c".to_owned())]);
}

#[test]
fn an_endless_event_is_refused() {
    let chunk = vec![b'x'; 1 << 20];
    let endless_line = std::iter::once(&b"data: "[..]).chain(std::iter::repeat_n(&chunk[..], 17));
    assert_eq!(decode(endless_line), Err(SseError::TooLarge));
    let line = [b"data: ", &chunk[..], b"\n"].concat();
    assert_eq!(decode(std::iter::repeat_n(&line[..], 17)), Err(SseError::TooLarge));
    let event = [b"data: ", &chunk[..], b"\n\n"].concat();
    assert_eq!(decode(std::iter::repeat_n(&event[..], 40)).unwrap().len(), 40);
}

fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"data: "[..]),
        Just(&b"data:"[..]),
        Just(&b"event: "[..]),
        Just(&b": "[..]),
        Just(&b"\n"[..]),
        Just(&b"\r"[..]),
        Just(&b"\r\n"[..]),
        Just(&b"\n\n"[..]),
        Just("ü😀".as_bytes()),
        Just(&b"{\"a\":1}"[..]),
        Just(BYTE_ORDER_MARK),
        Just(&b"\xff"[..]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn cuts_do_not_change_the_events(bytes in stream_bytes(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(decode(pieces), decode([&bytes[..]]));
    }
}
