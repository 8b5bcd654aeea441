//! What Tab completes: an argument of a slash command, or a path, on `!` lines too.

use std::ops::Range;

use omp_session::MenuEntry;
use omp_tui::Completion;

use super::CommandInfo;
use super::outside::Candidate;

/// Caps the length of a word, so that a key does not scan all of a long text.
const LONGEST: usize = 4096;
/// Characters that end a word of a shell command, and that are escaped in its paths.
const SHELL_ENDS: &str = " \t\n;|&<>()`$\"'=";
const SHELL_ESCAPED: &str = " \t;|&<>()`$\"'\\*?[]{}#!~";

/// A word to complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabQuery {
    /// The typed word, in bytes of the text.
    pub range: Range<usize>,
    /// The typed word, without escapes.
    pub letters: String,
    pub target: TabTarget,
    /// The version of the text.
    pub version: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TabTarget {
    /// The first argument of a command.
    Argument(MenuEntry),
    /// A path in a message or after other arguments.
    Path,
    /// A path of a shell command.
    ShellPath,
}

/// Returns the word before the cursor. In a message an empty word completes nothing.
pub fn query(text: &str, cursor: usize, version: u64, commands: &[CommandInfo]) -> Option<TabQuery> {
    let before = text.get(..cursor)?;
    let near = before.floor_char_boundary(cursor.saturating_sub(LONGEST));
    if before.starts_with('!') {
        let start =
            near.max(shell_word(&before[near..]) + near).max(before.len() - before.trim_start_matches('!').len());
        let letters = unescaped(&before[start..]);
        return Some(TabQuery { range: start..cursor, letters, target: TabTarget::ShellPath, version });
    }
    let start = before[near..]
        .rfind(char::is_whitespace)
        .map_or(near, |at| near + at + before[near + at..].chars().next().map_or(1, char::len_utf8));
    let letters = before[start..].to_owned();
    let target = match argument(before, start, commands) {
        Some(entry) => TabTarget::Argument(entry),
        None if letters.is_empty() && !before.starts_with('/') => return None,
        None => TabTarget::Path,
    };
    Some(TabQuery { range: start..cursor, letters, target, version })
}

/// Returns the command whose first argument begins at `start`.
fn argument(before: &str, start: usize, commands: &[CommandInfo]) -> Option<MenuEntry> {
    let (name, rest) = before.strip_prefix('/')?.split_once(char::is_whitespace)?;
    let first = before.len() - rest.trim_start().len();
    let command = commands.iter().find(|command| command.answers_to(name))?;
    (first == start).then(|| command.menu().1)
}

/// Returns where the last word of a shell command begins.
fn shell_word(before: &str) -> usize {
    let (mut start, mut escaped) = (0, false);
    for (at, char) in before.char_indices() {
        if !escaped && SHELL_ENDS.contains(char) {
            start = at + char.len_utf8();
        }
        escaped = char == '\\' && !escaped;
    }
    start
}

fn unescaped(word: &str) -> String {
    let mut chars = word.chars();
    let mut plain = String::with_capacity(word.len());
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    plain
}

/// Returns the completion of a path. A folder is not followed by a space, so that its entries can be completed next.
pub fn path_completion(candidate: &Candidate, query: &TabQuery) -> Completion {
    let slash = if candidate.is_folder { "/" } else { "" };
    let label = format!("{}{slash}", candidate.path);
    let written = match query.target {
        TabTarget::ShellPath => escaped(&label),
        _ => label.clone(),
    };
    let space = if candidate.is_folder { "" } else { " " };
    Completion { label, replace: query.range.clone(), insert: format!("{written}{space}"), ..Completion::default() }
}

/// A leading `~/` stays as it is.
fn escaped(path: &str) -> String {
    let (home, rest) = if path.starts_with("~/") { path.split_at(2) } else { ("", path) };
    let mut written = home.to_owned();
    for char in rest.chars() {
        if SHELL_ESCAPED.contains(char) {
            written.push('\\');
        }
        written.push(char);
    }
    written
}

