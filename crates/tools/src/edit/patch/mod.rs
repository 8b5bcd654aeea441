//! `edit` by hunks: each entry creates, changes or deletes the file.

use std::sync::Arc;

use omp_agent::{ArrivingCall, Concurrency, Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_types::CallFacts;
use omp_view::{CallKind, View};
use omp_workspace::patch::{FileOp, PatchOp, PatchPlanner, new_file_content, parse_hunks};
use omp_workspace::{EditRefused, EditRules, FileEdit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::preview::{Arrived, Previews, outlook, whole_lines};
use super::{Details, carry_out, render, rules_for, touched};
use crate::blocking::blocking;
use crate::files::{Files, LastKnown, write_approval};

pub struct PatchEdit {
    files: Arc<Files>,
    rules: EditRules,
    previews: Previews,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// The file.
    pub path: String,
    /// Carried out in this order.
    pub edits: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Entry {
    pub op: Op,
    /// Hunks for `update`, the whole content for `create`.
    #[serde(default)]
    pub diff: Option<String>,
    /// New path of the file, with `update`.
    #[serde(default)]
    pub rename: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    Create,
    Update,
    Delete,
}

impl PatchEdit {
    pub fn new(files: Arc<Files>, rules: EditRules) -> Self {
        Self { files, rules, previews: Previews::default() }
    }
}

impl Tool for PatchEdit {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: Params) -> Planned<Params> {
        let renames = params.edits.iter().filter_map(|entry| entry.rename.as_deref());
        let approval = write_approval(&self.files, [params.path.as_str()].into_iter().chain(renames));
        Planned::new(approval, params)
    }

    fn facts(arguments: &Map<String, Value>, _details: Option<&Value>) -> CallFacts {
        touched(arguments).into()
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let (files, rules) = (self.files.for_call(&cx.call_id), self.rules);
        blocking(move || {
            let ops = file_ops(&params).map_err(ToolError::reply)?;
            carry_out(&files, plan(&files, &ops, rules)?)
        })
        .await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view([params.path.as_str()], outcome)
    }

    fn preview(&self, call: &ArrivingCall<'_>) -> Option<View> {
        let path = call.arguments.get("path")?.as_str()?;
        let edits = call.arguments.get("edits")?.as_array()?;
        let entries = || edits.iter().map(ArrivedEntry::of).collect();
        self.previews.view(&self.files, call, || Some(Entries { tool: self, path, entries: entries() }))
    }

    fn foreseen_error(&self, params: &Params) -> Option<ToolError> {
        let ops = || file_ops(params).map_err(ToolError::reply);
        self.files.is_on_disk().then(|| ops().and_then(|ops| plan(&self.files, &ops, self.rules)).err())?
    }

    fn outlook(&self, params: &Params) -> Option<View> {
        let entries = params.edits.iter();
        let entries = entries.map(|entry| ArrivedEntry { op: Some(entry.op), diff: entry.diff.as_deref() }).collect();
        outlook(&self.files, &Entries { tool: self, path: &params.path, entries })
    }
}

struct Entries<'a> {
    tool: &'a PatchEdit,
    path: &'a str,
    entries: Vec<ArrivedEntry<'a>>,
}

/// The part of an [`Entry`] that has arrived.
struct ArrivedEntry<'a> {
    op: Option<Op>,
    diff: Option<&'a str>,
}

impl<'a> ArrivedEntry<'a> {
    fn of(partial: &'a Value) -> Self {
        let op = partial.get("op").and_then(|op| Op::deserialize(op).ok());
        Self { op, diff: partial.get("diff").and_then(Value::as_str) }
    }
}

impl Arrived for Entries<'_> {
    fn paths(&self) -> Vec<&str> {
        vec![self.path]
    }

    fn len(&self) -> usize {
        self.entries.iter().filter_map(|entry| entry.diff).map(str::len).sum()
    }

    fn plan(&self, whole: bool) -> Option<Vec<FileEdit>> {
        let rules = rules_for(self.tool.rules, whole);
        let (last, first) = self.entries.split_last()?;
        let first: Vec<FileOp> = first.iter().map_while(|entry| arrived(self.path, entry, false)).collect();
        let plan = |last: Option<FileOp>| {
            let ops: Vec<FileOp> = first.iter().cloned().chain(last).collect();
            plan_partial(&self.tool.files, &ops, rules)
        };
        // The incomplete last line may not be enough to locate its hunk.
        let growing = arrived(self.path, last, false).and_then(|op| plan(Some(op)));
        growing.or_else(|| plan(arrived(self.path, last, true)))
    }
}

fn file_ops(params: &Params) -> Result<Vec<FileOp>, EditRefused> {
    let mut path = params.path.clone();
    let mut ops = Vec::with_capacity(params.edits.len());
    for entry in &params.edits {
        let op = operation(entry)?;
        let next = entry.rename.clone();
        ops.push(FileOp { path: path.clone(), op });
        // Entries after a rename refer to the file by its new name.
        path = next.unwrap_or(path);
    }
    Ok(ops)
}

fn operation(entry: &Entry) -> Result<PatchOp, EditRefused> {
    let refuse = |why: &str| Err(EditRefused::Edit(why.to_owned()));
    match (entry.op, &entry.diff, &entry.rename) {
        (Op::Create, Some(diff), None) => Ok(PatchOp::Create { content: new_file_content(diff) }),
        (Op::Create, None, _) => refuse("create needs a diff: the whole content of the file"),
        (Op::Delete, None, None) => Ok(PatchOp::Delete),
        (Op::Delete, Some(_), _) => refuse("delete takes no diff"),
        (Op::Create | Op::Delete, _, Some(_)) => refuse("only update takes rename"),
        (Op::Update, None, None) => refuse("update needs a diff or rename"),
        (Op::Update, diff, rename) => {
            let hunks = diff.as_deref().map(parse_hunks).transpose()?.unwrap_or_default();
            Ok(PatchOp::Update { hunks, rename: rename.clone() })
        }
    }
}

/// Returns the complete part of an entry. A rename is shown only when it is complete, which only the finished call shows.
fn arrived(path: &str, entry: &ArrivedEntry<'_>, only_whole_lines: bool) -> Option<FileOp> {
    let diff = || entry.diff.map(|diff| if only_whole_lines { whole_lines(diff) } else { diff });
    let op = match entry.op? {
        Op::Create => PatchOp::Create { content: new_file_content(diff()?) },
        Op::Delete => PatchOp::Delete,
        Op::Update => {
            let mut diff = diff()?;
            let hunks = loop {
                match parse_hunks(diff) {
                    Ok(hunks) => break hunks,
                    Err(_) => diff = &diff[..diff.rfind("\n@@")?],
                }
            };
            PatchOp::Update { hunks, rename: None }
        }
    };
    Some(FileOp { path: path.to_owned(), op })
}

pub(super) fn plan(files: &Files, ops: &[FileOp], rules: EditRules) -> Result<Vec<FileEdit>, ToolError> {
    let last_seen = |path: &std::path::Path| files.last_seen(path);
    PatchPlanner { files, last_seen: &last_seen, rules }.plan(ops).map_err(ToolError::reply)
}

pub(super) fn plan_partial(files: &Files, ops: &[FileOp], rules: EditRules) -> Option<Vec<FileEdit>> {
    let last_seen = |path: &std::path::Path| files.last_seen(path);
    PatchPlanner { files: &LastKnown(files), last_seen: &last_seen, rules }.plan_partial(ops)
}
