//! Checks the first word of a command line, so that a missing or mistyped subcommand does not become a message that costs
//! money.

use std::ffi::OsString;
use std::io::IsTerminal;

use clap::{Command, CommandFactory};
use omp_stdx::nearest::{likely, slips_between};

use crate::cli::Cli;
use crate::cli::typed_line;
use crate::cli::usage_error;

/// Subcommands that other versions have and this one lacks, with what to do instead.
pub const RESERVED: &[(&str, &str)] = &[
    ("accounts", "`omp setup` finds and saves keys; accounts are not supported yet"),
    ("agents", "sub-agents are not supported yet; `omp config sources` lists the agent files found here"),
    ("auth-broker", "keys come from the environment, `models.yml` or `omp setup`"),
    ("auth-gateway", "keys come from the environment, `models.yml` or `omp setup`"),
    ("bench", "`omp --list-models` lists the models"),
    ("browser-relay", "omp has no browser tool yet"),
    ("cleanse", "`omp sessions gc` cleans up sessions"),
    ("commit", "ask the model: omp -p \"commit the staged changes with a good message\""),
    ("compress", "`/compact` shortens a session"),
    ("dry-balance", "accounts are not supported yet"),
    ("extensions", "extensions are not run; `omp config sources` lists those found here"),
    ("gallery", "`omp demo` shows the tools at work"),
    ("gc", "`omp sessions gc` cleans up sessions, images and trash"),
    ("grievances", "`/debug` in a session writes a report"),
    ("install", "plugins are not installed by omp; `omp config sources` lists what was found here"),
    ("join", "sessions are not shared live; `omp sessions export` writes one as a page"),
    ("launch", "run `omp` to start a session"),
    ("login", "`omp setup` adds a key, and so does `/login` in a session"),
    ("logout", "`/logout` in a session removes a key"),
    ("mcp", "MCP servers are not started yet; `omp config sources` lists those found here"),
    ("models", "`omp --list-models` lists them"),
    ("plugin", "plugins are not installed by omp; `omp config sources` lists what was found here"),
    ("q", "omp has no web search yet; `omp grep` searches files"),
    ("relay", "sessions are not shared live; `omp sessions export` writes one as a page"),
    ("say", "omp has no text-to-speech"),
    ("share", "`omp sessions export` writes a session as a page you can share"),
    ("shell", "`!command` in a session runs a command"),
    ("ssh", "omp has no ssh tool yet; `omp config sources` lists the hosts found here"),
    ("stats", "`omp sessions stats ID` shows tokens and cost of a session"),
    ("tiny-models", "`omp --list-models` lists the models, including those of local servers"),
    ("token", "keys come from the environment, `models.yml` or `omp setup`"),
    ("update", "install the new version the way you installed this one; `omp --version` prints its version"),
    ("usage", "`omp sessions stats ID` shows tokens and cost of a session, `/usage` in a session too"),
    ("worktree", "use `git worktree`"),
    ("wt", "use `git worktree`"),
];

/// Ordinary words that are one typo away from a subcommand. At the start of a sentence they are not taken for typos.
const ORDINARY: &[&str] = &[
    "agent", "commits", "content", "demos", "finds", "fine", "fined", "head", "installs", "joins", "lead", "memo",
    "model", "reads", "ready", "real", "rust", "session", "shape", "shard", "shared", "shares", "shells", "smell",
    "spell", "start", "starts", "stat", "state", "states", "status", "taken", "tokens", "truth", "trusts", "updated",
    "updates", "usages",
];

/// Shorter words are too easily similar to something else.
const SHORTEST: usize = 4;

/// What to do with a command line.
#[derive(Debug)]
enum LineVerdict {
    /// The line is run as it was parsed.
    Meant,
    Refused(String),
    /// Another subcommand is likely. Holds the question for a user at a terminal, and the corrected command line.
    Slip {
        problem: String,
        meant: Vec<String>,
    },
}

