//! Branch summaries: what was tried on a branch that is left is told where the conversation goes on.

use std::sync::Arc;

use omp_store::{BranchSummary, EntryId};
use omp_types::{Message, estimate_message_tokens};
use serde_json::Value;

use super::hooks::{BeforeSummary, TreePlan};
use super::outcome::Failure;
use super::summarize::Material;
use super::upkeep::{Scene, Upkeep, tell};
use super::{file_operations, prompts, serialize};
use crate::BranchNote;
use crate::control::Control;
use crate::history;
use crate::recorder::Source;

/// Stands before the summary.
const PREAMBLE: &str =
    "The user left another branch of this conversation and came back to this point. What was done there:";
/// Messages read at a time.
const PAGE: usize = 64;

impl Upkeep {
    /// Asks the hooks before a move. A summary that one of them has written, where one is wanted.
    pub fn before_tree(
        &self,
        control: &Control,
        target: Option<&EntryId>,
        note: &BranchNote,
    ) -> Result<Option<BranchSummary>, Failure> {
        let hooks = &self.options.tree_hooks;
        let source = control.recorder().source().filter(|_| !hooks.is_empty());
        let Some(source) = source else { return Ok(None) };
        let left = abandoned(&source, target).map_err(Failure::Failed)?;
        let (summarizes, instructions) = match note {
            BranchNote::Nothing => (false, None),
            BranchNote::AsSet => (self.options.settings.branches.always, None),
            BranchNote::Summary(words) => (true, words.as_deref()),
        };
        let plan = TreePlan { from: source.leaf.as_ref(), to: target, summarizes, instructions, messages: &left };
        for hook in hooks {
            match hook.before(&plan) {
                BeforeSummary::Go => {}
                BeforeSummary::Cancel => return Err(Failure::Aborted),
                BeforeSummary::Summary { .. } if !summarizes => {}
                BeforeSummary::Summary { summary, details } => {
                    let from_id = from_id(target);
                    return Ok(Some(BranchSummary { from_id, summary, details, from_extension: Some(true) }));
                }
            }
        }
        Ok(None)
    }

    /// The summary of what lies between where the session stands and where it goes; `None` where that is nothing.
    pub async fn summarize_branch(
        &mut self,
        scene: &Scene<'_>,
        target: Option<&EntryId>,
        instructions: Option<&str>,
    ) -> Result<Option<BranchSummary>, Failure> {
        let source = scene.control.recorder().source();
        let Some(source) = source else { return Ok(None) };
        let left = abandoned(&source, target).map_err(Failure::Failed)?;
        if left.is_empty() {
            return Ok(None);
        }
        let files = file_operations(&left);
        let window = scene.model.context_window;
        let room = window.saturating_sub(self.options.settings.branches.reserve_tokens);
        let room = if window == 0 { u64::MAX } else { room.max(window / 2) };
        let task = instructions.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(prompts::BRANCH);
        let material = Material { conversation: serialize(newest(&left, room)), task, ..Material::default() };
        let mut summarizer = self.summarizer(scene);
        let asked = summarizer.ask(&material, 0.5).await;
        let (spent, notes) = (summarizer.spent, summarizer.notes);
        self.spent.extend(spent);
        for note in notes {
            tell(scene.control, &note).await;
        }
        let (said, tag) = (asked?, files.tag());
        let summary = [PREAMBLE, &said, &tag].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        Ok(Some(BranchSummary {
            from_id: from_id(target),
            summary: summary.join("\n\n"),
            details: Some(Value::Object(files.to_details())),
            from_extension: None,
        }))
    }
}

fn from_id(target: Option<&EntryId>) -> String {
    target.map_or_else(|| "root".to_owned(), |id| id.as_str().to_owned())
}

/// What is on the way to where the session stands, and not on the way to the target.
pub(crate) fn abandoned(source: &Source, target: Option<&EntryId>) -> Result<Vec<Arc<Message>>, String> {
    let Some(session) = source.load_if_written().map_err(|error| error.to_string())? else { return Ok(Vec::new()) };
    let path = |leaf: Option<&EntryId>| -> Vec<(EntryId, Message)> {
        let Some(transcript) = leaf.and_then(|leaf| session.transcript(Some(leaf))) else { return Vec::new() };
        let starts = (0..transcript.len()).step_by(PAGE);
        let told = starts.flat_map(|start| transcript.read(start..start + PAGE).0);
        told.map(|told| (told.id, told.message)).collect()
    };
    let (old, new) = (path(source.leaf.as_ref()), path(target));
    let shared = old.iter().zip(&new).take_while(|((old, _), (new, _))| old == new).count();
    let left = old.into_iter().skip(shared).map(|(_, message)| message).collect();
    Ok(history::prepare(left).map(Arc::new).collect())
}

/// As many of the newest as there is room for; at least one.
fn newest(messages: &[Arc<Message>], room: u64) -> &[Arc<Message>] {
    let mut used = 0_u64;
    let fits = messages.iter().rev().take_while(|message| {
        used = used.saturating_add(estimate_message_tokens(message));
        used <= room
    });
    let count = fits.count().max(1);
    &messages[messages.len() - count..]
}
