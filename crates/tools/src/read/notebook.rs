//! Jupyter notebooks: shows the text of the cells with a tag to edit against, then the outputs of the cells.

use omp_agent::{Output, ToolError};
use omp_workspace::notebook::{NotebookFile, shown_outputs};
use omp_workspace::{ResolvedPath, TextFile};

use super::selector::Selector;
use super::text::{self, Tagged};
use super::{Details, ReadCall};

/// Limits the outputs shown at a time.
const MAX_OUTPUT_BYTES: usize = 16 * 1024;
const NOTE: &str = "notebook: edit changes these lines; a new cell begins with '# %% [code]', '# %% [markdown]' or \
                    '# %% [raw]' without a number; outputs stay as they are; :raw shows the JSON";

/// Returns `None` if the file only has the extension of a notebook.
pub fn read(reader: &ReadCall, path: &ResolvedPath, selector: &Selector) -> Option<Result<Output<Details>, ToolError>> {
    let is_notebook = path.absolute.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"));
    if !is_notebook || selector.raw {
        return None;
    }
    let bytes = reader.files.read_whole(&path.absolute).ok()?;
    let notebook = NotebookFile::parse(&bytes).ok()?;
    let text = TextFile::parse(notebook.to_text().into_bytes());
    let selector = selector.clone();
    let tagged = Tagged {
        path,
        size: bytes.len() as u64,
        below: outputs(&notebook, &text, &selector.clone().of_total(text.line_count())),
        notes: vec![NOTE.into()],
        text,
    };
    Some(text::show_tagged(reader, tagged, selector))
}

/// Returns the outputs of the cells whose first line is selected.
fn outputs(notebook: &NotebookFile, text: &TextFile, selector: &Selector) -> String {
    let markers = (1..=text.line_count()).filter(|number| is_marker(text.raw_line(number - 1)));
    let asked_for = |number: usize| {
        let within =
            |(first, last): &(usize, Option<usize>)| *first <= number && last.is_none_or(|last| number <= last);
        selector.ranges.is_empty() || selector.ranges.iter().any(within)
    };
    let mut shown = String::new();
    for (index, (output, number)) in shown_outputs(notebook).iter().zip(markers).enumerate() {
        if output.is_empty() || !asked_for(number) {
            continue;
        }
        if !shown.is_empty() && shown.len() + output.len() > MAX_OUTPUT_BYTES {
            shown.push_str(&format!("\n[more outputs from cell:{index} on; read from line {number} to see them]"));
            break;
        }
        shown.push_str(&format!("\n# output of cell:{index}\n{}", output.trim_end()));
    }
    shown
}

/// Whether the line is a cell marker. A cell's own line that looks like a marker gets another `%` in the notebook's text.
fn is_marker(line: &[u8]) -> bool {
    ["# %% [code]", "# %% [markdown]", "# %% [raw]"].iter().any(|start| line.starts_with(start.as_bytes()))
}