/// Returns the values that match what was typed: those that begin with it, then those that contain it.
pub fn matching(values: impl IntoIterator<Item = (String, String)>, query: &TabQuery) -> Vec<Completion> {
    let typed = query.letters.to_lowercase();
    let rank = |value: &str, detail: &str| {
        let value = value.to_lowercase();
        match () {
            () if value.starts_with(&typed) => Some(0),
            () if value.contains(&typed) => Some(1),
            () => detail.to_lowercase().contains(&typed).then_some(2),
        }
    };
    let ranked = values.into_iter().filter_map(|(value, detail)| Some((rank(&value, &detail)?, value, detail)));
    let mut found: Vec<(usize, String, String)> = ranked.collect();
    found.sort_by_key(|(rank, ..)| *rank);
    // What is completed by its beginning is not mixed with what only contains it.
    if !typed.is_empty() && found.first().is_some_and(|(rank, ..)| *rank == 0) {
        found.retain(|(rank, ..)| *rank == 0);
    }
    let completion = |(_, value, detail): (usize, String, String)| Completion {
        insert: format!("{value} "),
        label: value,
        detail,
        replace: query.range.clone(),
        ..Completion::default()
    };
    found.into_iter().map(completion).collect()
}

/// Returns what all completions begin with.
pub fn common(found: &[Completion]) -> &str {
    let Some((first, rest)) = found.split_first() else { return "" };
    rest.iter().fold(first.insert.as_str(), |begin, one| {
        let same = begin.char_indices().zip(one.insert.chars()).find(|((_, left), right)| left != right);
        let end = same.map_or(begin.len().min(one.insert.len()), |((at, _), _)| at);
        &begin[..begin.floor_char_boundary(end)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Vec<CommandInfo> {
        let named = |name: &str, alias: &str| CommandInfo {
            name: name.to_owned(),
            aliases: vec![alias.to_owned()],
            ..CommandInfo::default()
        };
        vec![named("model", "models"), named("export", "save")]
    }

    fn shown(text: &str) -> Option<String> {
        let query = query(text, text.len(), 0, &commands())?;
        let target = match query.target {
            TabTarget::Argument(entry) => entry.name(),
            TabTarget::Path => "path",
            TabTarget::ShellPath => "shell",
        };
        Some(format!("{target} {}..{} {:?}", query.range.start, query.range.end, query.letters))
    }

    #[test]
    fn a_word_is_an_argument_or_a_path() {
        for (text, expect) in [
            ("/model ", Some("model 7..7 \"\"")),
            ("/models  son", Some("model 9..12 \"son\"")),
            ("/model a b", Some("path 9..10 \"b\"")),
            ("/nothing a", Some("path 9..10 \"a\"")),
            ("see sr", Some("path 4..6 \"sr\"")),
            ("see ", None),
            ("", None),
            ("!ls ", Some("shell 4..4 \"\"")),
            ("!!cat my\\ fi", Some("shell 6..12 \"my fi\"")),
            ("!x=sr", Some("shell 3..5 \"sr\"")),
            ("!cat a|b/c", Some("shell 7..10 \"b/c\"")),
            ("!ma", Some("shell 1..3 \"ma\"")),
        ] {
            assert_eq!(shown(text).as_deref(), expect, "{text:?}");
        }
    }

    #[test]
    fn paths_are_written_for_where_they_stand() {
        let check = |text: &str, path: &str, is_folder, expect: &str| {
            let query = query(text, text.len(), 0, &[]).unwrap();
            let candidate = Candidate { path: path.to_owned(), is_folder };
            assert_eq!(path_completion(&candidate, &query).insert, expect);
        };
        check("!cat m", "my file", false, "my\\ file ");
        check("!cat ~/m", "~/my$dir", true, "~/my\\$dir/");
        check("see m", "my file", false, "my file ");
        check("see s", "src", true, "src/");
    }

    #[test]
    fn values_that_begin_with_the_word_come_alone() {
        let values = ["dark", "light", "dark-blue", "solarized"].map(|name| (name.to_owned(), String::new()));
        let found = |typed: &str| {
            let query = query(&format!("/model {typed}"), 7 + typed.len(), 0, &commands()).unwrap();
            matching(values.clone(), &query)
        };
        let labels = |typed: &str| found(typed).into_iter().map(|one| one.label).collect::<Vec<_>>();
        assert_eq!(labels("da"), ["dark", "dark-blue"]);
        assert_eq!(common(&found("da")), "dark");
        assert_eq!(labels("IGHT"), ["light"]);
        assert_eq!(labels("").len(), 4);
        assert_eq!(labels("zz"), [""; 0]);
        assert_eq!(common(&[]), "");
    }
}
