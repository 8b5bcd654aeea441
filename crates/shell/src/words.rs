//! Words: quotes, literal parts, and parts that depend on run time.

use crate::reader::{ReadStep, Reader};
use crate::{Assignment, ShellWord};

/// The context of a word, which determines what ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordMode {
    Argument,
    /// Inside `[[ … ]]`.
    Test,
    /// Before the `)` of a `case` branch.
    Pattern,
}

pub(crate) struct Lexed {
    pub word: ShellWord,
    /// Written without quotes and expansions, so that it may be a reserved word.
    pub plain: bool,
    pub assignment: Option<Assignment>,
}

/// A word that is being read.
pub(crate) struct Builder {
    pub text: String,
    /// The literal part.
    literal: String,
    known: bool,
    value_known: bool,
    home: bool,
    plain: bool,
    numeric: bool,
    braces: bool,
    name: Option<String>,
    value_at: Option<usize>,
}

impl Builder {
    pub fn new() -> Self {
        Self {
            text: String::new(),
            literal: String::new(),
            known: true,
            value_known: true,
            home: false,
            plain: true,
            numeric: true,
            braces: false,
            name: None,
            value_at: None,
        }
    }

    pub fn push(&mut self, char: char) {
        self.text.push(char);
        self.literal.push(char);
        self.numeric &= char.is_ascii_digit() || "-{}.,".contains(char);
    }

    pub fn push_quoted(&mut self, text: &str) {
        self.plain = false;
        text.chars().for_each(|char| self.push(char));
    }

    /// Adds a part that depends on run time, as written.
    pub fn push_unknown(&mut self, source: &str, is_number: bool) {
        self.text.push_str(source);
        self.not_known();
        self.plain = false;
        self.numeric &= is_number;
    }

    /// Adds `~` or `$HOME`.
    pub fn push_home(&mut self) {
        self.plain = false;
        self.numeric = false;
        self.home = self.is_at_start();
        if !self.home {
            self.not_known();
        }
        self.text.push('~');
    }

    pub fn not_known(&mut self) {
        (self.known, self.value_known) = (false, false);
    }

    fn is_at_start(&self) -> bool {
        self.text.len() == self.value_at.unwrap_or(0)
    }

    pub fn finish(mut self) -> ShellWord {
        if self.braces && (self.text.contains(',') || self.text.contains("..")) {
            self.not_known();
        }
        if self.plain && matches!(self.text.as_str(), "[" | "[[" | "?") {
            self.known = self.text != "?";
        }
        // zsh interprets `{a}` before a redirect as the name of its file descriptor.
        let inside = self.text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        self.known &= !(self.plain && inside.is_some_and(is_name));
        let value = &self.text[self.value_at.unwrap_or(0)..];
        if self.home && value != "~" && !value.starts_with("~/") {
            (self.known, self.value_known, self.home) = (false, false, false);
        }
        let code = self.literal.contains("$(") || self.literal.contains('`') || self.literal.contains("${");
        ShellWord {
            text: self.text,
            known: self.known,
            home: self.home,
            code,
            numeric: self.numeric,
            value_at: self.value_at,
        }
    }

    fn finish_lexed(self) -> Lexed {
        let (plain, name, value_at, value_known) =
            (self.plain, self.name.clone(), self.value_at.unwrap_or(0), self.value_known);
        let word = self.finish();
        let assignment = name.map(|name| {
            let (text, known) = (word.text[value_at..].to_owned(), value_known);
            Assignment { name, value: ShellWord { text, known, value_at: None, ..word.clone() } }
        });
        // As an argument, `a=~` is expanded by bash and left alone by others.
        let is_doubtful = word.home && word.value_at.is_some();
        let word = ShellWord { known: word.known && !is_doubtful, home: word.home && !is_doubtful, ..word };
        Lexed { word, plain, assignment }
    }
}

