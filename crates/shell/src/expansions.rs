//! Expansions in words: parameters, command and process substitution, `$'…'`.

use crate::reader::{ReadStep, Reader};
use crate::words::Builder;
use crate::{Redirect, RedirectKind, ShellCommand};

impl Reader<'_> {
    /// Reads at a `$`.
    pub fn dollar(&mut self, word: &mut Builder, quoted: bool) -> ReadStep<()> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') => self.parenthesis(word),
            Some('{') => {
                self.at += 1;
                let outer = self.place.in_quoted_braces;
                self.place.in_quoted_braces |= quoted;
                let result = self.deeper(None, |reader| reader.braced(word, quoted, start));
                self.place.in_quoted_braces = outer;
                result
            }
            Some('\'') if !quoted => self.escaped_quote(word),
            // bash translates the string, zsh reads a literal dollar.
            Some('"') if !quoted => {
                self.at += 1;
                word.not_known();
                self.double_quoted(word)
            }
            Some('[') => {
                self.unknown("arithmetic as `$[…]`");
                word.push_unknown("$", false);
                Ok(())
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let rest = self.rest();
                let end = rest.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_')).unwrap_or(rest.len());
                self.at += end;
                if &rest[..end] == "HOME" {
                    word.push_home()
                } else {
                    word.push_unknown(&self.text[start..self.at], false)
                }
                Ok(())
            }
            Some(special) if special.is_ascii_digit() || "@*#?-$!".contains(special) => {
                self.at += 1;
                word.push_unknown(&self.text[start..self.at], "#?$!".contains(special));
                Ok(())
            }
            // zsh has expansions that start like this.
            Some('+' | '^' | '=' | '~' | '\\') => {
                word.push_unknown("$", false);
                Ok(())
            }
            _ => {
                word.push_quoted("$");
                Ok(())
            }
        }
    }

    /// Reads `$((…))` or `$(…)`, at the first parenthesis.
    fn parenthesis(&mut self, word: &mut Builder) -> ReadStep<()> {
        let start = self.at;
        if self.take("((") {
            if self.arithmetic()? {
                word.push_unknown("$((…))", true);
                return Ok(());
            }
            self.at = start;
            // Bash removes the quotes of a `$'…'` here before it reads the commands.
            if self.place.in_quoted_braces {
                self.unknown("two subshells that begin like arithmetic, in an expansion in double quotes");
            }
        }
        self.at += 1;
        self.substitution(word, "$(…)")
    }

    /// Reads `$(…)` in double quotes. Its value is known if it only prints a text: `"$(cat <<'EOF' …)"`.
    pub fn quoted_substitution(&mut self, word: &mut Builder) -> ReadStep<()> {
        let (commands, unknown) = (self.found.script.commands.len(), self.found.script.unknown.len());
        let mut inner = Builder::new();
        self.dollar(&mut inner, true)?;
        let is_clear = self.found.script.unknown.len() == unknown;
        let printed = self.found.script.commands.get(commands..).and_then(printed).filter(|_| is_clear);
        match printed {
            Some(text) => {
                let text = text.trim_end_matches('\n').to_owned();
                self.found.is_cat_followed = true;
                word.push_quoted(&text);
            }
            None => word.push_unknown(&inner.text, false),
        }
        Ok(())
    }

    pub fn process_substitution(&mut self, word: &mut Builder) -> ReadStep<()> {
        self.not_in_sh("process substitution");
        let via = if self.starts("<") { "<(…)" } else { ">(…)" };
        self.at += 2;
        self.substitution(word, via)
    }

    /// Reads after the opening parenthesis.
    fn substitution(&mut self, word: &mut Builder, via: &str) -> ReadStep<()> {
        let start = self.at;
        let outer = std::mem::take(&mut self.heredocs);
        let (announced, semicolons) = (self.announced, self.semicolons);
        let result = self.deeper(Some(via), |reader| reader.list(&[")"]));
        if !self.heredocs.is_empty() || (!outer.is_empty() && self.text[start..self.at].contains('\n')) {
            self.unknown("a here-document that ends with its `$(…)`");
        }
        // Bash serializes the commands before it runs them, and 5.2 loses semicolons after a here-document.
        if self.announced > announced && self.semicolons > semicolons {
            self.unknown("`;` next to a here-document in `$(…)`, which some shells drop");
        }
        self.heredocs = outer;
        word.push_unknown(via, false);
        result.map(|_| ())
    }

    pub fn backtick(&mut self, word: &mut Builder, quoted: bool) -> ReadStep<()> {
        self.at += 1;
        let mut code = String::new();
        loop {
            match self.next() {
                None => return self.stop("an unclosed backtick"),
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(next @ ('`' | '\\' | '$')) => code.push(next),
                    Some('"') if quoted => code.push('"'),
                    next => {
                        code.push('\\');
                        code.extend(next);
                    }
                },
                Some(char) => code.push(char),
            }
        }
        if !self.heredocs.is_empty() && code.contains('\n') {
            self.unknown("a here-document that ends with its `$(…)`");
        }
        self.nested(&code, "`…`")?;
        word.push_unknown("`…`", false);
        Ok(())
    }

    /// Reads another text at this position.
    fn nested(&mut self, code: &str, via: &str) -> ReadStep<()> {
        self.deeper(Some(via), |reader| {
            let place = reader.place.clone();
            Reader::new(code, reader.found, place).list(&[""]).map(|_| ())
        })
    }

    /// Reads after `${`; `start` is the position of the `$`.
    fn braced(&mut self, word: &mut Builder, quoted: bool, start: usize) -> ReadStep<()> {
        match self.peek() {
            Some('(' | '^' | '=' | '~' | '+' | ':') => self.unknown("an expansion with flags of zsh"),
            Some(' ' | '\t' | '\n' | '|' | '\\' | '"' | '\'') => return self.stop("an expansion without a name"),
            Some('!') if self.peek_byte(1) != Some(b'}') => {
                self.at += 1;
                self.unknown("a variable whose name is not known before it runs");
            }
            _ => {}
        }
        let length = self.peek() == Some('#') && self.peek_byte(1) != Some(b'}');
        self.at += usize::from(length);
        if self.peek() == Some('$') && self.peek_byte(1) != Some(b'}') {
            return self.stop("an expansion instead of a name, which zsh runs");
        }
        let rest = self.rest();
        let end = rest.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_')).unwrap_or(rest.len());
        let name = &rest[..end];
        self.at += end;
        if end == 0 && self.peek().is_some_and(|special| "@*#?-$!".contains(special)) {
            self.at += 1;
        }
        if self.take("[") {
            let index = self.raw_until(']', quoted)?;
            if !matches!(index.as_str(), "@" | "*") {
                self.arithmetic_text(&index);
            }
        }
        let operator = self.rest();
        let argument = self.raw_until('}', quoted)?;
        self.operator(name, operator, &argument);
        if &self.text[start..self.at] == "${HOME}" {
            word.push_home();
        } else {
            word.push_unknown(&self.text[start..self.at], length);
        }
        Ok(())
    }

    fn operator(&mut self, name: &str, operator: &str, argument: &str) {
        let mut chars = operator.chars();
        match (chars.next(), chars.next()) {
            (Some('@'), _) if argument.contains('P') => self.unknown("`@P`, which runs what is in a variable"),
            (Some(':'), Some('-' | '+' | '?')) => {}
            (Some(':'), Some('=')) | (Some('='), _) => {
                self.found.anything.insert(name.to_owned());
            }
            (Some(':'), _) => self.arithmetic_text(&argument[1..]),
            _ => {}
        }
    }

    /// Reads up to an end character that is neither quoted nor part of an expansion; finds the commands in it.
    fn raw_until(&mut self, end: char, quoted: bool) -> ReadStep<String> {
        let start = self.at;
        let mut inner = Builder::new();
        loop {
            let Some(char) = self.peek() else { return self.stop("an unclosed expansion") };
            match char {
                _ if char == end => break,
                '\'' if quoted => {
                    self.unknown("a single quote in an expansion in double quotes");
                    self.at += 1;
                }
                '\'' => {
                    self.at += 1;
                    let Some(length) = self.rest().find('\'') else { return self.stop("an unclosed quote") };
                    self.at += length + 1;
                }
                '"' => {
                    self.at += 1;
                    self.double_quoted(&mut inner)?;
                }
                '$' => self.dollar(&mut inner, quoted)?,
                '`' => self.backtick(&mut inner, quoted)?,
                '<' | '>' if self.peek_byte(1) == Some(b'(') => self.process_substitution(&mut inner)?,
                '\\' => {
                    self.next();
                    self.next();
                }
                _ => {
                    self.next();
                }
            }
        }
        let raw = self.text[start..self.at].to_owned();
        self.at += end.len_utf8();
        Ok(raw)
    }

    /// Reads `$'…'`, at the quote.
    fn escaped_quote(&mut self, word: &mut Builder) -> ReadStep<()> {
        self.not_in_sh("`$'…'`");
        self.at += 1;
        loop {
            match self.next() {
                None => return self.stop("an unclosed single quote"),
                Some('\'') => return Ok(()),
                Some('\\') => self.escape(word),
                Some(char) => word.push_quoted(char.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn escape(&mut self, word: &mut Builder) {
        let simple = match self.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('e' | 'E') => '\u{1b}',
            Some('f') => '\u{c}',
            Some('v') => '\u{b}',
            Some(same @ ('\\' | '\'' | '"' | '?')) => same,
            Some('x') => return self.numbered(word, 16, 2),
            Some('u') => return self.numbered(word, 16, 4),
            Some('U') => return self.numbered(word, 16, 8),
            Some('0'..='7') => {
                self.at -= 1;
                return self.numbered(word, 8, 3);
            }
            _ => return word.push_unknown("\\", false),
        };
        word.push_quoted(simple.encode_utf8(&mut [0; 4]));
    }

    fn numbered(&mut self, word: &mut Builder, radix: u32, most: usize) {
        let digits = self.rest().chars().take(most).take_while(|char| char.is_digit(radix)).count();
        let value = u32::from_str_radix(&self.rest()[..digits], radix).ok();
        self.at += digits;
        // The result of others depends on the locale; a zero ends the string.
        match value.and_then(char::from_u32).filter(|char| *char != '\0' && char.is_ascii()) {
            Some(char) => word.push_quoted(char.encode_utf8(&mut [0; 4])),
            None => word.push_unknown("\\", false),
        }
    }
}

/// The text that commands print, if they are a single `cat` of a known text.
fn printed(commands: &[ShellCommand]) -> Option<&str> {
    let [ShellCommand { words, assignments, redirects, .. }] = commands else { return None };
    let ([program], [Redirect { kind: RedirectKind::Text, target, numbered: false }]) = (&words[..], &redirects[..])
    else {
        return None;
    };
    let is_cat = program.known && program.text == "cat" && assignments.is_empty();
    (is_cat && target.known).then_some(target.text.as_str())
}
