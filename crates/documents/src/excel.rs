//! Workbooks: each sheet as a table with row numbers and column names, so that cells can be referred to.

use std::io::Cursor;

use calamine::{Data, DataRef, ExcelDateTime, Reader as _, Xlsx, XlsxError};

use crate::package::Package;
use crate::{ConvertedDocument, DocumentError, DocumentLimits, sealed, table};

pub fn convert(bytes: Vec<u8>, limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    let bytes = Package::open(bytes, limits)?.into_bytes();
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(reason)?;
    let names = workbook.sheet_names();
    let mut document = ConvertedDocument::default();
    for (index, name) in names.iter().take(limits.pages).enumerate() {
        if sealed::is_over() {
            document.left_out.push(format!("{} of {} sheets", names.len() - index, names.len()));
            return sealed::in_time(document);
        }
        let room = limits.markdown_bytes.saturating_sub(document.markdown.len());
        match sheet(&mut workbook, name, DocumentLimits { markdown_bytes: room, ..limits }) {
            Ok(sheet) => {
                document.markdown.push_str(&sheet.markdown);
                document.left_out.extend(sheet.left_out);
            }
            Err(error) => document.left_out.push(format!("sheet {name} ({error})")),
        }
    }
    if names.len() > limits.pages {
        document.left_out.push(format!("{} of {} sheets", names.len() - limits.pages, names.len()));
    }
    Ok(document)
}

fn reason(error: XlsxError) -> DocumentError {
    match error {
        XlsxError::Password => DocumentError::Encrypted,
        error => DocumentError::broken(error),
    }
}

/// Reads cells one by one: a sheet may claim a million rows and contain two.
fn sheet(
    workbook: &mut Xlsx<Cursor<Vec<u8>>>,
    name: &str,
    limits: DocumentLimits,
) -> Result<ConvertedDocument, DocumentError> {
    let mut cells = workbook.worksheet_cells_reader(name).map_err(reason)?;
    let mut sheet = ExcelSheet::default();
    while let Some(cell) = cells.next_cell().map_err(reason)? {
        if sealed::is_over() {
            sheet.is_cut_off = true;
            break;
        }
        let (row, column) = cell.get_position();
        let text = shown(cell.get_value());
        if !text.is_empty() {
            sheet.add(row, column as usize, text, limits);
        }
    }
    Ok(sheet.document(name))
}

#[derive(Default)]
struct ExcelSheet {
    /// Row number and cells. Empty rows are not kept.
    rows: Vec<(u32, Vec<String>)>,
    bytes: usize,
    last_row: Option<u32>,
    rows_left_out: usize,
    cells_left_out: usize,
    /// The time limit was reached before the last row.
    is_cut_off: bool,
}

impl ExcelSheet {
    fn add(&mut self, row: u32, column: usize, text: String, limits: DocumentLimits) {
        let is_new = self.last_row != Some(row);
        self.last_row = Some(row);
        let is_full = self.rows.len() >= limits.rows || self.bytes >= limits.markdown_bytes;
        if is_full && (is_new || self.rows.last().is_none_or(|(last, _)| *last != row)) {
            self.rows_left_out += usize::from(is_new);
            return;
        }
        if column >= limits.columns {
            self.cells_left_out += 1;
            return;
        }
        if self.rows.last().is_none_or(|(last, _)| *last != row) {
            self.rows.push((row, Vec::new()));
        }
        let Some((_, cells)) = self.rows.last_mut() else { return };
        cells.resize(cells.len().max(column + 1), String::new());
        self.bytes += text.len() + 4 * (column + 1);
        cells[column] = text;
    }

    fn document(self, name: &str) -> ConvertedDocument {
        let mut left_out = Vec::new();
        if self.rows_left_out > 0 {
            left_out.push(format!("{} more rows of sheet {name}", self.rows_left_out));
        }
        if self.is_cut_off {
            left_out.push(format!("the rest of sheet {name}, which took too long"));
        }
        if self.cells_left_out > 0 {
            left_out.push(format!("{} cells of sheet {name} in columns further right", self.cells_left_out));
        }
        let width = self.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or_default();
        let mut rows = vec![[String::new()].into_iter().chain((0..width).map(letters)).collect::<Vec<_>>()];
        rows.extend(self.rows.into_iter().map(|(number, mut cells)| {
            cells.insert(0, (number + 1).to_string());
            cells
        }));
        let table = if width == 0 { Some("(empty)\n".into()) } else { table::markdown(&rows) };
        let markdown = format!("## Sheet: {name}\n\n{}\n", table.unwrap_or_default());
        ConvertedDocument { markdown, left_out }
    }
}

/// Formats a column number as `A`, `Z`, `AA`.
fn letters(mut column: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.insert(0, b'A' + (column % 26) as u8);
        if column < 26 {
            return String::from_utf8_lossy(&name).into_owned();
        }
        column = column / 26 - 1;
    }
}

fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::DateTime(date) => shown_date(date),
        DataRef::Empty => String::new(),
        other => Data::from(other.clone()).to_string(),
    }
}

fn shown_date(date: &ExcelDateTime) -> String {
    if date.is_duration() {
        let minutes = (date.as_f64() * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).trunc(), minutes.abs() % 60.0);
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let day = format!("{year:04}-{month:02}-{day:02}");
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match date.as_f64() {
        value if value.fract() == 0.0 => day,
        value if value < 1.0 => time,
        _ => format!("{day} {time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn column_names() {
        for (column, want) in [(0, "A"), (25, "Z"), (26, "AA"), (51, "AZ"), (52, "BA"), (701, "ZZ"), (702, "AAA")] {
            assert_eq!(letters(column), want);
        }
    }
}
