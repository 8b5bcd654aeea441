//! Interprets commands: which of them start others, and which pass text to a shell.

use crate::reader::{Reader, ScriptContext, ScriptFindings};
use crate::{Assignment, CommandRole, MAX_DEPTH, MAX_SCRIPT, ShellCommand, ShellScript, ShellWord};
use crate::{assignments, builtins, code, git, made, runners, shells, wrappers};

pub(crate) fn read(text: &str) -> ShellScript {
    let mut found = ScriptFindings::default();
    if text.len() > MAX_SCRIPT {
        found.unknown(format!("longer than {MAX_SCRIPT} bytes"));
        return found.script;
    }
    read_text(&mut found, text, ScriptContext::default());
    let mut at = 0;
    while at < found.script.commands.len() {
        let command = found.script.commands[at].clone();
        CommandMeaning { found: &mut found, at, command: &command }.tell();
        at += 1;
    }
    check_arithmetic(&mut found);
    if found.is_cat_followed && found.script.defined.iter().any(|name| name == "cat") {
        found.unknown("what `cat` prints");
    }
    made::tell(&mut found);
    without_empty(found.script)
}

fn read_text(found: &mut ScriptFindings, text: &str, place: ScriptContext) {
    if text.contains('\0') {
        found.unknown("a NUL byte, which some shells skip");
    }
    // A parse error is recorded among the unknown parts.
    let _ = Reader::new(text, found, place).list(&[""]);
}

fn check_arithmetic(found: &mut ScriptFindings) {
    let doubtful = |name: &&String| found.anything.contains(*name) || !found.numbers.contains(*name);
    if let Some(name) = found.in_arithmetic.iter().find(doubtful).cloned() {
        found.unknown(format!("arithmetic with `{name}`, whose value is unknown: bash runs `$(…)` in it"));
    }
}

fn without_empty(mut script: ShellScript) -> ShellScript {
    let is_empty = |command: &ShellCommand| {
        command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty()
    };
    let mut places = Vec::with_capacity(script.commands.len());
    let mut kept = 0;
    for command in &script.commands {
        places.push((!is_empty(command)).then_some(kept));
        kept += usize::from(!is_empty(command));
    }
    script.commands.retain(|command| !is_empty(command));
    for command in &mut script.commands {
        command.inside = command.inside.and_then(|inside| places.get(inside).copied().flatten());
    }
    script
}

/// One command, while its meaning is determined.
pub(crate) struct CommandMeaning<'a> {
    pub found: &'a mut ScriptFindings,
    at: usize,
    pub command: &'a ShellCommand,
}

impl CommandMeaning<'_> {
    fn tell(&mut self) {
        let command = self.command;
        command.assignments.iter().for_each(|assignment| self.assign(assignment));
        let Some(first) = command.words.first() else { return };
        if !first.known {
            self.unknown(format!("which program `{}` is", first.text));
            return;
        }
        let name = command.program().unwrap_or_default().to_owned();
        if !(builtins::tell(self, &name) || shells::tell(self, &name) || wrappers::tell(self, &name)) {
            git::tell(self, &name);
            code::tell(self, &name);
            runners::tell(self, &name);
        }
    }

    pub fn assign(&mut self, assignment: &Assignment) {
        self.found.assigned(assignment);
        if assignments::changes_what_runs(&assignment.name) {
            self.unknown(format!("`{}=` changes what programs do", assignment.name));
        }
        if assignment.value.code {
            self.unknown("text in a variable that could be run later");
        }
    }

    pub fn unknown(&mut self, why: impl Into<String>) {
        self.found.unknown(why);
    }

    pub fn words(&self) -> &[ShellWord] {
        &self.command.words
    }

    /// Records that the command starts another one.
    pub fn starts(&mut self, words: Vec<ShellWord>, assignments: Vec<Assignment>, role: CommandRole) {
        self.play(role);
        if words.is_empty() && assignments.is_empty() {
            return;
        }
        let mut place = self.place(self.command.posix);
        if self.command.depth >= MAX_DEPTH {
            self.unknown(format!("nested deeper than {MAX_DEPTH}"));
            return;
        }
        // It shares the stdin of the wrapper.
        place.inside = Some(self.at);
        if let Ok(slot) = self.found.reserve(&place) {
            let inner = &mut self.found.script.commands[slot];
            (inner.words, inner.assignments) = (words, assignments);
            inner.redirects.clone_from(&self.command.redirects);
            inner.shares_redirects = true;
        }
    }

    /// Records that the command passes text to a shell.
    pub fn runs_text(&mut self, text: &str, posix: bool, role: CommandRole) {
        self.play(role);
        if self.command.depth >= MAX_DEPTH {
            self.unknown(format!("nested deeper than {MAX_DEPTH}"));
            return;
        }
        let place = self.place(posix);
        read_text(self.found, text, place);
    }

    /// Records that the command passes a word, which may be unknown, to a shell.
    pub fn runs_word(&mut self, word: Option<&ShellWord>, posix: bool, role: CommandRole) {
        match word {
            Some(word) if word.known && !word.home => self.runs_text(&word.text, posix, role),
            _ => self.unknown(format!("text that `{}` runs", self.command.program().unwrap_or_default())),
        }
    }

    fn play(&mut self, role: CommandRole) {
        if let Some(command) = self.found.script.commands.get_mut(self.at) {
            command.role = role;
        }
    }

    fn place(&self, posix: bool) -> ScriptContext {
        let mut via = self.command.via.clone();
        via.extend(self.command.program().map(str::to_owned));
        ScriptContext {
            via,
            inside: Some(self.at),
            is_started: true,
            pipes: self.command.pipes.clone(),
            depth: self.command.depth + 1,
            posix,
            in_quoted_braces: false,
            and_list: self.command.and_list,
        }
    }
}
