//! Redirects, here-documents and here-strings.

use crate::reader::{Heredoc, ReadStep, Reader};
use crate::words::{Builder, WordMode};
use crate::{Redirect, RedirectKind, ShellWord};

/// Longer operators first, so that none is taken for a prefix of another.
const OPERATORS: &[(&str, Option<RedirectKind>)] = &[
    ("<<<", Some(RedirectKind::Text)),
    ("<<", None),
    ("<>", Some(RedirectKind::ReadWrite)),
    ("<&", Some(RedirectKind::Read)),
    ("<", Some(RedirectKind::Read)),
    ("&>>", Some(RedirectKind::Append)),
    ("&>", Some(RedirectKind::Write)),
    (">>", Some(RedirectKind::Append)),
    (">&", Some(RedirectKind::Write)),
    (">|", Some(RedirectKind::Write)),
    (">", Some(RedirectKind::Write)),
];

impl Reader<'_> {
    /// Reads a redirect of a command, if there is one.
    pub fn redirect(&mut self, command: usize) -> ReadStep<bool> {
        let rest = self.rest();
        let number = rest.bytes().take_while(u8::is_ascii_digit).count();
        let before = number.max(named_descriptor(rest));
        let operator = &rest[before..];
        let is_both = before == 0 && operator.starts_with("&>");
        let is_process = before == 0 && (operator.starts_with("<(") || operator.starts_with(">("));
        if is_process || !(is_both || operator.starts_with(['<', '>'])) {
            return Ok(false);
        }
        let Some((sign, kind)) = OPERATORS.iter().find(|(sign, _)| operator.starts_with(sign)) else {
            return Ok(false);
        };
        let numbered = before > 0 && &rest[..before] != "0";
        self.at += before + sign.len();
        match kind {
            None => self.heredoc(command, numbered)?,
            Some(kind) => self.target(command, sign, *kind, numbered)?,
        }
        Ok(true)
    }

    fn target(&mut self, command: usize, sign: &str, kind: RedirectKind, numbered: bool) -> ReadStep<()> {
        if sign.starts_with('&') || sign == "<<<" {
            self.not_in_sh(&format!("`{sign}`"));
        }
        if sign.ends_with(['>', '&']) && matches!(self.peek(), Some('!' | '|')) {
            self.unknown("a redirect that only zsh knows");
            self.at += 1;
        }
        self.skip_blanks();
        // In bash `>& -x` is `>&-` and the word `x`.
        let closes = sign.ends_with('&') && self.starts("-");
        if closes && self.peek_byte(1).is_some_and(|next| !b" \t\n;&|()<>".contains(&next)) {
            self.unknown("a redirect that shells parse differently");
        }
        let Some(lexed) = self.word(WordMode::Argument)? else { return self.stop("a redirect without a target") };
        let mut target = lexed.word;
        let is_descriptor = sign.ends_with('&')
            && target.known
            && target.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        let kind = if is_descriptor { RedirectKind::Descriptor } else { kind };
        if is_descriptor {
            target.text.insert(0, '&');
        }
        self.found.redirect(command, Redirect { kind, target, numbered });
        Ok(())
    }

    /// Reads after `<<`.
    fn heredoc(&mut self, command: usize, numbered: bool) -> ReadStep<()> {
        let without_tabs = self.take("-");
        self.skip_blanks();
        let start = self.at;
        let (mut delimiter, mut quoted) = (String::new(), false);
        while let Some(char) = self.peek().filter(|char| !" \t\n;&|()<>".contains(*char)) {
            self.next();
            match char {
                // A line continuation quotes nothing.
                '\\' if self.take("\n") => {}
                '\\' => {
                    quoted = true;
                    delimiter.extend(self.next());
                }
                '\'' | '"' => {
                    quoted = true;
                    let Some(length) = self.rest().find(char) else { return self.stop("an unclosed quote") };
                    delimiter.push_str(&self.rest()[..length]);
                    self.at += length + 1;
                }
                '$' | '`' => self.unknown("an expansion in a here-document delimiter"),
                _ => delimiter.push(char),
            }
        }
        if self.at == start || delimiter.contains(['\n', '\\']) {
            return self.stop("a here-document without a delimiter");
        }
        let redirect = self.found.script.commands.get(command).map_or(0, |command| command.redirects.len());
        self.found.redirect(command, Redirect { kind: RedirectKind::Text, target: ShellWord::unknown(""), numbered });
        self.announced += 1;
        self.heredocs.push(Heredoc { delimiter, quoted, without_tabs, command, redirect });
        Ok(())
    }

    /// Reads the pending here-documents at the start of a line.
    pub fn read_heredocs(&mut self) -> ReadStep<()> {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let body = self.heredoc_lines(&heredoc);
            let word = if heredoc.quoted { ShellWord::known(body) } else { self.heredoc_body(&body)? };
            let command = self.found.script.commands.get_mut(heredoc.command);
            if let Some(redirect) = command.and_then(|command| command.redirects.get_mut(heredoc.redirect)) {
                redirect.target = word;
            }
        }
        Ok(())
    }

    fn heredoc_lines(&mut self, heredoc: &Heredoc) -> String {
        let mut body = String::new();
        let mut continued = false;
        while !self.rest().is_empty() {
            let length = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
            let whole = &self.rest()[..length];
            self.at += length;
            let stripped = if heredoc.without_tabs { whole.trim_start_matches('\t') } else { whole };
            let line = stripped.strip_suffix('\n').unwrap_or(stripped);
            if line == heredoc.delimiter && !continued {
                return body;
            }
            let begins = line.strip_prefix(heredoc.delimiter.as_str());
            if begins.is_some_and(|after| continued || after.trim_start().starts_with([')', '`'])) {
                self.unknown("where a here-document ends: its delimiter must be alone on its line");
            }
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            let continues = !heredoc.quoted && backslashes % 2 == 1;
            if continues && (continued || heredoc.delimiter.starts_with(line.trim_end_matches('\\'))) {
                self.unknown("where a here-document ends: its delimiter must be alone on its line");
            }
            continued = continues;
            body.push_str(stripped);
        }
        self.unknown("an unclosed here-document");
        body
    }

    fn heredoc_body(&mut self, body: &str) -> ReadStep<ShellWord> {
        self.deeper(Some("<<"), |reader| {
            let place = reader.place.clone();
            let mut inner = Reader::new(body, reader.found, place);
            let mut word = Builder::new();
            while let Some(char) = inner.peek() {
                if char == '\\' && inner.peek_byte(1) == Some(b'"') {
                    inner.at += 2;
                    word.push_quoted("\\\"");
                } else {
                    inner.quoted_char(&mut word, char)?;
                }
            }
            Ok(word.finish())
        })
    }
}

/// Returns the length of `{name}`, if there is one.
fn named_descriptor(rest: &str) -> usize {
    let Some(name) = rest.strip_prefix('{') else { return 0 };
    let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if length > 0 && name[length..].starts_with('}') { length + 2 } else { 0 }
}
