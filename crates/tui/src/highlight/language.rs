//! The lexical description of a language.

/// The lexical properties of a language.
#[derive(Debug)]
pub struct HighlightLanguage {
    /// Names and file extensions.
    pub(super) names: &'static str,
    pub line_comments: &'static [&'static str],
    pub block_comments: &'static [(&'static str, &'static str)],
    pub strings: &'static [Quote],
    pub(super) keywords: &'static str,
    pub(super) types: &'static str,
    /// Characters of a word besides letters, digits and `_`.
    pub word_chars: &'static str,
    pub mode: HighlightMode,
    pub(super) quirks: u32,
}

#[derive(Debug)]
pub struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    /// A backslash escapes the next character.
    pub escapes: bool,
    /// May span several lines.
    pub lines: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum HighlightMode {
    Code,
    /// Tags between text.
    Markup,
    /// `key: value` or `key = value`.
    Keys(char),
    Diff,
    Markdown,
}

pub struct Quirks;

impl Quirks {
    /// Block comments can be nested.
    pub const NESTED: u32 = 1;
    /// `'a` may be a name rather than a character.
    pub const LIFETIMES: u32 = 1 << 1;
    /// `r#"…"#`.
    pub const RAW_HASHES: u32 = 1 << 2;
    /// `R"x(…)x"`.
    pub const RAW_PARENS: u32 = 1 << 3;
    /// `[==[…]==]`.
    pub const LONG_BRACKETS: u32 = 1 << 4;
    /// `<<EOF`.
    pub const HERE: u32 = 1 << 5;
    /// `$name`, `@name`.
    pub const SIGILS: u32 = 1 << 6;
    /// The first word of a command.
    pub const COMMANDS: u32 = 1 << 7;
    /// Capitalized words are types.
    pub const CAPITAL_TYPES: u32 = 1 << 8;
    /// A word or string before a colon is a key.
    pub const KEYS: u32 = 1 << 9;
    pub const IGNORE_CASE: u32 = 1 << 10;
    /// Words may end with `!` or `?`.
    pub const BANG_WORDS: u32 = 1 << 11;
    /// The word after `(` is a function call.
    pub const LISP: u32 = 1 << 12;
    /// The comment mark counts only at the start of a line.
    pub const COMMENT_AT_START: u32 = 1 << 13;
}

impl HighlightLanguage {
    pub fn has(&self, quirk: u32) -> bool {
        self.quirks & quirk != 0
    }

    pub fn is_keyword(&self, word: &str) -> bool {
        self.lists(self.keywords, word.strip_prefix('#').unwrap_or(word))
    }

    pub fn is_type(&self, word: &str) -> bool {
        self.lists(self.types, word)
    }

    fn lists(&self, words: &str, word: &str) -> bool {
        if self.has(Quirks::IGNORE_CASE) {
            return words.split(' ').any(|other| other.eq_ignore_ascii_case(word));
        }
        contains_word(words.as_bytes(), word.as_bytes())
    }
}

/// Words are separated by single spaces; checking the first byte first is faster.
fn contains_word(words: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return false };
    let mut at = 0;
    while at + word.len() <= words.len() {
        let starts = at == 0 || words[at - 1] == b' ';
        let end = at + word.len();
        if starts && words[at] == *first && words[at..end] == *word && words.get(end).is_none_or(|byte| *byte == b' ') {
            return true;
        }
        at += 1;
    }
    false
}

pub fn find(name: &str) -> Option<&'static HighlightLanguage> {
    let name = name.trim();
    // `rust,ignore`, `{.python}`, `src/main.rs`, `js title="x"`.
    let name = name.trim_start_matches(['{', '.']);
    let name = name.split([',', ' ', '}', ':', ';', '{']).next().unwrap_or_default();
    let extension = name.rsplit(['.', '/']).next().unwrap_or_default();
    if extension.is_empty() || extension.len() > 20 {
        return None;
    }
    super::languages::LANGUAGES
        .iter()
        .find(|language| language.names.split(' ').any(|other| other.eq_ignore_ascii_case(extension)))
}
