//! Converts all cells to one text, and merges an edited text back into the cells.

use super::{Cell, CellKind, NotebookError, NotebookFile, set_source};

impl NotebookFile {
    /// Formats every cell under its marker. A cell line that looks like a marker is escaped with one more `%`.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, cell) in self.cells().enumerate() {
            text.push_str(&format!("# %% [{}] cell:{index}\n", cell.kind.name()));
            for line in cell.source.split_inclusive('\n') {
                text.push_str(&escaped(line));
            }
            // A source that ends in a newline has an empty last line, to distinguish it from one that does not.
            if !cell.source.is_empty() {
                text.push('\n');
            }
        }
        text
    }

    /// Returns the notebook with the cells of the text. A cell with a number is that cell of this notebook, with all fields
    /// that are not shown; one without a number is new; cells that are not named are removed.
    pub fn with_text(&self, text: &str) -> Result<Self, NotebookError> {
        let mut changed = self.clone();
        let mut taken = vec![false; self.cell_count()];
        changed.cells.clear();
        for (cell, number) in parse(text)? {
            let value = match number {
                None => changed.fresh(self, &cell),
                Some(index) => {
                    let count = self.cell_count();
                    let known = self.cells.get(index).ok_or(NotebookError::NoSuchCell { index, count })?;
                    if std::mem::replace(&mut taken[index], true) {
                        return Err(NotebookError::CellTwice(index));
                    }
                    with_source(known.clone(), &cell)
                }
            };
            changed.cells.push(value);
        }
        Ok(changed)
    }

    /// Creates a cell with an ID that no kept or dropped cell has.
    fn fresh(&self, original: &NotebookFile, cell: &Cell) -> serde_json::Value {
        let mut all = original.clone();
        all.cells.extend_from_slice(&self.cells);
        all.new_cell(cell.kind, &cell.source)
    }
}

fn with_source(mut value: serde_json::Value, cell: &Cell) -> serde_json::Value {
    let before = super::cell_of(&value);
    if before.source != cell.source {
        set_source(&mut value, &cell.source);
    }
    if before.kind != cell.kind {
        value["cell_type"] = cell.kind.name().into();
        if let Some(fields) = value.as_object_mut() {
            match cell.kind {
                CellKind::Code => {
                    fields.entry("execution_count").or_insert(serde_json::Value::Null);
                    fields.entry("outputs").or_insert_with(|| serde_json::json!([]));
                }
                _ => {
                    fields.shift_remove("execution_count");
                    fields.shift_remove("outputs");
                }
            }
        }
    }
    value
}

fn parse(text: &str) -> Result<Vec<(Cell, Option<usize>)>, NotebookError> {
    let mut cells: Vec<(Cell, Option<usize>)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (marker(line.trim_end()), cells.last_mut()) {
            (Some(CellMarker { depth: 1, kind, number }), _) => {
                let number = number.ok_or_else(|| NotebookError::BadMarker(line.trim_end().to_owned()))?;
                cells.push((Cell { kind, source: String::new(), id: None }, number));
            }
            (_, None) if line.trim().is_empty() => {}
            (_, None) => return Err(NotebookError::TextBeforeCells),
            (Some(_), Some((cell, _))) => cell.source.push_str(&line.replacen("%%", "%", 1)),
            (None, Some((cell, _))) => cell.source.push_str(line),
        }
    }
    for (cell, _) in &mut cells {
        // The newline in front of the next marker is not part of the cell.
        if cell.source.ends_with('\n') {
            cell.source.pop();
        }
    }
    Ok(cells)
}

fn escaped(line: &str) -> String {
    match marker(line.trim_end()) {
        Some(_) => line.replacen('%', "%%", 1),
        None => line.to_owned(),
    }
}

/// A parsed marker line such as `# %% [code] cell:3`.
struct CellMarker {
    /// The number of escapes, plus one.
    depth: usize,
    kind: CellKind,
    /// The cell number, if there is one; `None` if other text follows the label.
    number: Option<Option<usize>>,
}

fn marker(line: &str) -> Option<CellMarker> {
    let rest = line.strip_prefix("# %")?;
    let label = rest.trim_start_matches('%');
    let depth = rest.len() - label.len();
    let (kind, number) = label.strip_prefix(" [")?.split_once(']')?;
    let kind = match kind {
        "code" => CellKind::Code,
        "markdown" => CellKind::Markdown,
        "raw" => CellKind::Raw,
        _ => return None,
    };
    let number = match number {
        "" => Some(None),
        number => number.strip_prefix(" cell:").and_then(|number| number.parse().ok()).map(Some),
    };
    (depth > 0).then_some(CellMarker { depth, kind, number })
}
