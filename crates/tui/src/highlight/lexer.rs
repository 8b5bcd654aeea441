//! Splits one line of source text into tokens.

use super::language::{HighlightLanguage, HighlightMode, Quirks, Quote};
use super::lines;
use crate::theme::Token;

/// The construct that is open at the end of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OpenConstruct {
    #[default]
    Code,
    /// Inside the block comment with this index, at this nesting depth.
    Comment(usize, usize),
    /// Inside the string with this index.
    Quoted(usize),
    /// Inside a raw string that ends with this text.
    Raw(String),
    /// Inside a here-document that ends with this line.
    Here(String),
    /// Inside a tag of a markup language.
    Tag,
}

pub type Emit<'e> = &'e mut dyn FnMut(&str, Option<Token>);

/// Emits every byte of the line once, in order.
pub fn lex(language: &'static HighlightLanguage, state: &mut OpenConstruct, line: &str, emit: Emit<'_>) {
    match language.mode {
        HighlightMode::Diff => lines::diff(line, emit),
        HighlightMode::Markdown => lines::markdown(line, state, emit),
        HighlightMode::Markup => lines::markup(line, state, emit),
        HighlightMode::Keys(separator) if *state == OpenConstruct::Code => {
            let value = lines::key(line, separator, emit);
            Lexer::run(language, state, value, emit);
        }
        HighlightMode::Keys(_) | HighlightMode::Code => Lexer::run(language, state, line, emit),
    }
}

struct Lexer<'a, 'e> {
    language: &'static HighlightLanguage,
    line: &'a str,
    at: usize,
    /// A here-document begins after this line.
    here: Option<String>,
    /// The next word is a command, in a shell.
    command: bool,
    emit: Emit<'e>,
}

