//! Reports a command line that cannot be parsed in omp's format: what, why and `hint:`.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Parser};
use omp_stdx::nearest::likely;

use crate::cli::{Cli, help};

/// Flags that other versions have and this one lacks, with what to do instead.
pub const RESERVED_FLAGS: &[(&str, &str)] = &[
    ("--add-dir", "omp has one workspace; start it in a folder above both, or use absolute paths"),
    ("--advisor", "omp has no advisor; `/btw` in a session asks a side question"),
    ("--alias", "omp has no profiles; use a shell alias"),
    ("--allow-home", "leave it out: omp works in your home folder like in any other"),
    ("--extension", "extensions are not run; `omp config sources` lists those found here"),
    ("--external-thinking", "`--thinking LEVEL` sets the thinking level"),
    ("--from-claude", "`omp sessions import` imports Claude Code sessions"),
    ("--from-codex", "`omp sessions import` imports Codex sessions"),
    ("--hide-thinking", "`omp config set hideThinkingBlock true` hides the model's thinking"),
    ("--hook", "hook modules are not run; shell hooks are, see docs/hooks.md"),
    ("--no-extensions", "leave it out: extensions are not run"),
    ("--no-lsp", "leave it out: language servers are not started"),
    ("--no-prewalk", "leave it out: omp has no prewalk"),
    ("--plan-yolo", "`/plan` in a session turns on plan mode"),
    ("--plan-yolo-into", "`/plan` in a session turns on plan mode"),
    ("--plugin-dir", "plugins are not installed by omp; `omp config sources` lists what was found here"),
    ("--prewalk", "omp has no prewalk; `--smol` and `--slow` set models for small and hard work"),
    ("--prewalk-into", "omp has no prewalk; `--smol` and `--slow` set models for small and hard work"),
    ("--print-thoughts", "`--mode json` prints the model's thinking as events"),
    ("--profile", "set PI_CODING_AGENT_DIR to a separate folder for keys, settings and sessions"),
    ("--provider-session-id", "leave it out: omp generates the id that providers see"),
    ("--session", "`--resume ID` continues a session"),
    ("-e", "extensions are not run; `omp config sources` lists those found here"),
    ("-v", "`omp --version` prints the version"),
];

/// Values of `--mode` that other versions have and this one lacks.
const RESERVED_MODES: &[(&str, &str)] =
    &[("acp", "`omp acp` serves an editor"), ("rpc-ui", "`--mode rpc` serves a program, with its dialogs")];

/// Parses the command line. Help and version are printed here and end the process, as clap does it.
pub fn parse(words: &[std::ffi::OsString]) -> Result<Cli, String> {
    let line = std::iter::once("omp".into()).chain(words.iter().cloned());
    let error = match Cli::try_parse_from(line) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let all = help::asks_for_all(&words);
    let is_help = match error.kind() {
        ErrorKind::DisplayHelp => help::is_of_omp(&error.render().to_string()),
        // `omp help all`: clap knows no subcommand `all`.
        ErrorKind::InvalidSubcommand => all,
        _ => false,
    };
    let error = match help::command(all).try_get_matches_from(["omp", "--help"]) {
        Err(page) if is_help => page,
        _ => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ => Err(told(&error, &words)),
    }
}

fn told(error: &clap::Error, words: &[String]) -> String {
    let (command, path) = called(words);
    let all = if path == "omp" { " all" } else { "" };
    let help = format!("hint: see `{path} --help{all}`");
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let flag = context(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if flag.starts_with('-') => {
            if let Some((flag, instead)) = RESERVED_FLAGS.iter().find(|(known, _)| *known == flag) {
                return format!("unknown flag `{flag}`\nhint: {instead}");
            }
            let near = near_flags(flag, &command);
            let hint = if near.is_empty() { help } else { format!("hint: did you mean {}?", either(&near)) };
            format!("unknown flag `{flag}`\n{hint}")
        }
        ErrorKind::InvalidValue if flag.starts_with("--mode ") => {
            let mode = context(ContextKind::InvalidValue).unwrap_or_default();
            match RESERVED_MODES.iter().find(|(known, _)| *known == mode) {
                Some((mode, instead)) => format!("unknown mode `--mode {mode}`\nhint: {instead}"),
                None => in_our_words(error, &help),
            }
        }
        _ => in_our_words(error, &help),
    }
}

/// Returns the subcommand that the words call, and its full name.
fn called(words: &[String]) -> (Command, String) {
    let mut command = Cli::command();
    let mut path = "omp".to_owned();
    for word in words.iter().take_while(|word| !word.starts_with('-')) {
        let Some(inner) = command.find_subcommand(word).cloned() else { break };
        path = format!("{path} {}", inner.get_name());
        command = inner;
    }
    (command, path)
}

