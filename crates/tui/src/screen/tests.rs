//! Tests the screen of real terminal emulators after frames.

use std::num::NonZeroU16;
use std::time::Duration;

use super::*;
use crate::frame::Overlay;
use crate::style::Style;

const WIDTH: u16 = 20;
const HEIGHT: u16 = 5;

struct Tape {
    renderer: Renderer,
    screen: vt100::Parser,
    written: usize,
}

impl Tape {
    fn new(multiplexer: bool) -> Self {
        Self::of(Profile { multiplexer, ..Profile::default() })
    }

    fn of(profile: Profile) -> Self {
        let size = Size { width: usize::from(WIDTH), height: usize::from(HEIGHT) };
        let nonzero = |value| NonZeroU16::new(value).unwrap();
        let renderer = Renderer::new(profile, size);
        Self { renderer, screen: vt100::Parser::new(nonzero(HEIGHT), nonzero(WIDTH), 1000), written: 0 }
    }

    fn frame(&mut self, rows: &[&str], settled: usize) -> String {
        let lines: Vec<Line> = rows.iter().map(|row| Line::from((*row).to_owned())).collect();
        self.show(&Frame { rows: &lines, settled, overlay: None })
    }

    fn show(&mut self, frame: &Frame<'_>) -> String {
        let mut out = Vec::new();
        self.renderer.paint(frame, &mut out);
        self.written = out.len();
        self.screen.process(&out);
        String::from_utf8(out).unwrap()
    }

    /// Returns the scrollback, a bar, and the screen without trailing empty rows.
    fn tape(&mut self) -> String {
        let screen = self.screen.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut history = Vec::new();
        for offset in (1..=above).rev() {
            screen.set_scrollback(offset);
            history.extend(screen.rows(0, WIDTH).next().map(|row| row.trim_end().to_owned()));
        }
        screen.set_scrollback(0);
        let rows: Vec<String> = screen.rows(0, WIDTH).map(|row| row.trim_end().to_owned()).collect();
        let used = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        format!("{}|{}", history.join(","), rows[..used].join(","))
    }
}

#[test]
fn it_begins_below_the_shell_and_wipes_nothing() {
    let mut tape = Tape::new(false);
    tape.screen.process(b"$ ls\r\na b c\r\n$ omp\r\n");
    let bytes = tape.frame(&["hello", "> "], 0);
    assert_eq!(tape.tape(), "|$ ls,a b c,$ omp,hello,>");
    assert!(!bytes.contains("\x1b[2J") && !bytes.contains("\x1b[3J") && !bytes.contains("\x1b[H"));
    tape.frame(&["hello", "world", "> "], 0);
    assert_eq!(tape.tape(), "$ ls|a b c,$ omp,hello,world,>");
}

#[test]
fn settled_rows_enter_the_scrollback_once_and_in_order() {
    let mut tape = Tape::new(false);
    let mut rows: Vec<String> = Vec::new();
    for number in 0..12 {
        rows.push(format!("row {number}"));
        let mut shown: Vec<&str> = rows.iter().map(String::as_str).collect();
        shown.extend(["----", "> "]);
        tape.frame(&shown, rows.len());
    }
    let history: Vec<String> = (0..9).map(|number| format!("row {number}")).collect();
    assert_eq!(tape.tape(), format!("{}|row 9,row 10,row 11,----,>", history.join(",")));
    assert_eq!(tape.renderer.committed(), 9);
}

#[test]
fn what_stands_at_the_bottom_is_moved_not_written_again() {
    let mut tape = Tape::new(false);
    tape.frame(&["a", "b", "c", "status line", "> prompt"], 3);
    let bytes = tape.frame(&["a", "b", "c", "d", "status line", "> prompt"], 4);
    assert_eq!(tape.tape(), "a|b,c,d,status line,> prompt");
    assert!(!bytes.contains("status"), "{bytes:?}");
    let bytes = tape.frame(&["a", "b", "c", "status line", "> prompt"], 3);
    assert_eq!(tape.tape(), "a|b,c,status line,> prompt");
    assert!(!bytes.contains("status"), "{bytes:?}");
}

#[test]
fn rows_that_may_change_stay_out_of_the_scrollback() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5", "6", "7"], 0);
    assert_eq!(tape.tape(), "|3,4,5,6,7");
    tape.frame(&["1", "2", "3", "4", "5", "6", "7", "8"], 0);
    assert_eq!(tape.tape(), "|4,5,6,7,8");
    tape.frame(&["1", "B", "C", "4", "5", "6", "7", "8"], 8);
    assert_eq!(tape.tape(), "1,B,C|4,5,6,7,8");
}

