//! Truncates text at character and line boundaries and always reports how much was omitted.

use std::borrow::Cow;

/// Which part of the text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Head,
    Tail,
    /// Both ends, without the middle; the head gets the odd byte or line.
    Ends,
}

/// The omitted part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    pub bytes: usize,
    /// Lines of the omitted part; a part of a line counts as one.
    pub lines: usize,
}

impl Cut {
    pub fn is_none(self) -> bool {
        self.bytes == 0
    }
}

/// The kept ends of a text. The omitted part was between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncated<'a> {
    pub head: &'a str,
    pub tail: &'a str,
    pub cut: Cut,
}

impl<'a> Truncated<'a> {
    /// Joins the ends, with a marker if something is missing.
    pub fn join(&self, marker: impl FnOnce(Cut) -> String) -> Cow<'a, str> {
        if self.cut.is_none() {
            return Cow::Borrowed(self.head);
        }
        Cow::Owned([self.head, &marker(self.cut), self.tail].concat())
    }

    fn whole(text: &'a str) -> Self {
        Self { head: text, tail: "", cut: Cut::default() }
    }

    fn without(text: &'a str, from: usize, to: usize) -> Self {
        if from >= to {
            return Self::whole(text);
        }
        let cut = Cut { bytes: to - from, lines: text[from..to].lines().count() };
        Self { head: &text[..from], tail: &text[to..], cut }
    }
}

/// Keeps at most `max` bytes without splitting a character.
pub fn by_bytes(text: &str, max: usize, keep: Keep) -> Truncated<'_> {
    if text.len() <= max {
        return Truncated::whole(text);
    }
    let (head, tail) = shares(max, keep);
    Truncated::without(text, text.floor_char_boundary(head), text.ceil_char_boundary(text.len() - tail))
}

/// Keeps at most `max` lines, each with its line break.
pub fn by_lines(text: &str, max: usize, keep: Keep) -> Truncated<'_> {
    let (head, tail) = shares(max, keep);
    Truncated::without(text, end_of_line(text, head), start_of_last(text, tail))
}

/// Keeps whole lines within both limits. A first (or last) line that alone exceeds `max_bytes` is truncated by bytes, so
/// that something is always shown if there is room for anything.
pub fn to_fit(text: &str, max_lines: usize, max_bytes: usize, keep: Keep) -> Truncated<'_> {
    let (head_lines, tail_lines) = shares(max_lines, keep);
    let (head_bytes, tail_bytes) = shares(max_bytes, keep);
    if text.len() <= max_bytes && end_of_line(text, max_lines) == text.len() {
        return Truncated::whole(text);
    }
    let from = end_of_line(text, head_lines).min(whole_lines_in_head(text, head_bytes));
    let to = start_of_last(text, tail_lines).max(whole_lines_in_tail(text, tail_bytes));
    Truncated::without(text, from, to)
}

fn shares(max: usize, keep: Keep) -> (usize, usize) {
    match keep {
        Keep::Head => (max, 0),
        Keep::Tail => (0, max),
        Keep::Ends => (max - max / 2, max / 2),
    }
}

/// Returns the offset after the first `count` lines.
fn end_of_line(text: &str, count: usize) -> usize {
    match count.checked_sub(1) {
        None => 0,
        Some(skip) => memchr::memchr_iter(b'\n', text.as_bytes()).nth(skip).map_or(text.len(), |at| at + 1),
    }
}

