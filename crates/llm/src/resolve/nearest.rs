//! Names that look like a mistyped one.

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 80;

/// Up to `count` of the names that are few typing errors away, nearest first.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let word = word.to_ascii_lowercase();
    let limit = (word.chars().count() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = names
        .filter(|name| name.len().abs_diff(word.len()) <= limit)
        .filter_map(|name| Some((errors(&word, &name.to_ascii_lowercase())?, name)))
        .filter(|(errors, _)| *errors <= limit)
        .collect();
    near.sort_by_key(|(errors, _)| *errors);
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in near {
        if names.len() < count && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
fn errors(one: &str, other: &str) -> Option<usize> {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len() > LONGEST || other.len() > LONGEST {
        return None;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let replaced = last[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(before_last[j - 2] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_counted() {
        for (one, other, expect) in
            [("", "", 0), ("abc", "", 3), ("sonet", "sonnet", 1), ("gtp", "gpt", 1), ("a", "b", 1)]
        {
            assert_eq!(errors(one, other), Some(expect), "{one} {other}");
            assert_eq!(errors(other, one), Some(expect), "{other} {one}");
        }
        assert_eq!(errors(&"x".repeat(LONGEST + 1), "x"), None);
    }

    #[test]
    fn only_names_that_are_near_are_told() {
        let names = ["baseUrl", "apiKey", "api", "headers"];
        assert_eq!(nearest("baseURl", names.into_iter(), 1), ["baseUrl"]);
        assert_eq!(nearest("apikeys", names.into_iter(), 2), ["apiKey"]);
        assert!(nearest("zebra", names.into_iter(), 3).is_empty());
    }
}
