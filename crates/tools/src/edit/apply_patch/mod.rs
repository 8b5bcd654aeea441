//! `edit` with the freeform patch envelope: several files in one text.

use std::sync::Arc;

use omp_agent::{ArrivingCall, Concurrency, Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_types::CallFacts;
use omp_view::{CallKind, View};
use omp_workspace::patch::{FileOp, PatchOp, parse_envelope, parse_partial_envelope};
use omp_workspace::{EditRefused, EditRules, FileEdit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::patch::{plan, plan_partial};
use super::preview::{Arrived, Previews, outlook};
use super::{Details, carry_out, render, rules_for};
use crate::blocking::blocking;
use crate::files::{Files, write_approval};

pub struct ApplyPatchEdit {
    files: Arc<Files>,
    rules: EditRules,
    previews: Previews,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// From `*** Begin Patch` to `*** End Patch`.
    pub input: String,
}

/// The input and the parsed operations.
pub struct Patch {
    input: String,
    ops: Result<Vec<FileOp>, EditRefused>,
}

impl ApplyPatchEdit {
    pub fn new(files: Arc<Files>, rules: EditRules) -> Self {
        Self { files, rules, previews: Previews::default() }
    }
}

impl Tool for ApplyPatchEdit {
    type Params = Params;
    type Plan = Patch;
    type Details = Details;
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: Params) -> Planned<Patch> {
        let ops = parse_envelope(&params.input);
        let approval = write_approval(&self.files, ops.iter().flatten().flat_map(touched));
        Planned::new(approval, Patch { input: params.input, ops })
    }

    fn facts(arguments: &Map<String, Value>, _details: Option<&Value>) -> CallFacts {
        super::touched(arguments).into()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, patch: Patch, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, rules) = (self.files.for_call(&cx.call_id), self.rules);
        blocking(move || {
            let ops = patch.ops.map_err(ToolError::reply)?;
            carry_out(&files, plan(&files, &ops, rules)?)
        })
        .await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view(named(&params.input), outcome)
    }

    fn preview(&self, call: &ArrivingCall<'_>) -> Option<View> {
        let input = call.arguments.get("input")?.as_str()?;
        self.previews.view(&self.files, call, || Some(PatchInput { tool: self, input }))
    }

    fn foreseen_error(&self, patch: &Patch) -> Option<ToolError> {
        let ops = || parse_envelope(&patch.input).map_err(ToolError::reply);
        self.files.is_on_disk().then(|| ops().and_then(|ops| plan(&self.files, &ops, self.rules)).err())?
    }

    fn outlook(&self, patch: &Patch) -> Option<View> {
        outlook(&self.files, &PatchInput { tool: self, input: &patch.input })
    }
}

struct PatchInput<'a> {
    tool: &'a ApplyPatchEdit,
    input: &'a str,
}

impl Arrived for PatchInput<'_> {
    fn paths(&self) -> Vec<&str> {
        named(self.input).collect()
    }

    fn len(&self) -> usize {
        self.input.len()
    }

    fn plan(&self, whole: bool) -> Option<Vec<FileEdit>> {
        plan_partial(&self.tool.files, &parse_partial_envelope(self.input), rules_for(self.tool.rules, whole))
    }
}

fn touched(op: &FileOp) -> impl Iterator<Item = &str> {
    let rename = match &op.op {
        PatchOp::Update { rename, .. } => rename.as_deref(),
        PatchOp::Create { .. } | PatchOp::Delete => None,
    };
    [op.path.as_str()].into_iter().chain(rename)
}

fn named(input: &str) -> impl Iterator<Item = &str> {
    input.lines().filter_map(|line| {
        let (kind, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
        matches!(kind, "Add" | "Update" | "Delete").then_some(path.trim())
    })
}