impl<'a> Lexer<'a, '_> {
    fn run(language: &'static HighlightLanguage, state: &mut OpenConstruct, line: &'a str, emit: Emit<'_>) {
        let mut lexer = Lexer { language, line, at: 0, here: None, command: true, emit };
        lexer.resume(state);
        while lexer.at < line.len() {
            lexer.token(state);
        }
        if let (OpenConstruct::Code, Some(end)) = (&*state, lexer.here.take()) {
            *state = OpenConstruct::Here(end);
        }
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn take(&mut self, length: usize, token: Option<Token>) {
        (self.emit)(&self.line[self.at..self.at + length], token);
        self.at += length;
    }

    /// Continues the construct that an earlier line opened.
    fn resume(&mut self, state: &mut OpenConstruct) {
        match std::mem::take(state) {
            OpenConstruct::Comment(rule, depth) => self.comment(rule, depth, 0, state),
            OpenConstruct::Quoted(rule) => self.quoted(rule, 0, state),
            OpenConstruct::Raw(close) => self.raw(&close, 0, state),
            OpenConstruct::Here(end) => {
                let ended = self.line.trim() == end;
                let token = if ended { Token::SyntaxOperator } else { Token::SyntaxString };
                self.take(self.line.len(), Some(token));
                *state = if ended { OpenConstruct::Code } else { OpenConstruct::Here(end) };
            }
            OpenConstruct::Code | OpenConstruct::Tag => {}
        }
    }

    fn token(&mut self, state: &mut OpenConstruct) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let spaces = rest.bytes().take_while(|byte| *byte == b' ').count();
        if spaces > 0 {
            return self.take(spaces, None);
        }
        if self.opens(state) {
            self.command = false;
        } else if first.is_ascii_digit() {
            self.take(number_length(rest), Some(Token::SyntaxNumber));
            self.command = false;
        } else if self.starts_word(first) {
            self.word(first);
        } else if self.language.has(Quirks::SIGILS) && matches!(first, '$' | '@' | '%') && self.sigil() {
            self.command = false;
        } else {
            self.sign(first);
        }
    }

    /// Handles the start of comments and strings.
    fn opens(&mut self, state: &mut OpenConstruct) -> bool {
        let language = self.language;
        let rest = self.rest();
        let at_start = self.line[..self.at].trim().is_empty();
        for (rule, (open, _)) in language.block_comments.iter().enumerate() {
            if rest.starts_with(open) {
                self.comment(rule, 1, open.len(), state);
                return true;
            }
        }
        let comment = language.line_comments.iter().any(|mark| rest.starts_with(mark));
        let behind_space = at_start || self.line[..self.at].ends_with([' ', ';', '(']);
        if comment && (at_start || !language.has(Quirks::COMMENT_AT_START)) && (behind_space || !rest.starts_with('#'))
        {
            self.take(rest.len(), Some(Token::SyntaxComment));
            return true;
        }
        if let Some((open, close)) = raw_string(language, rest) {
            self.raw(&close, open, state);
            return true;
        }
        if let Some(end) = self.here_document() {
            self.here = Some(end);
        }
        if language.has(Quirks::LIFETIMES) && rest.starts_with('\'') {
            return self.character();
        }
        if let Some(rule) = language.strings.iter().position(|quote| rest.starts_with(quote.open)) {
            self.quoted(rule, language.strings[rule].open.len(), state);
            return true;
        }
        false
    }

    /// Consumes up to the end of the comment or line, starting after `skip` bytes.
    fn comment(&mut self, rule: usize, depth: usize, skip: usize, state: &mut OpenConstruct) {
        let (open, close) = self.language.block_comments[rule];
        let rest = self.rest();
        let (mut depth, mut at) = (depth, skip);
        while at < rest.len() && depth > 0 {
            let ahead = &rest[at..];
            if ahead.starts_with(close) {
                depth -= 1;
                at += close.len();
            } else if self.language.has(Quirks::NESTED) && ahead.starts_with(open) {
                depth += 1;
                at += open.len();
            } else {
                at += ahead.chars().next().map_or(1, char::len_utf8);
            }
        }
        self.take(at, Some(Token::SyntaxComment));
        if depth > 0 {
            *state = OpenConstruct::Comment(rule, depth);
        }
    }

    fn quoted(&mut self, rule: usize, skip: usize, state: &mut OpenConstruct) {
        let quote = &self.language.strings[rule];
        let rest = self.rest();
        let end = closing(rest, skip, quote);
        let length = end.unwrap_or(rest.len());
        let names = self.language.has(Quirks::KEYS) && rest[length..].trim_start().starts_with(':');
        self.take(length, Some(if names { Token::SyntaxVariable } else { Token::SyntaxString }));
        let goes_on = quote.lines || (quote.escapes && rest.ends_with('\\'));
        if end.is_none() && goes_on {
            *state = OpenConstruct::Quoted(rule);
        }
    }

    fn raw(&mut self, close: &str, skip: usize, state: &mut OpenConstruct) {
        let rest = self.rest();
        match rest[skip..].find(close) {
            Some(at) => self.take(skip + at + close.len(), Some(Token::SyntaxString)),
            None => {
                self.take(rest.len(), Some(Token::SyntaxString));
                *state = OpenConstruct::Raw(close.to_owned());
            }
        }
    }

    /// Consumes `'x'` or `'\n'`, otherwise a lifetime.
    fn character(&mut self) -> bool {
        let rest = self.rest();
        let mut chars = rest.char_indices().skip(1);
        let literal = match chars.next() {
            Some((_, '\\')) => rest[2..].find('\'').filter(|at| *at > 0 && *at < 12).map(|at| at + 3),
            Some((_, _)) => chars.next().filter(|(_, char)| *char == '\'').map(|(at, _)| at + 1),
            None => None,
        };
        match literal {
            Some(length) => self.take(length, Some(Token::SyntaxString)),
            None => {
                let name = rest[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                self.take(1 + name, Some(if name > 0 { Token::SyntaxType } else { Token::SyntaxPunctuation }));
            }
        }
        true
    }

    /// `<<EOF`, `<<-'EOF'`, `<<~EOF`, `<<<EOT`.
    fn here_document(&self) -> Option<String> {
        let rest = self.rest().strip_prefix("<<").filter(|_| self.language.has(Quirks::HERE))?;
        let rest = rest.trim_start_matches(['-', '~', '<']).trim_start_matches(['\'', '"']);
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = &rest[..length];
        name.starts_with(|char: char| char.is_ascii_uppercase() || char == '_').then(|| name.to_owned())
    }

    fn starts_word(&self, first: char) -> bool {
        first.is_alphabetic() || first == '_' || self.language.word_chars.contains(first)
    }

    fn word(&mut self, first: char) {
        let language = self.language;
        let rest = self.rest();
        let inside = |char: char| char.is_alphanumeric() || char == '_' || language.word_chars.contains(char);
        let mut length = rest.find(|char| !inside(char)).unwrap_or(rest.len());
        if language.has(Quirks::BANG_WORDS)
            && rest[length..].starts_with(['!', '?'])
            && !rest[length + 1..].starts_with('=')
        {
            length += 1;
        }
        let word = &rest[..length];
        let after = &rest[length..];
        let called = after.starts_with('(') || (language.has(Quirks::LISP) && self.line[..self.at].ends_with('('));
        let token = if language.is_keyword(word) {
            Token::SyntaxKeyword
        } else if language.is_type(word) {
            Token::SyntaxType
        } else if language.has(Quirks::KEYS) && after.trim_start().starts_with(':') {
            Token::SyntaxVariable
        } else if called || (self.command && language.has(Quirks::COMMANDS) && !after.starts_with('=')) {
            Token::SyntaxFunction
        } else if language.has(Quirks::CAPITAL_TYPES) && first.is_uppercase() && !is_constant(word) {
            Token::SyntaxType
        } else {
            Token::SyntaxVariable
        };
        self.take(length, Some(token));
        // A command follows `then` or `do`.
        self.command = token == Token::SyntaxKeyword && language.has(Quirks::COMMANDS);
    }

    /// `$name`, `${name}`, `@name`.
    fn sigil(&mut self) -> bool {
        let rest = self.rest();
        let body = &rest[1..];
        let length = match body.strip_prefix('{') {
            Some(inner) => inner.find('}').map_or(body.len(), |at| at + 2),
            None => body.find(|char: char| !(char.is_alphanumeric() || char == '_')).unwrap_or(body.len()),
        };
        let special = usize::from(length == 0 && body.starts_with(['?', '#', '@', '*', '!', '$']));
        if length + special == 0 {
            return false;
        }
        self.take(1 + length + special, Some(Token::SyntaxVariable));
        true
    }

    fn sign(&mut self, first: char) {
        let punctuation = matches!(first, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '.' | ':');
        let token = if punctuation { Token::SyntaxPunctuation } else { Token::SyntaxOperator };
        self.command = matches!(first, '|' | ';' | '&' | '(' | '{' | '`');
        self.take(first.len_utf8(), Some(token));
    }
}

