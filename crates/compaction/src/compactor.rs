//! The life cycle of a compaction: what is cut, who summarizes it, what is written, and the resulting conversation.

use std::sync::Arc;

use omp_store::{Compaction, EntryId};
use omp_types::{
    AssistantMessage, CallFactSources, Message, Model, Prices, Transcript, estimate_message_tokens, estimate_tokens,
    now_ms,
};
use serde_json::Value;

use crate::blank::notes_in;
use crate::hooks::{Compacting, CompactionPlan, Hooked};
use crate::native::with_native;
use crate::outcome::{Compacted, CompactionFailure, CompactionReason, Survived};
use crate::prospect::cut;
use crate::remote::RemoteSummary;
use crate::session::{CompactionEvent, CompactionSession, tell};
use crate::settings::{CompactionSettings, CompactionStrategy};
use crate::span::{Previous, Told};
use crate::summarize::{Material, Summarizer};
use crate::trigger::{self, Size};
use crate::{
    Cut, Estimate, Pass, PruneNote, Survivors, apply_notes, compose, evicted_url, file_operations, promote, prompts,
    serialize, strip_tags, would_cost_more_than_it_saves,
};

/// Expected size of a summary in tokens, before it is written.
const EXPECTED_SUMMARY: u64 = 1_000;
/// Shares of the reserve for a summary, and for that of the start of a turn.
const SUMMARY_SHARE: f64 = 0.8;
const PREFIX_SHARE: f64 = 0.5;
const SHORT_SHARE: f64 = 0.05;
/// Maximum number of characters of a short summary.
const LONGEST_SHORT: usize = 160;

/// Used instead of a summary if no model could write one.
const NO_WORDS: &str =
    "No summary could be written; the provider keeps its own form of what was said. What survived word for word:";

/// How a session keeps its conversation within the model's context window.
#[derive(Clone, Default)]
pub struct CompactionOptions {
    pub settings: CompactionSettings,
    /// Makes summaries instead of a model.
    pub remote: Option<Arc<dyn RemoteSummary>>,
    /// Returns the usable models.
    pub models: Option<Arc<dyn Fn() -> Vec<Arc<Model>> + Send + Sync>>,
    /// What is known about calls of tools that the session does not have; asked after the session.
    pub facts: CallFactSources,
}

/// Parameters of a compaction.
#[derive(Clone, Copy, Debug)]
pub struct CompactionRequest<'a> {
    pub reason: CompactionReason,
    pub instructions: Option<&'a str>,
    /// Whether the prompt is retried afterwards.
    pub will_retry: bool,
}

/// Keeps the conversation of one session within the model's context window.
pub struct Compactor {
    pub options: CompactionOptions,
    /// The plan file, whose content is never blanked.
    pub(crate) plan_file: String,
    /// Records of blanked output, reapplied whenever the conversation is read from the file.
    pub(crate) notes: Vec<PruneNote>,
    /// Token counts of the provider from before this time refer to a longer conversation.
    pub(crate) stale_until_ms: u64,
    /// The size at which nothing could be done; there is no further attempt until it grows by a tenth.
    pub(crate) gave_up_at: Option<u64>,
    /// Answers of the summarizing models since the last [`Self::take_spent`], for cost accounting.
    pub(crate) spent: Vec<AssistantMessage>,
}

impl Compactor {
    /// `blanked` are the records of output blanked by earlier runs: see [`crate::BLANKED_ENTRY`].
    pub fn new(options: CompactionOptions, plan_file: &str, blanked: &[Value]) -> Self {
        Self {
            options,
            plan_file: plan_file.to_owned(),
            notes: notes_in(blanked),
            stale_until_ms: 0,
            gave_up_at: None,
            spent: Vec::new(),
        }
    }

    /// Returns the answers of the summarizing models since the last call.
    pub fn take_spent(&mut self) -> Vec<AssistantMessage> {
        std::mem::take(&mut self.spent)
    }

    /// Returns what is known about the calls of the conversation.
    pub(crate) fn facts(&self, session: &dyn CompactionSession) -> CallFactSources {
        let mut sources = vec![session.call_facts()];
        sources.extend(self.options.facts.0.iter().cloned());
        CallFactSources(sources)
    }

    /// Estimates the tokens of the next request.
    pub fn tokens(&self, session: &dyn CompactionSession, transcript: &Transcript) -> u64 {
        self.size(session, transcript).tokens
    }

