//! `edit` by line numbers that are bound to the content they were read from.

use std::sync::Arc;

use omp_agent::{ArrivingCall, Concurrency, Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_types::CallFacts;
use omp_view::{CallKind, View};
use omp_workspace::hashline::{self, HashlineError, HashlineOptions, HashlinePlanner};
use omp_workspace::{FileEdit, FileSource};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::preview::{Arrived, Previews, outlook, whole_lines};
use super::{Details, carry_out, render, touched};
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

/// The input and the parsed operations.
pub struct Sections {
    input: String,
    patch: Result<hashline::HashlinePatch, HashlineError>,
}

impl HashlineEdit {
    pub fn new(files: Arc<Files>, options: HashlineOptions) -> Self {
        Self { files, options, previews: Previews::default() }
    }
}

impl Tool for HashlineEdit {
    type Params = Params;
    type Plan = Sections;
    type Details = Details;
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: Params) -> Planned<Sections> {
        let patch = hashline::parse(&params.input);
        let sections = patch.iter().flat_map(|patch| &patch.sections);
        let approval = write_approval(&self.files, sections.map(|section| section.path.as_str()));
        Planned::new(approval, Sections { input: params.input, patch })
    }

    fn facts(arguments: &Map<String, Value>, _details: Option<&Value>) -> CallFacts {
        touched(arguments).into()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, sections: Sections, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, options) = (self.files.for_call(&cx.call_id), self.options);
        blocking(move || {
            let patch = sections.patch.map_err(ToolError::reply)?;
            carry_out(&files, plan(&*files, &files, patch, options)?)
        })
        .await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(named(&params.input), outcome)
    }

    fn preview(&self, call: &ArrivingCall<'_>) -> Option<View> {
        let input = call.arguments.get("input")?.as_str()?;
        self.previews.view(&self.files, call, || Some(HashlineInput { tool: self, input }))
    }

    fn foreseen_error(&self, sections: &Sections) -> Option<ToolError> {
        let patch = || hashline::parse(&sections.input).map_err(ToolError::reply);
        let files = &*self.files;
        files.is_on_disk().then(|| patch().and_then(|patch| plan(files, files, patch, self.options)).err())?
    }

    fn outlook(&self, sections: &Sections) -> Option<View> {
        outlook(&self.files, &HashlineInput { tool: self, input: &sections.input })
    }
}

struct HashlineInput<'a> {
    tool: &'a HashlineEdit,
    input: &'a str,
}

impl Arrived for HashlineInput<'_> {
    fn paths(&self) -> Vec<&str> {
        named(self.input).collect()
    }

    fn len(&self) -> usize {
        self.input.len()
    }

    fn plan(&self, _whole: bool) -> Option<Vec<FileEdit>> {
        let files = &*self.tool.files;
        let plan = |input: &str| plan(&LastKnown(files), files, hashline::parse(input).ok()?, self.tool.options).ok();
        // The last line may still be incomplete.
        plan(self.input).or_else(|| plan(whole_lines(self.input)))
    }
}

fn plan(
    source: &dyn FileSource,
    files: &Files,
    patch: hashline::HashlinePatch,
    options: HashlineOptions,
) -> Result<Vec<FileEdit>, ToolError> {
    let seen = |path: &std::path::Path, tag| files.snapshot(path, tag);
    HashlinePlanner { files: source, seen: &seen, options }.plan(patch).map_err(ToolError::reply)
}

/// Returns the files that a patch names, also while it is still arriving.
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
