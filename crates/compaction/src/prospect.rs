//! Whether a compaction would remove anything: known before it begins, and from what other code may read during a run.

use std::sync::Arc;

use omp_types::{Message, Model, ToolSpec};

use crate::outcome::CompactionFailure;
use crate::settings::{CompactionSettings, CompactionStrategy};
use crate::span::Told;
use crate::trigger::{self, Size};
use crate::{ConversationEntry, Cut, ShakePolicy, adapted_keep_recent, find_cut, shake_notes};

/// A conversation that is not compacted yet, to find out whether that would remove anything.
pub struct Prospect<'a> {
    pub settings: &'a CompactionSettings,
    pub model: &'a Model,
    /// The entries in the file; `None` for a session without a file.
    pub recorded: Option<Vec<ConversationEntry>>,
    pub messages: &'a [Arc<Message>],
    pub system: &'a str,
    pub tools: &'a [ToolSpec],
}

impl Prospect<'_> {
    /// Says why a compaction on request would remove nothing. `None` if it would, as far as can be known in advance.
    pub fn nothing_to_compact(self) -> Option<String> {
        let Self { settings, model, recorded, messages, system, tools } = self;
        let keep_recent_tokens = settings.limits.keep_recent_tokens;
        let policy = ShakePolicy { keep_recent_tokens, ..ShakePolicy::default() };
        if settings.strategy == CompactionStrategy::Shake && shake_notes(messages, &policy).is_some() {
            return None;
        }
        let size = trigger::size(messages, || trigger::prefix_tokens(system, tools), 0);
        match cut(settings, &Told::from_entries(recorded, messages), size, model) {
            Err(CompactionFailure::Skipped(why)) => Some(why),
            _ => None,
        }
    }
}

/// Finds where the conversation is cut. Fails if nothing would be removed.
pub(crate) fn cut(
    settings: &CompactionSettings,
    told: &Told,
    size: Size,
    model: &Model,
) -> Result<Cut, CompactionFailure> {
    let limits = &settings.limits;
    let most = trigger::threshold(model.context_window, limits).map_or(u64::MAX, |threshold| threshold / 2);
    let (measured, estimated) = size.measured.map_or((None, 0), |(measured, it)| (Some(measured), it));
    let keep = adapted_keep_recent(limits.keep_recent_tokens.min(most), measured, estimated);
    find_cut(&told.entries, keep).ok_or_else(|| {
        let already = told.previous.is_some() && told.entries.is_empty();
        let why = if already { "Already compacted" } else { "Nothing to compact (session too small)" };
        CompactionFailure::Skipped(why.to_owned())
    })
}