impl Reader<'_> {
    /// Reads the next word, or returns `None` if there is none.
    pub fn word(&mut self, mode: WordMode) -> ReadStep<Option<Lexed>> {
        let start = self.at;
        let mut word = Builder::new();
        let mut open = 0_usize;
        while let Some(char) = self.peek() {
            match char {
                ' ' | '\t' | '\n' | ';' | '&' => break,
                '|' | ')' if open == 0 => break,
                '(' if mode != WordMode::Pattern || self.at == start => break,
                '<' | '>' if self.peek_byte(1) == Some(b'(') && mode != WordMode::Pattern => {
                    self.process_substitution(&mut word)?;
                }
                '<' | '>' => break,
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if matches!(char, '(' | ')' | '|') {
                self.at += 1;
                word.push(char);
                word.not_known();
            } else if !matches!(char, '<' | '>') {
                self.word_char(&mut word, char, mode)?;
            }
        }
        Ok((self.at > start).then(|| word.finish_lexed()))
    }

    fn word_char(&mut self, word: &mut Builder, char: char, mode: WordMode) -> ReadStep<()> {
        match char {
            '$' => return self.dollar(word, false),
            '`' => return self.backtick(word, false),
            '\'' => return self.single_quoted(word),
            '"' => {
                self.at += 1;
                return self.double_quoted(word);
            }
            _ => {}
        }
        let at_start = word.is_at_start();
        let after_colon = word.value_at.is_some() && word.text.ends_with(':');
        self.next();
        match char {
            '\\' => match self.next() {
                Some('\n') => {}
                Some(next) => word.push_quoted(next.encode_utf8(&mut [0; 4])),
                // A backslash at the end of the script could join a line that is appended to it.
                None => {
                    self.unknown("a backslash at the end");
                    word.push('\\');
                }
            },
            '~' if at_start || after_colon => self.tilde(word),
            '=' if mode == WordMode::Argument => self.equals(word)?,
            _ => {
                word.push(char);
                word.braces |= char == '{';
                if matches!(char, '*' | '?' | '[') {
                    word.not_known();
                }
            }
        }
        Ok(())
    }

    fn tilde(&mut self, word: &mut Builder) {
        let ends = self.peek().is_none_or(|next| "/ \t\n;&|()<>:".contains(next));
        if ends {
            word.push_home();
        } else {
            word.push_unknown("~", false);
        }
    }

    /// Reads `name=`, `name+=`, `name[…]=`; anything else is literal.
    fn equals(&mut self, word: &mut Builder) -> ReadStep<()> {
        let before = word.text.clone();
        if before.is_empty() && self.peek().is_some_and(|next| next.is_alphanumeric() || "/._-(".contains(next)) {
            self.unknown("`=name` or `=(…)`, which zsh expands");
        }
        word.push('=');
        let bare = before.strip_suffix('+').unwrap_or(&before);
        let (name, index) = match bare.split_once('[') {
            Some((name, index)) => (name, index.strip_suffix(']')),
            None => (bare, Some("0")),
        };
        let (Some(index), true, true) = (index, word.plain && word.name.is_none(), is_name(name)) else {
            return Ok(());
        };
        self.arithmetic_text(index);
        word.name = Some(name.to_owned());
        word.value_at = Some(word.text.len());
        (word.value_known, word.numeric) = (true, !before.ends_with('+'));
        if self.take("(") { self.array(word) } else { Ok(()) }
    }

    fn array(&mut self, word: &mut Builder) -> ReadStep<()> {
        self.not_in_sh("an array");
        word.push_unknown("(…)", false);
        self.deeper(None, |reader| {
            loop {
                reader.skip_lines()?;
                if reader.take(")") {
                    return Ok(());
                }
                let element = reader.word(WordMode::Argument)?;
                match element {
                    Some(element) if element.word.code => reader.unknown("text in an array that could be run later"),
                    Some(_) => {}
                    None => return reader.stop("an unclosed array"),
                }
            }
        })
    }

    fn single_quoted(&mut self, word: &mut Builder) -> ReadStep<()> {
        self.at += 1;
        let Some(length) = self.rest().find('\'') else { return self.stop("an unclosed single quote") };
        word.push_quoted(&self.rest()[..length]);
        self.at += length + 1;
        Ok(())
    }

    /// Reads after the opening quote.
    pub fn double_quoted(&mut self, word: &mut Builder) -> ReadStep<()> {
        word.push_quoted("");
        loop {
            match self.peek() {
                None => return self.stop("an unclosed double quote"),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('$') if self.starts("$(") && !self.starts("$((") && !self.place.in_quoted_braces => {
                    self.quoted_substitution(word)?;
                }
                Some(char) => self.quoted_char(word, char)?,
            }
        }
    }

    /// Reads a character in double quotes or a here-document.
    pub fn quoted_char(&mut self, word: &mut Builder, char: char) -> ReadStep<()> {
        match char {
            '$' => self.dollar(word, true),
            '`' => self.backtick(word, true),
            '\\' => {
                self.at += 1;
                match self.peek() {
                    Some('\n') => self.at += 1,
                    Some(next @ ('$' | '`' | '"' | '\\')) => {
                        self.at += 1;
                        word.push_quoted(next.encode_utf8(&mut [0; 4]));
                    }
                    _ => word.push_quoted("\\"),
                }
                Ok(())
            }
            _ => {
                self.next();
                word.push_quoted(char.encode_utf8(&mut [0; 4]));
                Ok(())
            }
        }
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
