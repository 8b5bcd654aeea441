//! Arithmetic, which looks harmless but is not: bash runs `$(…)` in an index, even if a variable holds it.

use crate::reader::{ReadStep, Reader};
use crate::words::Builder;

impl Reader<'_> {
    /// Reads after `((`. Returns false, with nothing changed, if these are two subshells.
    pub fn arithmetic(&mut self) -> ReadStep<bool> {
        let start = self.at;
        if self.not_arithmetic.contains(&start) {
            return Ok(false);
        }
        let script = &self.found.script;
        let (commands, unknown, defined) = (script.commands.len(), script.unknown.len(), script.defined.len());
        if let Ok(Some(text)) = self.deeper(None, Self::arithmetic_source) {
            self.not_in_sh("arithmetic in double parentheses");
            self.arithmetic_text(&text);
            return Ok(true);
        }
        let script = &mut self.found.script;
        let was_doubtful = script.unknown.len() > unknown;
        script.commands.truncate(commands);
        script.unknown.truncate(unknown);
        script.defined.truncate(defined);
        if was_doubtful {
            self.unknown("parentheses that some shells take for arithmetic");
        }
        self.not_arithmetic.insert(start);
        Ok(false)
    }

    fn arithmetic_source(&mut self) -> ReadStep<Option<String>> {
        let (mut open, mut inner) = (0_usize, Builder::new());
        while let Some(char) = self.peek() {
            match char {
                ')' if open == 0 && self.peek_byte(1) == Some(b')') => {
                    self.at += 2;
                    return Ok(Some(inner.text));
                }
                ')' if open == 0 => return Ok(None),
                '$' => self.dollar(&mut inner, true)?,
                '`' => self.backtick(&mut inner, true)?,
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut inner)?;
                }
                '\\' | '\'' => {
                    self.unknown("a quote in arithmetic");
                    self.at += 1;
                    if char == '\\' {
                        self.next();
                    }
                }
                _ => {
                    open = if char == '(' { open + 1 } else { open - usize::from(char == ')') };
                    self.next();
                    inner.push(char);
                }
            }
        }
        Ok(None)
    }

    /// Records which variables an expression reads.
    pub fn arithmetic_text(&mut self, text: &str) {
        if text.contains("(…)") && text.replace("$((…))", "").contains("(…)") || text.contains('`') {
            self.unknown("arithmetic over the output of a command");
        }
        let mut before = ' ';
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
            let length =
                if is_part(first) { rest.find(|char| !is_part(char)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (part, after) = rest.split_at(length);
            if before == '$' && (first.is_ascii_digit() || matches!(first, '@' | '*')) {
                self.unknown("arithmetic over an argument");
            } else if is_part(first) && !first.is_ascii_digit() && before != '#' {
                let next = after.trim_start();
                let is_set = before != '$' && next.starts_with('=') && !next.starts_with("==");
                let names = if is_set { &mut self.found.numbers } else { &mut self.found.in_arithmetic };
                names.insert(part.to_owned());
            }
            (before, rest) = (first, after);
        }
    }
}
