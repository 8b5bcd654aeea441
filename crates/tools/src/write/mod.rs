//! `write`: a whole file at once.

use std::sync::Arc;

use omp_agent::{Approval, Concurrency, Outcome, Output, Tool, ToolCx, ToolError};
use omp_view::{Block, Status, View};
use omp_workspace::hashline::strip_prefixes;
use omp_workspace::{EditPlan, ResolvedPath, TextFile, commit, read_if_exists, refuse_generated};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::details::Meta;
use crate::files::{Files, header, write_approval};

pub struct Write {
    pub files: Arc<Files>,
    /// Refuse to overwrite files that say they are generated.
    pub block_generated: bool,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// File to create or replace.
    pub path: String,
    /// The whole new content.
    pub content: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made_executable: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    pub meta: Meta,
}

impl Tool for Write {
    type Params = Params;
    type Details = Details;
    const NAME: &'static str = "write";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn approval(&self, params: &Params) -> Approval {
        write_approval(&self.files, [params.path.as_str()])
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, block_generated) = (self.files.clone(), self.block_generated);
        blocking(move || write(&files, params, block_generated)).await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let title = format!("write {}", params.path);
        let view = match outcome {
            Outcome::Running => View::new(title, Status::Running),
            Outcome::Failed | Outcome::Done { is_error: true, .. } => View::new(title, Status::Failed),
            Outcome::Done { details, .. } => {
                let view = View::new(title, Status::Done).note(if details.created { "new" } else { "replaced" });
                if details.made_executable { view.note("executable") } else { view }
            }
        };
        let language = std::path::Path::new(&params.path).extension().map(|it| it.to_string_lossy().into_owned());
        view.block(Block::Code { language, text: params.content.clone(), first_line: Some(1) })
    }
}

fn write(files: &Files, params: Params, block_generated: bool) -> Result<Output<Details>, ToolError> {
    let path = files.resolve(&params.path)?;
    if params.path.trim_end().ends_with(['/', '\\']) {
        return Err(ToolError::Reply(format!("{} names a folder, not a file\nhint: add a file name", params.path)));
    }
    let content = strip_prefixes(&params.content);
    let stripped = content.len() != params.content.len();
    let before = read_if_exists(&path.absolute).map_err(|error| ToolError::reply(error.shown_as(&path.display)))?;
    if let Some(before) = &before {
        refuse_generated(&path, before, block_generated).map_err(ToolError::reply)?;
    }
    let executable = content.starts_with("#!");
    let made_executable = executable && !is_executable(&path);
    let created = before.is_none();
    let plan =
        EditPlan { path: path.absolute.clone(), expected: before, content: content.as_bytes().to_vec(), executable };
    commit(&[plan]).map_err(|error| ToolError::reply(error.shown_with(files.paths())))?;
    let tag = files.record(&path.absolute, &TextFile::parse(content.as_bytes()));
    let mut text =
        format!("{}\nSuccessfully wrote {} bytes to {}", header(&path.display, tag), content.len(), path.display);
    if stripped {
        text.push_str(
            "\nNote: the content carried a [path#TAG] header or LINE: prefixes from a read; they were removed.",
        );
    }
    Ok(Output::text(text, Details { made_executable, created, meta: Meta::path(&path.absolute) }))
}

#[cfg(unix)]
fn is_executable(path: &ResolvedPath) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(&path.absolute).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// Where there is no such bit nothing is made executable.
#[cfg(not(unix))]
fn is_executable(_path: &ResolvedPath) -> bool {
    true
}

#[cfg(test)]
mod tests;
