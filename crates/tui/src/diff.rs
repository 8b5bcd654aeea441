//! Renders a file change as rows: line numbers, signs, bands of colour, highlighted code, and marks on the words that differ.
//!
//! A theme without bands gets coloured signs instead, and reversed words.

mod words;

use omp_stdx::sanitize;
use omp_view::{Diff, DiffKind, DiffLine};
use unicode_segmentation::UnicodeSegmentation;

pub use words::{ChangedRanges, changed_words};

use crate::component::Space;
use crate::highlight::Highlighter;
use crate::line::Line;
use crate::style::{Attrs, Color, Style};
use crate::text::{TAB, append, clip, split};
use crate::theme::{Theme, Token};

/// Lines and bytes of one diff that are highlighted; the rest stays plain.
const MOST_HIGHLIGHTED: usize = 2_000;
const MOST_HIGHLIGHTED_BYTES: usize = 256 * 1024;

/// Returns rows with number, sign and text; long lines wrap below their text.
pub fn draw_diff(diff: &Diff, space: &Space<'_>) -> Vec<Line> {
    draw_diff_head(diff, space, usize::MAX).0
}

/// Returns the first rows, at most `most` or a single one more, and the number of lines that are not among them.
pub fn draw_diff_head(diff: &Diff, space: &Space<'_>, most: usize) -> (Vec<Line>, usize) {
    // Every line has at least one row.
    let lines = &diff.lines[..diff.lines.len().min(most.saturating_add(1))];
    let revealed: Vec<DiffLine>;
    let lines = if lines.iter().any(|line| sanitize::hides_something(&line.text)) {
        let reveal = |line: &DiffLine| DiffLine { text: sanitize::reveal_invisible(&line.text).into_owned(), ..*line };
        revealed = lines.iter().map(reveal).collect();
        &revealed
    } else {
        lines
    };
    let digits = diff.lines.iter().map(|line| line.line).max().unwrap_or(0).to_string().len();
    let changed = changed_words(lines);
    let mut code = DiffCode::new(diff.path.as_deref());
    let mut rows: Vec<Line> = Vec::with_capacity(lines.len());
    // Where the note about hidden lines would begin: after the last line that leaves room for it.
    let mut fold = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        let tokens = code.tokens(line);
        rows.extend(DiffRow { line, changed: &changed[at], tokens: &tokens, digits }.draw(code.is_known(), space));
        if rows.len() > most.saturating_add(1) {
            break;
        }
        if rows.len() <= most {
            fold = (rows.len(), at + 1);
        }
    }
    let fits = rows.len() <= most.saturating_add(1) && lines.len() == diff.lines.len();
    if fits {
        return (rows, 0);
    }
    // A single line that is longer than all the room is cut.
    rows.truncate(if fold.1 == 0 { most } else { fold.0 });
    (rows, diff.lines.len() - fold.1)
}

/// Highlights both sides of a diff, each with the constructs that are open in it.
pub struct DiffCode {
    old: Highlighter,
    new: Highlighter,
    language: Option<String>,
    lines: usize,
    bytes: usize,
}

impl DiffCode {
    /// The ending of the path decides about the language.
    pub fn new(path: Option<&str>) -> Self {
        let language = path.map(str::to_owned);
        let side = Highlighter::new(path);
        Self { old: side.clone(), new: side, language, lines: MOST_HIGHLIGHTED, bytes: MOST_HIGHLIGHTED_BYTES }
    }

    pub fn is_known(&self) -> bool {
        self.new.knows_language()
    }

    /// Returns the coloured parts of the next line.
    pub fn tokens(&mut self, line: &DiffLine) -> Vec<(std::ops::Range<usize>, Token)> {
        if self.lines == 0 || self.bytes < line.text.len() {
            self.lines = 0;
            return Vec::new();
        }
        self.lines -= 1;
        self.bytes -= line.text.len();
        match line.kind {
            DiffKind::Removed => self.old.tokens(&line.text),
            DiffKind::Added => self.new.tokens(&line.text),
            DiffKind::Kept => {
                self.old.tokens(&line.text);
                self.new.tokens(&line.text)
            }
            DiffKind::Gap => {
                self.new = Highlighter::new(self.language.as_deref());
                self.old = self.new.clone();
                Vec::new()
            }
        }
    }
}