/// Returns the end of the string, behind its closing mark.
fn closing(text: &str, skip: usize, quote: &Quote) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = skip;
    while at < bytes.len() {
        if quote.escapes && bytes[at] == b'\\' {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
        } else if bytes[at..].starts_with(quote.close.as_bytes()) {
            return Some(at + quote.close.len());
        } else {
            at += 1;
        }
    }
    None
}

/// Returns the length of a raw string's opening and its closing text: `r#"`, `R"x(`, `[==[`.
fn raw_string(language: &HighlightLanguage, rest: &str) -> Option<(usize, String)> {
    let count = |text: &str, byte: u8| text.bytes().take_while(|other| *other == byte).count();
    if language.has(Quirks::RAW_HASHES) {
        let prefix = ["br", "cr", "r", ""].into_iter().find(|prefix| rest.starts_with(prefix))?;
        let hashes = count(&rest[prefix.len()..], b'#');
        let opened = rest[prefix.len() + hashes..].starts_with('"') && (!prefix.is_empty() || hashes > 0);
        return opened.then(|| (prefix.len() + hashes + 1, format!("\"{}", "#".repeat(hashes))));
    }
    if language.has(Quirks::RAW_PARENS) {
        let body = rest.strip_prefix("R\"")?;
        let name = body.find('(').filter(|at| *at <= 16)?;
        return Some((2 + name + 1, format!("){}\"", &body[..name])));
    }
    if language.has(Quirks::LONG_BRACKETS) {
        let level = count(rest.strip_prefix('[')?, b'=');
        return rest[1 + level..].starts_with('[').then(|| (level + 2, format!("]{}]", "=".repeat(level))));
    }
    None
}

/// Accepts digits, letters of a base or a unit, and a sign after an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let mut at = 1;
    while at < bytes.len() {
        let exponent = !hex && matches!(bytes[at - 1], b'e' | b'E');
        let digit_follows = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        match bytes[at] {
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {}
            b'.' if digit_follows => {}
            b'+' | b'-' if exponent && digit_follows => {}
            b'%' => return at + 1,
            _ => break,
        }
        at += 1;
    }
    at
}

fn is_constant(word: &str) -> bool {
    word.len() > 1 && !word.contains(char::is_lowercase)
}
