//! `read`: files by line ranges with a tag to edit against, images, folders.

use std::sync::Arc;

use omp_agent::{Approval, Outcome, Output, Tier, Tool, ToolCx, ToolError};
use omp_view::View;
use omp_workspace::{FileKind, ResolvedPath, kind_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifacts::Artifacts;
use crate::blocking::blocking;
use crate::details::Meta;
use crate::files::Files;

mod artifact;
mod folder;
mod image;
mod missing;
mod render;
mod selector;
mod text;

use selector::Selector;

pub struct Read {
    pub files: Arc<Files>,
    pub artifacts: Arc<dyn Artifacts>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// File or folder, with an optional selector such as `:40-80`.
    pub path: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_content: Option<DisplayContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_directory: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    pub meta: Meta,
}

/// The lines shown, without what is added for the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplayContent {
    pub text: String,
    pub start_line: usize,
    pub line_numbers: Vec<usize>,
}

impl Tool for Read {
    type Params = Params;
    type Details = Details;
    const NAME: &'static str = "read";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn approval(&self, _params: &Params) -> Approval {
        Tier::Read.into()
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, artifacts) = (self.files.clone(), self.artifacts.clone());
        let cancel = cx.cancel.clone();
        let work = move || {
            let (path, selector) = match params.path.trim().strip_prefix(artifact::SCHEME) {
                Some(address) => artifact::locate(&*artifacts, address)?,
                None => locate(&files, &params.path)?,
            };
            read(&files, path, selector, &|| cancel.is_cancelled())
        };
        blocking(work).await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(params, outcome)
    }
}

fn read(
    files: &Files,
    path: ResolvedPath,
    selector: Selector,
    cancelled: &dyn Fn() -> bool,
) -> Result<Output<Details>, ToolError> {
    let metadata = match std::fs::metadata(&path.absolute) {
        Ok(metadata) => metadata,
        Err(error) => return Err(missing::explain(files, &path, error)),
    };
    match kind_of(&metadata) {
        FileKind::Directory => folder::read(&path),
        FileKind::File => match image::kind_of_file(&path)? {
            Some(kind) => image::read(&path, kind, metadata.len()),
            None => text::read(files, &path, selector, cancelled),
        },
        FileKind::Special(kind) => Err(ToolError::Reply(format!(
            "{} is {kind}, not a regular file; it is not opened, because reading it may block or never end",
            path.display
        ))),
    }
}

/// Splits a selector off, unless a file of the whole name exists.
fn locate(files: &Files, typed: &str) -> Result<(ResolvedPath, Selector), ToolError> {
    let whole = files.resolve(typed)?;
    if std::fs::symlink_metadata(&whole.absolute).is_ok() {
        return Ok((whole, Selector::default()));
    }
    match selector::split(typed) {
        Some((path, selector)) => Ok((files.resolve(path)?, selector.map_err(ToolError::Reply)?)),
        None => Ok((whole, Selector::default())),
    }
}

#[cfg(test)]
mod tests;
