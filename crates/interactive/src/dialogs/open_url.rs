//! Shows a whole address that the user should open in a browser.

use std::sync::Arc;

use omp_session::{Answer, WebAddress};
use omp_tui::{Input, KeyCode, Line, ListWindow, Mods, Space, Token};

use super::quiet::Quiet;
use super::sheet::{Sheet, wrapped};
use super::{Dialog, DialogStep};
use crate::action::Action;

const CHOICES: [&str; 3] = ["1. Open in the browser", "2. I opened it myself", "3. Cancel"];

#[derive(Debug)]
pub struct OpenUrlDialog {
    id: u64,
    url: WebAddress,
    reason: String,
    pointer: ListWindow,
    quiet: Quiet,
}

impl OpenUrlDialog {
    pub fn new(id: u64, url: WebAddress, reason: String) -> Self {
        Self { id, url, reason, pointer: ListWindow::default(), quiet: Quiet::default() }
    }

    /// For a question that the user cannot have read yet.
    pub(crate) fn quiet(mut self, quiet: Quiet) -> Self {
        self.quiet = quiet;
        self
    }

    /// The question stays open until the browser has started; without one the user opens the address elsewhere.
    fn choose(&self, at: usize) -> DialogStep {
        let answer = |answer| DialogStep::Close(Some(Action::Answer { id: self.id, answer }));
        match at {
            0 => DialogStep::Do(Action::OpenUrl { id: self.id, url: self.url.clone() }),
            1 => answer(Answer::Yes),
            _ => answer(Answer::No),
        }
    }
}

impl Dialog for OpenUrlDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        let mut sheet = Sheet::new(space, "Open this link?", "");
        let space = &sheet.inner();
        sheet.prose(&self.reason, space.theme.fg(Token::Text));
        let link: Arc<str> = self.url.as_str().into();
        for mut row in wrapped(self.url.as_str(), space.width, space.theme.fg(Token::Accent)) {
            row.spans.iter_mut().for_each(|span| span.link = Some(link.clone()));
            sheet.push(row);
        }
        sheet.section();
        sheet.choices(self.pointer.selected(), CHOICES.map(|choice| (choice, "")));
        sheet.finish(&[("enter", "choose"), ("esc", "cancel")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Some(step) = self.quiet.astray(input) {
            return step;
        }
        let Input::Key(key) = input else { return DialogStep::Ignored };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => self.choose(CHOICES.len()),
            (Mods::NONE, KeyCode::Enter) => self.choose(self.pointer.selected()),
            (Mods::NONE, KeyCode::Char(digit @ '1'..='3')) => self.choose(digit as usize - '1' as usize),
            _ => super::picked(self.pointer.key(key, CHOICES.len())),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::screen::{both, says};
    use super::*;

    pub fn dialog() -> OpenUrlDialog {
        let url = WebAddress::parse("https://login.example.com/authorize?client=omp&state=0123456789abcdef").unwrap();
        OpenUrlDialog::new(7, url, "The server `docs` wants you to log in.".to_owned())
    }

    #[test]
    fn keys_answer() {
        let opens = "Do(OpenUrl { id: 7, url: WebAddress(\"https://login.example.com/authorize?client=omp&state=0123456789abcdef\") })";
        for (keys, step) in [
            ("enter", opens),
            ("1", opens),
            ("down enter", "Close(Some(Answer { id: 7, answer: Yes }))"),
            ("2", "Close(Some(Answer { id: 7, answer: Yes }))"),
            ("3", "Close(Some(Answer { id: 7, answer: No }))"),
            ("escape", "Close(Some(Answer { id: 7, answer: No }))"),
            ("ctrl+c", "Close(Some(Answer { id: 7, answer: No }))"),
            ("y", "Ignored"),
        ] {
            assert_eq!(says(&mut dialog(), keys), step, "{keys}");
        }
    }

    #[test]
    fn the_address_is_whole_and_a_link() {
        insta::assert_snapshot!(both(&mut dialog()), @"
        ╭─ Open this link? ────────────────────────────────────────╮
        │ The server `docs` wants you to log in.                   │
        │ https://login.example.com/authorize?client=omp&state=012 │
        │ 3456789abcdef                                            │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ 1. Open in the browser                                 │
        │   2. I opened it myself                                  │
        │   3. Cancel                                              │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc cancel                                │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Open this link? ───────────
        The server `docs` wants you to
        log in.
        https://login.example.com/auth
        orize?client=omp&state=0123456
        789abcdef
        ❯ 1. Open in the browser
          2. I opened it myself
          3. Cancel
        enter choose · esc cancel
        ");
        let theme = omp_tui::Theme::dark();
        let rows =
            dialog().draw(&Space { width: 30, height: 24, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys });
        let linked = rows.iter().flat_map(|row| &row.spans).filter(|span| span.link.is_some());
        let text: String = linked.map(|span| span.text.trim_end()).collect();
        assert_eq!(text, dialog().url.as_str());
    }
}
