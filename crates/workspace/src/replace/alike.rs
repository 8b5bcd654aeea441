//! Finds similar text: compares windows of the same number of lines by edit distance, with bounded work.

use super::ladder::plain_punctuation;
use crate::text_file::TextFile;

/// Size limit for approximate matching; longer blocks must match exactly.
const MOST_BYTES: usize = 8 * 1024;
/// Limit on windows that are compared in full. More candidates indicate a repetitive file, not a match.
const MOST_WINDOWS: usize = 64;

/// Returns windows with a similarity of at least `threshold`, best first, and the similarity of the best.
pub fn similar_places(
    file: &TextFile,
    block: &[&str],
    threshold: f64,
    allowed: &dyn Fn(usize) -> bool,
) -> (Vec<usize>, f64) {
    let wanted = joined(block.iter().map(|line| line.as_bytes()));
    let nothing = (Vec::new(), 0.0);
    if wanted.is_empty() || wanted.len() > MOST_BYTES || !(0.5..=1.0).contains(&threshold) {
        return nothing;
    }
    let candidates = plausible(file, block.len(), &wanted, threshold);
    if candidates.len() > MOST_WINDOWS {
        return nothing;
    }
    let mut scored: Vec<(f64, usize)> = candidates
        .into_iter()
        .filter(|start| allowed(*start))
        .filter_map(|start| {
            let window = joined((start..start + block.len()).map(|at| file.raw_line(at)));
            likeness(&wanted, &window, threshold).map(|likeness| (likeness, start))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // A window that overlaps a better one is the same match, shifted.
    let mut kept: Vec<usize> = Vec::new();
    for (_, start) in &scored {
        if kept.iter().all(|other| start.abs_diff(*other) >= block.len()) {
            kept.push(*start);
        }
    }
    (kept, scored.first().map_or(0.0, |(best, _)| *best))
}

fn joined<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        out.extend_from_slice(&plain_punctuation(line));
        out.push(b'\n');
    }
    out
}

/// Returns the windows whose letter counts do not rule out the required similarity.
fn plausible(file: &TextFile, lines: usize, wanted: &[u8], threshold: f64) -> Vec<usize> {
    let mut difference = [0i64; 256];
    wanted.iter().for_each(|byte| difference[usize::from(*byte)] -= 1);
    let mut length = 0usize;
    let mut found = Vec::new();
    let add = |line: &[u8], sign: i64, difference: &mut [i64; 256]| {
        let line = plain_punctuation(line);
        line.iter().chain(b"\n").for_each(|byte| difference[usize::from(*byte)] += sign);
        line.len() + 1
    };
    for end in 0..file.line_count() {
        length += add(file.raw_line(end), 1, &mut difference);
        if end >= lines {
            length -= add(file.raw_line(end - lines), -1, &mut difference);
        }
        if end + 1 >= lines {
            let most = ((1.0 - threshold) * length.max(wanted.len()) as f64).floor() as i64;
            let apart: i64 = difference.iter().map(|count| count.abs()).sum();
            if (apart + 1) / 2 <= most {
                found.push(end + 1 - lines);
            }
        }
    }
    found
}

/// Returns one minus the share of edits, or `None` below the threshold.
fn likeness(a: &[u8], b: &[u8], threshold: f64) -> Option<f64> {
    let longest = a.len().max(b.len());
    let most = ((1.0 - threshold) * longest as f64).floor() as usize;
    let distance = distance_within(a, b, most)?;
    Some(1.0 - distance as f64 / longest.max(1) as f64)
}

/// Returns the edit distance if it is at most `most`; only that band of the table is computed.
fn distance_within(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let far = most + 1;
    let mut row: Vec<usize> = (0..=b.len()).map(|at| at.min(far)).collect();
    for (i, left) in a.iter().enumerate() {
        let (from, to) = (i.saturating_sub(most), (i + most + 1).min(b.len()));
        let mut diagonal = row[from];
        row[from] = if from == 0 { (i + 1).min(far) } else { far };
        for j in from..to {
            let cost = diagonal + usize::from(*left != b[j]);
            diagonal = row[j + 1];
            let above = if j + 1 > i + most { far } else { diagonal };
            row[j + 1] = cost.min(above + 1).min(row[j] + 1).min(far);
        }
    }
    row.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The textbook algorithm with the whole table.
    fn plain_distance(a: &[u8], b: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, left) in a.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for j in 0..b.len() {
                let cost = diagonal + usize::from(*left != b[j]);
                diagonal = row[j + 1];
                row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
            }
        }
        row[b.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn the_band_agrees_with_the_whole_table(a in "[ab]{0,12}", b in "[ab]{0,12}", most in 0..8usize) {
            let whole = plain_distance(a.as_bytes(), b.as_bytes());
            prop_assert_eq!(distance_within(a.as_bytes(), b.as_bytes(), most), Some(whole).filter(|it| *it <= most));
        }
    }

    #[test]
    fn windows() {
        let file = TextFile::parse(&b"fn alpha() {\n    call_something(1, 2);\n}\nfn beta() {\n    other(3);\n}\n"[..]);
        let find = |block: &[&str], threshold| similar_places(&file, block, threshold, &|_| true).0;
        assert_eq!(find(&["call_somethin(1, 2);"], 0.9), [1]);
        assert_eq!(find(&["call_somethin(1, 2);"], 0.99), [0usize; 0]);
        assert_eq!(find(&["fn betta() {", "other(3);"], 0.9), [3]);
        assert_eq!(find(&["nothing like it"], 0.9), [0usize; 0]);
    }
}
