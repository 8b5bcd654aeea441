//! Tests of streams split at every position, with noise and invalid data.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const SMALL: FrameLimits = FrameLimits { header_bytes: 64, message_bytes: 32 };

/// Returns frames as short texts, and the final result.
fn decode(framing: Framing, limits: FrameLimits, pieces: &[&[u8]]) -> (Vec<String>, Result<(), FramingError>) {
    let mut decoder = FrameDecoder::new(framing, limits);
    let mut frames = Vec::new();
    let mut ended = Ok(());
    for piece in pieces {
        ended = ended.and_then(|()| decoder.push(piece, &mut frames));
    }
    ended = ended.and_then(|()| decoder.finish(&mut frames));
    let text = |frame| match frame {
        MessageFrame::Message { value, .. } => value.to_string(),
        MessageFrame::Noise(text) => format!("noise {text}"),
        MessageFrame::TooLong { bytes } => format!("too long: {bytes}"),
    };
    (frames.into_iter().map(text).collect(), ended)
}

#[track_caller]
fn check(framing: Framing, stream: &str, frames: &[&str], ended: Result<(), &str>) {
    let (found, end) = decode(framing, SMALL, &[stream.as_bytes()]);
    assert_eq!(found, frames, "{stream:?}");
    match (end, ended) {
        (Ok(()), Ok(())) => {}
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
        (end, _) => panic!("{stream:?}: {end:?}"),
    }
}

#[test]
fn lines() {
    let check = |stream, frames, ended| check(Framing::Lines, stream, frames, ended);
    check("{\"a\":1}\n{\"b\":2}\r\n", &["{\"a\":1}", "{\"b\":2}"], Ok(()));
    check("\n\r\n  \n[1]\n\n2", &["[1]", "2"], Ok(()));
    check("\u{feff}{}\n", &["{}"], Ok(()));
    check("Server v1 ready\u{1b}[0m\n{}\n{oops\n", &["noise Server v1 ready␛[0m", "{}", "noise {oops"], Ok(()));
    let long = format!("1\n{}\n2\n", "9".repeat(33));
    check(&long, &["1"], Err("a message of 33B is longer than the limit of 32B"));
}

#[test]
fn lenient_lines_go_on_after_a_long_one() {
    let long = format!("1\n{}\n2\n", "9".repeat(33));
    check(Framing::LenientLines, &long, &["1", "too long: 33", "2"], Ok(()));
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let (frames, end) = decode(Framing::Lines, SMALL, &[b"{\"a\":\"\xff\"}\n\xff\n"]);
    assert_eq!((frames, end), (vec!["{\"a\":\"\u{fffd}\"}".to_owned(), "noise \u{fffd}".to_owned()], Ok(())));
}

#[test]
fn content_length() {
    let check = |stream, frames, ended| check(Framing::ContentLength, stream, frames, ended);
    let (many, long) = ("x:y\r\n".repeat(13), "x".repeat(65));
    check(&many, &[], Err("longer than 64B"));
    check(&long, &[], Err("longer than 64B"));
    check("Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n7", &["{}", "7"], Ok(()));
    check("content-length:2\nContent-Type: x/y; charset=utf-8\nX: y\n\n{}", &["{}"], Ok(()));
    check("\r\n\r\nContent-Length: 2\r\n\r\n{}\n", &["{}"], Ok(()));
    check("Content-Length: 3\r\n\r\nno!Content-Length: 1\r\n\r\n7", &["noise no!", "7"], Ok(()));
    check("Content-Length: 0\r\n\r\n", &["noise "], Ok(()));
    check("Welcome\r\nContent-Length: 2\r\n\r\n{}", &[], Err("`Welcome` is not a message header"));
    check("Content-Length: +2\r\n\r\n{}", &[], Err("`Content-Length: +2` is not a message header"));
    check("Content-Length: 99999999999999999999999\r\n\r\n{}", &[], Err("is not a message header"));
    check("Content-Type: x\r\n\r\n{}", &[], Err("without `Content-Length`"));
    check("Content-Length: 1\r\n\r\n7X: y\r\n\r\n8", &["7"], Err("without `Content-Length`"));
    check("Content-Length: 1\r\n\r\n7Content-Length: 33\r\n\r\n", &["7"], Err("a message of 33B"));
    check("Content-Length: 5\r\n\r\n{}", &[], Err("in the middle of a message"));
    check("Content-Le", &[], Err("in the middle of a message"));
}

#[test]
fn a_length_alone_takes_no_memory() {
    let mut decoder = FrameDecoder::new(Framing::ContentLength, FrameLimits::default());
    decoder.push(b"Content-Length: 60000000\r\n\r\n", &mut Vec::new()).unwrap();
    let Cutter::ContentLength(headed) = &decoder.cutter else { panic!() };
    assert!(headed.buffer.capacity() < 1 << 20);
}

#[test]
fn what_is_written_is_read() {
    let message = json!({"text": "two\nlines\r\n\u{2028} ü", "list": [1, null]});
    for framing in [Framing::Lines, Framing::ContentLength] {
        let bytes = encode(framing, &message);
        let twice = [bytes.as_slice(), bytes.as_slice()].concat();
        let (frames, ended) = decode(framing, FrameLimits::default(), &[&twice]);
        assert_eq!((frames, ended), (vec![message.to_string(); 2], Ok(())));
    }
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([0, bytes.len()]).collect();
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Lines), Just(Framing::ContentLength)]
}

/// Parts of real streams in random order, mostly invalid.
fn nearly_a_stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"Content-Length: 2\r\n\r\n{}".to_vec()),
        Just(b"Content-Length: 7\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"{\"id\":1}\n".to_vec()),
        Just(b"[1,2]\r\n".to_vec()),
        Just("ü banner\n".as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..12),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn cuts_do_not_matter(framing in framing(), stream in nearly_a_stream(), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let whole = decode(framing, SMALL, &[&stream]);
        prop_assert_eq!(decode(framing, SMALL, &pieces(&stream, &cuts)), whole.clone());
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(decode(framing, SMALL, &bytes), whole);
    }

    #[test]
    fn messages_come_through_any_cut(framing in framing(), numbers in prop::collection::vec(any::<i64>(), 0..6), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let messages: Vec<Value> = numbers.iter().map(|number| json!({"id": number})).collect();
        let stream: Vec<u8> = messages.iter().flat_map(|message| encode(framing, message)).collect();
        let (frames, ended) = decode(framing, FrameLimits::default(), &pieces(&stream, &cuts));
        prop_assert_eq!(ended, Ok(()));
        prop_assert_eq!(frames, messages.iter().map(Value::to_string).collect::<Vec<_>>());
    }

    #[test]
    fn garbage_never_panics(framing in framing(), stream in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode(framing, SMALL, &[&stream]);
        let _ = decode(framing, FrameLimits::default(), &[&stream]);
    }
}
