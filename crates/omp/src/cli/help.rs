//! Help on `omp` itself: one screen of common flags, or all of them with `omp --help all`. Clap prints the help of
//! subcommands.

use clap::{Command, CommandFactory};

use crate::cli::Cli;

/// Fits a terminal of 80×24 with the shell prompt below it.
const COMMON: &str = include_str!("help.txt");

/// Whether the words ask for help on every flag: `omp --help all`, `omp -h all`, `omp help all`.
pub fn asks_for_all(words: &[String]) -> bool {
    let is_help = |word: &String| word == "--help" || word == "-h";
    let words: Vec<&String> = words.iter().take_while(|word| *word != "--").collect();
    let behind = match words.first() {
        Some(first) if *first == "help" => words.get(1),
        _ => words.iter().position(|word| is_help(word)).and_then(|at| words.get(at + 1)),
    };
    behind.is_some_and(|word| *word == "all")
}

/// Whether clap's help is that of `omp` itself, not of a subcommand.
pub fn is_of_omp(rendered: &str) -> bool {
    rendered.lines().any(|line| line.starts_with("Usage: omp ["))
}

/// The command line with the help to print.
pub fn command(all: bool) -> Command {
    let command = Cli::command();
    if all { command } else { command.override_help(styled(COMMON)) }
}

/// Marks headings as clap does. Clap removes the escapes if the output is not a terminal.
fn styled(text: &str) -> String {
    let is_heading = |line: &str| !line.starts_with(' ') && line.ends_with(':');
    let mark = |heading: &str| format!("\x1b[1m\x1b[4m{heading}\x1b[0m");
    let lines = text.lines().map(|line| match line.strip_prefix("Usage:") {
        Some(rest) => format!("{}{rest}\n", mark("Usage:")),
        None if is_heading(line) => format!("{}\n", mark(line)),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_help_fits_a_screen_and_names_what_exists() {
        assert!(COMMON.lines().count() <= 23, "{} rows", COMMON.lines().count());
        let mut known = Cli::command();
        known.build();
        let mut section = "";
        for line in COMMON.lines() {
            assert!(line.chars().count() <= 80, "{line}");
            if !line.starts_with(' ') {
                section = line;
            }
            let is_flag = section == "Options:" && line.trim_start().starts_with('-');
            if let Some(flag) = line.split([' ', ',']).find_map(|word| word.strip_prefix("--")).filter(|_| is_flag) {
                assert!(known.get_arguments().any(|arg| arg.get_long() == Some(flag)), "{flag}");
            }
            let name = line.split_whitespace().next().filter(|_| section == "Commands:" && line.starts_with(' '));
            if let Some(name) = name {
                assert!(known.find_subcommand(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn all_stands_behind_help() {
        let rows = [
            ("--help all", true),
            ("-h all", true),
            ("help all", true),
            ("-p --help all", true),
            ("--help", false),
            ("help", false),
            ("--help sessions", false),
            ("all --help", false),
            ("-- --help all", false),
        ];
        for (line, expect) in rows {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(asks_for_all(&words), expect, "{line}");
        }
    }
}