/// Checks a parsed command line. At a terminal, the user is asked about a likely typo; elsewhere a typo is an error.
pub fn check(cli: Cli, words: &[OsString]) -> Result<Cli, String> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match judge(&cli, &words) {
        LineVerdict::Meant => Ok(cli),
        LineVerdict::Refused(problem) => Err(problem),
        LineVerdict::Slip { problem, .. } if !attended() => Err(problem),
        LineVerdict::Slip { problem, meant } => match ask(&meant) {
            WordMeaning::Subcommand => usage_error::parse(&meant.into_iter().map(OsString::from).collect::<Vec<_>>()),
            WordMeaning::Message => Ok(cli),
            WordMeaning::Neither => Err(problem),
        },
    }
}

/// `words` is the command line without the program's name.
fn judge(cli: &Cli, words: &[String]) -> LineVerdict {
    let Some(first) = cli.run.messages.first() else { return LineVerdict::Meant };
    if cli.command.is_some() || first.contains(char::is_whitespace) || all_meant(cli, words) {
        return LineVerdict::Meant;
    }
    let known = Cli::command();
    let names: Vec<&str> = known.get_subcommands().flat_map(Command::get_name_and_visible_aliases).collect();
    let as_message = message_hint(cli, words);
    if let Some((word, instead)) = RESERVED.iter().find(|(word, _)| word == first) {
        return LineVerdict::Refused(format!("unknown command `omp {word}`\nhint: {instead}\n{as_message}"));
    }
    if names.contains(&first.as_str()) || first == "help" {
        return LineVerdict::Refused(format!(
            "`{first}` is a subcommand and must come first\n{as_message}\nhint: to run the subcommand, put its flags after it; `omp {first} --help` lists them"
        ));
    }
    // `-p` shows that the words are a prompt.
    if cli.run.print {
        return LineVerdict::Meant;
    }
    let Some(near) = slip_of(first, cli.run.messages.get(1).map(String::as_str), &known) else {
        return LineVerdict::Meant;
    };
    let problem = format!("unknown command `omp {first}`\nhint: did you mean `omp {near}`?\n{as_message}");
    // Flags before the word do not belong to a subcommand, so no correction can be offered.
    match words {
        [word, rest @ ..] if word == first && names.contains(&near.as_str()) => {
            LineVerdict::Slip { problem, meant: std::iter::once(&near).chain(rest).cloned().collect() }
        }
        _ => LineVerdict::Refused(problem),
    }
}

/// Whether every message stands behind `--`.
fn all_meant(cli: &Cli, words: &[String]) -> bool {
    let dashes = words.iter().position(|word| word == "--");
    dashes.is_some_and(|at| words.len() - at - 1 == cli.run.messages.len())
}

/// Tells how to send the words as a message.
fn message_hint(cli: &Cli, words: &[String]) -> String {
    let messages = &cli.run.messages;
    let (flags, last) = words.split_at(words.len().saturating_sub(messages.len()));
    // If flags stand between the messages, it is unknown which of them take a value.
    let flags =
        if last == messages { flags.iter().map(|flag| format!(" {flag}")).collect() } else { " [flags]".to_owned() };
    match messages.len() {
        1 => format!("hint: to send it as a message: omp{flags} -- {}", messages[0]),
        _ => format!("hint: to send it as a message: omp{flags} \"{}\"", messages.join(" ")),
    }
}

/// Returns the subcommand that a word was probably meant to be. A single word is rarely a message. A word followed by others
/// often is, so it must be very similar or be followed by a subcommand's own subcommand.
fn slip_of(word: &str, next: Option<&str>, known: &Command) -> Option<String> {
    let own = known.get_subcommands().flat_map(Command::get_name_and_visible_aliases);
    let names: Vec<&str> = own.chain(RESERVED.iter().map(|(word, _)| *word)).collect();
    if word.chars().count() < SHORTEST || !word.chars().all(|char| char.is_ascii_alphanumeric() || char == '-') {
        return None;
    }
    let near = likely(word, names.iter().copied().filter(|name| name.len() >= SHORTEST), 3);
    let Some(next) = next else { return near.first().map(|name| (*name).to_owned()) };
    let fits =
        near.iter().find(|name| known.find_subcommand(name).is_some_and(|one| one.find_subcommand(next).is_some()));
    let very_near = near.iter().find(|name| slips_between(word, name) <= 1);
    let very_near = very_near.filter(|_| !ORDINARY.contains(&word) && word == word.to_lowercase());
    fits.or(very_near).map(|name| (*name).to_owned())
}

