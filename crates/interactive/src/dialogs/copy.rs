//! Chooses which part of an answer to copy: all of it, or a code block.

use omp_stdx::format::plural;
use omp_tui::{Input, KeyCode, Line, ListWindow, Mods, Space};

use super::sheet::{Sheet, start_of};
use super::{Dialog, DialogStep};
use crate::action::Action;

/// A part of the conversation that can be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copyable {
    pub label: String,
    pub text: String,
}

/// The choices of `/copy`: `last` is the newest answer, `command` the newest command that ran.
pub fn copyables(last: Option<&str>, command: Option<&str>) -> Vec<Copyable> {
    let piece = |label: String, text: &str| Copyable { label, text: text.to_owned() };
    let mut pieces = Vec::new();
    if let Some(last) = last.filter(|text| !text.trim().is_empty()) {
        pieces.push(piece("last answer".to_owned(), last));
        let blocks = code_blocks(last);
        if blocks.len() > 1 {
            let whole: Vec<_> = blocks.iter().map(|block| block.1.as_str()).collect();
            pieces.push(piece("all code".to_owned(), &whole.join("\n")));
        }
        for (at, (language, code)) in blocks.iter().enumerate() {
            let language = if language.is_empty() { String::new() } else { format!(" ({language})") };
            pieces.push(piece(format!("code {}{language}", at + 1), code));
        }
    }
    pieces.extend(command.map(|command| piece("last command".to_owned(), command)));
    pieces
}

/// Returns the fenced blocks of a Markdown text with their languages. An unclosed block ends with the text.
pub fn code_blocks(markdown: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, usize, String, String)> = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let run = |mark: char| trimmed.len() - trimmed.trim_start_matches(mark).len();
        let fence = if trimmed.starts_with('`') { ("`", run('`')) } else { ("~", run('~')) };
        match &mut open {
            None if fence.1 >= 3 && indent < 4 && !trimmed[fence.1..].contains('`') => {
                let language = trimmed[fence.1..].split_whitespace().next().unwrap_or_default();
                open = Some((fence.0, fence.1, language.to_owned(), String::new()));
            }
            None => {}
            Some((mark, length, ..))
                if fence.0 == *mark && fence.1 >= *length && trimmed[fence.1..].trim().is_empty() =>
            {
                blocks.extend(open.take().map(|(.., language, code)| (language, code)));
            }
            Some((.., code)) => {
                code.push_str(line);
                code.push('\n');
            }
        }
    }
    blocks.extend(open.map(|(.., language, code)| (language, code)));
    blocks
}

#[derive(Debug)]
pub struct CopyDialog {
    pieces: Vec<Copyable>,
    pointer: ListWindow,
}

impl CopyDialog {
    pub fn new(pieces: Vec<Copyable>) -> Self {
        Self { pieces, pointer: ListWindow::default() }
    }
}

impl Dialog for CopyDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut sheet = Sheet::new(space, "Copy", "");
        let space = &sheet.inner();
        if self.pieces.is_empty() {
            sheet.muted("  Nothing here.");
        }
        for at in self.pointer.visible(self.pieces.len(), sheet.room()) {
            let piece = &self.pieces[at];
            let what = format!("{}: {}", piece.label, start_of(&piece.text));
            let lines = plural(piece.text.trim_end().lines().count(), "line", "lines");
            sheet.push(Sheet::item(space, at == self.pointer.selected(), &what, &lines));
        }
        sheet.finish(&[("enter", "copy"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return DialogStep::Ignored };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => match self.pieces.get(self.pointer.selected()) {
                Some(piece) => DialogStep::Close(Some(Action::Copy(piece.text.clone()))),
                None => DialogStep::Ignored,
            },
            _ => super::picked(self.pointer.key(key, self.pieces.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::{both, says};
    use super::*;

    const ANSWER: &str = "Do this:\n```rust\nfn main() {}\n```\nand\n~~~\na\n```\n~~~\ndone";

    #[test]
    fn pieces_of_an_answer() {
        let mut dialog = CopyDialog::new(copyables(Some(ANSWER), Some("cargo test")));
        insta::assert_snapshot!(both(&mut dialog), @"
        ╭─ Copy ───────────────────────────────────────────────────╮
        │ ❯ last answer: Do this: ```rust fn main() {} …  10 lines │
        │   all code: fn main() {}  a ```                  4 lines │
        │   code 1 (rust): fn main() {}                     1 line │
        │   code 2: a ```                                  2 lines │
        │   last command: cargo test                        1 line │
        ├──────────────────────────────────────────────────────────┤
        │ enter copy · esc close                                   │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Copy ──────────────────────
        ❯ last answer: Do t…  10 lines
          all code: fn main(…  4 lines
          code 1 (rust): fn m…  1 line
          code 2: a ```        2 lines
          last command: cargo…  1 line
        enter copy · esc close
        ");
    }

    #[test]
    fn keys_choose() {
        for (keys, step) in [
            ("down down enter", r#"Close(Some(Copy("fn main() {}\n")))"#),
            ("down enter", r#"Close(Some(Copy("fn main() {}\n\na\n```\n")))"#),
            ("up enter", r#"Close(Some(Copy("ls")))"#),
            ("escape", "Close(None)"),
            ("x", "Ignored"),
        ] {
            assert_eq!(says(&mut CopyDialog::new(copyables(Some(ANSWER), Some("ls"))), keys), step, "{keys}");
        }
        assert_eq!(says(&mut CopyDialog::new(copyables(None, None)), "enter"), "Ignored");
    }

    #[test]
    fn fences_open_and_close() {
        for (text, want) in [
            ("", vec![]),
            ("no code", vec![]),
            ("```\na\n```", vec![("", "a\n")]),
            ("````md\n```\nx\n```\n````", vec![("md", "```\nx\n```\n")]),
            ("```rust,ignore\nopen", vec![("rust,ignore", "open\n")]),
            ("    ```\nindented", vec![]),
            ("``` a`b", vec![]),
        ] {
            let blocks = code_blocks(text);
            let blocks: Vec<_> = blocks.iter().map(|(language, code)| (language.as_str(), code.as_str())).collect();
            assert_eq!(blocks, want, "{text:?}");
        }
    }
}
