//! Parses a unified diff into lines.

use crate::{DiffKind, DiffLine};

/// Parses the lines of a unified diff; without `@@` lines they have no numbers.
pub fn unified_diff_lines(text: &str) -> Vec<DiffLine> {
    let (mut old, mut new) = (0, 0);
    let mut numbered = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let (kind, at, text) = match line.as_bytes().first() {
            Some(b'@') if line.starts_with("@@") => {
                if let Some((from, to)) = starts(line) {
                    (old, new, numbered) = (from, to, true);
                }
                if lines.is_empty() {
                    continue;
                }
                (DiffKind::Gap, 0, "")
            }
            Some(b'+') if numbered || !line.starts_with("+++ ") => {
                (DiffKind::Added, count(&mut new, numbered), &line[1..])
            }
            Some(b'-') if numbered || !line.starts_with("--- ") => {
                (DiffKind::Removed, count(&mut old, numbered), &line[1..])
            }
            Some(b'+' | b'-') => continue,
            _ => {
                count(&mut old, numbered);
                (DiffKind::Kept, count(&mut new, numbered), line.strip_prefix(' ').unwrap_or(line))
            }
        };
        lines.push(DiffLine { kind, line: at, text: text.to_owned() });
    }
    lines
}

/// Parses `@@ -1,3 +2,4 @@`.
fn starts(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace().skip(1);
    let mut first = |sign: char| {
        let range = words.next()?.strip_prefix(sign)?;
        range.split(',').next()?.parse().ok()
    };
    Some((first('-')?, first('+')?))
}

fn count(number: &mut usize, numbered: bool) -> usize {
    let now = *number;
    *number = number.saturating_add(usize::from(numbered));
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(char, usize, &str)]) {
        let sign = |kind| match kind {
            DiffKind::Added => '+',
            DiffKind::Removed => '-',
            DiffKind::Kept => ' ',
            DiffKind::Gap => '@',
        };
        let lines = unified_diff_lines(text);
        let found: Vec<_> = lines.iter().map(|line| (sign(line.kind), line.line, line.text.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn lines_have_kinds_and_numbers() {
        check(
            "--- a/x\n+++ b/x\n@@ -3,2 +5,2 @@ fn\n one\n-two\n+TWO\n--- three\n",
            &[(' ', 5, "one"), ('-', 4, "two"), ('+', 6, "TWO"), ('-', 5, "-- three")],
        );
        check("+a\n-b\nc", &[('+', 0, "a"), ('-', 0, "b"), (' ', 0, "c")]);
        check("@@ nonsense @@\n-é", &[('-', 0, "é")]);
        check("@@ -18446744073709551615 +1 @@\n-a\n-b", &[('-', usize::MAX, "a"), ('-', usize::MAX, "b")]);
        check("+a\n@@ -7 +7 @@\n+b", &[('+', 0, "a"), ('@', 0, ""), ('+', 7, "b")]);
        check("", &[]);
    }
}
