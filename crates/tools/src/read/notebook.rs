//! Jupyter notebooks: the cells under their numbers, then what they put out.

use omp_agent::{Output, ToolError};
use omp_workspace::notebook::{Notebook, shown_outputs};
use omp_workspace::{ResolvedPath, read_whole};

use super::Details;
use super::selector::Selector;
use super::text::{self, Extract};

/// `None` for what only has the name of a notebook.
pub fn read(path: &ResolvedPath, selector: &Selector) -> Option<Result<Output<Details>, ToolError>> {
    let is_notebook = path.absolute.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"));
    if !is_notebook || selector.raw {
        return None;
    }
    let bytes = read_whole(&path.absolute).ok()?;
    let notebook = Notebook::parse(&bytes).ok()?;
    let size = bytes.len() as u64;
    let title = Some(format!("[{}] notebook, {} cells", path.display, notebook.cell_count()));
    let notes = vec!["cells are counted from 0 and changed with notebook; :raw shows the JSON of the file".into()];
    let extract = Extract { path: path.clone(), text: shown(&notebook), title, notes, size };
    Some(text::show(extract, selector.clone()))
}

fn shown(notebook: &Notebook) -> String {
    let mut text = notebook.to_text();
    for (index, output) in shown_outputs(notebook).iter().enumerate().filter(|(_, output)| !output.is_empty()) {
        text.push_str(&format!("\n# output of cell:{index}\n{}\n", output.trim_end()));
    }
    text
}
