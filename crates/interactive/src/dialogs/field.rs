//! One line of text that is typed inside of a dialog.

use omp_stdx::{display_width, sanitize};
use omp_tui::{Input, Key, KeyCode, Line, Mods, Space, Token};

/// Nothing that is typed into one line is longer.
const MAX_BYTES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Field {
    text: String,
    /// In bytes, between two characters.
    cursor: usize,
}

impl Field {
    pub fn with(text: &str) -> Self {
        let mut field = Self::default();
        field.insert(text);
        field
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether it was something for a line of text.
    pub fn input(&mut self, input: &Input) -> bool {
        match input {
            Input::Paste(text) => self.insert(text),
            Input::Key(key) => return self.key(*key),
            Input::Mouse(_) | Input::Focus(_) => return false,
        }
        true
    }

    fn key(&mut self, key: Key) -> bool {
        if let Some(char) = key.typed() {
            self.insert(char.encode_utf8(&mut [0; 4]));
            return true;
        }
        match (key.mods, key.code) {
            (Mods::NONE, KeyCode::Backspace) => self.remove(self.before()..self.cursor),
            (Mods::NONE, KeyCode::Delete) => self.remove(self.cursor..self.after()),
            (Mods::NONE, KeyCode::Left) | (Mods::CTRL, KeyCode::Char('b')) => self.cursor = self.before(),
            (Mods::NONE, KeyCode::Right) | (Mods::CTRL, KeyCode::Char('f')) => self.cursor = self.after(),
            (Mods::NONE, KeyCode::Home) | (Mods::CTRL, KeyCode::Char('a')) => self.cursor = 0,
            (Mods::NONE, KeyCode::End) | (Mods::CTRL, KeyCode::Char('e')) => self.cursor = self.text.len(),
            (Mods::CTRL, KeyCode::Char('u')) => self.remove(0..self.cursor),
            (Mods::CTRL, KeyCode::Char('k')) => self.remove(self.cursor..self.text.len()),
            (Mods::CTRL, KeyCode::Char('w')) | (Mods::ALT, KeyCode::Backspace) => {
                self.remove(self.word_start()..self.cursor);
            }
            _ => return false,
        }
        true
    }

    /// Line breaks become spaces; what does not fit is left out.
    fn insert(&mut self, text: &str) {
        let clean = sanitize::strip_control(text).replace(['\n', '\t'], " ");
        let room = MAX_BYTES.saturating_sub(self.text.len());
        let clean = &clean[..clean.floor_char_boundary(room)];
        self.text.insert_str(self.cursor, clean);
        self.cursor += clean.len();
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
    }

    fn before(&self) -> usize {
        let mut at = self.cursor;
        // A cluster of characters is one to the reader: marks and joiners go with what they belong to.
        while let Some(char) = self.text[..at].chars().next_back() {
            at -= char.len_utf8();
            let rest = &self.text[at..self.cursor];
            if display_width::width(rest) > 0 && !self.text[..at].ends_with('\u{200d}') && char != '\u{200d}' {
                break;
            }
        }
        at
    }

    fn after(&self) -> usize {
        let mut at = self.cursor;
        let mut chars = self.text[self.cursor..].chars().peekable();
        while let Some(char) = chars.next() {
            at += char.len_utf8();
            let joined = |next: &char| *next == '\u{200d}' || display_width::width(next.encode_utf8(&mut [0; 4])) == 0;
            if char != '\u{200d}' && !chars.peek().is_some_and(joined) {
                break;
            }
        }
        at
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before.rfind(char::is_whitespace).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    }

    /// `prompt` stands before the text, `hint` in its place while there is none.
    pub fn draw(&self, prompt: &'static str, hint: &str, space: &Space<'_>) -> Line {
        let room = space.width.saturating_sub(display_width::width(prompt) + 1);
        let mut line = Line::styled(prompt, space.theme.fg(Token::Accent));
        let start = line.width();
        if self.text.is_empty() {
            let hint = display_width::ellipsize(hint, room).into_owned();
            line.push(hint, space.theme.fg(Token::Dim));
        }
        let hidden = self.hidden(room);
        let (shown, _) = display_width::clip(&self.text[hidden..], room);
        line.push(shown.to_owned(), space.theme.fg(Token::Text));
        if space.focused {
            line.cursor = Some(start + display_width::width(&self.text[hidden..self.cursor]));
        }
        line
    }

    /// Bytes at the start that are not seen, so that the cursor is.
    fn hidden(&self, room: usize) -> usize {
        let before = &self.text[..self.cursor];
        let excess = display_width::width(before).saturating_sub(room);
        let mut at = 0;
        let mut gone = 0;
        for char in before.chars() {
            if gone >= excess {
                break;
            }
            at += char.len_utf8();
            gone = display_width::width(&before[..at]);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::super::screen::typed;
    use super::*;

    #[track_caller]
    fn check(keys: &str, text: &str, cursor: usize) {
        let mut field = Field::with("one two");
        typed(keys).iter().for_each(|input| assert!(field.input(input), "{input:?}"));
        assert_eq!((field.text(), field.cursor), (text, cursor), "{keys}");
    }

    #[test]
    fn keys_edit_the_line() {
        check("! !", "one two!!", 9);
        check("backspace backspace", "one t", 5);
        check("left left backspace delete", "one o", 4);
        check("home delete right x", "nxe two", 2);
        check("ctrl+w", "one ", 4);
        check("ctrl+w ctrl+w", "", 0);
        check("home ctrl+k backspace delete left right", "", 0);
        check("left ctrl+u", "o", 0);
    }

    #[test]
    fn clusters_are_one_character() {
        for cluster in ["e\u{301}", "👨\u{200d}👩\u{200d}👧", "日"] {
            let mut field = Field::with(&format!("a{cluster}"));
            typed("left").iter().for_each(|input| assert!(field.input(input)));
            assert_eq!(field.cursor, 1, "{cluster:?}");
            typed("right backspace").iter().for_each(|input| assert!(field.input(input)));
            assert_eq!(field.text(), "a", "{cluster:?}");
        }
    }

    #[test]
    fn what_is_pasted_is_one_clean_line_of_bounded_length() {
        let mut field = Field::default();
        assert!(field.input(&Input::Paste("a\nb\t\u{1b}[31mc\r\n".into())));
        assert_eq!(field.text(), "a b c ");
        assert!(field.input(&Input::Paste("日".repeat(4000))));
        assert!(field.text().len() <= MAX_BYTES);
        assert!(!field.input(&Input::Focus(true)));
    }

    #[test]
    fn the_cursor_is_always_seen() {
        let theme = Theme::colorless();
        let space = Space { width: 10, height: 5, theme: &theme, focused: true };
        let mut field = Field::with("0123456789");
        let line = field.draw("> ", "", &space);
        assert_eq!((line.text().as_str(), line.cursor), ("> 3456789", Some(9)));
        typed("home").iter().for_each(|input| assert!(field.input(input)));
        let line = field.draw("> ", "", &space);
        assert_eq!((line.text().as_str(), line.cursor), ("> 0123456", Some(2)));
        assert_eq!(Field::default().draw("> ", "type to filter", &space).text(), "> type t…");
    }
}
