//! Classifies a typed line: a message, a slash command, or a shell command.

use omp_session::{Called, CalledCommand, RanBy, SlashCommands};

#[derive(Clone)]
pub enum Typed<'a> {
    /// Only white space, or a sigil without a command.
    Nothing,
    /// `!command` or `$code`; with a doubled sigil it is not sent to the model.
    Run {
        ran_by: RanBy,
        command: &'a str,
        excluded: bool,
    },
    Command(CalledCommand),
    /// Looks like a command but cannot be run, with the reason. A similar command is never run instead.
    Refused(String),
    /// See [`is_leaving`].
    Leave,
    Message,
}

/// `more` are the names of additional commands of the front end.
pub fn typed<'a>(text: &'a str, commands: &SlashCommands, more: &[&str]) -> Typed<'a> {
    let line = text.trim();
    if line.is_empty() {
        return Typed::Nothing;
    }
    if let Some((ran_by, command, excluded)) = run_by_sign(line) {
        return if command.is_empty() { Typed::Nothing } else { Typed::Run { ran_by, command, excluded } };
    }
    if is_leaving(line) {
        return Typed::Leave;
    }
    match commands.read(line, more) {
        Called::Command(called) => Typed::Command(called),
        Called::Refused(why) => Typed::Refused(why),
        Called::Message => Typed::Message,
    }
}

/// Whether a line ends the application: the commands for it, and what people type in a shell or in vi.
pub fn is_leaving(line: &str) -> bool {
    matches!(line.trim(), "/exit" | "/quit" | "exit" | "quit" | ":q")
}

/// Returns the command and its interpreter. `${` begins a text with a placeholder, not Python.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;
    use futures_util::future::BoxFuture;
    use omp_session::{Session, SlashCommand, SlashReply};

    use super::*;

    struct Named(&'static str);

    impl SlashCommand for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn description(&self) -> &str {
            ""
        }

        fn arguments(&self) -> Option<&str> {
            Some("[words]")
        }

        fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
            async move { Ok(SlashReply::Text(arguments.to_owned())) }.boxed()
        }
    }

    fn shown(text: &str) -> String {
        let commands = SlashCommands::new(vec![Arc::new(Named("model")), Arc::new(Named("todo"))]);
        match typed(text, &commands, &["settings", "quit"]) {
            Typed::Nothing => "nothing".to_owned(),
            Typed::Run { ran_by, command, excluded } => {
                format!("{ran_by:?} {command}{}", if excluded { " (hidden)" } else { "" })
            }
            Typed::Command(called) => format!("{}({})", called.name(), called.given()),
            Typed::Refused(why) => why.lines().next().unwrap_or_default().to_owned(),
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
            ("/modle", "unknown command /modle"),
            ("/modle gpt", "unknown command /modle"),
            ("/xyzzy", "unknown command /xyzzy"),
            ("/xyzzy is a spell", "unknown command /xyzzy"),
            ("/usr/bin/env is missing", "message"),
            ("/settings now", "/settings takes no arguments"),
            ("/quit", "leave"),
            ("/quit now", "/quit takes no arguments"),
            ("exit", "leave"),
            (" quit\n", "leave"),
            (":q", "leave"),
            ("exit code 1 means what?", "message"),
            ("/", "message"),
            ("hello /model", "message"),
        ] {
            assert_eq!(shown(text), expect, "{text:?}");
        }
    }
}
