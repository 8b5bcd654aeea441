//! `edit` by line numbers, bound to the content they were read from.

use std::sync::Arc;

use omp_agent::{Approval, Concurrency, Outcome, Output, Tool, ToolCx, ToolError};
use omp_view::View;
use omp_workspace::hashline::{self, HashlineOptions, HashlinePlanner};
use omp_workspace::{FileEdit, FileSource};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::preview::{Arrived, Previews, outlook, whole_lines};
use super::{Details, carry_out, render};
use crate::blocking::blocking;
use crate::files::{Files, LastKnown, write_approval};

pub struct HashlineEdit {
    files: Arc<Files>,
    options: HashlineOptions,
    pub(super) previews: Previews,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// Sections of `[path#TAG]` and operations.
    pub input: String,
}

impl HashlineEdit {
    pub fn new(files: Arc<Files>, options: HashlineOptions) -> Self {
        Self { files, options, previews: Previews::default() }
    }
}

impl Tool for HashlineEdit {
    type Params = Params;
    type Details = Details;
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn approval(&self, params: &Params) -> Approval {
        let patch = hashline::parse(&params.input).unwrap_or_default();
        write_approval(&self.files, patch.sections.iter().map(|section| section.path.as_str()))
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, options) = (self.files.for_call(&cx.call_id), self.options);
        blocking(move || carry_out(&files, plan(&*files, &files, &params.input, options)?)).await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(render::title(named(&params.input)), outcome)
    }

    fn preview(&self, partial: &Value) -> Option<View> {
        let input = partial.get("input")?.as_str()?;
        self.previews.view(&self.files, partial, || Some(Input { tool: self, input }))
    }

    fn outlook(&self, arguments: &Value) -> Option<View> {
        let input = arguments.get("input")?.as_str()?;
        outlook(&self.files, &Input { tool: self, input })
    }
}

struct Input<'a> {
    tool: &'a HashlineEdit,
    input: &'a str,
}

impl Arrived for Input<'_> {
    fn paths(&self) -> Vec<&str> {
        named(self.input).collect()
    }

    fn len(&self) -> usize {
        self.input.len()
    }

    fn plan(&self, _whole: bool) -> Option<Vec<FileEdit>> {
        let files = &*self.tool.files;
        let plan = |input: &str| plan(&LastKnown(files), files, input, self.tool.options).ok();
        // What stands of the last line may be no operation yet.
        plan(self.input).or_else(|| plan(whole_lines(self.input)))
    }
}

fn plan(
    source: &dyn FileSource,
    files: &Files,
    input: &str,
    options: HashlineOptions,
) -> Result<Vec<FileEdit>, ToolError> {
    let patch = hashline::parse(input).map_err(ToolError::reply)?;
    let seen = |path: &std::path::Path, tag| files.snapshot(path, tag);
    HashlinePlanner { files: source, seen: &seen, options }.plan(patch).map_err(ToolError::reply)
}

/// The files a patch names, also while it is still being written.
fn named(input: &str) -> impl Iterator<Item = &str> {
    input.lines().filter_map(|line| {
        let bracketed = line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let marked = line.strip_prefix('¶').map(|rest| rest.trim_start_matches('¶').trim());
        let inner = bracketed.or(marked)?;
        Some(match inner.rsplit_once('#') {
            Some((path, tag)) if tag.len() == 4 => path,
            _ => inner,
        })
    })
}