/// Returns flags with a similar name.
fn near_flags(flag: &str, command: &Command) -> Vec<String> {
    let Some(name) = flag.strip_prefix("--") else { return Vec::new() };
    let known = command.get_arguments().flat_map(|arg| arg.get_long_and_visible_aliases().unwrap_or_default());
    let known: Vec<&str> = known.collect();
    likely(name, known, 2).into_iter().map(|name| format!("--{name}")).collect()
}

/// Returns clap's message with its tips as hints and without its usage line.
fn in_our_words(error: &clap::Error, help: &str) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = ["\n\nUsage:", "\n\nFor more information"].iter().filter_map(|mark| text.find(mark)).min();
    let (mut what, mut hints) = (Vec::new(), Vec::new());
    for line in text[..end.unwrap_or(text.len())].lines().map(str::trim).filter(|line| !line.is_empty()) {
        let values = line.strip_prefix("[possible values: ").and_then(|list| list.strip_suffix(']'));
        match (line.strip_prefix("tip: "), values) {
            (Some(tip), _) => hints.push(hint_of(tip)),
            (None, Some(values)) => hints.push(format!("hint: use one of {values}")),
            (None, None) => what.push(line),
        }
    }
    if hints.is_empty() {
        hints.push(help.to_owned());
    }
    format!("{}\n{}", what.join(" "), hints.join("\n"))
}

fn hint_of(tip: &str) -> String {
    match tip.split_once(" exists: ").or_else(|| tip.split_once(" exist: ")) {
        Some((_, names)) => {
            let names: Vec<String> = names.split(", ").map(|name| name.trim_matches('\'').to_owned()).collect();
            format!("hint: did you mean {}?", either(&names))
        }
        None => format!("hint: {tip}"),
    }
}

fn either(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &str) {
        let words: Vec<std::ffi::OsString> = line.split_whitespace().map(Into::into).collect();
        assert_eq!(parse(&words).unwrap_err(), expect, "{line}");
    }

    #[test]
    fn every_problem_has_a_hint() {
        for (line, expect) in [
            ("--modle x", "unknown flag `--modle`\nhint: did you mean `--mode` or `--model`?"),
            ("-p hi --no-tool", "unknown flag `--no-tool`\nhint: did you mean `--no-tools`?"),
            ("--nonsense", "unknown flag `--nonsense`\nhint: see `omp --help all`"),
            ("-x", "unknown flag `-x`\nhint: see `omp --help all`"),
            ("sessions list --al", "unknown flag `--al`\nhint: did you mean `--all`?"),
            ("sessions --nope", "unknown flag `--nope`\nhint: see `omp sessions --help`"),
            ("sessions lst", "unrecognized subcommand 'lst'\nhint: did you mean `list`?"),
            (
                "config get",
                "the following required arguments were not provided: <KEY>\nhint: see `omp config get --help`",
            ),
            ("--mode xml", "invalid value 'xml' for '--mode <MODE>'\nhint: use one of text, json, rpc"),
            (
                "--mode jsn",
                "invalid value 'jsn' for '--mode <MODE>'\nhint: use one of text, json, rpc\nhint: did you mean `json`?",
            ),
            (
                "-c --no-session",
                "the argument '--continue' cannot be used with '--no-session'\nhint: see `omp --help all`",
            ),
            (
                "--thinking lots",
                "invalid value 'lots' for '--thinking <LEVEL>': unknown thinking level `lots`; use off, minimal, low, \
                 medium, high or xhigh\nhint: see `omp --help all`",
            ),
        ] {
            check(line, expect);
        }
    }

    #[test]
    fn flags_of_other_versions_say_what_to_do() {
        let known = Cli::command();
        for (flag, instead) in RESERVED_FLAGS {
            let has = known.get_arguments().any(|arg| {
                arg.get_long_and_visible_aliases().unwrap_or_default().iter().any(|long| format!("--{long}") == *flag)
            });
            assert!(!has, "{flag} exists");
            for line in [format!("{flag} x"), format!("-p hi {flag}"), format!("{flag}=x")] {
                if !line.starts_with("-e=") && !line.starts_with("-v=") {
                    check(&line, &format!("unknown flag `{flag}`\nhint: {instead}"));
                }
            }
        }
        assert!(RESERVED_FLAGS.is_sorted());
        check("--mode acp", "unknown mode `--mode acp`\nhint: `omp acp` serves an editor");
        check("--mode rpc-ui", "unknown mode `--mode rpc-ui`\nhint: `--mode rpc` serves a program, with its dialogs");
    }
}
