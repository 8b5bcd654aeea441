//! Splits the text after a command name into arguments, as a shell does.

/// The arguments of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// As typed, quotes included.
    line: String,
    words: Vec<String>,
}

impl Arguments {
    /// Quotes group words and are removed; a backslash escapes a blank, a quote or a backslash. A quote that is never
    /// closed is an apostrophe.
    pub fn split(line: &str) -> Self {
        let line = line.trim();
        let mut splitter = Splitter { rest: line, word: None, words: Vec::new(), unclosed: Vec::new() };
        while splitter.step() {}
        splitter.end_word();
        Self { line: line.to_owned(), words: splitter.words }
    }

    pub fn line(&self) -> &str {
        &self.line
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Joins the words from number `first` on with single blanks. Counts from 1.
    pub(super) fn slice(&self, first: usize, count: Option<usize>) -> String {
        let from = first.saturating_sub(1).min(self.words.len());
        let rest = if first == 0 { &[] } else { &self.words[from..] };
        rest[..count.unwrap_or(rest.len()).min(rest.len())].join(" ")
    }
}

struct Splitter<'a> {
    rest: &'a str,
    /// `None` between words, since `""` is a word and a blank is not.
    word: Option<String>,
    words: Vec<String>,
    /// Quote characters that are known to have no closing one, so that they are not searched for again.
    unclosed: Vec<char>,
}

impl Splitter<'_> {
    fn step(&mut self) -> bool {
        let mut chars = self.rest.chars();
        let Some(char) = chars.next() else { return false };
        self.rest = chars.as_str();
        match char {
            blank if blank.is_whitespace() => self.end_word(),
            '\\' => {
                let next = self.rest.chars().next();
                match next.filter(|next| next.is_whitespace() || matches!(next, '"' | '\'' | '\\')) {
                    Some(plain) => {
                        self.push(plain);
                        self.rest = &self.rest[plain.len_utf8()..];
                    }
                    None => self.push('\\'),
                }
            }
            quote @ ('"' | '\'') => self.quoted(quote),
            other => self.push(other),
        }
        true
    }

    fn quoted(&mut self, quote: char) {
        let closed = if self.unclosed.contains(&quote) { None } else { inside(self.rest, quote) };
        match closed {
            Some((text, rest)) => {
                self.word.get_or_insert_default().push_str(&text);
                self.rest = &self.rest[rest..];
            }
            None => {
                self.unclosed.push(quote);
                self.push(quote);
            }
        }
    }

    fn push(&mut self, char: char) {
        self.word.get_or_insert_default().push(char);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }
}

/// The text up to the closing quote, and the position after it. In double quotes a backslash escapes a quote or a
/// backslash.
fn inside(text: &str, quote: char) -> Option<(String, usize)> {
    let mut found = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        if char == quote {
            return Some((found, at + char.len_utf8()));
        }
        let escaped = (char == '\\' && quote == '"')
            .then(|| chars.as_str().chars().next())
            .flatten()
            .filter(|next| matches!(next, '"' | '\\'));
        found.push(escaped.unwrap_or(char));
        if escaped.is_some() {
            chars.next();
        }
    }
    None
}