#[test]
fn a_burst_of_rows_loses_none() {
    let mut tape = Tape::new(false);
    tape.frame(&["0", ">"], 1);
    let many: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let mut rows: Vec<&str> = many.iter().map(String::as_str).collect();
    rows.push(">");
    tape.frame(&rows, 40);
    assert_eq!(tape.tape(), format!("{}|36,37,38,39,>", many[..36].join(",")));
}

#[test]
fn an_overlay_freezes_the_scrollback_and_leaves_no_trace() {
    let mut tape = Tape::new(false);
    let lines: Vec<Line> = (0..9).map(|number| Line::from(format!("row {number}"))).collect();
    tape.show(&Frame { rows: &lines[..5].to_vec(), settled: 5, overlay: None });
    let dialog = [Line::from("dialog")];
    let overlay = Overlay { lines: &dialog, top: 0, left: 0, width: 8 };
    tape.show(&Frame { rows: &lines, settled: 9, overlay: Some(overlay) });
    assert_eq!(tape.tape(), "|dialog,row 5,row 6,row 7,row 8");
    tape.show(&Frame { rows: &lines, settled: 9, overlay: None });
    assert_eq!(tape.tape(), "row 0,row 1,row 2,row 3|row 4,row 5,row 6,row 7,row 8");
}

#[test]
fn nothing_is_written_when_nothing_changed() {
    let mut tape = Tape::new(false);
    tape.frame(&["a", "b"], 0);
    assert_eq!(tape.frame(&["a", "b"], 0), "");
    tape.frame(&["a", "c"], 0);
    assert!(tape.written < 30, "{}", tape.written);
}

#[test]
fn rows_that_moved_behind_its_back_are_written_twice_rather_than_lost() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5", "6", "7", "8"], 8);
    assert_eq!(tape.tape(), "1,2,3|4,5,6,7,8");
    tape.frame(&["new", "1", "2", "3", "4", "5", "6", "7", "8"], 9);
    assert_eq!(tape.tape(), "1,2,3,new,1,2,3|4,5,6,7,8");
}

#[test]
fn one_row_that_reads_differently_does_not_repeat_the_rest() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5", "6", "7", "8"], 8);
    tape.frame(&["1", "changed", "3", "4", "5", "6", "7", "8", "9"], 9);
    assert_eq!(tape.tape(), "1,2,3,4|5,6,7,8,9");
}

#[test]
fn shrinking_into_the_scrollback_shows_the_end_again() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"], 11);
    tape.frame(&["1", "2", ">"], 2);
    assert_eq!(tape.tape(), "1,2,3,4,5,6|1,2,>");
}

#[test]
fn the_cursor_stands_where_the_rows_say() {
    let mut tape = Tape::new(false);
    let prompt = Line { cursor: Some(4), ..Line::from("> ab") };
    tape.show(&Frame { rows: &vec![Line::from("x"), prompt, Line::from("below")], settled: 0, overlay: None });
    assert_eq!(tape.screen.screen().cursor_position(), (1, 4));
    assert!(!tape.screen.screen().hide_cursor());
    tape.frame(&["x", "y"], 0);
    assert!(tape.screen.screen().hide_cursor());
    let mut out = Vec::new();
    tape.renderer.end(&mut out);
    tape.screen.process(&out);
    assert_eq!(tape.screen.screen().cursor_position(), (2, 0));
    assert!(!tape.screen.screen().hide_cursor());
}

#[test]
fn after_something_else_wrote_only_the_window_comes_again() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    let mut out = Vec::new();
    tape.renderer.end(&mut out);
    out.extend_from_slice(b"[1]+ Stopped\r\n");
    tape.screen.process(&out);
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    // The shell's scrolled rows stay; the rows of the window are shown again, the committed ones are not.
    assert_eq!(tape.tape(), "1,2,3,4,5,6,>,[1]+ Stopped|3,4,5,6,>");
}

#[test]
fn colors_end_with_their_text() {
    let mut tape = Tape::new(false);
    let lines = vec![Line::styled("bold", Style::PLAIN.bold()), Line::from("plain")];
    tape.show(&Frame { rows: &lines, settled: 0, overlay: None });
    assert!(tape.screen.screen().cell(0, 0).unwrap().bold());
    assert!(!tape.screen.screen().cell(1, 0).unwrap().bold());
}

#[test]
fn the_cursor_that_the_shell_left_is_hidden_when_no_row_wants_it() {
    let mut tape = Tape::new(false);
    tape.frame(&["no cursor"], 0);
    assert!(tape.screen.screen().hide_cursor());
}

