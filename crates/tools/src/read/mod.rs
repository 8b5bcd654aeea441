//! `read`: shows line ranges of files with a tag to edit against, code outlines, folders, images, documents, archives and
//! databases.

use std::path::Path;
use std::sync::Arc;

use omp_agent::{Outcome, Output, Planned, Tool, ToolCx, ToolError, ToolRole};
use omp_types::CallFacts;
use omp_view::{CallKind, View};
use omp_workspace::archive::locate_archive;
use omp_workspace::conflict::ConflictUri;
use omp_workspace::sqlite::{is_sqlite, locate_database};
use omp_workspace::{FileError, FileKind, ResolvedPath, kind_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::details::Meta;
use crate::files::Files;
use crate::options::ReadOptions;
use crate::urls::{OpenedUrl, Router};

mod archive;
mod conflict;
mod content;
mod database;
mod document;
mod effects;
mod facts;
mod folder;
mod image;
mod missing;
mod notebook;
mod render;
mod selector;
mod summary;
mod tail;
mod text;

pub use selector::{Selector, split as split_selector};

pub struct Read {
    files: Arc<Files>,
    urls: Arc<Router>,
    options: ReadOptions,
}

impl Read {
    pub fn new(files: Arc<Files>, urls: Arc<Router>) -> Self {
        Self { files, urls, options: ReadOptions::default() }
    }

    #[must_use]
    pub fn with_options(self, options: &ReadOptions) -> Self {
        Self { options: options.clone(), ..self }
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// What to read, with an optional selector such as `:40-80`.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Elided>,
    pub meta: Meta,
}

/// The lines that an outline omits from a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elided {
    /// Lines shown.
    pub lines: usize,
    pub elided_spans: usize,
    pub elided_lines: usize,
}

/// The shown lines, without the additions for the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DisplayContent {
    pub text: String,
    pub start_line: usize,
    pub line_numbers: Vec<usize>,
}

impl Tool for Read {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "read";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Read;
    const ROLE: Option<ToolRole> = Some(ToolRole::Reader);

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(effects::approval(&self.files, &params.path), params)
    }

    fn facts(arguments: &Map<String, Value>, details: Option<&Value>) -> CallFacts {
        facts::of(arguments, details)
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        if let Some(found) = self.urls.read_from_host(&params.path).await.transpose()? {
            let extract = text::Extract { notes: found.notes, ..text::Extract::plain(found.address, found.text) };
            return text::show(extract, found.selector, &self.options);
        }
        let urls = self.urls.clone();
        let reader = ReadCall {
            files: self.files.for_call(&cx.call_id),
            options: self.options.clone(),
            cancel: cx.cancel.clone(),
        };
        let work = move || match urls.open(&params.path).transpose()? {
            Some(OpenedUrl::File(path, selector)) => reader.file(path, selector),
            Some(OpenedUrl::Text { address, text, selector }) => {
                text::show(text::Extract::plain(address, text), selector, &reader.options)
            }
            None => reader.typed(&params.path),
        };
        blocking(work).await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(params, outcome)
    }
}

/// One call.
struct ReadCall {
    files: Arc<Files>,
    options: ReadOptions,
    cancel: CancellationToken,
}

impl ReadCall {
    fn typed(&self, typed: &str) -> Result<Output<Details>, ToolError> {
        let bare = typed.trim().trim_matches(['"', '\'', '`']);
        if bare.starts_with("http://") || bare.starts_with("https://") {
            return Err(ToolError::Reply(format!(
                "{bare} is a web address, not a file\nhint: fetch it with curl, through bash"
            )));
        }
        if let Some(uri) = ConflictUri::parse(bare) {
            return conflict::read(&self.files, &uri.map_err(ToolError::reply)?);
        }
        let is_database = |path: &str| self.files.resolve(path).is_ok_and(|path| is_sqlite(&path.absolute));
        if let Some(address) = locate_database(bare, &is_database) {
            return database::read(&self.files, self.files.resolve(address.database)?, address, self.cancel.clone());
        }
        let is_file = |path: &str| self.files.resolve(path).is_ok_and(|path| path.absolute.is_file());
        if let Some(address) = locate_archive(bare, &is_file) {
            return archive::read(self, self.files.resolve(address.archive)?, address);
        }
        let (path, selector) = locate(&self.files, typed)?;
        let meant = Path::new(bare).is_relative().then(|| missing::only_one_meant(&self.files, &path)).flatten();
        match meant {
            Some(other) => Ok(missing::read_instead(&path, &other, self.file(other.clone(), selector)?)),
            None => self.file(path, selector),
        }
    }

    fn file(&self, path: ResolvedPath, selector: Selector) -> Result<Output<Details>, ToolError> {
        let special = |kind: &str| {
            ToolError::Reply(format!(
                "{} is {kind}, not a regular file; it is not opened, because reading it may block or never end",
                path.display
            ))
        };
        let held = self.files.reach().hold(&path.absolute).map_err(|error| match error {
            FileError::Special { kind, .. } => special(kind),
            error => missing::explain(&self.files, &path, error),
        })?;
        match kind_of(held.metadata()) {
            FileKind::Directory => folder::read(&self.files, &path, &held),
            FileKind::File => self.regular(&path, selector),
            FileKind::Special(kind) => Err(special(kind)),
        }
    }

    fn regular(&self, path: &ResolvedPath, selector: Selector) -> Result<Output<Details>, ToolError> {
        if selector.conflicts {
            return conflict::list(&self.files, path);
        }
        if let Some(cells) = notebook::read(self, path, &selector) {
            return cells;
        }
        match content::of(&path.display, &content::head_of(&self.files, path)?, &selector)? {
            content::ContentKind::Picture(kind) => {
                image::show(path, content::whole(&self.files, path, omp_pictures::MAX_FILE_BYTES)?, kind, &self.options)
            }
            content::ContentKind::Document(format) => {
                document::show(self, path, content::whole(&self.files, path, document::MAX_BYTES)?, format, selector)
            }
            content::ContentKind::Text => text::read(self, path, selector),
        }
    }
}

/// Splits a selector off the path, unless a file with the whole name exists.
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
