//! State of the parser: its position in a text, and its findings.

use std::collections::BTreeSet;

use crate::{Assignment, MAX_COMMANDS, MAX_DEPTH, Redirect, ShellCommand, ShellScript};

/// A syntax error or a limit: parsing stops here.
pub(crate) struct ReadingStop;

pub(crate) type ReadStep<T> = Result<T, ReadingStop>;

/// Findings in all texts of a script: the script itself, and the text passed to `eval`, `bash -c` and the like.
#[derive(Default)]
pub(crate) struct ScriptFindings {
    pub script: ShellScript,
    pub pipelines: usize,
    /// Variables read by arithmetic, which runs `$(…)` in their values.
    pub in_arithmetic: BTreeSet<String>,
    /// Variables that can only be numbers.
    pub numbers: BTreeSet<String>,
    /// Variables that may have any value.
    pub anything: BTreeSet<String>,
    /// Whether a word was replaced by the text that `cat` prints.
    pub is_cat_followed: bool,
}

/// The context of a text, which applies to every command in it.
#[derive(Clone, Default)]
pub(crate) struct ScriptContext {
    pub via: Vec<String>,
    pub inside: Option<usize>,
    /// Started by the command in `inside`; otherwise it is in its words.
    pub is_started: bool,
    pub pipes: Vec<(usize, usize)>,
    pub depth: usize,
    /// Read by a shell that may not be bash (`sh -c`).
    pub posix: bool,
    /// Inside an expansion in double quotes: `"${x:-…}"`.
    pub in_quoted_braces: bool,
    /// Number of the `&&` list of the script itself, if each of its commands runs only after all before it succeeded.
    pub and_list: Option<usize>,
}

pub(crate) struct Reader<'a> {
    pub text: &'a str,
    pub at: usize,
    pub found: &'a mut ScriptFindings,
    pub place: ScriptContext,
    pub heredocs: Vec<Heredoc>,
    /// Positions where `((` turned out to be two subshells.
    pub not_arithmetic: BTreeSet<usize>,
    /// Numbers of here-documents so far, and of commands ended by a semicolon.
    pub announced: usize,
    pub semicolons: usize,
    /// How the next pipeline of the script itself follows the one before.
    pub joint: Joint,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Joint {
    /// `;`, `&`, a line end, or nothing.
    #[default]
    Ends,
    And,
    /// `||`, or a `!` before the first one: from here on nothing is certain to have succeeded.
    Unsure,
}

/// A here-document whose text follows the line.
pub(crate) struct Heredoc {
    pub delimiter: String,
    pub quoted: bool,
    pub without_tabs: bool,
    pub command: usize,
    pub redirect: usize,
}

impl ScriptFindings {
    pub fn unknown(&mut self, why: impl Into<String>) {
        const MOST: usize = 20;
        let why = why.into();
        if self.script.unknown.len() < MOST && !self.script.unknown.contains(&why) {
            self.script.unknown.push(why);
        }
    }

    pub fn assigned(&mut self, assignment: &Assignment) {
        let names = if assignment.value.numeric { &mut self.numbers } else { &mut self.anything };
        names.insert(assignment.name.clone());
    }

    /// Reserves a slot for a command whose parts are still to be read.
    pub fn reserve(&mut self, place: &ScriptContext) -> ReadStep<usize> {
        if self.script.commands.len() >= MAX_COMMANDS {
            self.unknown(format!("more than {MAX_COMMANDS} commands"));
            return Err(ReadingStop);
        }
        let ScriptContext { via, inside, is_started, pipes, depth, posix, and_list, .. } = place.clone();
        self.script.commands.push(ShellCommand {
            via,
            inside,
            is_started,
            pipes,
            depth,
            posix,
            and_list,
            ..ShellCommand::default()
        });
        Ok(self.script.commands.len() - 1)
    }

    pub fn redirect(&mut self, command: usize, redirect: Redirect) {
        if let Some(command) = self.script.commands.get_mut(command) {
            command.redirects.push(redirect);
        }
    }
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, found: &'a mut ScriptFindings, place: ScriptContext) -> Self {
        if splits_a_sign(text) {
            found.unknown("a line continuation in the middle of an operator");
        }
        let (heredocs, not_arithmetic) = (Vec::new(), BTreeSet::new());
        let joint = Joint::default();
        Self { text, at: 0, found, place, heredocs, not_arithmetic, announced: 0, semicolons: 0, joint }
    }

    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn peek_byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    pub fn starts(&self, with: &str) -> bool {
        self.rest().starts_with(with)
    }

    pub fn take(&mut self, token: &str) -> bool {
        let is_there = self.starts(token);
        if is_there {
            self.at += token.len();
        }
        is_there
    }

    pub fn unknown(&mut self, why: impl Into<String>) {
        self.found.unknown(why);
    }

    /// Records syntax that not every `sh` accepts.
    pub fn not_in_sh(&mut self, what: &str) {
        if self.place.posix {
            self.unknown(format!("{what} in a script for sh"));
        }
    }

    pub fn stop<T>(&mut self, why: &str) -> ReadStep<T> {
        let line = self.text[..self.at.min(self.text.len())].matches('\n').count() + 1;
        self.unknown(format!("cannot be read: {why} (line {line})"));
        Err(ReadingStop)
    }

    /// Reads a nested construct.
    pub fn deeper<T>(&mut self, via: Option<&str>, read: impl FnOnce(&mut Self) -> ReadStep<T>) -> ReadStep<T> {
        if self.place.depth >= MAX_DEPTH {
            self.unknown(format!("nested deeper than {MAX_DEPTH}"));
            return Err(ReadingStop);
        }
        self.place.depth += 1;
        let pushed = via.map(|via| self.place.via.push(via.to_owned())).is_some();
        let result = read(self);
        if pushed {
            self.place.via.pop();
        }
        self.place.depth -= 1;
        result
    }

    /// Skips spaces, tabs, line continuations and comments.
    pub fn skip_blanks(&mut self) {
        loop {
            match (self.peek_byte(0), self.peek_byte(1)) {
                (Some(b' ' | b'\t'), _) => self.at += 1,
                (Some(b'\\'), Some(b'\n')) => self.at += 2,
                (Some(b'#'), _) => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                _ => return,
            }
        }
    }

    /// Also skips newlines, and reads pending here-documents.
    pub fn skip_lines(&mut self) -> ReadStep<()> {
        loop {
            self.skip_blanks();
            if !self.take("\n") {
                return Ok(());
            }
            self.read_heredocs()?;
        }
    }
}

/// Shells join lines that end in a backslash before tokenizing: `$\⏎(id)` is `$(id)`. Between other characters the parser
/// joins them itself.
fn splits_a_sign(text: &str) -> bool {
    text.match_indices("\\\n").any(|(at, _)| {
        let before = text[..at].trim_end_matches('\\');
        let is_quoted = (at - before.len()) % 2 == 1;
        let (last, next) = (before.chars().next_back().unwrap_or(' '), text[at + 2..].chars().next().unwrap_or(' '));
        let is_sign = matches!(last, '$' | '<' | '>' | '@')
            || matches!((last, next), ('(', '(') | (')', ')') | (']', ']'))
            || (matches!(next, '<' | '>') && (last.is_ascii_digit() || last == '}'))
            || (next == '@' && !last.is_whitespace())
            // In zsh the brace of `a}` ends a construct here.
            || (last == '}' && next.is_whitespace());
        !is_quoted && is_sign
    })
}
