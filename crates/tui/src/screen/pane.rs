//! Finds the rows of a conversation in the history of a multiplexer, from what the multiplexer itself reports.
//!
//! Only letters and digits are compared, because the history may be wrapped at another width than the frame.

use super::Size;
use crate::frame::Rows;
use crate::line::{Line, Span};

/// Committed rows before the last one in which the end of the history is searched.
const LOOK_BACK: usize = 1000;
/// Letters that identify a position; the second value is used if the first finds nothing.
const CONTEXTS: [usize; 2] = [160, 24];
/// Letters of the first rows.
const BEGINNING: usize = 600;
/// Limits the rows at the end of the history that belong to no row of the frame any more.
const STALE: usize = 300;

/// What a pane of a multiplexer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneContent {
    pub size: Size,
    /// The row of the cursor on the screen.
    pub cursor_row: usize,
    /// The last rows of the history, the oldest first.
    pub history: Vec<String>,
    /// The rows of the screen.
    pub screen: Vec<String>,
}

/// History rows to request: more than any window has.
const HISTORY_ROWS: usize = 500;

impl PaneContent {
    /// Returns the arguments of tmux that print the content of a pane in the form that [`Self::parse`] reads.
    pub fn tmux_arguments(pane: &str) -> Vec<String> {
        const FACTS: &str = "#{pane_width} #{pane_height} #{cursor_y} #{history_size}";
        let start = format!("-{HISTORY_ROWS}");
        let words =
            ["-u", "display-message", "-p", "-t", pane, FACTS, ";", "capture-pane", "-p", "-t", pane, "-S", &start];
        words.into_iter().map(str::to_owned).collect()
    }

    pub fn parse(printed: &str) -> Option<Self> {
        let (facts, rows) = printed.split_once('\n')?;
        let mut numbers = facts.split(' ').map(|number| number.trim().parse::<usize>().ok());
        let mut number = || numbers.next().flatten();
        let size = Size { width: number()?, height: number()? };
        let (cursor_row, kept) = (number()?, number()?.min(HISTORY_ROWS));
        let mut history: Vec<String> = rows.lines().map(str::to_owned).collect();
        let screen = history.split_off(kept.min(history.len()));
        Some(Self { size, cursor_row, history, screen })
    }

    /// Returns the screen row at which the frame begins, if it begins on the screen.
    pub(super) fn first_row(&self, rows: &dyn Rows) -> Option<usize> {
        let first: Vec<char> =
            (0..rows.len().min(LOOK_BACK)).map(|at| letters(rows.row(at))).find(|row| !row.is_empty())?;
        let blank = (0..rows.len()).take_while(|at| letters(rows.row(*at)).is_empty()).count();
        let begins = |row: &String| {
            let shown: Vec<char> = row.chars().filter(|char| char.is_alphanumeric()).collect();
            !shown.is_empty() && (first.starts_with(&shown) || shown.starts_with(&first))
        };
        self.screen.iter().position(begins)?.checked_sub(blank)
    }
}

/// The part of a frame that the history holds: whole rows, and the first letters of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldRows {
    pub rows: usize,
    pub letters: usize,
    /// Other characters that follow those letters, such as a full stop.
    pub signs: usize,
}

/// What was known before the resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRows {
    /// The rows written into the history.
    pub committed: usize,
    /// Rows between them and the window were not shown, so the rows of the window do not continue the history.
    pub hidden: bool,
}

/// Finds the end of the history in the frame. Returns `None` if it cannot be found.
pub fn held_rows(history: &[String], rows: &dyn Rows, known: KnownRows) -> Option<HeldRows> {
    let text = FrameText::of(rows, known);
    let held: Vec<Vec<char>> =
        history.iter().map(|row| row.chars().filter(|char| char.is_alphanumeric()).collect()).collect();
    let mut all: Vec<char> = held.concat();
    let mut blank = 0;
    for (stale, row) in held.iter().rev().enumerate().take(STALE) {
        if row.is_empty() {
            blank += 1;
        } else if let Some(end) = text.end_of(&all) {
            // Rows without letters are counted only if nothing else follows.
            let held = text.rows_until(end, if blank == stale { blank } else { 0 });
            // A row that was shortened, and not wrapped, does not continue within a word.
            let last = &history[history.len() - 1 - stale];
            let wrapped = last.ends_with(char::is_alphanumeric);
            let continues = wrapped || held.letters == 0 || !text.is_within_word(rows, held);
            let signs = last.chars().rev().take_while(|char| !char.is_alphanumeric() && !char.is_whitespace()).count();
            return Some(if continues { HeldRows { signs, ..held } } else { HeldRows { letters: 0, ..held } });
        }
        all.truncate(all.len() - row.len());
    }
    None
}

