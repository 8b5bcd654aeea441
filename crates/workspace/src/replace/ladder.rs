//! Finds a block of lines in a file: first exactly, then with increasing tolerance. Every tolerance that was used is
//! reported.

use std::borrow::Cow;

use super::alike;
use crate::file_edit::EditRules;
use crate::text_file::TextFile;

/// How closely a text matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchRung {
    Exact,
    TrailingBlanks,
    Indentation,
    Punctuation,
    /// In percent.
    Similar(u8),
}

impl MatchRung {
    /// Describes the differences that were ignored, in words that follow "found".
    pub fn tolerance(self) -> Option<Cow<'static, str>> {
        Some(match self {
            MatchRung::Exact => return None,
            MatchRung::TrailingBlanks => "after ignoring trailing whitespace".into(),
            MatchRung::Indentation => "after ignoring indentation".into(),
            MatchRung::Punctuation => "after ignoring indentation and the kind of quotes, dashes and spaces".into(),
            MatchRung::Similar(percent) => format!("as the only similar text ({percent} % similar)").into(),
        })
    }
}

const LINE_RUNGS: [MatchRung; 4] =
    [MatchRung::Exact, MatchRung::TrailingBlanks, MatchRung::Indentation, MatchRung::Punctuation];

/// Returns the line numbers (counted from 0) where `block` matches, on the first rung with a match. `allowed` excludes
/// positions.
pub fn find_block(
    file: &TextFile,
    block: &[&str],
    rules: EditRules,
    allowed: &dyn Fn(usize) -> bool,
) -> Option<(MatchRung, Vec<usize>)> {
    if block.is_empty() || block.len() > file.line_count() {
        return None;
    }
    let rungs = if rules.fuzzy && has_text(block) { &LINE_RUNGS[..] } else { &LINE_RUNGS[..1] };
    for rung in rungs {
        let places = places_on(*rung, file, block, allowed);
        if !places.is_empty() {
            return Some((*rung, places));
        }
    }
    if !rules.fuzzy || !has_text(block) {
        return None;
    }
    let (places, likeness) = alike::similar_places(file, block, rules.threshold, allowed);
    (!places.is_empty()).then(|| (MatchRung::Similar((likeness * 100.0).floor() as u8), places))
}

fn has_text(block: &[&str]) -> bool {
    block.iter().any(|line| !line.trim().is_empty())
}

fn places_on(rung: MatchRung, file: &TextFile, block: &[&str], allowed: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let wanted: Vec<Cow<'_, [u8]>> = block.iter().map(|line| reduced(rung, line.as_bytes())).collect();
    let stands_at = |start: usize| {
        wanted.iter().enumerate().all(|(index, line)| reduced(rung, file.raw_line(start + index)) == *line)
    };
    (0..=file.line_count() - block.len()).filter(|start| stands_at(*start) && allowed(*start)).collect()
}

/// Removes the parts of a line that a rung ignores.
fn reduced(rung: MatchRung, line: &[u8]) -> Cow<'_, [u8]> {
    match rung {
        MatchRung::Exact => Cow::Borrowed(line),
        MatchRung::TrailingBlanks => Cow::Borrowed(line.trim_ascii_end()),
        MatchRung::Indentation => Cow::Borrowed(line.trim_ascii()),
        MatchRung::Punctuation | MatchRung::Similar(_) => plain_punctuation(line),
    }
}

/// Trims a line and replaces typographic quotes, dashes and spaces by their ASCII forms.
pub(super) fn plain_punctuation(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line.trim_ascii());
    }
    let text: String = String::from_utf8_lossy(line).chars().map(plain_char).collect();
    Cow::Owned(text.trim().as_bytes().to_vec())
}

fn plain_char(char: char) -> char {
    match char {
        '\u{2018}'..='\u{201b}' | '\u{2032}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        char => char,
    }
}

/// Returns the most similar positions, for an error message.
pub fn nearest(file: &TextFile, block: &[&str]) -> Vec<usize> {
    const MOST: usize = 3;
    const MOST_LINES: usize = 100;
    let block: Vec<&[u8]> = block.iter().take(MOST_LINES).map(|line| line.as_bytes().trim_ascii()).collect();
    let mut scored: Vec<(usize, usize)> = (0..file.line_count())
        .filter_map(|start| {
            let same = |(index, line): (usize, &&[u8])| {
                !line.is_empty()
                    && start + index < file.line_count()
                    && file.raw_line(start + index).trim_ascii() == *line
            };
            let score = block.iter().enumerate().filter(|pair| same(*pair)).count();
            (score > 0).then_some((score, start))
        })
        .collect();
    scored.sort_by_key(|(score, start)| (std::cmp::Reverse(*score), *start));
    scored.into_iter().take(MOST).map(|(_, start)| start).collect()
}
