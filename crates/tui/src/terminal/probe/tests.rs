//! Tests replies of terminals: whole, byte by byte, late and missing.

use std::time::Instant;

use super::*;
use crate::input::{Decoded, InputDecoder};

const REST: [Probe; 4] = [Probe::Background, Probe::Synchronized, Probe::Graphics, Probe::Notifications];

fn asked() -> Prober {
    let mut prober = Prober::default();
    let mut out = Vec::new();
    prober.ask(&[Probe::Keyboard], &mut out);
    prober.ask(&REST, &mut out);
    let sent = String::from_utf8(out).unwrap();
    assert!(sent.starts_with("\x1b[?u\x1b[c\x1b]11;?\x1b\\\x1b[?2026$p") && sent.ends_with("\x1b[c"), "{sent:?}");
    prober
}

/// Feeds a reply byte by byte, returns the capabilities, and checks that nothing reached the user's input.
fn answer(prober: &mut Prober, bytes: &str) -> Vec<Capability> {
    let (mut decoder, mut out) = (InputDecoder::default(), Vec::new());
    for byte in bytes.as_bytes() {
        decoder.feed(&[*byte], Instant::now(), &mut out);
    }
    out.into_iter()
        .flat_map(|decoded| match decoded {
            Decoded::Reply(reply) => prober.reply(reply),
            Decoded::Input(input) => panic!("{input:?} leaked"),
        })
        .collect()
}

#[test]
fn everything_is_answered() {
    let mut prober = asked();
    let known = answer(
        &mut prober,
        "\x1b[?0u\x1b[?62c\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?2026;2$y\x1b_Gi=31;OK\x1b\\\x1b]99;i=omp:p=?;a=focus\x1b\\\x1b[?62;4c",
    );
    assert_eq!(
        known,
        [
            Capability::KittyKeyboard(true),
            Capability::Background(Rgb(0, 0, 0)),
            Capability::Synchronized(true),
            Capability::Graphics(true),
            Capability::Notifications(true),
            Capability::Sixel,
        ]
    );
    assert!(!prober.is_waiting());
}

#[test]
fn only_the_sentinel_is_answered() {
    let mut prober = asked();
    assert_eq!(answer(&mut prober, "\x1b[?1;2c"), [Capability::KittyKeyboard(false)]);
    assert!(prober.is_waiting());
    assert_eq!(
        answer(&mut prober, "\x1b[?1;2c"),
        [Capability::Synchronized(false), Capability::Graphics(false), Capability::Notifications(false)]
    );
    assert!(!prober.is_waiting());
}

#[test]
fn a_mode_that_is_not_known_is_not_supported() {
    for (state, supported) in [(0, false), (1, true), (2, true), (3, true), (4, false), (9, false)] {
        let known = answer(&mut asked(), &format!("\x1b[?2026;{state}$y"));
        assert_eq!(known, [Capability::Synchronized(supported)], "{state}");
    }
}

#[test]
fn late_and_unasked_answers_count_and_are_no_keys() {
    let mut prober = asked();
    answer(&mut prober, "\x1b[?1c\x1b[?1c");
    // Some terminals answer the sentinel first.
    assert_eq!(answer(&mut prober, "\x1b[?0u"), [Capability::KittyKeyboard(true)]);
    assert_eq!(answer(&mut prober, "\x1b[?1;4c"), []);
    assert_eq!(answer(&mut prober, "\x1b[?997;2n"), [Capability::Appearance { dark: false }]);
    assert_eq!(answer(&mut prober, "\x1b[?7;1$y\x1b[48;24;80;1;1t"), []);
}