/// Finds the beginning of the screen in the frame, where the history has nothing that can be found.
pub fn rows_above_screen(screen: &[String], rows: &dyn Rows, known: KnownRows) -> Option<HeldRows> {
    let text = FrameText::of(rows, known);
    let shown: Vec<char> = screen.iter().flat_map(|row| row.chars()).filter(|char| char.is_alphanumeric()).collect();
    let context = CONTEXTS[1];
    let wanted = shown.get(..context)?;
    let found = (0..text.letters.len().saturating_sub(context)).filter(|at| text.letters[*at..at + context] == *wanted);
    let start = found.min_by_key(|at| at.abs_diff(text.known)).filter(|start| *start > 0 && !known.hidden)?;
    Some(text.rows_until(start, 0))
}

/// The letters of the frame around the last committed row.
struct FrameText {
    /// The first row that is included.
    first: usize,
    letters: Vec<char>,
    /// The number of letters up to the end of each row.
    ends: Vec<usize>,
    /// The number of letters up to the end of the committed rows.
    known: usize,
    hidden: bool,
}

impl FrameText {
    fn of(rows: &dyn Rows, known: KnownRows) -> Self {
        let content = rows.len().saturating_sub(rows.chrome());
        let committed = known.committed.min(content);
        let first = committed.saturating_sub(LOOK_BACK);
        let mut text = Self { first, letters: Vec::new(), ends: Vec::new(), known: 0, hidden: known.hidden };
        for at in first..content {
            text.letters.extend(letters(rows.row(at)));
            text.ends.push(text.letters.len());
        }
        text.known = committed.checked_sub(first + 1).map_or(0, |last| text.ends[last]);
        text
    }

    /// Returns the position at which these letters end; the one nearest to the committed rows if there are several.
    fn end_of(&self, held: &[char]) -> Option<usize> {
        CONTEXTS.into_iter().filter(|context| *context <= held.len()).find_map(|context| {
            let wanted = &held[held.len() - context..];
            let last = wanted[context - 1];
            let found = (context..=self.letters.len())
                .filter(|end| self.letters[end - 1] == last && self.letters[end - context..*end] == *wanted);
            let mut found: Vec<usize> = found.filter(|end| self.is_credible(held, *end)).collect();
            found.sort_by_key(|end| end.abs_diff(self.known));
            found.first().copied()
        })
    }

    /// Rows that were not known to be held must follow those that are, for a row that was drawn in a wrong place may be held
    /// too. The first rows of all may look different at another width.
    fn is_credible(&self, held: &[char], end: usize) -> bool {
        let new = end.saturating_sub(self.known).min(CONTEXTS[0]);
        let begins = self.known == 0 && end < BEGINNING;
        let follows = || new <= held.len() && held[held.len() - new..] == self.letters[end - new..end];
        new == 0 || (!self.hidden && (begins || follows()))
    }

    /// Whether the held part of a row ends within a word.
    fn is_within_word(&self, rows: &dyn Rows, held: HeldRows) -> bool {
        let mut left = held.letters;
        let mut chars = rows.row(held.rows).spans.iter().flat_map(|span| span.text.chars());
        let next = chars.find(|char| match left {
            0 => true,
            _ => {
                left -= usize::from(char.is_alphanumeric());
                false
            }
        });
        next.is_some_and(char::is_alphanumeric)
    }

    fn rows_until(&self, end: usize, blank: usize) -> HeldRows {
        let row = self.ends.partition_point(|row_end| *row_end < end);
        if self.ends[row] == end {
            let blanks = self.ends[row + 1..].iter().take_while(|row_end| **row_end == end).count();
            return HeldRows { rows: self.first + row + 1 + blanks.min(blank), letters: 0, signs: 0 };
        }
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        HeldRows { rows: self.first + row, letters: end - start, signs: 0 }
    }
}

fn letters(line: &Line) -> Vec<char> {
    if line.is_picture() {
        return Vec::new();
    }
    line.spans.iter().flat_map(|span| span.text.chars()).filter(|char| char.is_alphanumeric()).collect()
}

