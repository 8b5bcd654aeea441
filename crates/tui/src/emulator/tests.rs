//! Tests of the screen, the text that leaves it, and the answers to programs.

use super::*;
use crate::input::{Key, KeyCode};
use proptest::prelude::*;

fn emulator(width: usize, height: usize) -> Emulator {
    Emulator::new(Size { width, height })
}

fn drawn(emulator: &Emulator) -> String {
    emulator.lines().iter().map(|line| line.text() + "\n").collect::<String>().trim_end().to_owned()
}

/// The text that leaves the screen, and then what is left on it.
fn text_of(output: &str) -> String {
    let mut emulator = emulator(20, 4);
    let mut text = String::new();
    // Cut anywhere.
    for piece in output.as_bytes().chunks(3) {
        emulator.feed(piece);
        text += &emulator.take_text();
    }
    text + &emulator.finish()
}

#[test]
fn output_becomes_rows_with_styles() {
    let mut emulator = emulator(20, 3);
    emulator.feed(b"plain \x1b[1;31mbold\x1b[m\r\n\x1b[48;5;4m\x1b[38;2;1;2;3mx\x1b[m \xe6\x97\xa5");
    assert_eq!(drawn(&emulator), "plain bold\nx 日");
    let lines = emulator.lines();
    assert_eq!(lines[0].spans[1].style, Style::PLAIN.fg(Color::Indexed(1)).bold());
    assert_eq!(lines[1].spans[0].style, Style::PLAIN.fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(4)));
    assert_eq!((lines[1].cursor, lines[0].cursor), (Some(4), None));
    emulator.feed(b"\x1b[?25l");
    assert!(emulator.lines().iter().all(|line| line.cursor.is_none()));
}

#[test]
fn nothing_in_a_row_steers_the_outer_terminal() {
    let mut emulator = emulator(20, 3);
    emulator.feed("a\u{202e}b\u{9b}31m\x1b]0;title\x07\x1b]52;c;eA==\x07\x1bPq\x1b\\c\t|".as_bytes());
    for line in emulator.lines() {
        assert!(!line.text().contains(|char: char| char.is_control() || char == '\u{202e}'), "{line:?}");
    }
}

#[test]
fn the_text_is_what_a_terminal_would_have_kept() {
    for (output, expect) in [
        ("", ""),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        // Rows that scrolled off come first, and none is lost.
        ("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n", "1\n2\n3\n4\n5\n6\n7\n"),
        // A long line is one line.
        ("aaaaaaaaaabbbbbbbbbbccccc\r\nend", "aaaaaaaaaabbbbbbbbbbccccc\nend\n"),
        // A progress bar is its last state.
        ("10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        ("\x1b[31mred\x1b[m   \r\n", "red\n"),
        // A full-screen program leaves nothing behind, even if it is ended.
        ("$ vi\r\n\x1b[?1049h\x1b[2J\x1b[Hdrawn\r\n\r\n\r\n\r\n\r\n\x1b[?1049lafter\r\n", "$ vi\nafter\n"),
        ("$ top\r\n\x1b[?1049h\x1b[2J\x1b[Hcpu 3%", "$ top\n"),
        ("\x1b[?1049h\x1b[2J\x1b[Htext\r\n~\r\n~", ""),
    ] {
        assert_eq!(text_of(output), expect, "{output:?}");
    }
}

#[test]
fn a_flood_keeps_little_in_memory_and_loses_nothing() {
    let mut emulator = emulator(80, 24);
    let mut lines = 0;
    for at in 0..2_000 {
        for line in 0..10 {
            emulator.feed(format!("line {}\r\n", at * 10 + line).as_bytes());
        }
        let text = emulator.take_text();
        assert!(text.is_empty() || text.ends_with('\n'));
        assert!(emulator.parser.callbacks().left.len() < 1024);
        lines += text.lines().count();
    }
    assert_eq!(lines + emulator.finish().lines().count(), 20_000);
}

#[test]
fn questions_of_programs_are_answered() {
    let mut emulator = emulator(20, 5);
    emulator.feed(b"ab\r\nc\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b[18t\x1b[?u\x1b[>q");
    let expect = "\x1b[2;2R\x1b[?62;22c\x1b[>1;10;0c\x1b[0n\x1b[8;5;20t";
    assert_eq!(String::from_utf8(emulator.take_replies()).unwrap(), expect);
    for _ in 0..10_000 {
        emulator.feed(b"\x1b[6n");
    }
    assert!(emulator.take_replies().len() <= MOST_REPLIES);
}

#[test]
fn the_program_decides_how_keys_arrive() {
    let mut emulator = emulator(20, 5);
    let (up, paste) = (Input::Key(Key::plain(KeyCode::Up)), Input::Paste("x".to_owned()));
    assert_eq!((emulator.encode(&up), emulator.encode(&paste)), (b"\x1b[A".to_vec(), b"x".to_vec()));
    emulator.feed(b"\x1b[?1h\x1b[?2004h");
    let marked = b"\x1b[200~x\x1b[201~".to_vec();
    assert_eq!((emulator.encode(&up), emulator.encode(&paste)), (b"\x1bOA".to_vec(), marked));
    emulator.feed(b"\x1b[?1l\x1b[?2004l");
    assert_eq!((emulator.encode(&up), emulator.encode(&paste)), (b"\x1b[A".to_vec(), b"x".to_vec()));
    assert_eq!(emulator.encode(&Input::Focus(true)), b"");
}

#[test]
fn rows_come_back_when_it_grows() {
    let mut emulator = emulator(20, 3);
    emulator.feed(b"1\r\n2\r\n3\r\n4\r\n5");
    assert_eq!(drawn(&emulator), "3\n4\n5");
    emulator.resize(Size { width: 30, height: 5 });
    assert_eq!((drawn(&emulator).as_str(), emulator.lines().len()), ("1\n2\n3\n4\n5", 5));
    emulator.resize(Size { width: 10, height: 2 });
    assert_eq!(emulator.lines().len(), 2);
    assert_eq!(emulator.finish(), "1\n2\n3\n4\n5\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Programs print anything, and windows change their size meanwhile.
    #[test]
    fn no_output_breaks_it(
        pieces in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                "\\PC{0,30}".prop_map(String::into_bytes),
                "\u{1b}\\[[?>]?[0-9;:]{0,12}[@-~]".prop_map(String::into_bytes),
                Just(b"\r\n".to_vec()),
                Just("日本語👩‍👩‍👧".as_bytes().to_vec()),
            ],
            0..60,
        ),
        sizes in proptest::collection::vec((1usize..90, 1usize..40), 1..60),
    ) {
        let mut emulator = emulator(sizes[0].0, sizes[0].1);
        for (at, piece) in pieces.iter().enumerate() {
            let (width, height) = sizes[at % sizes.len()];
            emulator.resize(Size { width, height });
            emulator.feed(piece);
            let lines = emulator.lines();
            prop_assert_eq!(lines.len(), height);
            prop_assert!(lines.iter().all(|line| !line.text().contains(char::is_control)));
            emulator.take_text();
        }
        emulator.finish();
    }
}
