//! Fair paging: the first match of every file, then the second match of every file, and so on.

use std::ops::Range;

/// Returns for each file (with `counts` matches) the range of matches on the page of `limit` matches after `skip`.
pub(super) fn ranges(counts: &[u64], skip: u64, limit: u64) -> Vec<Range<u64>> {
    let start = taken(counts, skip);
    let end = taken(counts, skip.saturating_add(limit));
    start.into_iter().zip(end).map(|(start, end)| start..end).collect()
}

/// Returns how many matches of each file are among the first `position`.
fn taken(counts: &[u64], position: u64) -> Vec<u64> {
    let sum_of_rounds = |rounds: u64| counts.iter().map(|count| *count.min(&rounds)).sum::<u64>();
    // Finds the number of complete rounds by bisection, because there may be millions.
    let (mut rounds, mut too_many) = (0, counts.iter().max().map_or(0, |most| most + 1));
    while too_many - rounds > 1 {
        let middle = rounds + (too_many - rounds) / 2;
        if sum_of_rounds(middle) <= position { rounds = middle } else { too_many = middle }
    }
    let mut left = position - sum_of_rounds(rounds);
    let mut one_more = |count: u64| {
        let more = u64::from(left > 0 && count > rounds);
        left -= more;
        more
    };
    counts.iter().map(|count| count.min(&rounds) + one_more(*count)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(counts: &[u64], skip: u64, limit: u64, expect: &[Range<u64>]) {
        assert_eq!(ranges(counts, skip, limit), expect);
    }

    #[test]
    fn every_file_gets_its_turn() {
        check(&[], 0, 10, &[]);
        check(&[500, 1, 1], 0, 10, &[0..8, 0..1, 0..1]);
        check(&[500, 1, 1], 10, 10, &[8..18, 1..1, 1..1]);
        check(&[3, 3], 0, 3, &[0..2, 0..1]);
        check(&[3, 3], 3, 3, &[2..3, 1..3]);
        check(&[2, 2], 9, 5, &[2..2, 2..2]);
        check(&[2, 1], u64::MAX, u64::MAX, &[2..2, 1..1]);
    }

    proptest! {
        #[test]
        fn pages_cover_everything_once(counts in prop::collection::vec(1u64..30, 0..20), limit in 1u64..50) {
            let total: u64 = counts.iter().sum();
            let mut reached = vec![0; counts.len()];
            for page in 0..=total / limit {
                for (reached, range) in reached.iter_mut().zip(ranges(&counts, page * limit, limit)) {
                    prop_assert_eq!(*reached, range.start);
                    *reached = range.end;
                }
            }
            prop_assert_eq!(reached, counts);
        }
    }
}
