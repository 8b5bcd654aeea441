//! Formats rows as text, with long values shortened and the omitted characters counted.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::SqliteError;

/// Maximum number of characters of a value in a table.
const CELL: usize = 120;
/// Maximum number of characters of a value when a single row is shown.
const FIELD: usize = 4000;
/// Size limit for the text of a table.
const MAX_TEXT: usize = 40 * 1024;

#[derive(Default)]
pub struct SqlRows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// There are more rows than were read.
    pub more: bool,
    shortened: usize,
    blobs: usize,
    text: usize,
}

impl SqlRows {
    pub fn with_columns(columns: Vec<String>) -> Self {
        Self { columns, ..Self::default() }
    }

    pub fn push(&mut self, row: &Row<'_>) -> Result<(), SqliteError> {
        let mut cells = Vec::with_capacity(self.columns.len());
        for index in 0..self.columns.len() {
            let value = row.get_ref(index)?;
            let (cell, shortened) = shown(value, CELL);
            self.shortened += usize::from(shortened);
            self.blobs += usize::from(is_blob(value));
            self.text += cell.len() + " | ".len();
            cells.push(one_line(&cell));
        }
        self.rows.push(cells);
        Ok(())
    }

    /// Returns whether there is a single row with cut values, which could be shown at greater length.
    pub fn is_one_cut_row(&self) -> bool {
        self.rows.len() == 1 && !self.more && self.shortened > 0
    }

    pub fn is_full(&self) -> bool {
        self.text > MAX_TEXT
    }
}

pub fn table(found: &SqlRows) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let columns: Vec<String> = found.columns.iter().map(|name| one_line(name)).collect();
    let mut lines = vec![line(&columns), format!("|{}", "---|".repeat(columns.len()))];
    lines.extend(found.rows.iter().map(|row| line(row)));
    if found.rows.is_empty() {
        lines.push("(no rows)".into());
    }
    if found.is_full() && found.more {
        lines.push(format!(
            "[stopped after {} rows, the text got too long; a smaller limit with an offset shows the others]",
            found.rows.len()
        ));
    }
    if found.shortened > 0 {
        lines.push(format!("[{} long values shortened; read one row by its key to see more]", found.shortened));
    }
    lines.extend(blob_note(found.blobs));
    lines.join("\n")
}

/// Formats one row with a line for each column.
pub fn record(names: &[String], row: &Row<'_>) -> Result<String, SqliteError> {
    let mut lines = Vec::new();
    let (mut cut, mut blobs) = (0, 0);
    for (index, name) in names.iter().enumerate() {
        let value = row.get_ref(index)?;
        let (text, shortened) = shown(value, FIELD);
        cut += usize::from(shortened);
        blobs += usize::from(is_blob(value));
        lines.push(format!("{name}: {text}"));
    }
    if cut > 0 {
        let from = FIELD + 1;
        lines.push(format!(
            "[{cut} long values cut; substr(column, {from}, {FIELD}) in ?q=SELECT … shows what follows]"
        ));
    }
    lines.extend(blob_note(blobs));
    Ok(lines.join("\n"))
}

fn is_blob(value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Blob(_))
}

fn blob_note(count: usize) -> Option<String> {
    (count > 0).then(|| format!("[{count} blobs not shown; hex(column) in ?q=SELECT … shows one]"))
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
