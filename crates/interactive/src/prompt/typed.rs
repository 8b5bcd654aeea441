//! What a line that was typed means: a message, a command of omp's, a command of the shell's.

use std::sync::Arc;

use omp_session::{RanBy, SlashCommand, SlashCommands};
use omp_stdx::nearest::nearest;

#[derive(Clone)]
pub enum Typed<'a> {
    /// Nothing but white space, or a sign with nothing behind it.
    Nothing,
    /// `!command` or `$code`; with the sign twice the model does not hear of it.
    Run {
        ran_by: RanBy,
        command: &'a str,
        excluded: bool,
    },
    Command {
        command: Arc<dyn SlashCommand>,
        arguments: &'a str,
    },
    /// Looks like a command but is none. Never taken for the one it resembles.
    Unknown {
        name: &'a str,
        near: Option<String>,
    },
    /// `/exit` or `/quit`.
    Leave,
    Message,
}

/// `more` are the names of commands that the front end has besides.
pub fn typed<'a>(text: &'a str, commands: &SlashCommands, more: &[&str]) -> Typed<'a> {
    let line = text.trim();
    if line.is_empty() {
        return Typed::Nothing;
    }
    if let Some((ran_by, command, excluded)) = run_by_sign(line) {
        return if command.is_empty() { Typed::Nothing } else { Typed::Run { ran_by, command, excluded } };
    }
    if let Some((command, arguments)) = commands.find(line) {
        return Typed::Command { command: command.clone(), arguments };
    }
    let Some(rest) = line.strip_prefix('/') else { return Typed::Message };
    let name = rest.split(char::is_whitespace).next().unwrap_or_default();
    if matches!(name, "exit" | "quit") {
        return Typed::Leave;
    }
    if more.contains(&name) || !looks_like_a_name(name) {
        return Typed::Message;
    }
    let near = near_name(name, commands, more);
    // `/tmp is full` is a sentence, `/modle gpt` a slip.
    if rest.len() > name.len() && near.is_none() { Typed::Message } else { Typed::Unknown { name, near } }
}

/// What is to be run, and by what. `${` begins a text with a placeholder, not a line of Python.
pub fn run_by_sign(line: &str) -> Option<(RanBy, &str, bool)> {
    let (ran_by, sign) = match line.chars().next()? {
        '!' => (RanBy::Shell, '!'),
        '$' if !line.starts_with("${") => (RanBy::Python, '$'),
        _ => return None,
    };
    let command = line.strip_prefix(sign)?;
    let (command, excluded) = command.strip_prefix(sign).map_or((command, false), |command| (command, true));
    Some((ran_by, command.trim(), excluded))
}

/// What to tell about a command that does not exist.
pub fn unknown_command(name: &str, near: Option<&str>) -> String {
    let hint = near.map_or_else(|| "/help lists the commands".to_owned(), |near| format!("did you mean /{near}?"));
    format!("there is no command /{name}\nhint: {hint}")
}

fn looks_like_a_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | ':'))
}

fn near_name(name: &str, commands: &SlashCommands, more: &[&str]) -> Option<String> {
    let registered =
        commands.iter().flat_map(|command| std::iter::once(command.name()).chain(command.aliases().iter().copied()));
    let known: Vec<&str> = registered.chain(more.iter().copied()).chain(["exit", "quit"]).collect();
    nearest(name, known).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use omp_session::{Session, SlashReply};

    use super::*;

    struct Named(&'static str);

    impl SlashCommand for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn description(&self) -> &str {
            ""
        }

        fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
            async move { Ok(SlashReply::Text(arguments.to_owned())) }.boxed()
        }
    }

    fn shown(text: &str) -> String {
        let commands = SlashCommands::new(vec![Arc::new(Named("model")), Arc::new(Named("todo"))]);
        match typed(text, &commands, &["settings"]) {
            Typed::Nothing => "nothing".to_owned(),
            Typed::Run { ran_by, command, excluded } => {
                format!("{ran_by:?} {command}{}", if excluded { " (hidden)" } else { "" })
            }
            Typed::Command { command, arguments } => format!("{}({arguments})", command.name()),
            Typed::Unknown { name, near } => format!("no {name}, {near:?}"),
            Typed::Leave => "leave".to_owned(),
            Typed::Message => "message".to_owned(),
        }
    }

    #[test]
    fn a_line_means_what_it_says_and_never_what_it_resembles() {
        for (text, expect) in [
            ("", "nothing"),
            ("  \n", "nothing"),
            ("!", "nothing"),
            ("!!", "nothing"),
            ("!ls -l", "Shell ls -l"),
            ("!! env", "Shell env (hidden)"),
            ("$1 + 1", "Python 1 + 1"),
            ("$$ secret()", "Python secret() (hidden)"),
            ("${name} is a placeholder", "message"),
            ("$", "nothing"),
            ("/model gpt", "model(gpt)"),
            ("/modle", "no modle, Some(\"model\")"),
            ("/modle gpt", "no modle, Some(\"model\")"),
            ("/xyzzy", "no xyzzy, None"),
            ("/tmp is full", "message"),
            ("/usr/bin/env is missing", "message"),
            ("/settings", "message"),
            ("/quit", "leave"),
            ("/", "message"),
            ("hello /model", "message"),
        ] {
            assert_eq!(shown(text), expect, "{text:?}");
        }
    }

    #[test]
    fn what_is_unknown_comes_with_a_hint() {
        assert!(unknown_command("modle", Some("model")).ends_with("hint: did you mean /model?"));
        assert!(unknown_command("x", None).contains("/help"));
    }
}
