//! `edit` by quoting: replaces one text by another.

use std::sync::Arc;

use omp_agent::{ArrivingCall, Concurrency, Outcome, Output, Planned, Tool, ToolCx, ToolError};
use omp_types::CallFacts;
use omp_view::{CallKind, View};
use omp_workspace::replace::{ReplacePlanner, TextEdit};
use omp_workspace::{EditRules, FileEdit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::preview::{Arrived, Previews, outlook};
use super::{Details, carry_out, render, rules_for, touched};
use crate::blocking::blocking;
use crate::files::{Files, LastKnown, write_approval};

pub struct ReplaceEdit {
    files: Arc<Files>,
    rules: EditRules,
    previews: Previews,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// The file.
    pub path: String,
    /// Carried out in this order.
    pub edits: Vec<Replacement>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Replacement {
    /// Text to find, copied from the file; empty for a new file.
    pub old_text: String,
    /// Text to put there.
    pub new_text: String,
    /// Replace every place instead of the only one.
    #[serde(default)]
    pub all: bool,
}

impl ReplaceEdit {
    pub fn new(files: Arc<Files>, rules: EditRules) -> Self {
        Self { files, rules, previews: Previews::default() }
    }
}

impl Tool for ReplaceEdit {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "edit";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Edit;

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(write_approval(&self.files, [params.path.as_str()]), params)
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
            let edits: Vec<TextEdit> = params.edits.into_iter().map(TextEdit::from).collect();
            carry_out(&files, plan(&files, &params.path, &edits, rules)?)
        })
        .await
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        render::view([params.path.as_str()], outcome)
    }

    fn preview(&self, call: &ArrivingCall<'_>) -> Option<View> {
        let path = call.arguments.get("path")?.as_str()?;
        let edits = call.arguments.get("edits")?.as_array()?;
        let texts = edits.iter().flat_map(|edit| [edit.get("old_text"), edit.get("new_text")]);
        let length = || texts.flatten().filter_map(Value::as_str).map(str::len).sum();
        let arrived = || edits.iter().map_while(arrived).collect();
        self.previews.view(&self.files, call, || Some(Edits { tool: self, path, edits: arrived(), length: length() }))
    }

    fn foreseen_error(&self, params: &Params) -> Option<ToolError> {
        let edits: Vec<TextEdit> = params.edits.iter().cloned().map(TextEdit::from).collect();
        self.files.is_on_disk().then(|| plan(&self.files, &params.path, &edits, self.rules).err())?
    }

    fn outlook(&self, params: &Params) -> Option<View> {
        let length = params.edits.iter().map(|edit| edit.old_text.len() + edit.new_text.len()).sum();
        let edits = params.edits.iter().cloned().map(TextEdit::from).collect();
        outlook(&self.files, &Edits { tool: self, path: &params.path, edits, length })
    }
}

struct Edits<'a> {
    tool: &'a ReplaceEdit,
    path: &'a str,
    /// Edits whose old text is complete.
    edits: Vec<TextEdit>,
    /// Length of all texts.
    length: usize,
}

impl Arrived for Edits<'_> {
    fn paths(&self) -> Vec<&str> {
        vec![self.path]
    }

    fn len(&self) -> usize {
        self.length
    }

    fn plan(&self, whole: bool) -> Option<Vec<FileEdit>> {
        let files = &*self.tool.files;
        let mut edits = self.edits.clone();
        let growing = edits.last_mut().filter(|last| !whole && last.old_text.ends_with('\n'));
        if let Some(last) = growing.filter(|last| !last.new_text.is_empty() && !last.new_text.ends_with('\n')) {
            // Otherwise the following line would seem joined to it until the newline arrives.
            last.new_text.push('\n');
        }
        let (last_seen, rules) = (|path: &std::path::Path| files.last_seen(path), rules_for(self.tool.rules, whole));
        ReplacePlanner { files: &LastKnown(files), last_seen: &last_seen, rules }.plan_partial(self.path, &edits)
    }
}

/// Returns an edit whose old text is complete, which is the case once the new text has begun.
fn arrived(edit: &Value) -> Option<TextEdit> {
    let text = |key: &str| edit.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(TextEdit {
        new_text: text("new_text")?,
        old_text: text("old_text")?,
        all: edit.get("all").and_then(Value::as_bool).unwrap_or_default(),
    })
}

fn plan(files: &Files, path: &str, edits: &[TextEdit], rules: EditRules) -> Result<Vec<FileEdit>, ToolError> {
    let last_seen = |path: &std::path::Path| files.last_seen(path);
    ReplacePlanner { files, last_seen: &last_seen, rules }.plan(path, edits).map_err(ToolError::reply)
}

impl From<Replacement> for TextEdit {
    fn from(replacement: Replacement) -> Self {
        let Replacement { old_text, new_text, all } = replacement;
        Self { old_text, new_text, all }
    }
}
