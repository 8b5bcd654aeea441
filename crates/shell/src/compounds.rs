//! Compound commands: groups, loops, branches, tests, functions.

use crate::reader::{ReadStep, Reader};
use crate::words::{WordMode, is_name};

impl Reader<'_> {
    pub fn command(&mut self) -> ReadStep<()> {
        self.skip_blanks();
        let word = self.grammar_word();
        let is_compound = self.peek() == Some('(')
            || matches!(
                word,
                Some("{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[" | "function" | "coproc")
            );
        if !is_compound {
            let nothing =
                self.peek().is_none_or(|char| "\n;)|".contains(char)) || (self.starts("&") && !self.starts("&>"));
            return if nothing { Ok(()) } else { self.simple() };
        }
        self.deeper(None, |reader| reader.compound(word))?;
        if matches!(word, Some("function" | "coproc")) { Ok(()) } else { self.redirects_after() }
    }

    fn compound(&mut self, word: Option<&'static str>) -> ReadStep<()> {
        let Some(word) = word else { return self.parenthesis_command() };
        self.at += word.len();
        match word {
            "{" => self.list(&["}"]).map(|_| ()),
            "if" => self.branches(),
            "while" | "until" => {
                self.list(&["do"])?;
                self.list(&["done"]).map(|_| ())
            }
            "for" | "select" => self.loop_over(word),
            "case" => self.case(),
            "[[" => self.test(),
            "function" => self.function(),
            _ => self.coprocess(),
        }
    }

    fn redirects_after(&mut self) -> ReadStep<()> {
        let slot = self.found.reserve(&self.place)?;
        loop {
            self.skip_blanks();
            let is_redirect = self.peek().is_some_and(|char| "<>{".contains(char) || char.is_ascii_digit());
            if !(is_redirect || self.starts("&>")) || !self.redirect(slot)? {
                return Ok(());
            }
        }
    }

    /// Reads a subshell or `((…))`.
    fn parenthesis_command(&mut self) -> ReadStep<()> {
        let start = self.at;
        if self.take("((") {
            if self.arithmetic()? {
                return Ok(());
            }
            self.at = start;
        }
        self.at += 1;
        self.skip_blanks();
        if self.starts(")") {
            return self.stop("an empty parenthesis, which is a function for zsh");
        }
        self.deeper(Some("(…)"), |reader| reader.list(&[")"])).map(|_| ())
    }

    fn branches(&mut self) -> ReadStep<()> {
        loop {
            self.list(&["then"])?;
            match self.list(&["elif", "else", "fi"])? {
                "elif" => {}
                "else" => return self.list(&["fi"]).map(|_| ()),
                _ => return Ok(()),
            }
        }
    }

    fn loop_over(&mut self, word: &str) -> ReadStep<()> {
        self.skip_blanks();
        if word == "for" && self.starts("((") {
            self.at += 2;
            if !self.arithmetic()? {
                return self.stop("a loop over nothing");
            }
        } else {
            self.loop_values()?;
        }
        self.skip_blanks();
        self.take(";");
        self.skip_lines()?;
        if self.take_word("{") {
            return self.list(&["}"]).map(|_| ());
        }
        if !self.take_word("do") {
            return self.stop("a loop without `do`");
        }
        self.list(&["done"]).map(|_| ())
    }

    fn loop_values(&mut self) -> ReadStep<()> {
        let Some(name) = self.word(WordMode::Argument)?.filter(|name| name.plain && is_name(&name.word.text)) else {
            return self.stop("a loop without a variable");
        };
        self.skip_blanks();
        let before = self.at;
        self.skip_lines()?;
        let mut numeric = false;
        if self.take_word("in") {
            numeric = true;
            loop {
                self.skip_blanks();
                if self.peek().is_none_or(|char| matches!(char, ';' | '\n')) {
                    break;
                }
                match self.word(WordMode::Argument)? {
                    Some(value) => numeric &= value.word.numeric,
                    None => return self.stop("a loop over something that is not a word"),
                }
            }
        } else if before != self.at && !self.starts("do") && !self.starts("{") {
            return self.stop("a loop without `do`");
        }
        let names = if numeric { &mut self.found.numbers } else { &mut self.found.anything };
        names.insert(name.word.text);
        Ok(())
    }

    fn case(&mut self) -> ReadStep<()> {
        self.skip_blanks();
        self.word(WordMode::Argument)?;
        self.skip_lines()?;
        if !self.take_word("in") {
            return self.stop("a `case` without `in`");
        }
        loop {
            self.skip_lines()?;
            if self.take_word("esac") {
                return Ok(());
            }
            self.take("(");
            loop {
                self.skip_blanks();
                if self.word(WordMode::Pattern)?.is_none() {
                    return self.stop("a `case` without a pattern");
                }
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            if !self.take(")") {
                return self.stop("an unclosed pattern");
            }
            if self.list(&[";;", "esac"])? == "esac" {
                return Ok(());
            }
        }
    }

    /// Reads after `[[`.
    fn test(&mut self) -> ReadStep<()> {
        self.not_in_sh("`[[`");
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take_word("]]") {
                break;
            }
            while let Some(char) = self.peek().filter(|char| "()|&<>;!".contains(*char)) {
                let starts_process = matches!(char, '<' | '>') && self.peek_byte(1) == Some(b'(');
                if starts_process || char == '!' {
                    break;
                }
                if char == ';' {
                    return self.stop("an unclosed test");
                }
                self.at += 1;
                if self.peek() == Some('#') {
                    return self.stop("a `#` in a test");
                }
            }
            self.skip_lines()?;
            if self.take_word("]]") {
                break;
            }
            match self.word(WordMode::Test)? {
                Some(lexed) => words.push(lexed.word),
                None if self.peek().is_some_and(|char| "()|&<>;".contains(char)) => {}
                None => return self.stop("an unclosed test"),
            }
        }
        let compares = |text: &str| matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v");
        if words.iter().any(|word| compares(&word.text)) {
            for word in words.iter().filter(|word| !word.text.starts_with('-')) {
                let text = if word.text.contains('[') && word.known { "a_variable_with_an_index" } else { &word.text };
                self.arithmetic_text(text);
            }
        }
        Ok(())
    }

    /// Reads after `function`.
    fn function(&mut self) -> ReadStep<()> {
        self.not_in_sh("`function`");
        self.skip_blanks();
        let Some(name) = self.word(WordMode::Argument)?.filter(|name| name.plain && name.word.text != "{") else {
            return self.stop("a function without a name");
        };
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if !self.take(")") {
                return self.function_body_of(&name.word.text, |reader| {
                    reader.list(&[")"])?;
                    reader.redirects_after()
                });
            }
        }
        self.skip_lines()?;
        // zsh accepts further names, and a simple command as the body.
        if !(self.starts("(") || self.grammar_word().is_some()) {
            return self.stop("a function with several names");
        }
        self.function_body(&name.word.text)
    }

    pub fn function_body(&mut self, name: &str) -> ReadStep<()> {
        self.skip_lines()?;
        self.function_body_of(name, Self::command)
    }

    fn function_body_of(&mut self, name: &str, body: impl FnOnce(&mut Self) -> ReadStep<()>) -> ReadStep<()> {
        self.found.script.defined.push(name.to_owned());
        self.deeper(Some(&format!("function {name}")), body)
    }

    /// Reads after `coproc`: a command, or a name and a compound command.
    fn coprocess(&mut self) -> ReadStep<()> {
        self.not_in_sh("`coproc`");
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        let after = rest[end..].trim_start_matches([' ', '\t']);
        let opens = after.starts_with('(')
            || ["{", "if", "while", "until", "for", "case", "[["]
                .iter()
                .any(|word| after.strip_prefix(word).is_some_and(|next| next.starts_with([' ', '\t', '\n', ';', '('])));
        if is_name(&rest[..end]) && self.grammar_word().is_none() && opens {
            self.at += end;
        }
        self.deeper(Some("coproc"), Self::command)
    }
}
