//! `notebook`: edits, inserts and deletes cells of a Jupyter notebook. It runs no code.

use std::sync::Arc;

use omp_agent::{Concurrency, Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_types::{CallFacts, TouchedFiles};
use omp_view::{Block, CallKind, Status, View};
use omp_workspace::notebook::{Cell, CellKind, NotebookError, NotebookFile as Document};
use omp_workspace::{EditPlan, TextFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::blocking::blocking;
use crate::details::{Meta, typed_file};
use crate::files::{Files, write_approval};

pub struct Notebook {
    pub files: Arc<Files>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Edit,
    Insert,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellType {
    Code,
    Markdown,
    Raw,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    pub action: Action,
    /// The `.ipynb` file.
    pub notebook_path: String,
    /// Counted from 0.
    pub cell_index: usize,
    /// New source, for `edit` and `insert`.
    #[serde(default)]
    pub content: Option<String>,
    /// For `insert`; `code` unless given.
    #[serde(default)]
    pub cell_type: Option<CellType>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    pub action: Action,
    pub cell_index: usize,
    pub cell_type: CellType,
    pub total_cells: usize,
    /// The lines of the new source, or of the deleted cell, as they are in the file.
    pub cell_source: Vec<String>,
    pub meta: Meta,
}

/// Returns the file of a call. Lenient: the arguments may come from another version or another program.
fn touched(arguments: &Map<String, Value>) -> TouchedFiles {
    TouchedFiles::modified(arguments.get("notebook_path").and_then(Value::as_str))
}

impl Tool for Notebook {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "notebook";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(write_approval(&self.files, [params.notebook_path.as_str()]), params)
    }

    fn facts(arguments: &Map<String, Value>, _details: Option<&Value>) -> CallFacts {
        touched(arguments).into()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let files = self.files.for_call(&cx.call_id);
        blocking(move || change(&files, &params)).await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let title = format!("notebook {} {} cell {}", verb(params.action), params.notebook_path, params.cell_index);
        let source = match outcome {
            Outcome::Done { details, .. } => details.meta.file(),
            Outcome::Running | Outcome::Failed => None,
        };
        let view = match outcome {
            Outcome::Running => View::new(title, Status::Running),
            Outcome::Failed | Outcome::Done { is_error: true, .. } => View::new(title, Status::Failed),
            Outcome::Done { details, .. } => {
                let language = (details.cell_type == CellType::Markdown).then(|| "markdown".to_owned());
                View::new(title, Status::Done)
                    .note(kind_of(details.cell_type).name())
                    .note(format!("{} cells", details.total_cells))
                    .block(Block::Code { language, text: details.cell_source.concat(), first_line: Some(1) })
            }
        };
        view.files(source.into_iter().chain(typed_file(&params.notebook_path)))
    }
}

fn change(files: &Files, params: &Params) -> Result<Output<Details>, ToolError> {
    let path = files.resolve(&params.notebook_path)?;
    if !path.absolute.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb")) {
        return Err(ToolError::Reply(format!(
            "{} is not a notebook\nhint: give a file that ends in .ipynb",
            path.display
        )));
    }
    let before = files.read_whole(&path.absolute).map_err(|error| ToolError::reply(error.shown_as(&path.display)))?;
    let failed = |error: NotebookError| ToolError::Reply(format!("{}: {error}", path.display));
    let mut notebook = Document::parse(&before).map_err(failed)?;
    let cell = apply(&mut notebook, params)?.map_err(failed)?;
    let content = notebook.to_bytes_over(&before);
    let plan = EditPlan { path: path.absolute.clone(), expected: Some(before), content, executable: false };
    files.commit(plan)?;
    // `read` and `edit` work on the text of the cells.
    files.record(&path.absolute, &TextFile::parse(notebook.to_text().into_bytes()));
    let total = notebook.cell_count();
    let done = match params.action {
        Action::Edit => "Replaced",
        Action::Insert => "Inserted",
        Action::Delete => "Deleted",
    };
    let text = format!("{done} {} cell {} in {} ({total} cells)", cell.kind.name(), params.cell_index, path.display);
    let details = Details {
        action: params.action,
        cell_index: params.cell_index,
        cell_type: type_of(cell.kind),
        total_cells: total,
        cell_source: cell.source.split_inclusive('\n').map(str::to_owned).collect(),
        meta: Meta::path(&path.absolute),
    };
    Ok(Output::text(text, details))
}

fn apply(notebook: &mut Document, params: &Params) -> Result<Result<Cell, NotebookError>, ToolError> {
    let content = || {
        params.content.as_deref().ok_or_else(|| {
            ToolError::Reply(format!("`{}` needs `content`, the new source of the cell", verb(params.action)))
        })
    };
    let kind = kind_of(params.cell_type.unwrap_or(CellType::Code));
    Ok(match params.action {
        Action::Edit => notebook.edit(params.cell_index, content()?),
        Action::Insert => notebook.insert(params.cell_index, kind, content()?),
        Action::Delete => notebook.delete(params.cell_index),
    })
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Edit => "edit",
        Action::Insert => "insert",
        Action::Delete => "delete",
    }
}

fn kind_of(cell: CellType) -> CellKind {
    match cell {
        CellType::Code => CellKind::Code,
        CellType::Markdown => CellKind::Markdown,
        CellType::Raw => CellKind::Raw,
    }
}

fn type_of(kind: CellKind) -> CellType {
    match kind {
        CellKind::Code => CellType::Code,
        CellKind::Markdown => CellType::Markdown,
        CellKind::Raw => CellType::Raw,
    }
}

#[cfg(test)]
mod tests;