    pub(crate) fn size(&self, session: &dyn CompactionSession, transcript: &Transcript) -> Size {
        let prefix = || {
            let request = session.request();
            trigger::prefix_tokens(&request.system, &request.tools)
        };
        trigger::size(transcript.messages(), prefix, self.stale_until_ms)
    }

    /// Reapplies the blanking to a conversation that was read from the file.
    pub fn reblanked(&self, transcript: Transcript) -> Transcript {
        if self.notes.is_empty() { transcript } else { apply_notes(&transcript, &self.notes) }
    }

    /// Returns whether the settings allow automatic compaction.
    pub fn is_automatic(&self) -> bool {
        self.options.settings.enabled && self.options.settings.strategy != CompactionStrategy::Off
    }

    /// Returns whether the next request would exceed the threshold.
    pub fn is_full(&mut self, session: &dyn CompactionSession, transcript: &mut Transcript) -> bool {
        if !self.options.settings.enabled || !session.compacts() {
            return false;
        }
        let Some(threshold) = trigger::threshold(session.model().context_window, &self.options.settings.limits) else {
            return false;
        };
        let mut tokens = self.size(session, transcript).tokens;
        if tokens > threshold && self.prune(session, transcript, Pass::BeforeCompaction) {
            tokens = self.size(session, transcript).tokens;
        }
        let retried = self.gave_up_at.is_none_or(|before| tokens > before.saturating_add(before / 10));
        tokens > threshold && retried && (self.is_automatic() || self.promotion(session.model()).is_some())
    }

    /// Shortens the conversation with the applicable strategy, and sends events at start and end.
    pub async fn run(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        wanted: CompactionRequest<'_>,
    ) -> Result<Option<Compacted>, CompactionFailure> {
        let by_hand = wanted.reason == CompactionReason::Manual;
        if let Some(why) = session.before(by_hand, wanted.instructions).await {
            let why = format!("Not compacted: {why}");
            tell(session, &why).await;
            self.gave_up_at = Some(self.size(session, transcript).tokens);
            return Err(CompactionFailure::Skipped(why));
        }
        let mut action = self.action(session, wanted).await;
        session.tell(CompactionEvent::Started { reason: wanted.reason, action }).await;
        let mut done = self.act(action, session, transcript, wanted).await;
        if action != CompactionStrategy::ContextFull
            && matches!(done, Err(CompactionFailure::Failed(_) | CompactionFailure::Skipped(_)))
        {
            action = CompactionStrategy::ContextFull;
            done = self.act(action, session, transcript, wanted).await;
        }
        self.gave_up_at = match &done {
            Ok(_) => None,
            Err(_) => Some(self.size(session, transcript).tokens),
        };
        session.tell(ended(&done, action, wanted)).await;
        if done.is_ok() {
            session.after().await;
        }
        done
    }

    async fn act(
        &mut self,
        action: CompactionStrategy,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        wanted: CompactionRequest<'_>,
    ) -> Result<Option<Compacted>, CompactionFailure> {
        match action {
            CompactionStrategy::Handoff => {
                let document = self.hand_off(session, transcript, None).await?;
                self.save_handoff(session, &document).await;
                Ok(None)
            }
            CompactionStrategy::Shake => self.shake_off(session, transcript).map(|()| None),
            _ => self.summarize(session, transcript, wanted).await.map(Some),
        }
    }

    /// Returns the configured strategy, if it is applicable.
    async fn action(&self, session: &dyn CompactionSession, wanted: CompactionRequest<'_>) -> CompactionStrategy {
        let directed = wanted.instructions.is_some_and(|text| !text.trim().is_empty());
        match self.options.settings.strategy {
            CompactionStrategy::Snapcompact => {
                let text = "the strategy `snapcompact` is not supported yet; writing a summary instead";
                tell(session, text).await;
                CompactionStrategy::ContextFull
            }
            CompactionStrategy::Off => CompactionStrategy::ContextFull,
            // The request for a handoff document would be as long as the refused one.
            CompactionStrategy::Handoff
                if matches!(wanted.reason, CompactionReason::Manual | CompactionReason::Overflow) =>
            {
                CompactionStrategy::ContextFull
            }
            _ if directed => CompactionStrategy::ContextFull,
            strategy => strategy,
        }
    }