/// A line of a diff and what its rows are drawn from.
struct DiffRow<'a> {
    line: &'a DiffLine,
    changed: &'a ChangedRanges,
    tokens: &'a [(std::ops::Range<usize>, Token)],
    digits: usize,
}

/// The styles of one kind of line.
struct DiffStyles {
    number: Style,
    sign: Style,
    text: Style,
    /// The style of changed words, over that of the text.
    word: Style,
    fill: Option<Style>,
}

impl DiffStyles {
    fn new(kind: DiffKind, is_code: bool, theme: &Theme) -> Self {
        let muted = theme.fg(Token::ToolDiffContext);
        let (sign, band, word) = match kind {
            DiffKind::Added => (Token::ToolDiffAdded, Token::ToolDiffAddedBg, Token::ToolDiffAddedWordBg),
            DiffKind::Removed => (Token::ToolDiffRemoved, Token::ToolDiffRemovedBg, Token::ToolDiffRemovedWordBg),
            DiffKind::Kept | DiffKind::Gap => {
                let text = if is_code { theme.fg(Token::MdCodeBlock) } else { muted };
                return Self { number: muted, sign: muted, text, word: text, fill: None };
            }
        };
        let (sign, code) = (theme.fg(sign), theme.fg(Token::MdCodeBlock));
        let band = theme.bg(band);
        if band.bg == Color::Default {
            let text = if is_code { code } else { sign };
            return Self { number: muted, sign: sign.bold(), text, word: sign.with(Attrs::REVERSE), fill: None };
        }
        let word = code.over(theme.bg(word)).over(band).bold();
        Self { number: muted.over(band), sign: sign.over(band).bold(), text: code.over(band), word, fill: Some(band) }
    }
}

impl DiffRow<'_> {
    fn draw(&self, is_code: bool, space: &Space<'_>) -> Vec<Line> {
        let styles = DiffStyles::new(self.line.kind, is_code, space.theme);
        let digits = self.digits;
        let sign = match self.line.kind {
            DiffKind::Added => '+',
            DiffKind::Removed => '-',
            DiffKind::Kept => ' ',
            DiffKind::Gap => {
                let row = format!("{:>digits$} {}", "⋯", self.line.text);
                return vec![clip(Line::styled(row.trim_end().to_owned(), styles.number), space.width)];
            }
        };
        let gutter = digits + 3;
        let pieces = split(&self.text(&styles, space.theme), space.width.saturating_sub(gutter).max(1));
        // Lines of unknown number come from diffs without positions.
        let number = if self.line.line == 0 { String::new() } else { self.line.line.to_string() };
        let first = Line::styled(format!("{number:>digits$} "), styles.number).with(format!("{sign} "), styles.sign);
        let below = || Line::styled(" ".repeat(gutter), styles.number);
        let starts = std::iter::once(first).chain(std::iter::repeat_with(below));
        let join = |(start, piece): (Line, Line)| {
            let mut row = Line { fill: styles.fill, ..Line::default() };
            for span in start.spans.into_iter().chain(piece.spans) {
                append(&mut row, &span.text, span.style, None);
            }
            row
        };
        starts.zip(pieces).map(join).collect()
    }

    /// Returns the highlighted text, with marks on changed words, and tabs as arrows to distinguish them from spaces.
    fn text(&self, styles: &DiffStyles, theme: &Theme) -> Line {
        let mut row = Line::default();
        let mut column = 0;
        let mut tokens = self.tokens.iter().peekable();
        let (mut style, mut was_changed) = (styles.text, false);
        for (at, grapheme) in self.line.text.grapheme_indices(true) {
            while tokens.next_if(|(range, _)| range.end <= at).is_some() {}
            let token = tokens.peek().filter(|(range, _)| range.contains(&at)).map(|(_, token)| *token);
            let is_changed = self.changed.iter().any(|range| range.contains(&at));
            // Spaces take the style of the preceding text, which avoids a colour change.
            if grapheme != " " || is_changed != was_changed {
                style = shade(token, is_changed, styles, theme);
            }
            was_changed = is_changed;
            if grapheme == "\t" {
                let arrow = &"→       "[..'→'.len_utf8() + TAB - 1 - column % TAB];
                let tab = Style { fg: theme.color(Token::Dim), ..shade(None, is_changed, styles, theme) };
                append(&mut row, arrow, tab, None);
                column += TAB - column % TAB;
            } else if !grapheme.starts_with(char::is_control) {
                append(&mut row, grapheme, style, None);
                column += omp_stdx::display_width::grapheme_width(grapheme);
            }
        }
        row
    }
}

