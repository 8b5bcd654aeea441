//! Formats rows of cells as a Markdown table.

use omp_stdx::truncate::{Keep, by_bytes};

/// Length limit of a cell; longer ones are cut.
const MAX_CELL: usize = 1000;

/// Formats a table whose first row is its header; `None` without rows.
pub fn markdown(rows: &[Vec<String>]) -> Option<String> {
    let (header, body) = rows.split_first()?;
    let width = rows.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let mut text = line(header, width);
    text.push('|');
    text.push_str(&"---|".repeat(width));
    text.push('\n');
    body.iter().for_each(|row| text.push_str(&line(row, width)));
    Some(text)
}

fn line(row: &[String], width: usize) -> String {
    let mut text = String::from("|");
    for index in 0..width {
        text.push(' ');
        text.push_str(&cell(row.get(index).map_or("", String::as_str)));
        text.push_str(" |");
    }
    text.push('\n');
    text
}

fn cell(text: &str) -> String {
    let cut = by_bytes(text.trim(), MAX_CELL, Keep::Head);
    let mark = if cut.cut.is_none() { "" } else { "…" };
    let escaped = cut.head.replace('|', "\\|").replace("\r\n", "<br>").replace(['\n', '\r'], "<br>");
    format!("{escaped}{mark}")
}

#[cfg(test)]
mod tests {
    use super::markdown;

    #[test]
    fn tables() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        assert_eq!(markdown(&[]), None);
        insta::assert_snapshot!(markdown(&[row(&["a", "b|c"]), row(&["1"]), row(&["x\ny", "2", "3"])]).unwrap(), @r"
        | a | b\|c |  |
        |---|---|---|
        | 1 |  |  |
        | x<br>y | 2 | 3 |
        ");
        let long = markdown(&[row(&[&"x".repeat(2000)])]).unwrap();
        assert!(long.len() < 1100 && long.contains('…'));
    }
}
