//! Locates text after it was laid out for another width.
//!
//! Only letters and digits count: spaces at row ends change, and drawn lines are as long as the screen is wide. A picture
//! contains no text. The text up to a row is stored as a length and a rolling sum, from which the sum of any part can be
//! computed.

use crate::frame::Rows;
use crate::line::Line;

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// Letters of context that identify a position; the second value is used if the first finds nothing.
const CONTEXTS: [usize; 2] = [160, 24];
/// Rows before the position that are tried if the context is not found, as in a table.
const STEPS: usize = 24;

/// The length and the sum of the text up to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPosition {
    letters: usize,
    sum: u64,
}

impl TextPosition {
    pub fn after(self, line: &Line) -> TextPosition {
        letters(line).fold(self, TextPosition::with)
    }

    fn with(self, letter: char) -> TextPosition {
        TextPosition {
            letters: self.letters + 1,
            sum: self.sum.wrapping_mul(BASE).wrapping_add(u64::from(u32::from(letter)) + 1),
        }
    }

    /// Returns the sum of the text between another position and this one.
    fn since(self, start: TextPosition) -> u64 {
        self.sum.wrapping_sub(start.sum.wrapping_mul(power(self.letters - start.letters)))
    }
}

fn letters(line: &Line) -> impl Iterator<Item = char> {
    let spans = if line.is_picture() { &[][..] } else { &line.spans };
    spans.iter().flat_map(|span| span.text.chars()).filter(|char| char.is_alphanumeric())
}

fn power(mut exponent: usize) -> u64 {
    let (mut result, mut factor) = (1u64, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(factor);
        }
        factor = factor.wrapping_mul(factor);
        exponent >>= 1;
    }
    result
}

/// All the text of a frame.
pub struct Stream {
    /// The position after each letter, starting with zero letters.
    places: Vec<TextPosition>,
    /// The number of letters up to the end of each row.
    ends: Vec<usize>,
}

impl Stream {
    pub fn of(rows: &dyn Rows) -> Self {
        let mut place = TextPosition::default();
        let (mut places, mut ends) = (vec![place], Vec::with_capacity(rows.len()));
        for at in 0..rows.len() {
            for letter in letters(rows.row(at)) {
                place = place.with(letter);
                places.push(place);
            }
            ends.push(place.letters);
        }
        Self { places, ends }
    }

    /// Returns the number of rows that contain only text of the old rows with these end positions. Returns zero if it cannot
    /// be determined: rows appear twice rather than never.
    pub fn covered_by(&self, old: &[TextPosition]) -> usize {
        let Some(last) = old.len().checked_sub(1) else { return 0 };
        let near = last.saturating_sub(STEPS)..=last;
        let far = (1..).map(|step| STEPS << step).take_while(|back| *back <= last).map(|back| last - back);
        let found = near.rev().chain(far).find_map(|row| {
            let end = CONTEXTS.iter().find_map(|context| self.find(old, row, *context))?;
            let blank = old[..row].iter().rev().take_while(|place| place.letters == old[row].letters).count();
            Some(self.rows_until(end, blank))
        });
        found.unwrap_or(0)
    }

    /// Returns the number of letters up to the text that ended the old row.
    fn find(&self, old: &[TextPosition], row: usize, context: usize) -> Option<usize> {
        let end = old[row];
        let start = old[..row].iter().rposition(|place| end.letters - place.letters >= context);
        let start = start.map_or(TextPosition::default(), |at| old[at]);
        let length = end.letters.checked_sub(start.letters).filter(|length| *length > 0)?;
        let (wanted, power) = (end.since(start), power(length));
        let found = |at: &usize| {
            let (from, to) = (self.places[at - length], self.places[*at]);
            to.sum.wrapping_sub(from.sum.wrapping_mul(power)) == wanted
        };
        (length..self.places.len()).filter(found).min_by_key(|at| at.abs_diff(end.letters))
    }

    /// Returns the whole rows up to a letter, plus at most `blank` following rows without letters.
    fn rows_until(&self, letters: usize, blank: usize) -> usize {
        let before = self.ends.partition_point(|end| *end < letters);
        match self.ends.get(before) {
            Some(end) if *end == letters => {
                let blanks = self.ends[before + 1..].iter().take_while(|end| **end == letters).count();
                before + 1 + blanks.min(blank)
            }
            _ => before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &[&str], new: &[&str], expect: usize) {
        let lines = |rows: &[&str]| rows.iter().map(|row| Line::from((*row).to_owned())).collect::<Vec<_>>();
        let mut place = TextPosition::default();
        let places: Vec<TextPosition> = lines(old)
            .iter()
            .map(|line| {
                place = place.after(line);
                place
            })
            .collect();
        assert_eq!(Stream::of(&lines(new)).covered_by(&places), expect, "{old:?} {new:?}");
    }

    #[test]
    fn text_is_found_at_another_width() {
        check(&["one two", "three"], &["one two three", "four"], 1);
        check(&["one two", "three"], &["one", "two", "three", "four"], 3);
        // A row that was committed only in part is written again.
        check(&["one two", "three"], &["one", "two three four"], 1);
        check(&["one two"], &["one", "two", "", "three"], 2);
        check(&["one two", ""], &["one", "two", "", "", "three"], 3);
        check(&["one", "────"], &["one", "──────", "two"], 2);
        check(&[], &["one"], 0);
    }

    #[test]
    fn text_that_was_cut_before_does_not_matter() {
        let long = "the quick brown fox jumps over the lazy dog and runs away";
        check(&["a tool said somet…", long], &["a tool said something", long, "more"], 2);
        // The last row cannot be found, but the one before it can.
        check(&[long, "and it said somet…"], &[long, "and it said so…", "more"], 1);
        check(&["nothing", "of this"], &["is there"], 0);
    }

    #[test]
    fn of_two_places_the_nearer_one_is_meant() {
        let said = "the same words at two places, both long enough";
        check(&[said], &[said, "between", said], 1);
        check(
            &[said, "between", said],
            &["the same words at two places,", "both long enough", "between", said, "x"],
            4,
        );
    }
}
