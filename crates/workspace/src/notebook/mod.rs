//! Jupyter notebooks as text: converts to cells under `# %% [code] cell:0` lines and back, keeping everything that is not
//! shown.

use serde::Serialize;
use serde_json::{Map, Value, json};

mod outputs;
mod splice;
mod text;

pub use outputs::shown_outputs;

#[derive(Clone, Debug, PartialEq)]
pub struct NotebookFile {
    /// All fields of the notebook; the cells are replaced by a placeholder that keeps their position.
    root: Map<String, Value>,
    cells: Vec<Value>,
    final_newline: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Code,
    Markdown,
    Raw,
}

/// A cell in the form in which it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub kind: CellKind,
    pub source: String,
    pub id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    #[error("it is not valid JSON: {0}")]
    Json(String),
    #[error("it has no list of cells, so it is not a notebook of format 4")]
    NoCells,
    #[error("cell {index} does not exist; the notebook has {count} cells, counted from 0")]
    NoSuchCell { index: usize, count: usize },
    #[error("a cell cannot be inserted at {index}; the notebook has {count} cells, so 0 to {count} are possible")]
    NoSuchPlace { index: usize, count: usize },
    #[error("the first line must be a cell marker such as '# %% [code]'")]
    TextBeforeCells,
    #[error("cell {0} is named twice; a new cell has no number")]
    CellTwice(usize),
    #[error("'{0}' is not a cell marker; such a line ends with ']', or with ' cell:' and a number")]
    BadMarker(String),
}

impl CellKind {
    pub fn name(self) -> &'static str {
        match self {
            CellKind::Code => "code",
            CellKind::Markdown => "markdown",
            CellKind::Raw => "raw",
        }
    }

    fn of(name: &str) -> Self {
        match name {
            "code" => CellKind::Code,
            "markdown" => CellKind::Markdown,
            _ => CellKind::Raw,
        }
    }
}

impl NotebookFile {
    pub fn parse(bytes: &[u8]) -> Result<Self, NotebookError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let root: Value = serde_json::from_slice(bytes).map_err(|error| NotebookError::Json(error.to_string()))?;
        let Value::Object(mut root) = root else { return Err(NotebookError::NoCells) };
        match root.get_mut("cells").map(Value::take) {
            Some(Value::Array(cells)) if cells.iter().all(Value::is_object) => {
                Ok(Self { root, cells, final_newline: bytes.ends_with(b"\n") })
            }
            _ => Err(NotebookError::NoCells),
        }
    }

    /// Creates a notebook without cells.
    pub fn empty() -> Self {
        let mut root = Map::new();
        root.insert("cells".into(), Value::Null);
        root.insert("metadata".into(), json!({}));
        root.insert("nbformat".into(), 4.into());
        root.insert("nbformat_minor".into(), 5.into());
        Self { root, cells: Vec::new(), final_newline: true }
    }

    /// Serializes the notebook as JSON with an indentation of one blank, as notebook programs write it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        let mut root = self.root.clone();
        root.insert("cells".into(), Value::Array(self.cells.clone()));
        // Serializing maps with string keys to memory cannot fail.
        let _ = root.serialize(&mut serializer);
        if self.final_newline {
            bytes.push(b'\n');
        }
        bytes
    }

    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.cells.iter().map(cell_of)
    }

    /// Replaces a cell's source; its kind, outputs and other fields are kept.
    pub fn edit(&mut self, index: usize, source: &str) -> Result<Cell, NotebookError> {
        let count = self.cell_count();
        let cell = self.cells.get_mut(index).ok_or(NotebookError::NoSuchCell { index, count })?;
        set_source(cell, source);
        Ok(cell_of(cell))
    }

    pub fn insert(&mut self, index: usize, kind: CellKind, source: &str) -> Result<Cell, NotebookError> {
        let count = self.cell_count();
        if index > count {
            return Err(NotebookError::NoSuchPlace { index, count });
        }
        let cell = self.new_cell(kind, source);
        let shown = cell_of(&cell);
        self.cells.insert(index, cell);
        Ok(shown)
    }

    pub fn delete(&mut self, index: usize) -> Result<Cell, NotebookError> {
        let count = self.cell_count();
        if index >= count {
            return Err(NotebookError::NoSuchCell { index, count });
        }
        Ok(cell_of(&self.cells.remove(index)))
    }

    fn new_cell(&self, kind: CellKind, source: &str) -> Value {
        let mut cell = Map::new();
        cell.insert("cell_type".into(), kind.name().into());
        if kind == CellKind::Code {
            cell.insert("execution_count".into(), Value::Null);
        }
        if self.has_ids() {
            cell.insert("id".into(), self.free_id().into());
        }
        cell.insert("metadata".into(), json!({}));
        if kind == CellKind::Code {
            cell.insert("outputs".into(), json!([]));
        }
        let mut cell = Value::Object(cell);
        set_source(&mut cell, source);
        cell
    }

    /// Cells have IDs since format 4.5.
    fn has_ids(&self) -> bool {
        let number = |key: &str| self.root.get(key).and_then(Value::as_u64).unwrap_or(0);
        (number("nbformat"), number("nbformat_minor")) >= (4, 5)
    }

    fn free_id(&self) -> String {
        let taken = |id: &String| self.cells.iter().any(|cell| cell["id"] == **id);
        let mut ids = (self.cell_count()..).map(|number| format!("cell-{number}"));
        ids.find(|id| !taken(id)).unwrap_or_default()
    }
}

fn cell_of(cell: &Value) -> Cell {
    Cell {
        kind: CellKind::of(cell["cell_type"].as_str().unwrap_or("raw")),
        source: joined(&cell["source"]),
        id: cell["id"].as_str().map(str::to_owned),
    }
}

/// Joins text that is either one string or a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn set_source(cell: &mut Value, source: &str) {
    cell["source"] = source.split_inclusive('\n').collect();
}

#[cfg(test)]
mod tests;
