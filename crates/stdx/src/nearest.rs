//! "Did you mean …?": finds the known word closest to a mistyped one.

/// Longer words are not compared, to limit the work.
const LONGEST: usize = 80;

/// Returns the candidate with the fewest typos, if it is close enough to be likely. Ignores case.
pub fn nearest<'a, S: AsRef<str> + ?Sized + 'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a S>,
) -> Option<&'a str> {
    likely(word, candidates, 1).pop()
}

/// Returns at most `max` likely candidates, closest first, without duplicates; equally close ones keep their order.
pub fn likely<'a, S: AsRef<str> + ?Sized + 'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a S>,
    max: usize,
) -> Vec<&'a str> {
    let typed = folded(word);
    let known = candidates.into_iter().map(AsRef::as_ref);
    let mut scored: Vec<(usize, &str)> = known.filter_map(|one| Some((score(&typed, one)?, one))).collect();
    scored.sort_by_key(|(score, _)| *score);
    let mut words: Vec<&str> = Vec::new();
    for (_, word) in scored {
        if words.len() < max && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Returns the number of typos between two words. Ignores case.
pub fn slips_between(a: &str, b: &str) -> usize {
    slips(&folded(a), &folded(b))
}

/// Lower is closer; a candidate that starts with the typed text counts as one typo.
fn score(typed: &[char], candidate: &str) -> Option<usize> {
    let known = folded(candidate);
    if typed.is_empty() || typed.len() > LONGEST || known.len() > LONGEST {
        return None;
    }
    if typed.len() >= 2 && known.starts_with(typed) {
        return Some(usize::from(known.len() > typed.len()));
    }
    let allowed = (typed.len().max(known.len()) / 3).max(1);
    let slips = slips(typed, &known);
    (slips <= allowed && slips < typed.len().max(known.len())).then_some(slips)
}

fn folded(word: &str) -> Vec<char> {
    word.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect()
}

/// Optimal string alignment distance: insert, delete, replace, or swap two neighbours.
fn slips(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KNOWN: [&str; 6] = ["read", "write", "edit", "search", "find", "bash"];

    #[test]
    fn slips_are_found() {
        for (typed, want) in [
            ("raed", Some("read")),
            ("serch", Some("search")),
            ("Bash", Some("bash")),
            ("sea", Some("search")),
            ("browser", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(typed, KNOWN), want, "{typed}");
        }
        assert_eq!((slips_between("raed", "Read"), slips_between("sea", "search")), (1, 3));
        assert_eq!(nearest(&"a".repeat(10_000), KNOWN), None);
    }

    #[test]
    fn lists() {
        assert_eq!(likely("fnd", ["find", "fund", "find", "fond", "bash"], 2), ["find", "fund"]);
        assert_eq!(likely("nothing like it", KNOWN, 2), [""; 0]);
    }

    proptest! {
        #[test]
        fn distance_is_a_distance(a in "[abc]{0,8}", b in "[abc]{0,8}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            prop_assert_eq!(slips(&a, &b), slips(&b, &a));
            prop_assert_eq!(slips(&a, &b) == 0, a == b);
            prop_assert!(slips(&a, &b) <= a.len().max(b.len()));
        }
    }
}
