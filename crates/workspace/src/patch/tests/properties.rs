//! Property tests: invariants of any patch of any file.

use super::*;

/// Plans hunks on text, without files.
fn patched(content: &str, diff: &str) -> Result<String, String> {
    let hunks = parse_hunks(diff).map_err(|error| error.to_string())?;
    let file = TextFile::parse(content.as_bytes());
    let (after, _) = locate::splices(&file, "f", EditRules::default(), &hunks).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(file.splice(&after)).unwrap())
}

/// Two versions of a file with unique lines.
fn versions() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let step = prop_oneof![5 => Just(0u8), 1 => Just(1), 1 => Just(2), 1 => Just(3)];
    proptest::collection::vec(("[a-c\t ]{0,3}", step, "[x-z]{0,2}"), 1..16).prop_map(|rows| {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (index, (text, step, fresh)) in rows.into_iter().enumerate() {
            let (line, other) = (format!("{text}#{index};"), format!("{fresh}%{index};"));
            old.push(line.clone());
            match step {
                1 => {}
                2 => new.push(other),
                3 => new.extend([line, other]),
                _ => new.push(line),
            }
        }
        (old, new)
    })
}

fn text(lines: &[String], eol: &str, finished: bool) -> String {
    lines.join(eol) + if finished && !lines.is_empty() { eol } else { "" }
}

fn diff_of(old: &str, new: &str) -> String {
    let (old, new) = (TextFile::parse(old.as_bytes()), TextFile::parse(new.as_bytes()));
    FileDiff::between(&old, &new).unified("f", &old, &new)
}

/// Removes the line numbers from hunks.
fn unnumbered(diff: &str) -> String {
    diff.lines().map(|line| if line.starts_with("@@") { "@@" } else { line }).collect::<Vec<_>>().join("\n")
}

/// Swaps the added and removed lines of a diff.
fn inverted(diff: &str) -> String {
    let turned = |line: &str| match line.as_bytes().first() {
        Some(b'+') => format!("-{}", &line[1..]),
        Some(b'-') => format!("+{}", &line[1..]),
        _ => line.to_owned(),
    };
    let body = diff.lines().skip(2).map(|line| {
        let ranges =
            line.strip_prefix("@@ -").and_then(|rest| rest.strip_suffix(" @@")).and_then(|rest| rest.split_once(" +"));
        ranges.map_or_else(|| turned(line), |(old, new)| format!("@@ -{new} +{old} @@"))
    });
    body.collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, ..ProptestConfig::default() })]

    /// Applying the diff of two versions gives the second one; nothing else changes, including line endings.
    #[test]
    fn a_diff_leads_from_old_to_new((old, new) in versions(), crlf: bool, finished: bool, numbered: bool) {
        // A single line without an ending does not show which line ending the file uses.
        prop_assume!(old != new && !new.is_empty() && (finished || old.len() > 1));
        let eol = if crlf { "\r\n" } else { "\n" };
        let (old, new) = (text(&old, eol, finished), text(&new, eol, finished));
        let diff = diff_of(&old, &new);
        let diff = if numbered { diff } else { unnumbered(&diff) };
        prop_assert_eq!(patched(&old, &diff), Ok(new));
    }

    /// Applying a diff and then its inverse is the identity.
    #[test]
    fn the_inverse_undoes((old, new) in versions(), finished: bool) {
        prop_assume!(old != new && !new.is_empty());
        let (old, new) = (text(&old, "\n", finished), text(&new, "\n", finished));
        let diff = diff_of(&old, &new);
        let there = patched(&old, &diff).unwrap();
        prop_assert_eq!(patched(&there, &inverted(&diff)), Ok(old));
    }

    /// In files full of equal lines, a hunk is refused or applied where its lines are; lines outside it stay.
    #[test]
    fn repetitive_files_are_never_corrupted(lines in proptest::collection::vec("[ab]", 1..12), at: prop::sample::Index, around in 0..3usize) {
        let at = at.index(lines.len());
        let (from, until) = (at.saturating_sub(around), (at + around + 1).min(lines.len()));
        let mut diff = "@@".to_owned();
        for (index, line) in lines.iter().enumerate().take(until).skip(from) {
            diff += &if index == at { format!("\n-{line}\n+new") } else { format!("\n {line}") };
        }
        let window = &lines[from..until];
        let places = lines.windows(window.len()).filter(|other| *other == window).count();
        let content = text(&lines, "\n", true);
        let mut want = lines.clone();
        want[at] = "new".into();
        match patched(&content, &diff) {
            Ok(after) => prop_assert_eq!((after, places), (text(&want, "\n", true), 1)),
            Err(error) => prop_assert!(places > 1 && error.contains("places"), "{}", error),
        }
    }

    #[test]
    fn parsing_never_panics(input in "(\\*\\*\\* (Begin Patch|End Patch|Add File: f|Update File: f|Delete File: f|Move to: g|End of File)|@@ ?-?[0-9]?,?[0-9]? ?[+a@]*|[ +-]?[ab]|\n){0,14}") {
        let _ = parse_envelope(&input);
        let _ = parse_partial_envelope(&input);
        let _ = patched("a\nb\na\n", &input);
    }
}
