//! Blanks old tool output in place: a little on every turn, more before a compaction, most of it with the mechanical
//! strategy.

use omp_store::Custom;
use omp_types::{CacheRetention, Transcript, now_ms};
use serde_json::{Value, json};

use crate::compactor::Compactor;
use crate::outcome::CompactionFailure;
use crate::session::CompactionSession;
use crate::span::Told;
use crate::{Addresses, CacheState, Pass, PruneNote, PrunePolicy, ShakePolicy, prune, shake, shake_pictures};

/// Type of the entries that record blanked output.
pub const BLANKED_ENTRY: &str = "blanked";

/// How long a provider caches a prefix.
const SHORT_LIFE_MS: u64 = 5 * 60 * 1000;
const LONG_LIFE_MS: u64 = 60 * 60 * 1000;

/// Parses the records of output blanked by earlier runs.
pub(crate) fn notes_in(entries: &[Value]) -> Vec<PruneNote> {
    let notes =
        entries.iter().filter_map(|entry| serde_json::from_value::<Vec<PruneNote>>(entry.get("notes")?.clone()).ok());
    notes.flatten().collect()
}

/// What the user wants left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShakeMode {
    /// Old tool results, except for their ends, and old thinking.
    Elide,
    /// All pictures.
    Images,
}

impl Compactor {
    /// Blanks output that is no longer worth its tokens, if that costs little.
    pub fn tidy(&mut self, session: &dyn CompactionSession, transcript: &mut Transcript) {
        self.prune(session, transcript, Pass::EveryTurn);
    }

    /// Returns whether anything became shorter.
    pub(super) fn prune(&mut self, session: &dyn CompactionSession, transcript: &mut Transcript, pass: Pass) -> bool {
        let settings = &self.options.settings;
        let policy = PrunePolicy {
            pass,
            drop_useless: settings.drop_useless,
            supersede_reads: settings.supersede_reads,
            plan_file: Some(self.plan_file.clone()),
            facts: self.facts(session),
            ..PrunePolicy::default()
        };
        let answered = transcript.messages().iter().rev().find_map(|message| message.as_assistant());
        let lifetime_ms = match session.request().cache {
            CacheRetention::Short => SHORT_LIFE_MS,
            CacheRetention::Long => LONG_LIFE_MS,
        };
        let cache = CacheState { last_request_ms: answered.map(|answer| answer.timestamp), lifetime_ms };
        match prune(transcript, &policy, now_ms(), cache) {
            Some(pruned) => {
                session.pruned();
                self.blank(session, transcript, pruned.transcript, pruned.notes).is_ok()
            }
            None => false,
        }
    }

    /// Runs the strategy that uses no model.
    pub(super) fn shake_off(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
    ) -> Result<(), CompactionFailure> {
        let limits = &self.options.settings.limits;
        let told = Told::read(session, transcript).map_err(CompactionFailure::Failed)?;
        let policy = ShakePolicy {
            keep_recent_tokens: limits.keep_recent_tokens,
            addresses: Addresses::of(if told.recorded { &told.entries } else { &[] }),
            ..ShakePolicy::default()
        };
        match shake(transcript, &policy) {
            Some(shaken) => self.blank(session, transcript, shaken.transcript, shaken.notes.notes),
            None => Err(CompactionFailure::Skipped("nothing to shorten".to_owned())),
        }
    }

    /// Leaves out content on request of the user, however little it is. Returns about how many tokens that saves.
    pub fn shake_by_hand(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        mode: ShakeMode,
    ) -> Result<u64, CompactionFailure> {
        let told = Told::read(session, transcript).map_err(CompactionFailure::Failed)?;
        let addresses = Addresses::of(if told.recorded { &told.entries } else { &[] });
        let shaken = match mode {
            ShakeMode::Elide => {
                let keep_recent_tokens = self.options.settings.limits.keep_recent_tokens;
                shake(transcript, &ShakePolicy { keep_recent_tokens, least_saving: 1, addresses })
            }
            ShakeMode::Images => shake_pictures(transcript, &addresses),
        };
        let Some(shaken) = shaken else { return Err(CompactionFailure::Skipped("Nothing to shake.".to_owned())) };
        session.pruned();
        self.blank(session, transcript, shaken.transcript, shaken.notes.notes)?;
        Ok(shaken.notes.saved_tokens)
    }

    /// Writes the record to the file first, so that a resumed session sends the same conversation.
    fn blank(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        shorter: Transcript,
        notes: Vec<PruneNote>,
    ) -> Result<(), CompactionFailure> {
        let entry = Custom { custom_type: BLANKED_ENTRY.to_owned(), data: Some(json!({"notes": notes})) };
        session.write_note(entry).map_err(CompactionFailure::Failed)?;
        self.notes.extend(notes);
        *transcript = shorter;
        session.replaced(transcript.messages());
        self.stale_until_ms = now_ms();
        Ok(())
    }
}
