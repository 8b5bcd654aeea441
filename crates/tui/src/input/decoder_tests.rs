//! Tests sequences of real terminals as tables, arbitrary splits as properties, and hostile input.

use std::time::{Duration, Instant};

use omp_testkit::Effort;
use proptest::prelude::*;

use super::*;

fn show(decoded: &[Decoded]) -> String {
    let one = |decoded: &Decoded| match decoded {
        Decoded::Input(Input::Key(key)) => key.to_string(),
        Decoded::Input(Input::Paste(text)) => format!("paste({text:?})"),
        Decoded::Input(Input::Mouse(mouse)) => {
            format!("{:?}({},{},{:?})", mouse.kind, mouse.column, mouse.row, mouse.mods)
        }
        Decoded::Input(Input::Focus(gained)) => format!("focus({gained})"),
        Decoded::Reply(reply) => format!("{reply:?}"),
    };
    decoded.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Decodes all bytes in one read.
fn decode(bytes: &[u8]) -> Vec<Decoded> {
    let mut out = Vec::new();
    InputDecoder::default().feed(bytes, Instant::now(), &mut out);
    out
}

/// Decodes byte by byte and then expires.
fn decode_slowly(bytes: &[u8]) -> Vec<Decoded> {
    let (mut decoder, mut out, now) = (InputDecoder::default(), Vec::new(), Instant::now());
    for byte in bytes {
        decoder.feed(&[*byte], now, &mut out);
    }
    if let Some(deadline) = decoder.pending_deadline() {
        decoder.expire(deadline, &mut out);
    }
    assert_eq!(decoder.pending_deadline(), None);
    out
}

fn check(rows: &[(&[u8], &str)]) {
    for (bytes, expected) in rows {
        let shown = String::from_utf8_lossy(bytes).escape_debug().to_string();
        assert_eq!(show(&decode_slowly(bytes)), *expected, "{shown} byte by byte");
        let (mut decoder, mut out, now) = (InputDecoder::default(), Vec::new(), Instant::now());
        decoder.feed(bytes, now, &mut out);
        decoder.expire(now + Duration::from_secs(2), &mut out);
        assert_eq!(show(&out), *expected, "{shown} at once");
    }
}

#[test]
fn legacy_bytes() {
    check(&[
        (b"a", "a"),
        (b"A", "shift+A"),
        (b"?", "?"),
        (b" ", "space"),
        (b"\t\r\x7f\x08", "tab enter backspace backspace"),
        (b"\n", "ctrl+j"),
        (b"\x00\x01\x03\x1a", "ctrl+space ctrl+a ctrl+c ctrl+z"),
        (b"\x1c\x1d\x1e\x1f", "ctrl+\\ ctrl+] ctrl+^ ctrl+_"),
        (b"\x1ba\x1bA\x1b?", "alt+a shift+alt+a alt+?"),
        (b"\x1b\r\x1b\x7f\x1b\t\x1b\x02", "alt+enter alt+backspace alt+tab ctrl+alt+b"),
        ("\x1bé".as_bytes(), "alt+é"),
        (b"\x1b", "escape"),
        (b"\x1b\x1b", "escape escape"),
        (b"\x1b\x1b\x1b", "escape escape escape"),
        (b"\x1b\x1bx", "escape alt+x"),
    ]);
}

#[test]
fn keys_of_xterm_rxvt_and_the_linux_console() {
    check(&[
        (b"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F", "up down right left home end"),
        (b"\x1bOA\x1bOH\x1bOP\x1bOS", "up home f1 f4"),
        (b"\x1b[1;5A\x1b[1;2D\x1b[1;3C\x1b[1;8H", "ctrl+up shift+left alt+right ctrl+shift+alt+home"),
        (b"\x1b[Z\x1b[1;5Z", "shift+tab ctrl+shift+tab"),
        (b"\x1b[2~\x1b[3~\x1b[5~\x1b[6~\x1b[7~\x1b[8~", "insert delete pageUp pageDown home end"),
        (b"\x1b[3;5~\x1b[5;3~", "ctrl+delete alt+pageUp"),
        (b"\x1b[11~\x1b[15~\x1b[17~\x1b[21~\x1b[24~\x1b[25~\x1b[29~\x1b[34~", "f1 f5 f6 f10 f12 f13 f16 f20"),
        (b"\x1b[1;2P\x1b[1;2R\x1b[24;5~", "shift+f1 shift+f3 ctrl+f12"),
        (b"\x1b[a\x1b[d\x1bOa\x1bOc", "shift+up shift+left ctrl+up ctrl+right"),
        (b"\x1b[3$\x1b[3^\x1b[3@\x1b[11^", "shift+delete ctrl+delete ctrl+shift+delete ctrl+f1"),
        (b"\x1b\x1b[A\x1b\x1bOB\x1b\x1b[3~", "alt+up alt+down alt+delete"),
        (b"\x1b[[A\x1b[[E", "f1 f5"),
        (b"\x1bO5A\x1bO1;5P", "ctrl+up ctrl+f1"),
        (b"\x1bOM\x1bOj\x1bOm\x1bOp\x1bOy\x1bOX", "enter * - 0 9 ="),
    ]);
}

#[test]
fn other_keys_and_kitty() {
    check(&[
        (b"\x1b[27;5;13~\x1b[27;2;13~\x1b[27;5;105~\x1b[27;5;9~", "ctrl+enter shift+enter ctrl+i ctrl+tab"),
        (b"\x1b[27;2;65~\x1b[27;6;80~\x1b[27;2;33~\x1b[27;5;127~", "shift+A ctrl+shift+p ! ctrl+backspace"),
        (b"\x1b[27u\x1b[13;2u\x1b[9;5u\x1b[127;3u\x1b[32;2u", "escape shift+enter ctrl+tab alt+backspace shift+space"),
        (b"\x1b[105;5u\x1b[109;5u\x1b[112;6u", "ctrl+i ctrl+m ctrl+shift+p"),
        (b"\x1b[97u\x1b[97;2u\x1b[97:65;2u\x1b[49:33;2u", "a shift+A shift+A !"),
        // Press, repeat, release.
        (b"\x1b[97;5:1u\x1b[97;5:2u\x1b[97;5:3u", "ctrl+a ctrl+a"),
        (b"\x1b[1;1:3A\x1b[1;5:2A\x1b[3;1:3~", "ctrl+up"),
        // A Cyrillic layout: the shortcut uses the position of c.
        (b"\x1b[1089::99;5u\x1b[1089;1u", "ctrl+c с"),
        // Text of a key, and text of an input method without a key.
        ("\x1b[97;;229u\x1b[0;;26085:26412u".as_bytes(), "å 日 本"),
        (b"\x1b[97;2;65u\x1b[97;65u", "shift+A shift+A"),
        (b"\x1b[97;129u\x1b[97;133u", "a ctrl+a"),
        (b"\x1b[97;9u\x1b[97;17u\x1b[97;33u", "super+a super+a alt+a"),
        (b"\x1b[57399u\x1b[57414u\x1b[57417;5u\x1b[57376u", "0 enter ctrl+left f13"),
        (b"\x1b[57358u\x1b[57441;2u\x1b[57428u", ""),
        (b"\x1b[13;28;13;1;0;1_\x1b[67;46;3;1;8;1_\x1b[67;46;3;0;8;1_\x1b[81;16;64;1;9;1_", "enter ctrl+c @"),
    ]);
}

#[test]
fn mouse_and_focus() {
    check(&[
        (b"\x1b[I\x1b[O", "focus(true) focus(false)"),
        (b"\x1b[<0;1;1M\x1b[<0;10;20m", "Press(0,0,Mods(0)) Release(9,19,Mods(0))"),
        (b"\x1b[<64;5;5M\x1b[<65;5;5M\x1b[<32;5;6M", "ScrollUp(4,4,Mods(0)) ScrollDown(4,4,Mods(0)) Drag(4,5,Mods(0))"),
        (b"\x1b[<16;5;5M\x1b[<35;5;6M\x1b[<66;1;1M", "Press(4,4,Mods(4))"),
        (b"\x1b[<0;99999999999;1M", "Press(65535,0,Mods(0))"),
        (b"\x1b[M !!a", "Press(0,0,Mods(0)) a"),
    ]);
}

#[test]
fn replies() {
    check(&[
        (b"\x1b[?0u\x1b[?5u", "KittyKeyboard(0) KittyKeyboard(5)"),
        (b"\x1b[?62;4;22c\x1b[?6c", "Attributes([62, 4, 22]) Attributes([6])"),
        (b"\x1b[?2026;2$y", "Mode { mode: 2026, state: 2 }"),
        (b"\x1b]11;rgb:1e1e/2020/ffff\x1b\\", "Background(Rgb(30, 32, 255))"),
        (b"\x1b]11;rgb:0/8/f\x07", "Background(Rgb(0, 136, 255))"),
        (
            b"\x1b]11;rgba:ff/00/00/80\x07\x1b]11;#ffffff\x07",
            "Background(Rgb(255, 0, 0)) Background(Rgb(255, 255, 255))",
        ),
        (b"\x1b]11;rgb:xx/00/00\x07", "x x / 0 0 / 0 0 ctrl+g"),
        (b"\x1bP>|kitty(0.32.2)\x1b\\", "Version(\"kitty(0.32.2)\")"),
        (b"\x1b_Gi=31;OK\x1b\\\x1b_Gi=31;ENOENT:x\x1b\\", "Graphics { supported: true } Graphics { supported: false }"),
        (b"\x1b]99;i=omp:p=?;a=focus:o=always\x1b\\", "Notifications(\"a=focus:o=always\")"),
        (b"\x1b[?997;1n\x1b[?997;2n", "Appearance { dark: true } Appearance { dark: false }"),
        (b"\x1b[48;24;80;480;800t\x1b[6;20;10t", "Size { width: 80, height: 24 } CellPixels { width: 10, height: 20 }"),
        // Unrequested replies are not typed text.
        (b"\x1b[12;40R\x1b[>0;276;0c\x1b]52;c;aGk=\x07\x1bP1$r0m\x1b\\x", "x"),
    ]);
}

#[test]
fn pastes() {
    check(&[
        (b"\x1b[200~a\r\nb\rc\td\x1b[201~e", "paste(\"a\\nb\\nc\\td\") e"),
        (b"\x1b[200~\x1b[201~", ""),
        (b"\x1b[200~\x1b[31mred\x03\x1b[201~", "paste(\"\\u{1b}[31mred\\u{3}\")"),
        ("\x1b[200~e\u{301} 日本 👩\u{200d}🚀\x1b[201~".as_bytes(), "paste(\"e\\u{301} 日本 👩\\u{200d}🚀\")"),
        (b"\x1b[200~\xff\xfe\x1b[201~", "paste(\"\u{fffd}\u{fffd}\")"),
        (b"\x1b[200~never ended", "paste(\"never ended\")"),
        (b"\x1b[200~cut\x1b[20", "paste(\"cut\\u{1b}[20\")"),
        (b"\x1b[201~a", "a"),
        (b"\x1b\x1b[200~a\x1b[201~", "escape paste(\"a\")"),
    ]);
}

#[test]
fn typed_text_stays_as_it_is() {
    // Decomposed, composed, an emoji of several parts, full width.
    for text in ["e\u{301}", "é", "👩‍🚀", "日本語テキスト", "ａｂｃ", "ﬁ", "Å"] {
        let typed: String = decode(text.as_bytes())
            .iter()
            .filter_map(|decoded| match decoded {
                Decoded::Input(Input::Key(key)) => key.typed(),
                _ => None,
            })
            .collect();
        assert_eq!(typed, text);
    }
}

#[test]
fn what_is_not_utf8_is_replaced() {
    check(&[
        (b"a\xffb", "a \u{fffd} b"),
        (b"\xe2\x82", "\u{fffd}"),
        (b"\xe2\x82a", "\u{fffd} a"),
        (b"\xe2\x1b[A", "\u{fffd} up"),
        (b"\xc0\xaf", "\u{fffd} \u{fffd}"),
        (b"\xf5", "\u{fffd}"),
        (b"\xc2\x85", ""),
    ]);
}

#[test]
fn what_is_not_ended_eats_no_keys() {
    check(&[
        // Typed by the user, not sent by a terminal.
        (b"\x1b]hello", "alt+] h e l l o"),
        (b"\x1bPath", "shift+alt+p a t h"),
        (b"\x1b_x", "alt+_ x"),
        (b"\x1b[\x1bO\x1b]", "alt+[ shift+alt+o alt+]"),
        // A sequence that was begun, followed by keys.
        (b"\x1b]11;rgb:ffff/hello", "h e l l o"),
        (b"\x1b]0;title\rx", "enter x"),
        (b"\x1b]0;title\x1b[A", "up"),
        (b"\x1b]0;title\x1bx", "alt+x"),
        (b"\x1bP>|xterm\x1b[?6c", "Attributes([6])"),
        (b"\x1b]0;title\x1b", "escape"),
        (b"\x1b[12;\x03", "ctrl+c"),
        (b"\x1b[12;\x1b[A", "up"),
        (b"\x1b[12", ""),
        (b"\x1b[12;\xc3\xa9", "é"),
        (b"\x1bOz\x1b[99~\x1b[>1X", "shift+alt+o z"),
    ]);
}

#[test]
fn long_sequences_are_given_up() {
    for (introducer, most) in [("\x1b[", 256), ("\x1b]0;", 4096), ("\x1bP1", 4096), ("\x1b_G", 4096)] {
        let bytes = [introducer.as_bytes(), "1".repeat(most + 10).as_bytes(), b"\ra"].concat();
        assert!(show(&decode(&bytes)).ends_with("1 enter a"), "{introducer:?}");
    }
}

#[test]
fn a_sequence_waits_no_longer_than_it_must() {
    let start = Instant::now();
    let millis = Duration::from_millis;
    let deadline = |bytes: &[u8], expects: bool| {
        let mut decoder = InputDecoder::default();
        decoder.expect_replies(expects.then_some(start + millis(1)));
        decoder.feed(bytes, start, &mut Vec::new());
        decoder.pending_deadline().map(|deadline| deadline - start)
    };
    assert_eq!(deadline(b"a", false), None);
    assert_eq!(deadline(b"\x1b", false), Some(millis(50)));
    assert_eq!(deadline(b"\x1b[", false), Some(millis(50)));
    assert_eq!(deadline(b"\x1b[1", false), Some(millis(100)));
    assert_eq!(deadline(b"\x1b]11;", false), Some(millis(100)));
    assert_eq!(deadline(b"\x1b", true), Some(millis(150)));
    assert_eq!(deadline(b"\x1b]11;", true), Some(millis(500)));
    assert_eq!(deadline(b"\x1b[200~x", false), Some(millis(1000)));
}

#[test]
fn keys_cannot_keep_a_sequence_open() {
    let (mut decoder, mut out, start) = (InputDecoder::default(), Vec::new(), Instant::now());
    decoder.expect_replies(Some(start + Duration::from_secs(9)));
    decoder.feed(b"\x1b]0;", start, &mut out);
    // A key is held down: thirty repeats per second.
    let mut now = start;
    while now < start + Duration::from_secs(2) {
        now += Duration::from_millis(33);
        decoder.expire(now, &mut out);
        decoder.feed(b"x", now, &mut out);
    }
    assert!(out.len() > 25, "{}", out.len());
}

#[test]
fn after_a_pause_what_comes_is_new() {
    let (mut decoder, mut out, start) = (InputDecoder::default(), Vec::new(), Instant::now());
    decoder.feed(b"\x1b", start, &mut out);
    decoder.expire(start + Duration::from_millis(49), &mut out);
    assert_eq!(show(&out), "");
    decoder.expire(start + Duration::from_millis(50), &mut out);
    decoder.feed(b"[A", start + Duration::from_millis(60), &mut out);
    assert_eq!(show(&out), "escape [ shift+A");
}

/// Decoding is linear: with quadratic time this test would take minutes.
#[test]
fn much_garbage_takes_little_time() {
    let garbage: Vec<u8> = random_bytes(7).take(200_000).collect();
    let esc: Vec<u8> = b"\x1b[".repeat(100_000);
    let pasted = [b"\x1b[200~".as_slice(), &garbage, b"\x1b[201~"].concat();
    let starts: Vec<u8> = b"\x1b]1".iter().copied().chain(std::iter::repeat_n(b'7', 200_000)).collect();
    for bytes in [garbage, esc, pasted, starts] {
        let (now, effort) = (Instant::now(), Effort::begin());
        let (mut decoder, mut out) = (InputDecoder::default(), Vec::new());
        for read in bytes.chunks(1021) {
            decoder.feed(read, now, &mut out);
        }
        // An optimized build takes a few milliseconds.
        assert!(effort.spent() < Duration::from_secs(2), "{:?}", effort.spent());
    }
}

#[test]
fn a_million_random_bytes_leave_the_keyboard_working() {
    for seed in 1..4 {
        let (mut decoder, mut out, now) = (InputDecoder::default(), Vec::new(), Instant::now());
        let bytes: Vec<u8> = random_bytes(seed).take(1_000_000).collect();
        for read in bytes.chunks(4096) {
            out.clear();
            decoder.feed(read, now, &mut out);
            assert!(out.len() <= read.len() * 2 + 4096);
        }
        decoder.expire(now + Duration::from_secs(2), &mut out);
        out.clear();
        decoder.feed(b"a", now + Duration::from_secs(2), &mut out);
        assert_eq!(show(&out), "a");
    }
}

fn random_bytes(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
}

/// Generates bytes that are more likely to be meaningful than random ones.
fn terminal_bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"\x1b",
        b"[",
        b"O",
        b"]",
        b"P",
        b"_G",
        b"\x1b\\",
        b"\x07",
        b"200~",
        b"\x1b[200~",
        b"\x1b[201~",
        b"\x1b[201",
        b";",
        b":",
        b"1",
        b"27",
        b"11;rgb:",
        b"u",
        b"~",
        b"A",
        b"M",
        b"$y",
        b"?",
        b"<",
        b"\r",
        b"\xe2\x82\xac",
        b"\xf0\x9f",
        b"\xff",
        b"a",
        b"$",
    ];
    let piece = prop_oneof![
        proptest::sample::select(pieces).prop_map(<[u8]>::to_vec),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same(bytes in terminal_bytes(), cuts in proptest::collection::vec(0usize..400, 0..20)) {
        let (mut decoder, mut out, now) = (InputDecoder::default(), Vec::new(), Instant::now());
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            decoder.feed(&bytes[from..cut], now, &mut out);
            from = cut;
        }
        prop_assert_eq!(out, decode(&bytes));
    }

    #[test]
    fn typed_unicode_arrives(text in "[^\\x00-\\x1f\\x7f-\\u{9f}]{0,40}") {
        let typed: String = decode_slowly(text.as_bytes())
            .iter()
            .filter_map(|decoded| match decoded {
                Decoded::Input(Input::Key(key)) => key.typed(),
                _ => None,
            })
            .collect();
        prop_assert_eq!(typed, text);
    }

    #[test]
    fn pasted_text_arrives(text in "[^\\r]{0,200}") {
        prop_assume!(!text.contains("\x1b[201~") && !text.is_empty());
        let bytes = format!("\x1b[200~{text}\x1b[201~");
        prop_assert_eq!(decode_slowly(bytes.as_bytes()), vec![Decoded::Input(Input::Paste(text))]);
    }
}
