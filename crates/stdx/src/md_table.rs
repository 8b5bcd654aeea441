//! Tables with aligned columns, as Markdown and as plain text.

use crate::display_width::width;

/// How the cells of a column are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
    /// Left, and left out of plain text: signs that belong to a drawing.
    Sign,
}

/// In plain text, cells wider than this do not push the other columns away.
const WIDEST_PLAIN: usize = 36;

/// A table that is written row by row.
#[derive(Clone, Debug)]
pub struct MdTable {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl MdTable {
    /// Begins a table with a heading for each column.
    pub fn new<const COLUMNS: usize>(columns: [(&str, Align); COLUMNS]) -> Self {
        let head = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Self { columns: columns.iter().map(|(_, align)| *align).collect(), rows: vec![head] }
    }

    pub fn row<const COLUMNS: usize>(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells.into());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Returns the table in Markdown, without a line break at its end.
    pub fn markdown(&self) -> String {
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| escaped(cell)).collect()).collect();
        let widths = self.widths(&rows, |width| width.max(3), usize::MAX);
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let rule = |(align, width_of): (&Align, &usize)| match align {
            Align::Left | Align::Sign => "-".repeat(*width_of),
            Align::Right => format!("{}:", "-".repeat(width_of - 1)),
        };
        let mut lines: Vec<String> = rows.iter().map(|row| line(self.padded(row, &widths))).collect();
        lines.insert(1, line(self.columns.iter().zip(&widths).map(rule).collect()));
        lines.join("\n")
    }

    /// Returns the table without any marks of Markdown, and without the column of signs and headings that are all empty.
    pub fn plain(&self) -> String {
        let shown = |row: &Vec<String>| -> Vec<String> {
            let cells = row.iter().zip(&self.columns).filter(|(_, align)| **align != Align::Sign);
            cells.map(|(cell, _)| without_code(cell)).collect()
        };
        let table = Self {
            columns: self.columns.iter().copied().filter(|align| *align != Align::Sign).collect(),
            rows: self.rows.iter().map(shown).filter(|row| row.iter().any(|cell| !cell.is_empty())).collect(),
        };
        let widths = table.widths(&table.rows, |width| width, WIDEST_PLAIN);
        let line = |row: &Vec<String>| table.padded(row, &widths).join("  ").trim_end().to_owned();
        table.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Returns the width of each column. Cells that are wider than `most` do not count.
    fn widths(&self, rows: &[Vec<String>], least: fn(usize) -> usize, most: usize) -> Vec<usize> {
        let widest = |column: usize| {
            let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell));
            least(widths.filter(|width| *width <= most).max().unwrap_or_default())
        };
        (0..self.columns.len()).map(widest).collect()
    }

    fn padded(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let cell = |((text, align), width_of): ((&String, &Align), &usize)| {
            let space = " ".repeat(width_of.saturating_sub(width(text)));
            match align {
                Align::Left | Align::Sign => format!("{text}{space}"),
                Align::Right => format!("{space}{text}"),
            }
        };
        row.iter().zip(&self.columns).zip(widths).map(cell).collect()
    }
}

/// Returns the text without the backticks around code.
pub(crate) fn without_code(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "")
}

/// Writes text so that a table cell shows it as it is. Code in backticks stays code.
pub fn escaped(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = String::with_capacity(text.len());
    let (mut in_code, mut before) = (false, ' ');
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        in_code ^= char == '`';
        let after = chars.peek().copied().unwrap_or(' ');
        let means_something = match char {
            // A bar ends a table cell, even inside code.
            '|' => true,
            _ if in_code => false,
            '_' => !(before.is_alphanumeric() && after.is_alphanumeric()),
            '<' => after.is_ascii_alphabetic() || matches!(after, '/' | '!'),
            ']' => after == '(',
            '*' | '~' | '\\' => true,
            _ => false,
        };
        if means_something {
            shown.push('\\');
        }
        shown.push(char);
        before = char;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_in_the_source() {
        let mut table = MdTable::new([("Name", Align::Left), ("Tokens", Align::Right)]);
        assert!(table.is_empty());
        table.row(["a|b".to_owned(), "1,234".to_owned()]);
        table.row(["日本".to_owned(), "5".to_owned()]);
        let expect = "\
| Name | Tokens |
| ---- | -----: |
| a\\|b |  1,234 |
| 日本 |      5 |";
        assert_eq!(table.markdown(), expect);
        assert_eq!(table.plain(), "Name  Tokens\na|b    1,234\n日本       5");
    }

    #[test]
    fn plain_text_has_no_signs_and_no_marks() {
        let mut table = MdTable::new([("", Align::Sign), ("", Align::Left), ("", Align::Left)]);
        let long = "x".repeat(WIDEST_PLAIN + 1);
        table.row(["█".to_owned(), "`/a <b|c>`".to_owned(), "first_one".to_owned()]);
        table.row(["▒".to_owned(), long.clone(), "second".to_owned()]);
        assert_eq!(table.plain(), format!("/a <b|c>  first_one\n{long}  second"));
    }

    #[test]
    fn text_in_a_cell_is_shown_as_it_is() {
        for (text, expect) in [
            ("a_b _c_ *d* <e> 1 < 2", "a_b \\_c\\_ \\*d\\* \\<e> 1 < 2"),
            ("`_a <c> d|e` [f](g) [h]", "`_a <c> d\\|e` [f\\](g) [h]"),
            ("two\nlines", "two lines"),
        ] {
            assert_eq!(escaped(text), expect);
        }
    }
}