#[test]
fn a_resize_outside_a_multiplexer_keeps_the_scrollback() {
    let mut tape = Tape::of(Profile { resize_lag: Duration::ZERO, ..Profile::default() });
    tape.screen.process(b"$ ls\r\n$ omp\r\n");
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    tape.renderer.resize(Size { width: 19, height: usize::from(HEIGHT) });
    let bytes = tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    assert!(!bytes.contains("\x1b[2J") && !bytes.contains("\x1b[3J"), "{bytes:?}");
    assert_eq!(tape.tape(), "$ ls,$ omp,1,2|3,4,5,6,>");
}

const ABOVE: &str = "/dev/pts/1 20 5 2 0 2000 0\n";

fn above(text: &str) -> Option<PaneText> {
    PaneText::parse(&format!("{ABOVE}{text}"), &PaneFacts::parse(ABOVE).unwrap())
}

#[test]
fn a_resize_in_tmux_writes_the_whole_history_again() {
    let mut tape = Tape::new(true);
    tape.screen.process(b"$ ls\r\n$ omp\r\n");
    tape.renderer.set_above(above("$ ls\n$ omp\n"));
    tape.frame(&["one two", "three", "4", "5", "6", ">"], 5);
    assert_eq!(tape.tape(), "$ ls,$ omp,one two|three,4,5,6,>");
    for width in [19, 19, 20] {
        // Frames that were painted for another size than that of the pane.
        tape.screen.process(b"\x1b[2Jspoiled\r\nspoiled\r\n\r\n\r\n\r\n\r\n");
        // A size that changed and changed back counts, too.
        tape.renderer.resize(Size { width, height: usize::from(HEIGHT) });
        let bytes = tape.frame(&["one two three", "4", "5", "6", "7", "8", ">"], 6);
        assert!(bytes.contains("\x1b[3J"), "{bytes:?}");
        assert_eq!(tape.tape(), "$ ls,$ omp,one two three,4|5,6,7,8,>");
    }
    // Another conversation takes the place of this one.
    tape.renderer.replace();
    tape.frame(&["a", ">"], 1);
    assert_eq!(tape.tape(), "|$ ls,$ omp,a,>");
}

#[test]
fn rows_above_another_program_are_part_of_the_text_above() {
    let mut tape = Tape::new(true);
    tape.renderer.set_above(above(""));
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    let mut out = Vec::new();
    tape.renderer.end(&mut out);
    tape.screen.process(&out);
    // Until the text is known, a resize leaves the history as it is.
    assert_eq!(tape.renderer.rewrites(), None);
    tape.renderer.set_above(above("1\n2\n3\n4\n5\n6\n>\n[1]+ Stopped\n"));
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    tape.renderer.resize(Size { width: 19, height: usize::from(HEIGHT) });
    tape.frame(&["1", "2", "3", "4", "5", "6", "7", ">"], 7);
    assert_eq!(tape.tape(), "1,2,3,4,5,6,>,[1]+ Stopped,3|4,5,6,7,>");
}

#[test]
fn rows_that_the_history_cannot_hold_are_not_written_again() {
    let mut tape = Tape::new(true);
    tape.renderer.set_above(above("$ omp\n"));
    let many: Vec<String> = (0..2010).map(|number| number.to_string()).collect();
    let rows: Vec<&str> = many.iter().map(String::as_str).collect();
    tape.frame(&rows, 2010);
    tape.renderer.resize(Size { width: 19, height: usize::from(HEIGHT) });
    let bytes = tape.frame(&rows, 2010);
    assert!(bytes.contains("\x1b[3J5\x1b[K") && !bytes.contains("omp"), "{}", &bytes[..60]);
    assert_eq!(tape.renderer.committed(), 2005);
}

#[test]
fn a_resize_in_a_multiplexer_repeats_no_row_that_is_in_its_history() {
    let mut tape = Tape::of(Profile { multiplexer: true, resize_lag: Duration::ZERO, ..Profile::default() });
    let rows = ["one two three", "four five", "six", "seven", "eight", "nine", ">"];
    tape.frame(&rows, 6);
    assert_eq!(tape.renderer.committed(), 2);
    tape.renderer.resize(Size { width: 10, height: usize::from(HEIGHT) });
    let bytes = tape.frame(&["one two", "three", "four five", "six", "seven", "eight", "nine", ">"], 7);
    assert_eq!(tape.renderer.committed(), 3);
    assert!(!bytes.contains("five") && !bytes.contains("\x1b[3J"), "{bytes:?}");
}