/// Returns the offset of the first of the last `count` lines; a final line break does not start another line.
fn start_of_last(text: &str, count: usize) -> usize {
    if count == 0 {
        return text.len();
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    memchr::memrchr_iter(b'\n', body.as_bytes()).nth(count - 1).map_or(0, |at| at + 1)
}

fn whole_lines_in_head(text: &str, max: usize) -> usize {
    if text.len() <= max {
        return text.len();
    }
    let end = text.floor_char_boundary(max);
    memchr::memrchr(b'\n', &text.as_bytes()[..end]).map_or(end, |at| at + 1)
}

fn whole_lines_in_tail(text: &str, max: usize) -> usize {
    if text.len() <= max {
        return 0;
    }
    let start = text.ceil_char_boundary(text.len() - max);
    if start == text.len() || text.as_bytes()[start - 1] == b'\n' {
        return start;
    }
    match memchr::memchr(b'\n', &text.as_bytes()[start..]) {
        Some(at) if start + at + 1 < text.len() => start + at + 1,
        _ => start,
    }
}

/// Returns how many of `total` rows are shown where there is room for `most` and a note about the others. A single extra
/// row takes as much room as the note, so it is shown.
pub fn rows_shown(total: usize, most: usize) -> usize {
    if total <= most + 1 { total } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(cut: Truncated<'_>) -> String {
        cut.join(|cut| format!("[{}B {}L]", cut.bytes, cut.lines)).into_owned()
    }

    #[test]
    fn bytes() {
        for (text, max, keep, want) in [
            ("hello", 5, Keep::Head, "hello"),
            ("hello", 2, Keep::Head, "he[3B 1L]"),
            ("hello", 2, Keep::Tail, "[3B 1L]lo"),
            ("hello", 3, Keep::Ends, "he[2B 1L]o"),
            ("añb", 2, Keep::Head, "a[3B 1L]"),
            ("añb", 2, Keep::Tail, "[3B 1L]b"),
            ("a\nb\nc", 0, Keep::Head, "[5B 3L]"),
            ("", 0, Keep::Ends, ""),
        ] {
            assert_eq!(marked(by_bytes(text, max, keep)), want, "{text:?} {max} {keep:?}");
        }
    }

    #[test]
    fn lines() {
        for (text, max, keep, want) in [
            ("a\nb\nc\n", 3, Keep::Head, "a\nb\nc\n"),
            ("a\nb\nc\n", 2, Keep::Head, "a\nb\n[2B 1L]"),
            ("a\nb\nc\n", 2, Keep::Tail, "[2B 1L]b\nc\n"),
            ("a\nb\nc", 1, Keep::Tail, "[4B 2L]c"),
            ("a\nb\nc\nd\n", 3, Keep::Ends, "a\nb\n[2B 1L]d\n"),
            ("a\nb\n", 0, Keep::Ends, "[4B 2L]"),
            ("\n\n", 1, Keep::Tail, "[1B 1L]\n"),
        ] {
            assert_eq!(marked(by_lines(text, max, keep)), want, "{text:?} {max} {keep:?}");
        }
    }

    #[test]
    fn fit() {
        for (text, lines, bytes, keep, want) in [
            ("aa\nbb\ncc\n", 9, 99, Keep::Head, "aa\nbb\ncc\n"),
            ("aa\nbb\ncc\n", 9, 7, Keep::Head, "aa\nbb\n[3B 1L]"),
            ("aa\nbb\ncc\n", 9, 7, Keep::Tail, "[3B 1L]bb\ncc\n"),
            ("aa\nbb\ncc\n", 1, 7, Keep::Tail, "[6B 2L]cc\n"),
            ("aaaaaa\nb\n", 9, 4, Keep::Head, "aaaa[5B 2L]"),
            ("b\naaaaaa\n", 9, 4, Keep::Tail, "[5B 2L]aaa\n"),
            ("aa\nbb\ncc\n", 9, 8, Keep::Ends, "aa\n[3B 1L]cc\n"),
        ] {
            assert_eq!(marked(to_fit(text, lines, bytes, keep)), want, "{text:?} {lines} {bytes} {keep:?}");
        }
    }

    fn keeps() -> impl Strategy<Value = Keep> {
        prop_oneof![Just(Keep::Head), Just(Keep::Tail), Just(Keep::Ends)]
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_limits_hold(text in "(\\PC|\n){0,60}", lines in 0usize..8, bytes in 0usize..40, keep in keeps()) {
            for (cut, max_bytes, max_lines) in [
                (by_bytes(&text, bytes, keep), bytes, usize::MAX),
                (by_lines(&text, lines, keep), usize::MAX, lines),
                (to_fit(&text, lines, bytes, keep), bytes, lines),
            ] {
                let kept = cut.head.len() + cut.tail.len();
                prop_assert_eq!(kept + cut.cut.bytes, text.len());
                prop_assert!(kept <= max_bytes);
                prop_assert!(cut.head.lines().count() + cut.tail.lines().count() <= max_lines);
                prop_assert!(text.starts_with(cut.head) && text.ends_with(cut.tail));
            }
        }
    }

    #[test]
    fn a_note_never_hides_a_single_row() {
        let shown: Vec<usize> = (0..6).map(|total| rows_shown(total, 3)).collect();
        assert_eq!(shown, [0, 1, 2, 3, 4, 3]);
    }
}
