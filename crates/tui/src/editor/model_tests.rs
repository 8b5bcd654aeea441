//! Tests random keys on random text against a trivial model: a list of graphemes.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::input::{Key, KeyCode};
use crate::widgets::InputLine;
use crate::widgets::testing::{press, rows};

#[derive(Clone, Debug)]
enum Op {
    Type(char),
    Key(&'static str),
    Paste(String),
}

struct Model {
    text: String,
    cursor: usize,
}

impl Model {
    fn boundaries(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.text.grapheme_indices(true).map(|(at, _)| at).collect();
        all.push(self.text.len());
        all
    }

    fn settle(&mut self) {
        let boundaries = self.boundaries();
        self.cursor = boundaries.into_iter().find(|at| *at >= self.cursor).unwrap_or_default();
    }

    fn left(&self) -> usize {
        self.boundaries().into_iter().rfind(|at| *at < self.cursor).unwrap_or(0)
    }

    fn right(&self) -> usize {
        self.boundaries().into_iter().find(|at| *at > self.cursor).unwrap_or(self.cursor)
    }

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Type(char) => self.put(&char.to_string()),
            Op::Paste(text) => self.put(text),
            Op::Key("left") => self.cursor = self.left(),
            Op::Key("right") => self.cursor = self.right(),
            Op::Key("ctrl+j") => self.put("\n"),
            Op::Key("ctrl+home") => self.cursor = 0,
            Op::Key("home") => self.cursor = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1),
            Op::Key("end") => {
                self.cursor = self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at);
            }
            Op::Key("backspace") => {
                let left = self.left();
                self.text.replace_range(left..self.cursor, "");
                self.cursor = left;
            }
            Op::Key("delete") => self.text.replace_range(self.cursor..self.right(), ""),
            Op::Key(other) => panic!("the model does not know {other}"),
        }
        self.settle();
    }
}

fn apply(editor: &mut impl Component, op: &Op) {
    match op {
        Op::Type(char) => {
            editor.input(&Input::Key(Key::plain(KeyCode::Char(*char))));
        }
        Op::Key(key) => {
            press(editor, key);
        }
        Op::Paste(text) => {
            editor.input(&Input::Paste(text.clone()));
        }
    }
}

const PIECES: &str = "(a|b |日|e\u{301}|\u{301}|👩|\u{200d}|🇩|\u{fe0f}|\t|\n|_|,){0,12}";

fn chars() -> impl Strategy<Value = char> {
    prop::sample::select(vec!['a', ' ', '日', '\u{301}', '👩', '\u{200d}', '🇩', '🇪', 'é', '.'])
}

fn ops(keys: &'static [&'static str]) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => chars().prop_map(Op::Type),
        5 => prop::sample::select(keys).prop_map(Op::Key),
        1 => PIECES.prop_map(Op::Paste),
    ];
    prop::collection::vec(op, 0..40)
}

const SIMPLE: &[&str] = &["left", "right", "ctrl+j", "ctrl+home", "home", "end", "backspace", "delete"];
const ALL: &[&str] = &[
    "left",
    "right",
    "up",
    "down",
    "ctrl+j",
    "home",
    "end",
    "backspace",
    "delete",
    "ctrl+k",
    "ctrl+u",
    "ctrl+w",
    "ctrl+y",
    "alt+y",
    "alt+d",
    "alt+b",
    "alt+f",
    "ctrl+-",
    "alt+_",
    "pageUp",
    "pageDown",
    "ctrl+home",
    "ctrl+end",
];

const WRITING: &[&str] =
    &["left", "right", "up", "ctrl+j", "home", "backspace", "delete", "ctrl+k", "ctrl+w", "ctrl+y", "alt+y", "alt+d"];

fn stands_between_units(editor: &Editor) -> bool {
    let (text, at) = (editor.text(), editor.cursor());
    let markers = editor.draft.buffer().markers();
    if markers.iter().any(|marker| marker.range.start == at || marker.range.end == at) {
        return true;
    }
    let inside = markers.iter().any(|marker| marker.range.contains(&at));
    // A marker ends the grapheme before it, whatever follows.
    let start = markers.iter().map(|marker| marker.range.end).filter(|end| *end <= at).max().unwrap_or(0);
    let mut boundaries = text[start..].grapheme_indices(true).map(|(index, _)| start + index);
    !inside && (at == text.len() || boundaries.any(|boundary| boundary == at))
}

proptest! {
    #[test]
    fn it_writes_like_a_list_of_graphemes(start in PIECES, ops in ops(SIMPLE)) {
        let mut editor = Editor::default();
        editor.set_text(&start);
        let mut model = Model { text: start, cursor: editor.cursor() };
        for op in &ops {
            apply(&mut editor, op);
            model.apply(op);
            prop_assert_eq!((editor.text(), editor.cursor()), (model.text.as_str(), model.cursor), "after {:?}", op);
        }
    }

    #[test]
    fn the_cursor_stands_between_units_at_any_width(start in PIECES, ops in ops(ALL), width in 0usize..30) {
        let mut editor = Editor::default();
        editor.set_text(&start);
        editor.insert_attachment("[image #1]", 1);
        for (at, op) in ops.iter().enumerate() {
            apply(&mut editor, op);
            prop_assert!(stands_between_units(&editor), "{:?} at {} after {:?}", editor.text(), editor.cursor(), op);
            if at % 5 == 0 {
                rows(&mut editor, width);
            }
        }
    }

    #[test]
    fn everything_can_be_undone_and_done_again(start in PIECES, ops in ops(WRITING)) {
        let mut editor = Editor::default();
        editor.set_text(&start);
        editor.insert_attachment("[image #1]", 1);
        let first = editor.draft.buffer().content().clone();
        for op in &ops {
            apply(&mut editor, op);
        }
        let last = editor.draft.buffer().content().clone();
        for _ in 0..ops.len() + 2 {
            press(&mut editor, "ctrl+-");
        }
        prop_assert_eq!(editor.text(), "");
        for _ in 0..=usize::from(!start.is_empty()) {
            press(&mut editor, "alt+_");
        }
        prop_assert_eq!(editor.draft.buffer().content(), &first);
        for _ in &ops {
            press(&mut editor, "alt+_");
        }
        prop_assert_eq!(editor.draft.buffer().content(), &last);
    }

    #[test]
    fn a_single_line_takes_the_same_keys(ops in ops(ALL), width in 0usize..30, secret in any::<bool>()) {
        let mut line = InputLine::new("> ");
        line.set_secret(secret);
        for op in &ops {
            apply(&mut line, op);
            prop_assert!(!line.text().contains(['\n', '\t']));
            let shown = rows(&mut line, width);
            prop_assert!(!secret || !shown[0].contains(['a', '日']), "{:?}", shown);
        }
    }

    #[test]
    fn rows_hold_the_whole_text(text in "[a-c日 \t\n]{0,60}", width in 1usize..20) {
        let mut editor = Editor::default();
        editor.set_text(&text);
        editor.set_max_rows(1000);
        let mut layout_text = String::new();
        rows(&mut editor, width);
        let layout = editor.draft.buffer().layout();
        for row in 0..layout.row_count() {
            let row = layout.row(row);
            layout_text.push_str(&text[row.range.clone()]);
            if !row.goes_on {
                layout_text.push('\n');
            }
        }
        layout_text.pop();
        prop_assert_eq!(layout_text, text);
    }
}