#[test]
fn what_was_written_just_before_a_resize_in_a_multiplexer_may_have_been_cut() {
    let mut tape = Tape::new(true);
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    tape.renderer.resize(Size { width: 19, height: usize::from(HEIGHT) });
    tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
    assert_eq!(tape.tape(), "1,2,1,2|3,4,5,6,>");
}

#[test]
fn another_conversation_is_written_whole_whatever_happens_before_it_is_shown() {
    for multiplexer in [false, true] {
        let mut tape = Tape::new(multiplexer);
        tape.frame(&["1", "2", "3", "4", "5", "6", ">"], 6);
        tape.renderer.replace();
        tape.renderer.resize(Size { width: 19, height: usize::from(HEIGHT) });
        let bytes = tape.frame(&["a", "b", "c", "d", "e", "f", ">"], 6);
        assert!(bytes.contains('a') && tape.tape().ends_with("a,b|c,d,e,f,>"), "{}", tape.tape());
        tape.renderer.replace();
        tape.renderer.begin_again();
        tape.frame(&["A", "B", "C", "D", "E", "F", ">"], 6);
        assert!(tape.tape().ends_with("A,B|C,D,E,F,>"), "{}", tape.tape());
    }
}

#[test]
fn nothing_is_deleted_or_erased_at_the_first_row() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5"], 0);
    // At the first row Alacritty would save the deleted rows to its scrollback.
    let bytes = tape.frame(&["1", "2", "3", "4", "5", "6", "7"], 0);
    assert!(bytes.contains("\x1b[3A\r\x1b[2M"), "{bytes:?}");
    assert_eq!(tape.tape(), "|3,4,5,6,7");
    // Tmux would save the erased rows.
    tape.renderer.replace();
    tape.renderer.set_profile(Profile { multiplexer: true, ..Profile::default() });
    let bytes = tape.frame(&["a", "b"], 0);
    assert!(bytes.contains("\x1b[Ka\r\n\x1b[J"), "{bytes:?}");
}

#[test]
fn rows_that_were_let_go_are_not_written_again_as_blank_ones() {
    let mut tape = Tape::new(false);
    tape.frame(&["1", "2", "3", "4", "5", "6", "7", "8", "9"], 9);
    assert_eq!(tape.tape(), "1,2,3,4|5,6,7,8,9");
    tape.frame(&["", "", "three", "four", "5", "6", "7", "8", "9"], 9);
    assert_eq!(tape.tape(), "1,2,3,4,three,four|5,6,7,8,9");
}

#[test]
fn pictures_in_the_scrollback_may_make_room() {
    use crate::image::{CellSize, ImageBlock, ImageBudget, ImageWay, Picture};
    for (multiplexer, width) in [(false, 20), (true, 20), (true, 12)] {
        let theme = crate::Theme::colorless();
        let way = ImageWay::Kitty { placeholders: true, passthrough: multiplexer };
        let mut budget = ImageBudget::new(way, CellSize { width: 1, height: 2 }, 3, 0);
        let picture =
            Picture { kind: "png".into(), width: 15, height: 2, file: std::sync::Arc::from([1]), pixels: None };
        let mut blocks: Vec<ImageBlock> = (0..6).map(|_| ImageBlock::new(picture.clone().into())).collect();
        let mut lay_out = |shown: usize, width: usize| {
            let space = crate::Space { width, height: 5, theme: &theme, focused: true, keys: &crate::DefaultKeys };
            let mut rows = Vec::new();
            for (at, block) in blocks[..shown].iter_mut().enumerate() {
                rows.push(Line::from(format!("picture number {at}")));
                rows.extend(block.draw(&space, &mut budget));
            }
            rows.push(Line::from(">"));
            rows
        };
        let mut tape = Tape::new(multiplexer);
        for shown in 1..=6 {
            lay_out(shown, 20);
            // Draws again after older pictures were evicted.
            let rows = lay_out(shown, 20);
            tape.show(&Frame { rows: &rows, settled: rows.len() - 1, overlay: None });
        }
        assert_eq!(tape.renderer.painted().committed, (6, 8), "{multiplexer}");
        tape.renderer.resize(Size { width, height: 5 });
        let rows = lay_out(6, width);
        tape.show(&Frame { rows: &rows, settled: rows.len() - 1, overlay: None });
        assert_eq!(tape.renderer.painted().committed.1, 8, "{width}");
        let text = tape.tape();
        let label = |at: usize| text.matches(&format!("number {at}")).count();
        assert!((0..4).all(|at| label(at) == 1), "{text}");
    }
}
