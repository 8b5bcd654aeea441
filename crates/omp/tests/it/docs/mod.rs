//! The pages tell of what is there: every setting, flag, command, key action, variable and tool parameter that they name
//! exists in the binary, and everything that the binary has is named by a page.
//!
//! What a page names is read by these rules, from text in backticks and from fenced blocks:
//! - `--flag`, alone or behind `omp …`, is a flag of omp or of one of its subcommands.
//! - `omp word` is a subcommand, and `omp config word` one of its own.
//! - `/word` is a slash command.
//! - `group.key` is a setting when `group` is a group of settings; so are the keys of YAML blocks that begin with one.
//! - `app.…` and `tui.…` may be key actions.
//! - `PI_…` and `OMP_…` are environment variables.
//! - `name: value` on the page of a tool, and the first column of a table headed `parameter`, is a parameter.
//!
//! The sections "Not there" of `differences.md` and "Not read" of `environment.md` name what is missing, so they are left out.

mod binary;
mod pages;

use std::collections::BTreeSet;

use binary::Binary;
use omp_session::MISSING_COMMANDS;
use pages::{Mention, Page, pages};

/// Placeholder command names in examples, and words that only look like a command.
const EXAMPLE_COMMANDS: &[&str] = &["deploy", "modle", "name", "props", "responses", "status", "x"];
/// Words of examples that show what is not a subcommand.
const EXAMPLE_WORDS: &[&str] = &["doctr", "fix", "sesions"];
/// Flags of other programs, and folders that look like flags, with the page.
const FOREIGN_FLAGS: &[(&str, &str)] = &[
    ("approval.md", "check"),
    ("approval.md", "delete"),
    ("approval.md", "dryrun"),
    ("approval.md", "ext-diff"),
    ("approval.md", "fix"),
    ("approval.md", "force"),
    ("approval.md", "force-if-includes"),
    ("approval.md", "force-with-lease"),
    ("approval.md", "list-hosts"),
    ("approval.md", "list-tags"),
    ("approval.md", "list-tasks"),
    ("approval.md", "method"),
    ("approval.md", "mirror"),
    ("approval.md", "prod"),
    ("approval.md", "prune"),
    ("approval.md", "push"),
    ("approval.md", "syntax-check"),
    ("containment.md", "security-opt"),
    ("rules.md", "no-verify"),
    ("secrets.md", "token"),
    ("session-format.md", "home-user-project"),
    ("session-format.md", "srv-data"),
    ("shell-rules.md", "checkpoint-action"),
    ("shell-rules.md", "compress-prog"),
    ("terminal-rendering.md", "replay"),
    ("testkit.md", "port"),
];
/// Variables that omp sets for child processes, or that only tests or the build read.
const SET_FOR_CHILDREN: &[&str] = &["OMP_PROJECT_DIR", "OMP_SPAWN", "OMP_TEST_REQUESTS", "OMP_UPDATE_URL"];
/// Parameters that are offered only in the terminal app.
const TERMINAL_PARAMETERS: &[&str] = &["pty"];
/// The page that lists the missing commands.
const SLASH_PAGE: &str = "slash-commands.md";
/// The pages of tools, with the tools whose parameters they document.
const TOOL_PAGES: &[(&str, &[&str])] = &[
    ("read.md", &["read"]),
    ("write.md", &["write", "notebook"]),
    ("edit.md", &["edit"]),
    ("search.md", &["search", "find"]),
    ("structural-search.md", &["ast_grep", "ast_edit", "resolve"]),
    ("bash.md", &["bash", "job"]),
    ("todo.md", &["todo"]),
    ("checkpoint.md", &["checkpoint", "rewind"]),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_pages_name_is_there() {
    let binary = Binary::ask().await;
    let mut wrong = Vec::new();
    for page in pages() {
        for mention in &page.mentions {
            if let Some(problem) = problem(&binary, &page, mention) {
                wrong.push(format!("{}:{}: {problem}", page.name, mention.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{} names are wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_there_is_named_by_a_page() {
    let binary = Binary::ask().await;
    let pages = pages();
    let texts: Vec<&str> = pages.iter().map(|page| page.text.as_str()).collect();
    let named = |name: &str| texts.iter().any(|text| holds_word(text, name));
    let mut missing = Vec::new();
    missing.extend(binary.settings.iter().filter(|key| !named(key)).map(|key| format!("setting {key}")));
    let flags = binary.flags.iter().map(|flag| format!("--{flag}"));
    missing.extend(flags.filter(|flag| !named(flag)).map(|flag| format!("flag {flag}")));
    let subcommands = binary.subcommands.iter().map(|words| format!("omp {words}"));
    missing.extend(subcommands.filter(|words| !named(words)).map(|words| format!("subcommand {words}")));
    let slash = binary.slash.iter().map(|name| format!("/{name}"));
    missing.extend(slash.filter(|name| !named(name)).map(|name| format!("slash command {name}")));
    missing.extend(binary.tools.keys().filter(|tool| !named(tool)).map(|tool| format!("tool {tool}")));
    missing.extend(binary.variables.iter().filter(|name| !named(name)).map(|name| format!("variable {name}")));
    assert!(missing.is_empty(), "no page names\n{}", missing.join("\n"));
}

/// Whether a text contains a whole word: `--tools` is not in `--tools-x`.
fn holds_word(text: &str, word: &str) -> bool {
    let inside = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

fn problem(binary: &Binary, page: &Page, mention: &Mention) -> Option<String> {
    let text = mention.text.as_str();
    if mention.is_yaml_key {
        return (!binary.is_setting(text)).then(|| format!("unknown setting `{text}`"));
    }
    if let Some(rest) = text.strip_prefix("omp ") {
        return command_problem(binary, rest);
    }
    if let Some(flag) = text.strip_prefix("--") {
        let flag = word_of(flag);
        let foreign = FOREIGN_FLAGS.contains(&(page.name.as_str(), flag));
        return (!flag.is_empty() && !foreign && !binary.flags.contains(flag))
            .then(|| format!("there is no flag --{flag}"));
    }
    if let Some(rest) = text.strip_prefix('/') {
        let name = rest.split_whitespace().next().unwrap_or_default();
        let is_name = name.starts_with(|char: char| char.is_ascii_lowercase())
            && name.chars().all(|char| char.is_ascii_lowercase() || char == '-');
        let missing = page.name == SLASH_PAGE && MISSING_COMMANDS.iter().any(|(missing, _)| *missing == name);
        let known = binary.slash.contains(name) || EXAMPLE_COMMANDS.contains(&name) || missing;
        let is_path = std::path::Path::new("/").join(name).exists();
        return (is_name && !known && !is_path).then(|| format!("there is no slash command /{name}"));
    }
    if text.starts_with("PI_") || text.starts_with("OMP_") {
        let name = text.split('=').next().unwrap_or_default();
        let plain = name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_');
        let whole = plain && !name.ends_with('_') && name != "OMP_X" && name != "PI_X";
        return (whole && !binary.variables.contains(name) && !SET_FOR_CHILDREN.contains(&name))
            .then(|| format!("there is no variable {name}"));
    }
    if let Some(problem) = parameter_problem(binary, page, mention) {
        return Some(problem);
    }
    setting_problem(binary, text)
}

/// Checks `omp …` up to the first pipe or comment: its subcommands and its flags.
fn command_problem(binary: &Binary, line: &str) -> Option<String> {
    let line = line.split(['|', '#', '<', '>']).next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    for flag in words.iter().filter_map(|word| word.strip_prefix("--")) {
        let flag = word_of(flag);
        if !flag.is_empty() && !binary.flags.contains(flag) {
            return Some(format!("there is no flag --{flag}"));
        }
    }
    let first = words.first()?;
    let is_name =
        |word: &str| word.chars().all(|char| char.is_ascii_lowercase() || char == '-') && !word.starts_with('-');
    if !is_name(first) || *first == "help" || EXAMPLE_WORDS.contains(first) {
        return None;
    }
    if !binary.subcommands.contains(*first) {
        return Some(format!("there is no subcommand `omp {first}`"));
    }
    let has_own = binary.subcommands.iter().any(|known| known.starts_with(&format!("{first} ")));
    let second = words.get(1).filter(|word| has_own && is_name(word))?;
    let both = format!("{first} {second}");
    (!binary.subcommands.contains(&both)).then(|| format!("there is no subcommand `omp {both}`"))
}

fn parameter_problem(binary: &Binary, page: &Page, mention: &Mention) -> Option<String> {
    let (_, tools) = TOOL_PAGES.iter().find(|(name, _)| *name == page.name)?;
    let name = match mention.is_parameter {
        true => mention.text.as_str(),
        false => mention.text.split_once(": ").map(|(name, _)| name)?,
    };
    let is_name = !name.is_empty() && name.chars().all(|char| char.is_ascii_lowercase() || char == '_');
    let known: BTreeSet<&String> = tools.iter().filter_map(|tool| binary.tools.get(*tool)).flatten().collect();
    let is_known = known.contains(&name.to_owned()) || TERMINAL_PARAMETERS.contains(&name);
    (is_name && !is_known).then(|| format!("{} take no parameter `{name}`", tools.join(", ")))
}

fn setting_problem(binary: &Binary, text: &str) -> Option<String> {
    let key = text.split([':', '=', ' ']).next().unwrap_or_default().trim_end_matches(".*");
    let word = |part: &str| !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric() || char == '*');
    if !key.starts_with(|char: char| char.is_ascii_lowercase())
        || !key.split('.').all(word)
        || binary.actions.contains(key)
    {
        return None;
    }
    let (group, last) = key.rsplit_once('.').unwrap_or(("", key));
    let is_file =
        ["yml", "yaml", "json", "md", "jsonl", "db", "toml", "rs", "env", "txt", "ts", "js", "py", "sh", "html"];
    let first = key.split('.').next().unwrap_or_default();
    match group.is_empty() {
        // A single word counts as a setting only if it can be nothing else.
        true => (binary.reference.contains(key) && !binary.is_setting(key) && key.chars().any(char::is_uppercase))
            .then(|| format!("unknown setting `{key}`")),
        false if is_file.contains(&last) || !binary.groups.contains(first) => None,
        false => (!binary.is_setting(key)).then(|| format!("unknown setting `{key}`")),
    }
}

/// Returns the prefix that can be a name.
fn word_of(text: &str) -> &str {
    let end = text.find(|char: char| !(char.is_ascii_lowercase() || char == '-')).unwrap_or(text.len());
    text[..end].trim_end_matches('-')
}
