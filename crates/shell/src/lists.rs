//! Lists, pipelines and simple commands.

use crate::reader::{Joint, ReadStep, Reader};
use crate::words::WordMode;
use crate::{Assignment, ShellWord};

/// Reserved words, which start or end a construct at the position of a command.
const RESERVED: &[&str] = &[
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "while",
    "until",
    "do",
    "done",
    "for",
    "select",
    "case",
    "esac",
    "in",
    "{",
    "}",
    "function",
    "coproc",
    "time",
    "!",
    "[[",
    "]]",
    "foreach",
    "end",
    "repeat",
    "nocorrect",
    "always",
];
const CLOSING: &[&str] = &["then", "elif", "else", "fi", "do", "done", "esac", "}"];

impl Reader<'_> {
    /// Reads commands up to one of the ends, which is consumed: `)`, `;;`, a reserved word, or the end of the text ("").
    pub fn list(&mut self, ends: &[&'static str]) -> ReadStep<&'static str> {
        loop {
            self.skip_lines()?;
            if let Some(end) = self.end(ends)? {
                return Ok(end);
            }
            let before = self.at;
            self.pipeline()?;
            self.skip_blanks();
            self.separator()?;
            if self.at == before {
                return self.stop("nothing that could be a command");
            }
        }
    }

    fn end(&mut self, ends: &[&'static str]) -> ReadStep<Option<&'static str>> {
        let known = |end: &str| ends.iter().copied().find(|other| *other == end);
        let (text, length) = match (self.peek(), self.grammar_word()) {
            (None, _) => ("", 0),
            (Some(')'), _) => (")", 1),
            (Some(';'), _) if self.starts(";;&") => (";;", 3),
            (Some(';'), _) if self.starts(";;") || self.starts(";&") || self.starts(";|") => (";;", 2),
            (_, Some(word)) if CLOSING.contains(&word) => (word, word.len()),
            _ => return Ok(None),
        };
        match known(text) {
            Some(end) => {
                self.at += length;
                Ok(Some(end))
            }
            None if text.is_empty() => self.stop("it ends unexpectedly"),
            None => self.stop(&format!("`{text}` where none is expected")),
        }
    }

    fn separator(&mut self) -> ReadStep<()> {
        let stays = self.peek().is_none_or(|char| matches!(char, '\n' | ')'))
            || [";;", ";&", ";|"].iter().any(|end| self.starts(end));
        let joint = match () {
            () if stays => Joint::Ends,
            () if self.take("&&") => Joint::And,
            () if self.take("||") => Joint::Unsure,
            () => Joint::Ends,
        };
        if self.is_script_itself() {
            self.joint = match (self.joint, joint) {
                (Joint::Unsure, Joint::And) => Joint::Unsure,
                (_, joint) => joint,
            };
        }
        if stays || joint != Joint::Ends {
            return Ok(());
        }
        if self.take(";") {
            self.semicolons += 1;
            return Ok(());
        }
        if self.take("&") {
            if matches!(self.peek(), Some('!' | '|')) {
                self.unknown("`&!` or `&|`, which only zsh knows");
                self.at += 1;
            }
            return Ok(());
        }
        match self.grammar_word() {
            Some(word) if CLOSING.contains(&word) => Ok(()),
            _ => self.stop("something after a command that cannot follow it"),
        }
    }

    /// Returns the unquoted reserved word at this position.
    pub fn grammar_word(&self) -> Option<&'static str> {
        let rest = self.rest();
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']).unwrap_or(rest.len());
        RESERVED.iter().copied().find(|word| *word == &rest[..end])
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.grammar_word() == Some(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    /// Whether the commands at this place are those of the script, in no construct.
    fn is_script_itself(&self) -> bool {
        self.place.depth == 0 && self.place.inside.is_none()
    }

    /// Numbers the `&&` lists by their first pipeline.
    fn follow_joint(&mut self, is_negated: bool) {
        if !self.is_script_itself() {
            return;
        }
        if is_negated {
            self.joint = Joint::Unsure;
        }
        self.place.and_list = match self.joint {
            Joint::Ends => Some(self.found.pipelines),
            Joint::And => self.place.and_list,
            Joint::Unsure => None,
        };
    }

    fn pipeline(&mut self) -> ReadStep<()> {
        self.skip_blanks();
        let mut is_negated = false;
        loop {
            if self.take_word("time") {
                self.not_in_sh("`time`");
                self.time_options();
            } else if self.take_word("!") {
                is_negated = true;
            } else {
                break;
            }
            self.skip_blanks();
        }
        self.found.pipelines += 1;
        self.follow_joint(is_negated);
        self.place.pipes.push((self.found.pipelines, 0));
        let result = self.pipeline_parts();
        self.place.pipes.pop();
        result
    }

    /// `-p` and `--` are not programs, whatever blank follows them.
    fn time_options(&mut self) {
        self.skip_blanks();
        while self.starts("-") {
            let end = self.rest().find([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>', '\\']);
            let option = &self.rest()[..end.unwrap_or(self.rest().len())];
            if !matches!(option, "-p" | "--") || self.rest()[option.len()..].starts_with('\\') {
                self.unknown("an option of `time` that shells parse differently");
                return;
            }
            self.at += option.len();
            self.skip_blanks();
        }
    }

    fn pipeline_parts(&mut self) -> ReadStep<()> {
        loop {
            self.command()?;
            self.skip_blanks();
            if self.starts("||") || !self.take("|") {
                return Ok(());
            }
            if self.take("&") {
                self.not_in_sh("`|&`");
            }
            if let Some(last) = self.place.pipes.last_mut() {
                last.1 += 1;
            }
            self.skip_lines()?;
        }
    }

    pub fn simple(&mut self) -> ReadStep<()> {
        let slot = self.found.reserve(&self.place)?;
        let outer = (self.place.inside.replace(slot), std::mem::take(&mut self.place.is_started));
        let result = self.simple_parts(slot);
        (self.place.inside, self.place.is_started) = outer;
        if let Some(name) = result? {
            return self.function_body(&name);
        }
        Ok(())
    }

    /// Returns the name if it turns out to be a function definition.
    fn simple_parts(&mut self, slot: usize) -> ReadStep<Option<String>> {
        let (mut words, mut assignments): (Vec<ShellWord>, Vec<Assignment>) = (Vec::new(), Vec::new());
        let mut first_is_plain = false;
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if !self.starts("&>") => break,
                Some('(') => {
                    self.at += 1;
                    self.skip_blanks();
                    if words.len() != 1 || !first_is_plain || !assignments.is_empty() || !self.take(")") {
                        return self.stop("a parenthesis after a word");
                    }
                    return Ok(words.pop().map(|word| word.text));
                }
                _ => {}
            }
            if self.redirect(slot)? {
                continue;
            }
            let Some(lexed) = self.word(WordMode::Argument)? else { return self.stop("nothing that could be a word") };
            match lexed.assignment {
                Some(assignment) if words.is_empty() => assignments.push(assignment),
                _ => {
                    first_is_plain |= words.is_empty() && lexed.plain;
                    if words.is_empty() && lexed.plain && RESERVED.contains(&lexed.word.text.as_str()) {
                        return self.stop(&format!("`{}` where none is expected", lexed.word.text));
                    }
                    words.push(lexed.word);
                }
            }
        }
        if let Some(command) = self.found.script.commands.get_mut(slot) {
            (command.words, command.assignments) = (words, assignments);
        }
        Ok(None)
    }
}