/// Returns the style of a piece of text. Faint colours are not used for changed words, whose band is stronger.
fn shade(token: Option<Token>, is_changed: bool, styles: &DiffStyles, theme: &Theme) -> Style {
    if is_changed && styles.word.attrs.has(Attrs::REVERSE) {
        return styles.word;
    }
    let below = if is_changed { styles.word } else { styles.text };
    let is_faint = matches!(token, Some(Token::SyntaxComment | Token::SyntaxPunctuation));
    match token.filter(|_| !(is_changed && is_faint)) {
        Some(token) => theme.fg(token).over(below),
        None => below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::ColorDepth;
    use crate::text::marks::{marked, theme};
    use proptest::prelude::*;

    fn lines(rows: &[(DiffKind, usize, &str)]) -> Vec<DiffLine> {
        rows.iter().map(|(kind, line, text)| DiffLine { kind: *kind, line: *line, text: (*text).to_owned() }).collect()
    }

    fn drawn(rows: &[(DiffKind, usize, &str)], width: usize) -> String {
        let theme = theme();
        let diff = Diff::new(lines(rows));
        marked(&draw_diff(
            &diff,
            &Space { width, height: 10, theme: &theme, focused: false, keys: &crate::DefaultKeys },
        ))
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
        {toolDiffContext on toolDiffRemovedBg|  9 }{b toolDiffRemoved on toolDiffRemovedBg|- }{dim on toolDiffRemovedBg|→   }{mdCodeBlock on toolDiffRemovedBg|let }{b mdCodeBlock on toolDiffRemovedWordBg|total}{mdCodeBlock on toolDiffRemovedBg| = add(1, }{b mdCodeBlock on toolDiffRemovedWordBg|2}{mdCodeBlock on toolDiffRemovedBg|);}
        {toolDiffContext on toolDiffAddedBg|  9 }{b toolDiffAdded on toolDiffAddedBg|+ }{dim on toolDiffAddedBg|→   }{mdCodeBlock on toolDiffAddedBg|let }{b mdCodeBlock on toolDiffAddedWordBg|sum}{mdCodeBlock on toolDiffAddedBg| = add(1, }{b mdCodeBlock on toolDiffAddedWordBg|3}{mdCodeBlock on toolDiffAddedBg|);}
        {toolDiffContext|  ⋯}
        {toolDiffContext on toolDiffRemovedBg|120 }{b toolDiffRemoved on toolDiffRemovedBg|- }{mdCodeBlock on toolDiffRemovedBg|completely}
        {toolDiffContext on toolDiffAddedBg|119 }{b toolDiffAdded on toolDiffAddedBg|+ }{mdCodeBlock on toolDiffAddedBg|other words here}
        ");
    }

    #[test]
    fn long_lines_go_on_below_their_text() {
        insta::assert_snapshot!(drawn(&[(DiffKind::Added, 7, "0123456789\u{1b}[2Jabc日本")], 12), @"
        {toolDiffContext on toolDiffAddedBg|7 }{b toolDiffAdded on toolDiffAddedBg|+ }{mdCodeBlock on toolDiffAddedBg|01234567}
        {toolDiffContext on toolDiffAddedBg|    }{mdCodeBlock on toolDiffAddedBg|89[2Jabc}
        {toolDiffContext on toolDiffAddedBg|    }{mdCodeBlock on toolDiffAddedBg|日本}
        ");
    }

    #[test]
    fn code_is_highlighted_on_both_sides() {
        let rows = [
            (DiffKind::Kept, 1, "/* a"),
            (DiffKind::Removed, 2, "b */ let x = 1;"),
            (DiffKind::Added, 2, "b"),
            (DiffKind::Added, 3, "c */ let x = 2;"),
        ];
        let theme = theme();
        let diff = Diff::new(lines(&rows)).of("src/a.rs");
        let space = Space { width: 40, height: 10, theme: &theme, focused: false, keys: &crate::DefaultKeys };
        insta::assert_snapshot!(marked(&draw_diff(&diff, &space)), @"
        {toolDiffContext|1   }{syntaxComment|/* a}
        {toolDiffContext on toolDiffRemovedBg|2 }{b toolDiffRemoved on toolDiffRemovedBg|- }{syntaxComment on toolDiffRemovedBg|b */ }{syntaxKeyword on toolDiffRemovedBg|let }{syntaxVariable on toolDiffRemovedBg|x }{syntaxOperator on toolDiffRemovedBg|= }{syntaxNumber on toolDiffRemovedBg|1}{syntaxPunctuation on toolDiffRemovedBg|;}
        {toolDiffContext on toolDiffAddedBg|2 }{b toolDiffAdded on toolDiffAddedBg|+ }{syntaxComment on toolDiffAddedBg|b}
        {toolDiffContext on toolDiffAddedBg|3 }{b toolDiffAdded on toolDiffAddedBg|+ }{syntaxComment on toolDiffAddedBg|c */ }{syntaxKeyword on toolDiffAddedBg|let }{syntaxVariable on toolDiffAddedBg|x }{syntaxOperator on toolDiffAddedBg|= }{syntaxNumber on toolDiffAddedBg|2}{syntaxPunctuation on toolDiffAddedBg|;}
        ");
        let few = theme.at_depth(ColorDepth::Ansi16);
        let rows = draw_diff(&diff, &Space { theme: &few, ..space });
        assert!(rows.iter().all(|row| row.fill.is_none()));
        assert!(rows.iter().flat_map(|row| &row.spans).all(|span| span.style.bg == Color::Default));
    }

    #[test]
    fn a_long_diff_is_folded_and_its_lines_are_counted() {
        let theme = theme();
        let space = Space { width: 12, height: 10, theme: &theme, focused: false, keys: &crate::DefaultKeys };
        let diff = |count: usize, text: &str| {
            let line = |at| DiffLine { kind: DiffKind::Added, line: at, text: text.to_owned() };
            Diff::new((1..=count).map(line).collect())
        };
        let head = |diff: &Diff, most| {
            let (rows, hidden) = draw_diff_head(diff, &space, most);
            (rows.len(), hidden)
        };
        assert_eq!(head(&diff(4, "a"), 4), (4, 0));
        assert_eq!(head(&diff(5, "a"), 4), (5, 0), "a note would take as much room as the row");
        assert_eq!(head(&diff(6, "a"), 4), (4, 2));
        assert_eq!(head(&diff(3, "0123456789"), 3), (2, 2), "lines are not torn");
        assert_eq!(head(&diff(1, &"0123456789".repeat(9)), 3), (3, 1));
        assert_eq!(head(&diff(10_000, "a"), 4), (4, 9_996));
    }

    #[test]
    fn only_so_much_is_highlighted() {
        let mut code = DiffCode::new(Some("a.rs"));
        let line = DiffLine { kind: DiffKind::Added, line: 1, text: "let".to_owned() };
        let colored = (0..MOST_HIGHLIGHTED + 5).filter(|_| !code.tokens(&line).is_empty()).count();
        assert_eq!(colored, MOST_HIGHLIGHTED);
        let mut code = DiffCode::new(Some("a.rs"));
        let long = DiffLine { text: format!("let {}", " ".repeat(MOST_HIGHLIGHTED_BYTES)), ..line.clone() };
        assert!(code.tokens(&long).is_empty() && code.tokens(&line).is_empty());
    }

    proptest! {
        #[test]
        fn any_lines_are_drawn(old in "[a-c \t日\u{1b}]{0,20}", new in "[a-c \t日\u{1b}]{0,20}", width in 0usize..20) {
            let theme = theme();
            let rows = Diff::new(lines(&[(DiffKind::Removed, 1, &old), (DiffKind::Added, 1, &new)])).of("a.rs");
            let drawn = draw_diff(&rows, &Space { width, height: 10, theme: &theme, focused: false, keys: &crate::DefaultKeys });
            prop_assert!(drawn.iter().all(|row| row.width() <= width.max(6) && !row.text().contains(char::is_control)));
        }
    }
}
