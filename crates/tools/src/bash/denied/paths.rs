//! Finds the paths in a program's message. Few programs quote them, so the end of a path with spaces is found by checking
//! which folders exist.

use std::ops::Range;
use std::path::Path;

use super::SIGNS;

const QUOTES: [char; 5] = ['\'', '"', '`', '\u{2018}', '\u{2019}'];
/// Longer candidates are not treated as paths.
const LONGEST: usize = 1024;
/// Limits the paths per line whose ends are checked on disk.
const MOST_LOOKED_FOR: usize = 8;

pub(super) fn quoted_in(line: &str) -> impl Iterator<Item = &str> {
    line.split(QUOTES).skip(1).step_by(2).filter(|name| !name.is_empty())
}

/// Returns the parts of a message that name a path: quoted text, words with a slash, and whole paths with spaces.
pub(super) fn paths_in(line: &str) -> Vec<&str> {
    let whole = whole_paths(line);
    let is_part = |word: &&str| {
        let at = place_of(word, line);
        whole.iter().any(|range| range.start <= at && at < range.end)
    };
    let words = line
        .split(|c: char| c.is_whitespace() || QUOTES.contains(&c))
        .map(|word| word.trim_matches([':', ',', '(', ')']))
        .filter(|word| !is_part(word));
    let named = line.split(": ").map(str::trim);
    let spaced = whole.iter().filter_map(|range| line.get(range.clone()));
    let mut paths: Vec<&str> =
        quoted_in(line).chain(spaced).chain(words.filter(|word| word.contains('/'))).chain(named).collect();
    paths.retain(|path| !path.is_empty() && path.len() < LONGEST && !SIGNS.contains(path) && looks_like_a_path(path));
    paths
}

fn looks_like_a_path(text: &str) -> bool {
    text.contains('/') || (text.starts_with('.') && !text.contains(' '))
}

/// Returns the ranges of absolute paths that contain spaces.
fn whole_paths(line: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let quoted = quoted_in(line).filter(|name| name.starts_with('/') && name.contains(char::is_whitespace));
    found.extend(quoted.map(|name| place_of(name, line)..place_of(name, line) + name.len()));
    let starts = line.match_indices('/').map(|(at, _)| at).filter(|at| {
        let before = line[..*at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || QUOTES.contains(&c) || c == '(')
    });
    for start in starts.take(MOST_LOOKED_FOR) {
        if found.iter().any(|range| range.contains(&start)) {
            continue;
        }
        if let Some(length) = spaced_path(&line[start..]) {
            found.push(start..start + length);
        }
    }
    found
}

/// Returns the length of the path at the start of the text if it contains spaces, based on which of its folders exist. The
/// rest after the last existing folder ends at the next space, or before the message that programs append.
fn spaced_path(text: &str) -> Option<usize> {
    let piece = text.find(": ").unwrap_or(text.len());
    let another = text.find(" /").unwrap_or(text.len());
    let end = text.find(QUOTES).unwrap_or(text.len()).min(piece).min(another).min(LONGEST);
    let whole = text.get(..end)?.trim_end();
    let whole = if whole.contains('(') { whole } else { whole.trim_end_matches([',', ')']) };
    let space = whole.find(char::is_whitespace)?;
    let there = Path::new(whole).ancestors().find(|path| path.symlink_metadata().is_ok())?.as_os_str().len();
    if there <= space {
        return None;
    }
    let after = text[end..].strip_prefix(": ").unwrap_or_default();
    let is_told_of = SIGNS.iter().any(|sign| after.get(1..).is_some_and(|after| after.starts_with(sign)));
    let next_space = || whole[there..].find(char::is_whitespace).map_or(whole.len(), |at| there + at);
    // `open /a b/c failed: Read-only file system`
    let ends_in_word = whole[there..].ends_with(" failed");
    Some(if is_told_of && !ends_in_word { whole.len() } else { next_space() })
}

/// Returns the byte offset of `part` in `line`.
fn place_of(part: &str, line: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("my home/in it")).unwrap();
        let top = top.display().to_string();
        let line = line.replace("TOP", &top);
        let full = paths_in(&line).into_iter().filter(|path| path.starts_with('/'));
        let mut found: Vec<String> = full.map(|path| path.replace(&top, "TOP")).collect();
        found.dedup();
        assert_eq!(found, expect, "{line}");
    }

    #[test]
    fn paths_with_spaces_are_whole_where_their_folders_are_there() {
        check("cannot create TOP/my home/zz1: Read-only file system", &["TOP/my home/zz1"]);
        check("cannot create TOP/my home/in it/a b.txt: Read-only file system", &["TOP/my home/in it/a b.txt"]);
        check("open TOP/my home/x failed: permission denied", &["TOP/my home/x"]);
        check("cp TOP/my home/x to /srv/y: Read-only file system", &["TOP/my home/x", "/srv/y"]);
        check("touch 'TOP/my home/x': Permission denied", &["TOP/my home/x"]);
        check("mkdir 'TOP/not there/x': Permission denied", &["TOP/not there/x"]);
        check("EROFS: read-only file system, open 'TOP/my home/x'", &["TOP/my home/x"]);
        check("rename (TOP/my home/x): EROFS", &["TOP/my home/x"]);
    }

    #[test]
    fn other_paths_end_at_the_next_space() {
        check("cannot move /a/b to /c/d: Read-only file system", &["/a/b", "/c/d"]);
        check("open TOP/x failed: permission denied", &["TOP/x"]);
        check("can't write /srv/x: Read-only file system", &["/srv/x"]);
        check("TOP/my home/x", &["TOP/my home/x"]);
    }
}
