//! Whether rules that allow cover all of a script: every command, and nothing may be unknown.

use crate::{CommandPattern, Redirect, RedirectKind, ShellCommand, ShellScript};

/// What starts another command as the user would, with no more rights than that has alone.
const PLAIN_WRAPPERS: [&str; 5] = ["timeout", "nice", "nohup", "time", "stdbuf"];

/// Whether a program of this name may go with the command that it starts.
pub fn only_starts(program: &str) -> bool {
    PLAIN_WRAPPERS.contains(&program)
}

impl ShellScript {
    /// Whether the patterns together cover everything that it does. Files are written only by programs whose purpose that
    /// is: a redirect or `sort -o` does more than run a command.
    pub fn is_covered_by(&self, patterns: &[CommandPattern]) -> bool {
        let covers = |command: &ShellCommand| patterns.iter().any(|pattern| pattern.allows(&command.words));
        let runs = self.commands.iter().any(|command| !command.words.is_empty());
        let is_covered = |(at, command): (usize, &ShellCommand)| {
            command.redirects.iter().all(touches_nothing)
                && command.written().iter().all(|written| written.meant)
                && (command.words.is_empty() || covers(command) || self.goes_with_another(at, command))
        };
        runs && self.unknown.is_empty() && self.commands.iter().enumerate().all(is_covered)
    }

    fn goes_with_another(&self, at: usize, command: &ShellCommand) -> bool {
        let is_plain = command.is_whole() && command.words.first().is_some_and(|word| only_starts(&word.text));
        is_plain && self.commands.iter().any(|other| other.inside == Some(at) && !other.words.is_empty())
    }
}

fn touches_nothing(redirect: &Redirect) -> bool {
    let target = &redirect.target;
    match redirect.kind {
        RedirectKind::Descriptor | RedirectKind::Text => true,
        _ if target.known && target.text == "/dev/null" => true,
        // What is in `<(…)` is a command of its own.
        RedirectKind::Read => (!target.known && target.text == "<(…)") || (target.known && !is_device(&target.text)),
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => false,
    }
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
