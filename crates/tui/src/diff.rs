//! Renders a file change as rows: line numbers, signs, and highlighted words that differ.

use omp_stdx::sanitize;
use omp_view::{DiffKind, DiffLine};
use unicode_segmentation::UnicodeSegmentation;

use crate::component::Space;
use crate::line::Line;
use crate::style::{Attrs, Style};
use crate::text::{TAB, append, clip, split};
use crate::theme::{Theme, Token};

/// Longer lines, or lines with more words, are not compared word by word.
const LONGEST_COMPARED: usize = 1000;
const MOST_WORDS: usize = 160;

/// Returns rows with number, sign and text; long lines wrap below their text.
pub fn draw_diff(lines: &[DiffLine], space: &Space<'_>) -> Vec<Line> {
    if lines.iter().any(|line| sanitize::hides_something(&line.text)) {
        let reveal = |line: &DiffLine| DiffLine { text: sanitize::reveal_invisible(&line.text).into_owned(), ..*line };
        return draw_shown(&lines.iter().map(reveal).collect::<Vec<_>>(), space);
    }
    draw_shown(lines, space)
}

fn draw_shown(lines: &[DiffLine], space: &Space<'_>) -> Vec<Line> {
    let digits = lines.iter().map(|line| line.line).max().unwrap_or(0).to_string().len();
    let emphasis = emphasized(lines);
    let mut rows = Vec::with_capacity(lines.len());
    for (line, changed) in lines.iter().zip(&emphasis) {
        rows.extend(draw_line(line, changed, digits, space));
    }
    rows
}

/// Byte ranges that differ from the other side.
type ChangedRanges = Vec<std::ops::Range<usize>>;

fn draw_line(line: &DiffLine, changed: &ChangedRanges, digits: usize, space: &Space<'_>) -> Vec<Line> {
    let theme = space.theme;
    let muted = theme.fg(Token::ToolDiffContext);
    let (sign, style) = match line.kind {
        DiffKind::Added => ('+', theme.fg(Token::ToolDiffAdded)),
        DiffKind::Removed => ('-', theme.fg(Token::ToolDiffRemoved)),
        DiffKind::Kept => (' ', muted),
        DiffKind::Gap => {
            let row = format!("{:>digits$} {}", "⋯", line.text);
            return vec![clip(Line::styled(row.trim_end().to_owned(), muted), space.width)];
        }
    };
    let mut text = Line::default();
    push_text(&mut text, &line.text, changed, style, theme);
    let gutter = digits + 3;
    let pieces = split(&text, space.width.saturating_sub(gutter).max(1));
    let first = Line::styled(format!("{:>digits$} ", line.line), muted).with(format!("{sign} "), style);
    let starts = std::iter::once(first).chain(std::iter::repeat_with(|| Line::styled(" ".repeat(gutter), style)));
    let join = |(start, piece): (Line, Line)| {
        let mut row = Line::default();
        for span in start.spans.into_iter().chain(piece.spans) {
            append(&mut row, &span.text, span.style, None);
        }
        row
    };
    starts.zip(pieces).map(join).collect()
}

/// Adds the text in its style, with changed parts in reverse and tabs as arrows to distinguish them from spaces.
fn push_text(row: &mut Line, text: &str, changed: &ChangedRanges, style: Style, theme: &Theme) {
    let tab = Style { attrs: style.attrs, ..theme.fg(Token::Dim) };
    let mut column = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let emphasized = changed.iter().any(|range| range.contains(&at));
        let reversed = |style: Style| if emphasized { style.with(Attrs::REVERSE) } else { style };
        if grapheme == "\t" {
            let arrow = &"→       "[..'→'.len_utf8() + TAB - 1 - column % TAB];
            append(row, arrow, reversed(tab), None);
            column += TAB - column % TAB;
        } else if !grapheme.starts_with(char::is_control) {
            append(row, grapheme, reversed(style), None);
            column += omp_stdx::display_width::grapheme_width(grapheme);
        }
    }
}

