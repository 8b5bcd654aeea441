//! `write`: writes a whole file, an entry of an archive, a row of a database or the resolution of a merge conflict.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use omp_agent::{Concurrency, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_types::{CallFacts, Content, TouchedFiles};
use omp_view::{Block, CallKind, Diff, DiffKind, Status, View};
use omp_workspace::hashline::strip_prefixes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::blocking::blocking;
use crate::details::{Meta, typed_file};
use crate::edit::diff_lines;
use crate::files::{Files, write_approval};
use crate::urls::Router;

mod archive;
mod conflict;
mod database;
mod file;
mod target;

use target::WriteTarget;

pub struct Write {
    pub files: Arc<Files>,
    pub urls: Arc<Router>,
    /// Refuses to overwrite files that are marked as generated.
    pub block_generated: bool,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// File, `archive.zip:inner/path`, `app.db:table[:key]` or `conflict://<id>`.
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
    /// Unified diff to the file that was replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// The archive, database or file that was changed, if the path names a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
    pub meta: Meta,
}

/// Returns the file of a call. Lenient: the arguments may come from another version or another program.
fn touched(arguments: &Map<String, Value>) -> TouchedFiles {
    TouchedFiles::modified(arguments.get("path").and_then(Value::as_str))
}

/// The arguments, and what the user saw.
pub struct WritePlan {
    params: Params,
    /// The user was asked when there was no such file.
    was_new: AtomicBool,
}

impl Write {
    fn is_there(&self, typed: &str) -> bool {
        self.files.resolve(typed).is_ok_and(|path| path.absolute.symlink_metadata().is_ok())
    }
}

impl Tool for Write {
    type Params = Params;
    type Plan = WritePlan;
    type Details = Details;
    const NAME: &'static str = "write";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: Params) -> Planned<WritePlan> {
        let approval = match WriteTarget::of(&self.files, &params.path) {
            Ok(WriteTarget::Conflict(uri)) => {
                let paths = conflict::paths(&self.files, &uri);
                write_approval(&self.files, paths.iter().map(String::as_str))
            }
            Ok(
                WriteTarget::Archive { typed, .. } | WriteTarget::Database { typed, .. } | WriteTarget::File { typed },
            ) => write_approval(&self.files, [typed]),
            Err(_) => Tier::Write.into(),
        };
        Planned::new(approval, WritePlan { params, was_new: AtomicBool::new(false) })
    }

    fn facts(arguments: &Map<String, Value>, _details: Option<&Value>) -> CallFacts {
        touched(arguments).into()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, plan: WritePlan, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let WritePlan { params, was_new } = plan;
        if was_new.into_inner() && self.is_there(&params.path) {
            let path = &params.path;
            return Err(ToolError::Reply(format!(
                "{path} was created while the user was asked about this call; nothing was written\nhint: read it first"
            )));
        }
        if let Some(written) = self.urls.write_to_host(&params.path, &params.content).await.transpose()? {
            let said = format!("Wrote {} bytes to {written}", params.content.len());
            let details = Details { resolved_path: Some(written), ..Details::default() };
            return Ok(Output { content: vec![Content::text(said)], details, is_error: false, useless: false });
        }
        let (files, block_generated) = (self.files.for_call(&cx.call_id), self.block_generated);
        blocking(move || write(&files, &params, block_generated)).await
    }

    /// Previews what an existing file loses, or the content of a new one.
    fn outlook(&self, plan: &WritePlan) -> Option<View> {
        let WritePlan { params, was_new } = plan;
        let is_new = !self.is_there(&params.path);
        was_new.store(is_new, Ordering::Relaxed);
        let content = strip_prefixes(&params.content);
        match WriteTarget::of(&self.files, &params.path).ok()? {
            WriteTarget::File { typed } if is_new => Some(new_file(typed, &content)),
            WriteTarget::File { typed } => file::outlook(&self.files, typed, &content),
            WriteTarget::Conflict(_) | WriteTarget::Archive { .. } | WriteTarget::Database { .. } => None,
        }
    }

    /// Shows what changed in a file that was replaced, else the content.
    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let title = title(&params.path);
        let (mut view, source) = match outcome {
            Outcome::Running => (View::new(title, Status::Running), None),
            Outcome::Failed | Outcome::Done { is_error: true, .. } => (View::new(title, Status::Failed), None),
            Outcome::Done { details, .. } => (View::new(title, Status::Done), details.meta.file()),
        };
        view.whole_file = Some(params.path.clone());
        let changed = match outcome {
            Outcome::Done { details, is_error: false } => {
                view.notes = notes(details);
                diff_lines(&details.diff)
            }
            Outcome::Done { .. } | Outcome::Running | Outcome::Failed => Vec::new(),
        };
        if !changed.is_empty() {
            let diff = Diff::new(changed).of(&params.path);
            let source = source.map(|file| file.at(diff.first_change()));
            return view.files(source.into_iter().chain(typed_file(&params.path))).block(Block::Diff(diff));
        }
        view.files(source.into_iter().chain(typed_file(&params.path))).block(code(&params.path, &params.content))
    }
}

fn code(path: &str, content: &str) -> Block {
    let language = std::path::Path::new(path).extension().map(|it| it.to_string_lossy().into_owned());
    Block::Code { language, text: content.to_owned(), first_line: Some(1) }
}

fn new_file(typed: &str, content: &str) -> View {
    let view = View::new(title(typed), Status::Running).files(typed_file(typed));
    match content.is_empty() {
        true => view.note("new, empty file"),
        false => view.note("new file").block(code(typed, content)),
    }
}

fn title(path: &str) -> String {
    format!("write {path}")
}

fn notes(details: &Details) -> Vec<String> {
    if details.resolved_path.is_some() {
        return Vec::new();
    }
    let kind = if details.created { "new" } else { "replaced" };
    let lines = diff_lines(&details.diff);
    let count = |kind: DiffKind| lines.iter().filter(|line| line.kind == kind).count();
    let changed = (!lines.is_empty()).then(|| format!("+{} -{}", count(DiffKind::Added), count(DiffKind::Removed)));
    let executable = details.made_executable.then(|| "executable".to_owned());
    [Some(kind.to_owned()), changed, executable].into_iter().flatten().collect()
}

fn write(files: &Files, params: &Params, block_generated: bool) -> Result<Output<Details>, ToolError> {
    let content = strip_prefixes(&params.content);
    let mut stripped = content.len() != params.content.len();
    let output = match WriteTarget::of(files, &params.path)? {
        WriteTarget::Conflict(uri) => {
            stripped &= !conflict::takes_raw(&uri, &params.content);
            conflict::write(files, &uri, &content, &params.content)?
        }
        WriteTarget::Archive { typed, inner, format } => archive::write(files, typed, inner, format, &content)?,
        WriteTarget::Database { typed, rows } => database::write(files, typed, &rows, &content)?,
        WriteTarget::File { typed } => file::write(files, typed, &content, block_generated)?,
    };
    let note = "Note: the content had a [path#TAG] header or LINE: prefixes from a read; they were removed.";
    Ok(if stripped { with_note(output, note) } else { output })
}

fn with_note(mut output: Output<Details>, note: &str) -> Output<Details> {
    let text: String = output.content.iter().filter_map(Content::as_text).collect();
    output.content = vec![Content::text(format!("{text}\n{note}"))];
    output
}

#[cfg(test)]
mod tests;
