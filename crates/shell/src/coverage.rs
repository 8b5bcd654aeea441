//! Checks whether allow rules cover a whole script: every command must be covered, and nothing may be unknown.

use crate::{CommandPattern, Redirect, RedirectKind, ShellCommand, ShellScript};

/// Programs that start another command as the same user, without additional rights.
const PLAIN_WRAPPERS: [&str; 5] = ["timeout", "nice", "nohup", "time", "stdbuf"];

/// Returns whether a program of this name is allowed together with the command that it starts.
pub fn only_starts(program: &str) -> bool {
    PLAIN_WRAPPERS.contains(&program)
}

impl ShellScript {
    /// Returns whether the patterns together cover everything that the script does. Files may be written only by programs
    /// whose purpose that is: a redirect or `sort -o` does more than run a command.
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
        // The content of `<(…)` is a command of its own.
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