    /// Replaces the older part of the conversation by a summary.
    async fn summarize(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        wanted: CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let told = Told::read(session, transcript).map_err(CompactionFailure::Failed)?;
        let size = self.size(session, transcript);
        let cut = cut(&self.options.settings, &told, size, session.model())?;
        let mut work = Work::new(&told, cut, &self.facts(session));
        if session.model().context_window > 0 {
            work.survivors.ledger.fit(session.model().context_window / 8, session.model().context_window / 4);
        }
        check_worth(&work, size, session.model(), wanted.reason)?;
        let plan = CompactionPlan {
            reason: wanted.reason,
            instructions: wanted.instructions,
            messages: &work.gone,
            previous_summary: told.previous.as_ref().map(|previous| previous.summary.as_str()),
            tokens_before: size.tokens,
        };
        let hooked = Hooked::ask(session, &plan)?;
        let native = match hooked.is_plain() && wanted.instructions.is_none_or(|text| text.trim().is_empty()) {
            true => self.by_provider(session, transcript, &work.gone, &work.survivors).await?,
            // The provider accepts neither instructions nor changes by hooks.
            false => None,
        };
        let made = match self.make(session, &work, wanted, &hooked).await {
            Err(CompactionFailure::Failed(_)) if native.is_some() => Made::without_words(&work.survivors),
            made => made?,
        };
        let entry = Compaction {
            summary: made.summary,
            short_summary: made.short,
            first_kept_entry_id: work.first_kept.as_str().to_owned(),
            tokens_before: size.tokens,
            details: Some(hooked.details.clone().unwrap_or_else(|| work.survivors.to_details())),
            from_extension: hooked.own.is_some().then_some(true),
            preserve_data: with_native(hooked.compacting.preserve_data.clone(), native),
            warning: None,
        };
        check_shorter(&entry, &work)?;
        let id = self.write(session, transcript, &entry, &told, cut)?;
        let compacted = Compacted::of(&entry, self.survived(session, transcript, id, &work));
        session.compacted(&compacted, hooked.own.is_some());
        Ok(compacted)
    }

    /// Returns whether there is anything to remove. Only the summary strategy knows this in advance.
    pub fn may_shorten(&self, session: &dyn CompactionSession, transcript: &Transcript) -> bool {
        if matches!(self.options.settings.strategy, CompactionStrategy::Handoff | CompactionStrategy::Shake) {
            return true;
        }
        let size = self.size(session, transcript);
        let told = Told::read(session, transcript);
        told.is_ok_and(|told| cut(&self.options.settings, &told, size, session.model()).is_ok())
    }

    /// Creates the summary with a hook, an endpoint or a model.
    async fn make(
        &mut self,
        session: &dyn CompactionSession,
        work: &Work<'_>,
        wanted: CompactionRequest<'_>,
        hooked: &Hooked,
    ) -> Result<Made, CompactionFailure> {
        if let Some(own) = &hooked.own {
            return Ok(Made { summary: own.clone(), short: None });
        }
        let mut summarizer = self.summarizer(session);
        let made = ask(&mut summarizer, work, wanted.instructions, &hooked.compacting).await;
        let (spent, notes) = (summarizer.spent, summarizer.notes);
        self.spent.extend(spent);
        for note in notes {
            tell(session, &note).await;
        }
        made
    }

