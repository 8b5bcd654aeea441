//! The words in which a removed line differs from the line that replaced it.

use std::ops::Range;

use omp_stdx::sanitize;
use omp_view::{DiffKind, DiffLine};
use unicode_segmentation::UnicodeSegmentation;

/// Longer lines, or lines with more words, are not compared word by word.
const LONGEST_COMPARED: usize = 1000;
const MOST_WORDS: usize = 160;

/// Byte ranges that differ from the other side.
pub type ChangedRanges = Vec<Range<usize>>;

/// Compares each removed line with the added line that replaced it.
pub fn changed_words(lines: &[DiffLine]) -> Vec<ChangedRanges> {
    let mut result = vec![ChangedRanges::new(); lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, kind: DiffKind| lines[from..].iter().take_while(|line| line.kind == kind).count();
        let removed = run(at, DiffKind::Removed);
        let added = run(at + removed, DiffKind::Added);
        for pair in 0..removed.min(added) {
            let (old, new) = (at + pair, at + removed + pair);
            (result[old], result[new]) = compare(&lines[old].text, &lines[new].text);
        }
        at += (removed + added).max(1);
    }
    result
}

/// Returns the words of each line that the other lacks; nothing if the lines have little in common.
fn compare(old: &str, new: &str) -> (ChangedRanges, ChangedRanges) {
    let nothing = (ChangedRanges::new(), ChangedRanges::new());
    if old.len().max(new.len()) > LONGEST_COMPARED || sanitize::strip_control(old) == sanitize::strip_control(new) {
        return nothing;
    }
    let words = |text: &str| text.split_word_bound_indices().map(|(at, word)| at..at + word.len()).collect::<Vec<_>>();
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len().max(new_words.len()) > MOST_WORDS {
        return nothing;
    }
    let (old_kept, new_kept) = common(old, &old_words, new, &new_words);
    let solid = |text: &str, words: &[Range<usize>], kept: &[bool]| {
        let weight = |range: &Range<usize>| text[range.clone()].trim().len();
        words.iter().zip(kept).filter(|(_, kept)| **kept).map(|(range, _)| weight(range)).sum::<usize>()
    };
    let same = solid(old, &old_words, &old_kept);
    let longer = old.trim().len().max(new.trim().len());
    if same * 10 < longer * 3 {
        return nothing;
    }
    (joined(&old_words, &old_kept), joined(&new_words, &new_kept))
}

/// Returns which words belong to the longest common subsequence.
fn common(old: &str, old_words: &[Range<usize>], new: &str, new_words: &[Range<usize>]) -> (Vec<bool>, Vec<bool>) {
    let (rows, columns) = (old_words.len(), new_words.len());
    let same = |row: usize, column: usize| old[old_words[row].clone()] == new[new_words[column].clone()];
    let width = columns + 1;
    let mut lengths = vec![0u16; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            lengths[row * width + column] = if same(row, column) {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut old_kept, mut new_kept) = (vec![false; rows], vec![false; columns]);
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        if same(row, column) {
            (old_kept[row], new_kept[column]) = (true, true);
            (row, column) = (row + 1, column + 1);
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    (old_kept, new_kept)
}

/// Merges adjacent changed words into one range.
fn joined(words: &[Range<usize>], kept: &[bool]) -> ChangedRanges {
    let mut ranges = ChangedRanges::new();
    for (range, _) in words.iter().zip(kept).filter(|(_, kept)| !**kept) {
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range.clone()),
        }
    }
    ranges
}
