//! Writes a changed notebook based on its original bytes: everything but the changed cells stays identical to the byte.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::NotebookFile;

impl NotebookFile {
    /// Serializes this notebook, which was derived from `original` by changing cells. Unchanged cells and everything around
    /// the cells keep their bytes. A file with an unusual layout is serialized from scratch.
    pub fn to_bytes_over(&self, original: &[u8]) -> Vec<u8> {
        let spliced = std::str::from_utf8(original).ok().and_then(|text| self.spliced(text));
        let is_this = |bytes: &Vec<u8>| NotebookFile::parse(bytes).is_ok_and(|written| written == *self);
        spliced.map(String::into_bytes).filter(is_this).unwrap_or_else(|| self.to_bytes())
    }

    fn spliced(&self, original: &str) -> Option<String> {
        let list = CellList::find(original)?;
        let known: Vec<Value> =
            list.cells.iter().map(|cell| serde_json::from_str(cell)).collect::<Result<_, _>>().ok()?;
        let mut written = Vec::with_capacity(self.cells.len());
        // Cells are rarely reordered, so the cell after the last match is checked first.
        let mut next = 0;
        for cell in &self.cells {
            let places = (next..known.len()).chain(0..next);
            written.push(match { places }.find(|at| known[*at] == *cell) {
                Some(at) => {
                    next = at + 1;
                    list.cells[at].to_owned()
                }
                None => list.laid_out(cell)?,
            });
        }
        let separator = format!(",{}", list.lead);
        let cells = match written.is_empty() {
            true => String::new(),
            false => format!("{}{}{}", list.lead, written.join(&separator), list.trail),
        };
        Some(format!("{}[{cells}]{}", list.before, list.after))
    }
}

/// Positions of the cells in a file.
struct CellList<'a> {
    before: &'a str,
    after: &'a str,
    /// The text between the bracket and the first cell: usually a newline and the indentation.
    lead: &'a str,
    trail: &'a str,
    cells: Vec<&'a str>,
}

impl<'a> CellList<'a> {
    /// Returns `None` if there is no cell to derive the layout from.
    fn find(file: &'a str) -> Option<Self> {
        #[derive(serde::Deserialize)]
        struct Root<'a> {
            #[serde(borrow)]
            cells: &'a RawValue,
        }
        let json = file.strip_prefix('\u{feff}').unwrap_or(file);
        let list = serde_json::from_str::<Root<'a>>(json).ok()?.cells.get();
        let cells: Vec<&'a RawValue> = serde_json::from_str(list).ok()?;
        let cells: Vec<&'a str> = cells.into_iter().map(RawValue::get).collect();
        let start = offset(file, list)?;
        let first = offset(list, cells.first()?)?;
        let last = offset(list, cells.last()?)? + cells.last()?.len();
        Some(Self {
            before: file.get(..start)?,
            after: file.get(start + list.len()..)?,
            lead: list.get(1..first)?,
            trail: list.get(last..list.len() - 1)?,
            cells,
        })
    }

    /// Formats a cell in the layout of the others.
    fn laid_out(&self, cell: &Value) -> Option<String> {
        let Some((_, indent)) = self.lead.rsplit_once('\n') else { return serde_json::to_string(cell).ok() };
        let unit = indent.get(..indent.len() / 2)?;
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
        cell.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter)).ok()?;
        // Newlines inside strings are escaped in JSON, so these are all part of the layout.
        Some(String::from_utf8(bytes).ok()?.replace('\n', self.lead))
    }
}

/// Returns the offset of a substring in its text.
fn offset(whole: &str, part: &str) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize).filter(|at| at + part.len() <= whole.len())
}