enum WordMeaning {
    Subcommand,
    Message,
    Neither,
}

fn attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn ask(meant: &[String]) -> WordMeaning {
    let question = format!("Did you mean `omp {}`? [y = yes, m = send it to the model, n = neither] ", meant.join(" "));
    let question = omp_stdx::sanitize::strip_control(&question);
    let Some(line) = typed_line::ask(&question) else { return WordMeaning::Neither };
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => WordMeaning::Subcommand,
        "m" | "message" => WordMeaning::Message,
        _ => WordMeaning::Neither,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[track_caller]
    fn check(line: &[&str], expect: &str) {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let cli = Cli::try_parse_from(std::iter::once("omp").chain(line.iter().copied())).unwrap();
        let found = match judge(&cli, &words) {
            LineVerdict::Meant => "meant".to_owned(),
            LineVerdict::Refused(problem) => problem,
            LineVerdict::Slip { meant, .. } => meant.join(" "),
        };
        match expect {
            "meant" => assert_eq!(found, "meant", "{line:?}"),
            _ => assert!(found.contains(expect), "{line:?}: {found}"),
        }
    }

    #[test]
    fn messages_stay_messages() {
        for line in [
            vec!["hello"],
            vec!["fix", "the", "tests"],
            vec!["do", "it"],
            vec!["go"],
            vec!["comment", "this", "code"],
            vec!["content", "of", "README", "is", "wrong"],
            vec!["research", "the", "options"],
            vec!["Update", "the", "docs"],
            vec!["usage of foo is wrong"],
            vec!["--", "usage"],
            vec!["-p", "--", "commit", "it"],
            vec!["-p", "test"],
            vec!["-p", "docter"],
            vec!["@a.txt", "usage"],
            vec!["/usage"],
            vec!["42"],
            vec![],
        ] {
            check(&line, "meant");
        }
    }

    #[test]
    fn reserved_words_and_slips_are_no_messages() {
        for (line, expect) in [
            (vec!["commit", "the", "changes"], "omp \"commit the changes\""),
            (vec!["usage"], "omp -- usage"),
            (vec!["usage", "--", "x"], "unknown command `omp usage`"),
            (vec!["-p", "usage"], "omp -p -- usage"),
            (
                vec!["-p", "find", "the", "bug"],
                "first\nhint: to send it as a message: omp -p \"find the bug\"\nhint: to run the subcommand",
            ),
            (vec!["usage", "-p"], "omp [flags] -- usage"),
            (vec!["--model", "x", "sessions", "list"], "must come first"),
            (vec!["-p", "sessions"], "must come first"),
            (vec!["sesions", "list"], "sessions list"),
            (vec!["sesions"], "sessions"),
            (vec!["doctr"], "doctor"),
            (vec!["Doctor"], "doctor"),
            (vec!["grpe", "foo", "src"], "grep foo src"),
            (vec!["conf", "list"], "config list"),
            (vec!["updat"], "did you mean `omp update`?"),
            (vec!["--cwd", "x", "sesions", "list"], "did you mean `omp sessions`?"),
        ] {
            check(&line, expect);
        }
    }

    #[test]
    fn no_reserved_word_is_a_subcommand_and_each_says_what_to_do() {
        let known = Cli::command();
        for (word, instead) in RESERVED {
            assert!(known.find_subcommand(word).is_none(), "{word} exists");
            assert!(!instead.is_empty());
        }
        assert!(RESERVED.is_sorted());
    }
}
