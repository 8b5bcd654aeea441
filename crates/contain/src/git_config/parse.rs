//! Parses a configuration like git, with the position of each entry in the text.

use std::fmt;
use std::ops::Range;

/// A section, and the quoted name after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// In lower case.
    pub(super) section: String,
    pub(super) name: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct ConfigEntry {
    pub(super) header: Header,
    /// In lower case.
    pub(super) key: String,
    /// Without quotes and comments; `true` if there is no value.
    pub(super) value: String,
    /// From the key to the end of the value, including comments.
    pub(super) span: Range<usize>,
}

impl ConfigEntry {
    /// The name in the form of `git config`.
    pub(super) fn name(&self) -> String {
        match &self.header.name {
            Some(name) => format!("{}.{name}.{}", self.header.section, self.key),
            None => format!("{}.{}", self.header.section, self.key),
        }
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "[{} \"{}\"]", self.section, name.replace('\\', "\\\\").replace('"', "\\\"")),
            None => write!(f, "[{}]", self.section),
        }
    }
}

/// `None` if git would report an error, or could parse it differently.
pub(super) fn parse(text: &str) -> Option<Vec<ConfigEntry>> {
    let mut entries = Vec::new();
    let mut header: Option<Header> = None;
    let mut reader = GitConfigReader { text, at: if text.starts_with('\u{feff}') { 3 } else { 0 } };
    loop {
        reader.skip(|char| char.is_ascii_whitespace());
        match reader.peek() {
            None => return Some(entries),
            Some('#' | ';') => reader.skip(|char| char != '\n'),
            Some('[') => header = Some(reader.header()?),
            Some(_) => {
                let header = header.clone()?;
                entries.push(reader.entry(header)?);
            }
        }
    }
}

struct GitConfigReader<'a> {
    text: &'a str,
    at: usize,
}

impl GitConfigReader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip(&mut self, is: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is) {
            self.next();
        }
    }

    fn take(&mut self, is: impl Fn(char) -> bool) -> String {
        let from = self.at;
        self.skip(is);
        self.text[from..self.at].to_ascii_lowercase()
    }

    fn header(&mut self) -> Option<Header> {
        self.next();
        let section = self.take(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.'));
        if section.is_empty() {
            return None;
        }
        // An old syntax, in which the second part is the name in lower case.
        let (section, old) = match section.split_once('.') {
            Some((section, name)) => (section.to_owned(), Some(name.to_owned())),
            None => (section, None),
        };
        if self.peek()? == ']' {
            self.next();
            return Some(Header { section, name: old });
        }
        if old.is_some() || !self.peek()?.is_ascii_whitespace() {
            return None;
        }
        self.skip(|char| matches!(char, ' ' | '\t'));
        if self.next()? != '"' {
            return None;
        }
        let mut name = String::new();
        loop {
            match self.next()? {
                '"' => break,
                '\n' | '\0' => return None,
                '\\' => match self.next()? {
                    '\n' | '\0' => return None,
                    char => name.push(char),
                },
                char => name.push(char),
            }
        }
        (self.next()? == ']').then_some(Header { section, name: Some(name) })
    }

    fn entry(&mut self, header: Header) -> Option<ConfigEntry> {
        let from = self.at;
        if !self.peek()?.is_ascii_alphabetic() {
            return None;
        }
        let key = self.take(|char| char.is_ascii_alphanumeric() || char == '-');
        self.skip(|char| matches!(char, ' ' | '\t'));
        let value = match self.peek() {
            None | Some('\n') => "true".to_owned(),
            Some('\r') if self.text[self.at..].starts_with("\r\n") => "true".to_owned(),
            Some('=') => {
                self.next();
                self.value()?
            }
            _ => return None,
        };
        Some(ConfigEntry { header, key, value, span: from..self.at })
    }

    /// Parses up to the end of the line; a backslash continues the line.
    fn value(&mut self) -> Option<String> {
        self.skip(|char| matches!(char, ' ' | '\t'));
        let (mut value, mut blanks, mut in_quotes) = (String::new(), String::new(), false);
        loop {
            match self.peek() {
                None | Some('\n') if in_quotes => return None,
                None | Some('\n') => return Some(value),
                Some('\0') => return None,
                Some('\r') if self.text[self.at..].starts_with("\r\n") && !in_quotes => {
                    self.next();
                    return Some(value);
                }
                Some('#' | ';') if !in_quotes => self.skip(|char| char != '\n'),
                Some(char) => {
                    self.next();
                    let meant = match char {
                        '"' => {
                            in_quotes = !in_quotes;
                            value.push_str(&std::mem::take(&mut blanks));
                            continue;
                        }
                        '\\' => match self.next()? {
                            '\n' => continue,
                            '\r' if self.peek() == Some('\n') => {
                                self.next();
                                continue;
                            }
                            'n' => '\n',
                            't' => '\t',
                            'b' => '\u{8}',
                            char @ ('\\' | '"') => char,
                            _ => return None,
                        },
                        ' ' | '\t' if !in_quotes => {
                            blanks.push(char);
                            continue;
                        }
                        char => char,
                    };
                    value.push_str(&std::mem::take(&mut blanks));
                    value.push(meant);
                }
            }
        }
    }
}
