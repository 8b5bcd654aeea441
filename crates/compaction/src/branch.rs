//! Branch summaries: summarize an abandoned branch at the point where the conversation continues.

use std::sync::Arc;

use omp_store::{BranchSummary, EntryId};
use omp_types::{Message, estimate_message_tokens};
use serde_json::Value;

use crate::compactor::Compactor;
use crate::hooks::{BeforeSummary, TreePlan};
use crate::outcome::CompactionFailure;
use crate::session::{CompactionSession, tell};
use crate::summarize::Material;
use crate::{file_operations, prompts, serialize};

/// Precedes the summary.
const PREAMBLE: &str =
    "The user left another branch of this conversation and came back to this point. What was done there:";

/// What is recorded about an abandoned branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BranchNote {
    /// A summary if `branchSummary.enabled` is on, otherwise nothing.
    #[default]
    AsSet,
    /// Nothing, regardless of the settings.
    Nothing,
    /// A summary by a model, with optional instructions.
    Summary(Option<String>),
}

impl Compactor {
    /// Runs the hooks before a move. Returns a summary that a hook has supplied, if one is wanted.
    pub fn before_tree(
        &self,
        session: &dyn CompactionSession,
        target: Option<&EntryId>,
        note: &BranchNote,
    ) -> Result<Option<BranchSummary>, CompactionFailure> {
        let (summarizes, instructions) = match note {
            BranchNote::Nothing => (false, None),
            BranchNote::AsSet => (self.options.settings.branches.always, None),
            BranchNote::Summary(words) => (true, words.as_deref()),
        };
        let left = || session.left_branch(target).ok().flatten().unwrap_or_default();
        match session.before_move(&TreePlan { to: target, summarizes, instructions, left: &left }) {
            BeforeSummary::Summary { summary, details } if summarizes => {
                Ok(Some(BranchSummary { from_id: from_id(target), summary, details, from_extension: Some(true) }))
            }
            BeforeSummary::Go | BeforeSummary::Summary { .. } => Ok(None),
            BeforeSummary::Cancel => Err(CompactionFailure::Aborted),
        }
    }

    /// Summarizes the entries between the current position and the target; returns `None` if there are none.
    pub async fn summarize_branch(
        &mut self,
        session: &dyn CompactionSession,
        target: Option<&EntryId>,
        instructions: Option<&str>,
    ) -> Result<Option<BranchSummary>, CompactionFailure> {
        let left = session.left_branch(target).map_err(CompactionFailure::Failed)?;
        let left = left.unwrap_or_default().messages;
        if left.is_empty() {
            return Ok(None);
        }
        let files = file_operations(&left, &self.facts(session));
        let window = session.model().context_window;
        let room = window.saturating_sub(self.options.settings.branches.reserve_tokens);
        let room = if window == 0 { u64::MAX } else { room.max(window / 2) };
        let task = instructions.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(prompts::BRANCH);
        let material = Material { conversation: serialize(newest(&left, room)), task, ..Material::default() };
        let mut summarizer = self.summarizer(session);
        let asked = summarizer.ask(&material, 0.5).await;
        let (spent, notes) = (summarizer.spent, summarizer.notes);
        self.spent.extend(spent);
        for note in notes {
            tell(session, &note).await;
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

/// Returns as many of the newest messages as fit; at least one.
fn newest(messages: &[Arc<Message>], room: u64) -> &[Arc<Message>] {
    let mut used = 0_u64;
    let fits = messages.iter().rev().take_while(|message| {
        used = used.saturating_add(estimate_message_tokens(message));
        used <= room
    });
    let count = fits.count().max(1);
    &messages[messages.len() - count..]
}