/// Returns a row without its first letters and the signs behind them, which are in the history already.
pub fn rest_of(line: &Line, held: HeldRows) -> Line {
    let (mut left, mut signs) = (held.letters, held.signs);
    let mut rest = Line { spans: Vec::new(), cursor: None, ..line.clone() };
    for span in &line.spans {
        let mut from = 0;
        for (at, char) in span.text.char_indices() {
            let is_letter = char.is_alphanumeric();
            if left == 0 && (signs == 0 || is_letter || char.is_whitespace()) {
                signs = 0;
                break;
            }
            signs -= usize::from(left == 0);
            left -= usize::from(left > 0 && is_letter);
            from = at + char.len_utf8();
        }
        let text = if rest.spans.is_empty() { span.text[from..].trim_start() } else { &span.text[from..] };
        if left == 0 && !text.is_empty() {
            rest.spans.push(Span { text: text.to_owned().into(), ..span.clone() });
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    fn lines(rows: &[&str]) -> Vec<Line> {
        rows.iter().map(|row| Line::from((*row).to_owned())).collect()
    }

    #[track_caller]
    fn check(history: &[&str], rows: &[&str], committed: usize, expect: Option<(usize, usize)>) {
        check_known(history, rows, KnownRows { committed, hidden: false }, expect);
    }

    #[track_caller]
    fn check_known(history: &[&str], rows: &[&str], known: KnownRows, expect: Option<(usize, usize)>) {
        let history: Vec<String> = history.iter().map(|row| (*row).to_owned()).collect();
        let found = held_rows(&history, &lines(rows), known).map(|held| (held.rows, held.letters));
        assert_eq!(found, expect, "{history:?} {rows:?}");
    }

    fn letters_held(letters: usize) -> HeldRows {
        HeldRows { rows: 0, letters, signs: 0 }
    }

    const A: &str = "the quick brown fox jumps over the lazy dog";
    const B: &str = "and the second row is about something else entirely";
    const C: &str = "while the third one has a few numbers, 1, 2 and 3, in it";

    #[test]
    fn the_end_of_the_history_is_found_in_the_frame() {
        check(&["$ omp", A, B], &[A, B, C], 2, Some((2, 0)));
        // The window shrank: another row went into the history, or grew: one came back.
        check(&["$ omp", A, B], &[A, B, C], 1, Some((2, 0)));
        check(&["$ omp", A], &[A, B, C], 2, Some((1, 0)));
        check(&["$ omp", A, B, "", ""], &[A, B, "", C], 2, Some((3, 0)));
        check(&["$ omp", "ls"], &[A, B, C], 0, None);
        check(&[], &[A, B, C], 0, None);
    }

    #[test]
    fn rows_at_the_end_that_changed_since_are_skipped() {
        check(&[A, B, "Working 3 s"], &[A, B, C], 2, Some((2, 0)));
    }

    #[test]
    fn rows_that_were_not_shown_are_not_taken_for_held() {
        // The window showed C while B was hidden.
        check_known(&[A, C], &[A, B, C], KnownRows { committed: 1, hidden: true }, Some((1, 0)));
    }

    #[test]
    fn a_row_may_be_held_in_part() {
        let wide = format!("{A} {B}");
        check(&["x", A, B, "while the third one has a"], &[&wide, C], 1, Some((1, 20)));
        assert_eq!(rest_of(&Line::from(C), letters_held(20)).text(), "few numbers, 1, 2 and 3, in it");
        // tmux wraps within words.
        check(&["x", A, B, "while the thi"], &[&wide, C], 1, Some((1, 11)));
        assert_eq!(rest_of(&Line::from(C), letters_held(11)).text(), "rd one has a few numbers, 1, 2 and 3, in it");
        // A row that was cut to fit is written again.
        check(&["x", A, B, "while the thi…"], &[&wide, C], 1, Some((1, 0)));
        let stop = HeldRows { signs: 1, ..letters_held(2) };
        assert_eq!(rest_of(&Line::from("p1.28 p1.29"), stop).text(), "28 p1.29");
        let styled =
            Line { spans: vec![Span::new("one two ", Style::PLAIN), Span::new("three", Style::PLAIN)], ..Line::new() };
        assert_eq!(rest_of(&styled, letters_held(3)).text(), "two three");
        assert_eq!(rest_of(&styled, letters_held(6)).text(), "three");
    }

    #[test]
    fn what_tmux_prints_is_read() {
        let printed = "80 3 1 2\nold 1\nold 2\nrow 1\nrow 2\n\n";
        let pane = PaneContent::parse(printed).unwrap();
        assert_eq!(pane.size, Size { width: 80, height: 3 });
        assert_eq!((pane.cursor_row, pane.history.len(), pane.screen.len()), (1, 2, 3));
        assert_eq!(pane.first_row(&lines(&["", "row 2"])), Some(0));
        assert_eq!(pane.first_row(&lines(&["another"])), None);
        assert_eq!(PaneContent::parse("can't find pane"), None);
    }
}