    pub(crate) fn summarizer<'a>(&'a self, session: &'a dyn CompactionSession) -> Summarizer<'a> {
        let larger = self.promotion(session.model());
        Summarizer {
            models: [Some(session.model().clone()), larger].into_iter().flatten().collect(),
            remote: self.options.remote.as_deref().filter(|_| self.options.settings.remote),
            session,
            reserve_tokens: self.options.settings.limits.reserve_tokens,
            spent: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the larger model that may replace the current one.
    pub fn promotion(&self, model: &Model) -> Option<Arc<Model>> {
        let models = self.options.models.as_ref().filter(|_| self.options.settings.promotes)?;
        promote::target(model, &models())
    }

    /// Returns the model to switch to after the provider refused the conversation as too long; the next larger sibling is
    /// allowed.
    pub fn promotion_after_overflow(&self, model: &Model) -> Option<Arc<Model>> {
        let models = self.options.models.as_ref().filter(|_| self.options.settings.promotes)?;
        let models = models();
        promote::target(model, &models).or_else(|| promote::next_larger(model, &models))
    }

    /// Writes to the file first; the conversation is then read from it.
    fn write(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        entry: &Compaction,
        told: &Told,
        cut: Cut,
    ) -> Result<Option<EntryId>, CompactionFailure> {
        let written = session.write_compaction(entry).map_err(CompactionFailure::Failed)?;
        let (id, messages) = match written {
            Some((id, messages)) => (Some(id), messages),
            None => {
                let kept = told.messages(cut.first_kept..told.entries.len());
                let kept = kept.iter().map(|message| Message::clone(message));
                (None, std::iter::once(entry.as_message(now_ms())).chain(kept).collect())
            }
        };
        *transcript = self.reblanked(session.as_sent(messages));
        session.replaced(transcript.messages());
        self.stale_until_ms = now_ms();
        Ok(id)
    }

    fn survived(
        &self,
        session: &dyn CompactionSession,
        transcript: &Transcript,
        entry: Option<EntryId>,
        work: &Work<'_>,
    ) -> Survived {
        let names = |files: &std::collections::BTreeSet<String>| files.iter().cloned().collect::<Vec<_>>();
        let files = &work.survivors.files;
        Survived {
            entry,
            tokens_after: self.size(session, transcript).tokens,
            summarized_messages: work.gone.len(),
            kept_messages: work.kept,
            ledger: work.survivors.ledger.items().iter().map(|item| item.text.clone()).collect(),
            read_files: names(&files.read).into_iter().filter(|file| !files.modified.contains(file)).collect(),
            modified_files: names(&files.modified),
            evicted: work.evicted.clone(),
        }
    }

    /// Replaces the text of the last summary.
    pub fn correct(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        summary: &str,
    ) -> Result<Compacted, CompactionFailure> {
        let told = Told::read(session, transcript).map_err(CompactionFailure::Failed)?;
        let Some(previous) = told.previous.clone() else {
            return Err(CompactionFailure::Skipped(
                "this conversation has not been compacted\nhint: /compact compacts it".to_owned(),
            ));
        };
        let Previous { short_summary, first_kept, tokens_before, details, preserve_data, .. } = previous;
        let entry = Compaction {
            summary: summary.to_owned(),
            short_summary,
            first_kept_entry_id: first_kept,
            tokens_before,
            details,
            from_extension: None,
            // The corrected text must be used, not the provider's earlier compaction.
            preserve_data: with_native(preserve_data, None),
            warning: None,
        };
        let all = Cut { first_kept: 0, turn_start: None };
        let work = Work::new(&told, all, &self.facts(session));
        let id = self.write(session, transcript, &entry, &told, all)?;
        Ok(Compacted::of(&entry, self.survived(session, transcript, id, &work)))
    }
}

fn ended(
    done: &Result<Option<Compacted>, CompactionFailure>,
    action: CompactionStrategy,
    wanted: CompactionRequest<'_>,
) -> CompactionEvent {
    let (result, error) = match done {
        Ok(result) => (result.clone().map(Box::new), None),
        Err(CompactionFailure::Failed(why)) => (None, Some(wanted.reason.failed(why))),
        // A caller that waits for a recovery must know why it failed.
        Err(CompactionFailure::Skipped(why)) if wanted.will_retry => (None, Some(wanted.reason.failed(why))),
        Err(_) => (None, None),
    };
    CompactionEvent::Ended {
        reason: wanted.reason,
        action,
        result,
        aborted: matches!(done, Err(CompactionFailure::Aborted)),
        will_retry: done.is_ok() && wanted.will_retry,
        skipped: match done {
            Err(CompactionFailure::Skipped(why)) => Some(why.clone()),
            _ => None,
        },
        error,
    }
}

/// The messages that leave the context, and the parts of them that are kept verbatim.
struct Work<'a> {
    previous: Option<&'a Previous>,
    /// Messages to summarize, without the turn that is split.
    history: Vec<Arc<Message>>,
    turn_prefix: Vec<Arc<Message>>,
    gone: Vec<Arc<Message>>,
    kept: usize,
    survivors: Survivors,
    evicted: Option<String>,
    first_kept: EntryId,
}

impl<'a> Work<'a> {
    fn new(told: &'a Told, cut: Cut, facts: &CallFactSources) -> Self {
        let entries = &told.entries[..cut.first_kept];
        let gone = told.messages(0..cut.first_kept);
        let history_end = cut.turn_start.unwrap_or(cut.first_kept);
        let mut survivors = Survivors::from_details(told.previous.as_ref().and_then(|it| it.details.as_ref()));
        let evicted = entries.first().zip(entries.last()).filter(|_| told.recorded);
        let evicted = evicted.map(|(first, last)| evicted_url(&first.id, &last.id));
        match told.recorded {
            true => survivors.note(entries, None, facts),
            // Without a file there is nothing to read the originals from.
            false => {
                survivors.files.merge(file_operations(&gone, facts));
                survivors.ledger.note(entries);
            }
        }
        Self {
            previous: told.previous.as_ref(),
            history: told.messages(0..history_end),
            turn_prefix: told.messages(history_end..cut.first_kept),
            gone,
            kept: told.entries.len() - cut.first_kept,
            survivors,
            evicted,
            first_kept: told.entries.get(cut.first_kept).map_or_else(|| EntryId::from(""), |entry| entry.id.clone()),
        }
    }

