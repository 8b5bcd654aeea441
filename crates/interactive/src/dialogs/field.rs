//! A single-line text field in a dialog.

use omp_tui::{Component as _, Input, InputLine, Line, Reaction, Space};

/// Caps the length of the text.
const MAX_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Field {
    line: InputLine,
}

impl Field {
    pub fn with(text: &str) -> Self {
        let mut field = Self::default();
        field.line.set_text(&text[..text.floor_char_boundary(MAX_BYTES)]);
        field
    }

    pub fn text(&self) -> &str {
        self.line.text()
    }

    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    pub fn clear(&mut self) {
        self.line.set_text("");
    }

    /// Returns whether the field handled the input.
    pub fn input(&mut self, input: &Input) -> bool {
        let taken = self.line.input(input) == Reaction::Taken;
        if self.text().len() > MAX_BYTES {
            let cut = self.text()[..self.text().floor_char_boundary(MAX_BYTES)].to_owned();
            self.line.set_text(&cut);
        }
        taken
    }

    /// `prompt` is drawn before the text, `hint` while the field is empty.
    pub fn draw(&mut self, prompt: &'static str, hint: &str, space: &Space<'_>) -> Line {
        self.line.set_prompt(prompt);
        self.line.set_placeholder(hint);
        self.line.draw(space).into_iter().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::super::screen::typed;
    use super::*;

    #[track_caller]
    fn check(keys: &str, text: &str) {
        let mut field = Field::with("one two");
        typed(keys).iter().for_each(|input| assert!(field.input(input), "{input:?}"));
        assert_eq!(field.text(), text, "{keys}");
    }

    #[test]
    fn keys_edit_the_line() {
        check("! !", "one two!!");
        check("left left backspace delete", "one o");
        check("home delete right x", "nxe two");
        check("ctrl+w ctrl+w", "");
    }

    #[test]
    fn what_is_pasted_is_one_clean_line_of_bounded_length() {
        let mut field = Field::default();
        assert!(field.input(&Input::Paste("a\nb\u{1b}[31mc\r\n".into())));
        assert_eq!(field.text(), "a bc");
        assert!(field.input(&Input::Paste("日".repeat(4000))));
        assert!(field.text().len() <= MAX_BYTES && Field::with(&"日".repeat(4000)).text().len() <= MAX_BYTES);
        assert!(!field.input(&Input::Focus(true)));
    }

    #[test]
    fn the_cursor_is_seen() {
        let theme = Theme::colorless();
        let space = Space { width: 10, height: 5, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let line = Field::with("0123456789").draw("> ", "", &space);
        assert_eq!((line.text().as_str(), line.cursor), ("> 3456789", Some(9)));
        assert_eq!(Field::default().draw("> ", "type to filter", &space).text(), "> type to…");
    }
}