/// Compares each removed line with the added line that replaced it.
fn emphasized(lines: &[DiffLine]) -> Vec<ChangedRanges> {
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
    let solid = |text: &str, words: &[std::ops::Range<usize>], kept: &[bool]| {
        let weight = |range: &std::ops::Range<usize>| text[range.clone()].trim().len();
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
fn common(
    old: &str,
    old_words: &[std::ops::Range<usize>],
    new: &str,
    new_words: &[std::ops::Range<usize>],
) -> (Vec<bool>, Vec<bool>) {
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
fn joined(words: &[std::ops::Range<usize>], kept: &[bool]) -> ChangedRanges {
    let mut ranges = ChangedRanges::new();
    for (range, _) in words.iter().zip(kept).filter(|(_, kept)| !**kept) {
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range.clone()),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::marks::{marked, theme};
    use proptest::prelude::*;

    fn lines(rows: &[(DiffKind, usize, &str)]) -> Vec<DiffLine> {
        rows.iter().map(|(kind, line, text)| DiffLine { kind: *kind, line: *line, text: (*text).to_owned() }).collect()
    }

    fn drawn(rows: &[(DiffKind, usize, &str)], width: usize) -> String {
        let theme = theme();
        marked(&draw_diff(&lines(rows), &Space { width, height: 10, theme: &theme, focused: false }))
    }

    #[test]
    fn nothing_hides_in_a_line_and_gaps_say_how_much_is_left_out() {
        let rows = [(DiffKind::Added, 1, "if a \u{202e}{ \u{200b}b"), (DiffKind::Gap, 0, "12 more lines")];
        let shown = drawn(&rows, 40);
        assert!(shown.contains("if a <U+202E>{ <U+200B>b") && shown.contains("⋯ 12 more lines"), "{shown}");
    }

    #[test]
    fn numbers_signs_words_and_gaps() {
        let rows = [
            (DiffKind::Kept, 8, "fn main() {"),
            (DiffKind::Removed, 9, "\tlet total = add(1, 2);"),
            (DiffKind::Added, 9, "\tlet sum = add(1, 3);"),
            (DiffKind::Gap, 0, ""),
            (DiffKind::Removed, 120, "completely"),
            (DiffKind::Added, 119, "other words here"),
        ];
        insta::assert_snapshot!(drawn(&rows, 40), @"
        {toolDiffContext|  8   fn main() {}
        {toolDiffContext|  9 }{toolDiffRemoved|- }{dim|→   }{toolDiffRemoved|let }{r toolDiffRemoved|total}{toolDiffRemoved| = add(1, }{r toolDiffRemoved|2}{toolDiffRemoved|);}
        {toolDiffContext|  9 }{toolDiffAdded|+ }{dim|→   }{toolDiffAdded|let }{r toolDiffAdded|sum}{toolDiffAdded| = add(1, }{r toolDiffAdded|3}{toolDiffAdded|);}
        {toolDiffContext|  ⋯}
        {toolDiffContext|120 }{toolDiffRemoved|- completely}
        {toolDiffContext|119 }{toolDiffAdded|+ other words here}
        ");
    }

    #[test]
    fn long_lines_go_on_below_their_text() {
        insta::assert_snapshot!(drawn(&[(DiffKind::Added, 7, "0123456789\u{1b}[2Jabc日本")], 12), @"
        {toolDiffContext|7 }{toolDiffAdded|+ 01234567}
        {toolDiffAdded|    89[2Jabc}
        {toolDiffAdded|    日本}
        ");
    }

    proptest! {
        #[test]
        fn any_lines_are_drawn(old in "[a-c \t日\u{1b}]{0,20}", new in "[a-c \t日\u{1b}]{0,20}", width in 0usize..20) {
            let theme = theme();
            let rows = lines(&[(DiffKind::Removed, 1, &old), (DiffKind::Added, 1, &new)]);
            let drawn = draw_diff(&rows, &Space { width, height: 10, theme: &theme, focused: false });
            prop_assert!(drawn.iter().all(|row| row.width() <= width.max(6) && !row.text().contains(char::is_control)));
        }
    }
}