    /// Returns the tokens that the summary replaces.
    fn gone_tokens(&self) -> u64 {
        let before = self.previous.map_or(0, |previous| estimate_tokens(&previous.summary));
        before + self.gone.iter().map(|message| estimate_message_tokens(message)).sum::<u64>()
    }
}

/// A summary as it is stored.
struct Made {
    summary: String,
    short: Option<String>,
}

impl Made {
    /// Creates the entry for a conversation that only the provider has compacted.
    fn without_words(survivors: &Survivors) -> Self {
        Self { summary: compose(NO_WORDS, None, survivors), short: None }
    }
}

/// Sends one request for the history, one for the start of a split turn, and a small one for the short summary.
async fn ask(
    summarizer: &mut Summarizer<'_>,
    work: &Work<'_>,
    instructions: Option<&str>,
    compacting: &Compacting,
) -> Result<Made, CompactionFailure> {
    let previous = work.previous.map(|previous| strip_tags(&previous.summary));
    let usual = if previous.is_some() { prompts::UPDATE } else { prompts::SUMMARIZE };
    let history = match (&previous, work.history.is_empty()) {
        // Only the start of a turn is new.
        (Some(previous), true) => previous.clone(),
        (None, true) => String::new(),
        _ => {
            let material = Material {
                conversation: serialize(&work.history),
                previous_summary: previous.as_deref(),
                context: compacting.context.clone(),
                task: compacting.prompt.as_deref().unwrap_or(usual),
                instructions,
            };
            summarizer.ask(&material, SUMMARY_SHARE).await?
        }
    };
    let prefix = match work.turn_prefix.is_empty() {
        true => None,
        false => {
            let conversation = serialize(&work.turn_prefix);
            let material = Material { conversation, task: prompts::TURN_PREFIX, instructions, ..Material::default() };
            Some(summarizer.ask(&material, PREFIX_SHARE).await?)
        }
    };
    let said = [Some(history.as_str()), prefix.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    let short = Material { conversation: said, task: prompts::SHORT, ..Material::default() };
    // A missing short summary only makes the divider less informative.
    let short = match summarizer.ask(&short, SHORT_SHARE).await {
        Err(CompactionFailure::Aborted) => return Err(CompactionFailure::Aborted),
        short => short.ok().map(|text| one_line(&text)).filter(|text| !text.is_empty()),
    };
    Ok(Made { summary: compose(&history, prefix.as_deref(), &work.survivors), short })
}

fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(LONGEST_SHORT).collect()
}

/// Refuses a compaction that would cost more than it saves, unless the context is full.
fn check_worth(work: &Work<'_>, size: Size, model: &Model, reason: CompactionReason) -> Result<(), CompactionFailure> {
    if !matches!(reason, CompactionReason::Manual | CompactionReason::Idle) {
        return Ok(());
    }
    let ratio = size
        .measured
        .filter(|(_, estimated)| *estimated > 0)
        .map_or(1.0, |(measured, estimated)| (measured as f64 / estimated as f64).clamp(0.5, 3.0));
    let gone = (work.gone_tokens() as f64 * ratio) as u64;
    let kept_words = estimate_tokens(&compose("", None, &work.survivors));
    let summary = EXPECTED_SUMMARY.min(gone / 2);
    let estimate = Estimate {
        before: size.tokens,
        summarized: estimate_tokens(&serialize(&work.gone)),
        summary,
        after: size.tokens.saturating_sub(gone) + summary + kept_words,
        // For a manual compaction, the costs are ignored.
        prices: if reason == CompactionReason::Manual { Prices::default() } else { model.cost },
    };
    match would_cost_more_than_it_saves(&estimate) {
        Some(why) => {
            Err(CompactionFailure::Skipped(format!("Not compacted: it would cost more than it saves ({why})")))
        }
        None => Ok(()),
    }
}

/// Refuses a summary that is as long as the text it replaces.
fn check_shorter(entry: &Compaction, work: &Work<'_>) -> Result<(), CompactionFailure> {
    let (summary, gone) = (estimate_tokens(&entry.summary), work.gone_tokens());
    if summary < gone {
        return Ok(());
    }
    Err(CompactionFailure::Skipped(format!(
        "Not compacted: the summary has about {summary} tokens, but would replace only {gone}"
    )))
}
