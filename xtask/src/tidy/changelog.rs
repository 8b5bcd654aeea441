//! The changelog is dated: `Unreleased` comes first, and every heading below it names a version and its day.

use super::Violation;
use super::workspace::Workspace;

const PATH: &str = "CHANGELOG.md";
const UNRELEASED: &str = "Unreleased";

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let Some(text) = workspace.text(PATH) else {
        return vec![violation(0, "there is no changelog".to_owned(), "list what users will notice")];
    };
    let headings: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.strip_prefix("## ")?.trim_end())))
        .collect();
    let mut found = Vec::new();
    if headings.first().is_none_or(|(_, first)| *first != UNRELEASED) {
        let line = headings.first().map_or(0, |(line, _)| *line);
        let hint = "start with `## Unreleased`, even if it is empty";
        found.push(violation(line, format!("the first heading is not `{UNRELEASED}`"), hint));
    }
    let releases = headings.iter().enumerate().filter(|(at, (_, heading))| *at > 0 || *heading != UNRELEASED);
    for (_, (line, heading)) in releases.filter(|(_, (_, heading))| !is_release(heading)) {
        let what = format!("`{heading}` is not a version and a day");
        found.push(violation(*line, what, "write `## VERSION - YYYY-MM-DD`, such as `## 0.2.0 - 2026-11-17`"));
    }
    found
}

fn is_release(heading: &str) -> bool {
    heading.split_once(" - ").is_some_and(|(version, day)| is_version(version) && is_day(day))
}

/// Three numbers and an optional suffix, as in `1.0.0-rc.1`.
fn is_version(text: &str) -> bool {
    let (numbers, more) = text.split_once('-').map_or((text, None), |(numbers, more)| (numbers, Some(more)));
    let is_more = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-');
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && more.is_none_or(|more| !more.is_empty() && more.chars().all(is_more))
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let within =
        |text: &str, most: u8| text.len() == 2 && text.parse().is_ok_and(|number| (1..=most).contains(&number));
    year.len() == 4 && is_number(year) && within(month, 12) && within(day, 31)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn violation(line: usize, what: String, hint: &'static str) -> Violation {
    Violation { path: PATH.to_owned(), line, rule: "changelog", what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undated_headings_are_caught() {
        for (text, lines) in [
            ("# C\n\n## Unreleased\n\n- a\n", &[][..]),
            ("## Unreleased\n## 0.2.0 - 2026-11-17\n### Fixed\n## 0.1.0-rc.1 - 2026-01-02\n", &[]),
            ("# C\n", &[0]),
            ("## 0.2.0 - 2026-11-17\n## Unreleased\n", &[1, 2]),
            ("## Unreleased\n## Unreleased\n", &[2]),
            ("## Unreleased\n## 0.2.0\n## 0.1.0 (2026-11-17)\n## v0.1.0 - 2026-11-17\n", &[2, 3, 4]),
            ("## Unreleased\n## 0.2.0 - 2026-13-01\n## 0.2.0 - 2026-1-1\n## 0.2 - 2026-01-01\n", &[2, 3, 4]),
            ("## Unreleased\n## 0.2.0 - 2026-01-32\n## 0.2.0 - 26-01-01\n## 0.2.0- - 2026-01-01\n", &[2, 3, 4]),
        ] {
            let found: Vec<usize> = check(&Workspace::of([(PATH, text)])).iter().map(|v| v.line).collect();
            assert_eq!(found, lines, "{text}");
        }
        assert_eq!(check(&Workspace::of([("a", "")])).len(), 1);
    }
}
