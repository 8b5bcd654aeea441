//! Rules for commands: matches `git push *` against the words of a program as the shell would start it.
//!
//! Words are compared with words, never text with text, so that `git push` is not `git pushx` and a quoted argument cannot
//! pass for two. Allow rules are interpreted narrowly, deny rules widely.

pub(crate) mod spellings;
mod wild;

use crate::ShellWord;
use spellings::{Spelling, spellings};
use wild::{is_like, may_be_like};

/// The words of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    tokens: Vec<PatternToken>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternToken {
    /// `*` on its own: any number of words, including none.
    Any,
    Word(Vec<PatternPiece>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternPiece {
    Star,
    Char(char),
}

/// Whether a deny rule applies to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbids {
    Yes,
    No,
    /// Depends on run time.
    Perhaps,
}

impl CommandPattern {
    /// Parses a rule. `*` stands for anything unless it is quoted; a rule may end in `:*` for ` *`. After a last word that
    /// ends with a star, further words may follow.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (text, open) = match text.strip_suffix(":*") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut tokens = split(text)?;
        let goes_on = |token: &PatternToken| matches!(token, PatternToken::Word(pieces) if pieces.last() == Some(&PatternPiece::Star));
        if open || tokens.last().is_some_and(goes_on) {
            tokens.push(PatternToken::Any);
        }
        if tokens.is_empty() {
            return Err("it names no command".to_owned());
        }
        Ok(Self { tokens })
    }

    /// An allow rule is taken literally: exactly this program, and every word known. Only a wildcard for any number of words
    /// covers a file pattern, as its words are names of files.
    pub fn allows(&self, words: &[ShellWord]) -> bool {
        !words.is_empty() && words.iter().all(|word| word.known || word.is_file_pattern()) && self.is(words)
    }

    /// Whether the rule says which program it is about.
    pub fn names_program(&self) -> bool {
        let is_char = |piece: &PatternPiece| matches!(piece, PatternPiece::Char(_));
        matches!(self.tokens.first(), Some(PatternToken::Word(pieces)) if pieces.iter().all(is_char))
    }

    /// A program is forbidden under any path, and its first operand after any options.
    pub fn forbids(&self, words: &[ShellWord]) -> Forbids {
        let mut answer = Forbids::No;
        for Spelling { words, is_sure } in spellings(words) {
            let is_it = self.is(&words) || self.is_text(&words);
            if is_it && is_sure {
                return Forbids::Yes;
            }
            if is_it || self.may_be(&words) {
                answer = Forbids::Perhaps;
            }
        }
        answer
    }

    /// An unknown word matches only a wildcard for any number of words.
    fn is(&self, words: &[ShellWord]) -> bool {
        is_like(&self.tokens, words, |token| *token == PatternToken::Any, PatternToken::is_surely)
    }

    /// Returns whether unknown words could make it this command at run time.
    fn may_be(&self, words: &[ShellWord]) -> bool {
        let is_open = |word: &ShellWord| !word.known;
        words.iter().any(is_open)
            && may_be_like(&self.tokens, words, |token| *token == PatternToken::Any, is_open, PatternToken::is_surely)
    }

    /// Other agents compare text: there `git*push` is any text with this start and end.
    fn is_text(&self, words: &[ShellWord]) -> bool {
        let has_star =
            |token: &PatternToken| matches!(token, PatternToken::Word(pieces) if pieces.contains(&PatternPiece::Star));
        if !self.tokens.iter().any(has_star) || words.iter().any(|word| !word.known) {
            return false;
        }
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        PatternToken::Word(self.as_text()).fits(&texts.join(" "))
    }

    fn as_text(&self) -> Vec<PatternPiece> {
        let mut pieces = Vec::new();
        for token in &self.tokens {
            match token {
                PatternToken::Any => pieces.push(PatternPiece::Star),
                PatternToken::Word(word) => {
                    let blank = (!pieces.is_empty()).then_some(PatternPiece::Char(' '));
                    pieces.extend(blank.into_iter().chain(word.iter().copied()));
                }
            }
        }
        pieces
    }
}

/// Quotes a word so that a rule means exactly this word.
pub fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_-./=@%+,^~".contains(char);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        // A colon is plain except at the end, where it could form `:*`.
        false if !word.is_empty() && word.chars().all(|char| plain(char) || char == ':') && !word.ends_with(':') => {
            word.to_owned()
        }
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl PatternToken {
    fn is_surely(&self, word: &ShellWord) -> bool {
        word.known && self.fits(&word.text)
    }

    fn fits(&self, word: &str) -> bool {
        match self {
            PatternToken::Any => true,
            PatternToken::Word(pieces) => {
                let chars: Vec<char> = word.chars().collect();
                is_like(
                    pieces,
                    &chars,
                    |piece| *piece == PatternPiece::Star,
                    |piece, char| *piece == PatternPiece::Char(*char),
                )
            }
        }
    }
}

/// Splits words as a shell does, with quotes; quoted characters are literal.
fn split(text: &str) -> Result<Vec<PatternToken>, String> {
    let mut tokens = Vec::new();
    let mut word: Option<(Vec<PatternPiece>, bool)> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char.is_whitespace() {
            tokens.extend(word.take().map(finished));
            continue;
        }
        let (pieces, is_quoted) = word.get_or_insert_default();
        match char {
            '*' => pieces.push(PatternPiece::Star),
            '\\' => pieces.push(PatternPiece::Char(chars.next().ok_or("it ends with a backslash")?)),
            '\'' | '"' => {
                *is_quoted = true;
                quoted_part(char, &mut chars, pieces)?;
            }
            char => pieces.push(PatternPiece::Char(char)),
        }
    }
    tokens.extend(word.take().map(finished));
    Ok(tokens)
}

fn quoted_part(quote: char, chars: &mut std::str::Chars<'_>, pieces: &mut Vec<PatternPiece>) -> Result<(), String> {
    loop {
        match chars.next() {
            None => return Err(format!("a {quote} is not closed")),
            Some(char) if char == quote => return Ok(()),
            Some('\\') if quote == '"' => pieces.push(PatternPiece::Char(chars.next().ok_or("a quote is not closed")?)),
            Some(char) => pieces.push(PatternPiece::Char(char)),
        }
    }
}

fn finished((pieces, is_quoted): (Vec<PatternPiece>, bool)) -> PatternToken {
    if !is_quoted && pieces == [PatternPiece::Star] { PatternToken::Any } else { PatternToken::Word(pieces) }
}

#[cfg(test)]
mod tests;
