//! Rows as text, long values shortened, with the count of what was left out.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::SqliteError;

/// Characters of a value in a table.
const CELL: usize = 120;
/// Characters of a value where one row is shown.
const FIELD: usize = 4000;
/// Text of a table, all rows together.
const MAX_TEXT: usize = 64 * 1024;

#[derive(Default)]
pub struct Rows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// There are rows that were not taken.
    pub more: bool,
    shortened: usize,
    text: usize,
}

impl Rows {
    pub fn with_columns(columns: Vec<String>) -> Self {
        Self { columns, ..Self::default() }
    }

    pub fn push(&mut self, row: &Row<'_>) -> Result<(), SqliteError> {
        let mut cells = Vec::with_capacity(self.columns.len());
        for index in 0..self.columns.len() {
            let (cell, shortened) = shown(row.get_ref(index)?, CELL);
            self.shortened += usize::from(shortened);
            self.text += cell.len();
            cells.push(one_line(&cell));
        }
        self.rows.push(cells);
        Ok(())
    }

    pub fn is_full(&self) -> bool {
        self.text > MAX_TEXT
    }
}

pub fn table(found: &Rows) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let columns: Vec<String> = found.columns.iter().map(|name| one_line(name)).collect();
    let mut lines = vec![line(&columns), format!("|{}", "---|".repeat(columns.len()))];
    lines.extend(found.rows.iter().map(|row| line(row)));
    if found.rows.is_empty() {
        lines.push("(no rows)".into());
    }
    if found.is_full() && found.more {
        lines.push(format!("[stopped after {} rows, the text got too long]", found.rows.len()));
    }
    if found.shortened > 0 {
        lines.push(format!("[{} long values shortened; read one row by its key to see more]", found.shortened));
    }
    lines.join("\n")
}

/// One row, a line for each column.
pub fn record(names: &[String], row: &Row<'_>) -> Result<String, SqliteError> {
    let mut lines = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let (value, _) = shown(row.get_ref(index)?, FIELD);
        lines.push(format!("{name}: {value}"));
    }
    Ok(lines.join("\n"))
}

fn shown(value: ValueRef<'_>, most: usize) -> (String, bool) {
    match value {
        ValueRef::Null => ("NULL".into(), false),
        ValueRef::Integer(number) => (number.to_string(), false),
        ValueRef::Real(number) => (number.to_string(), false),
        ValueRef::Blob(bytes) => (format!("<blob, {} bytes>", bytes.len()), false),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            match text.char_indices().nth(most) {
                None => (text.into_owned(), false),
                Some((end, _)) => {
                    let left = text[end..].chars().count();
                    (format!("{}… (+{left} characters)", &text[..end]), true)
                }
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', " ").replace('|', "\\|")
}
