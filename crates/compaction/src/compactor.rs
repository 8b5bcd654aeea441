//! The life of a compaction: what is cut, who summarizes it, what is written, what the conversation is afterwards.

use std::sync::Arc;

use omp_store::{Compaction, EntryId};
use omp_types::{
    AssistantMessage, Message, Model, Prices, TouchedBy, Transcript, estimate_message_tokens, estimate_tokens, now_ms,
};
use serde_json::Value;

use crate::blank::notes_in;
use crate::hooks::{Compacting, CompactionPlan, Hooked};
use crate::native::with_native;
use crate::outcome::{Compacted, CompactionFailure, CompactionReason, Survived};
use crate::remote::RemoteSummary;
use crate::session::{CompactionEvent, CompactionSession, tell};
use crate::settings::{CompactionSettings, CompactionStrategy};
use crate::span::{Previous, Told};
use crate::summarize::{Material, Summarizer};
use crate::trigger::{self, Size};
use crate::{
    Cut, Estimate, Pass, PruneNote, Survivors, adapted_keep_recent, apply_notes, compose, evicted_url, file_operations,
    find_cut, promote, prompts, serialize, strip_tags, would_cost_more_than_it_saves,
};

/// What a summary is expected to come to, before it is written.
const EXPECTED_SUMMARY: u64 = 1_000;
/// Shares of the reserve that a summary, and that of the beginning of a turn, may take.
const SUMMARY_SHARE: f64 = 0.8;
const PREFIX_SHARE: f64 = 0.5;
const SHORT_SHARE: f64 = 0.05;
/// Characters of a short summary.
const LONGEST_SHORT: usize = 160;

/// In the place of a summary that no model could write.
const NO_WORDS: &str =
    "No summary could be written; the provider keeps its own form of what was said. What survived word for word:";

/// How a session keeps its conversation within the model's window.
#[derive(Clone, Default)]
pub struct CompactionOptions {
    pub settings: CompactionSettings,
    /// Makes summaries instead of a model.
    pub remote: Option<Arc<dyn RemoteSummary>>,
    /// The models that can be used.
    pub models: Option<Arc<dyn Fn() -> Vec<Arc<Model>> + Send + Sync>>,
    /// Which files the calls of a conversation are about.
    pub touched: TouchedBy,
}

/// The compaction that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct CompactionRequest<'a> {
    pub reason: CompactionReason,
    pub instructions: Option<&'a str>,
    /// Whether the prompt is tried again afterwards.
    pub will_retry: bool,
}

/// Keeps the conversation of one session within the model's window.
pub struct Compactor {
    pub options: CompactionOptions,
    /// The file of the plan, which is never blanked.
    pub(crate) plan_file: String,
    /// What was blanked, to be done again whenever the conversation is read from the file.
    pub(crate) notes: Vec<PruneNote>,
    /// Counts of the provider from before this are of a longer conversation.
    pub(crate) stale_until_ms: u64,
    /// The size at which nothing could be done; below a tenth more it is not tried again.
    pub(crate) gave_up_at: Option<u64>,
    /// What summaries have cost since it was last asked for.
    pub(crate) spent: Vec<AssistantMessage>,
}

impl Compactor {
    /// `blanked` are the entries of what earlier runs have blanked: see [`crate::BLANKED_ENTRY`].
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

    /// What summaries have cost since the last call.
    pub fn take_spent(&mut self) -> Vec<AssistantMessage> {
        std::mem::take(&mut self.spent)
    }

    /// Tokens of the next request.
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

    /// A conversation that was read from the file, with the same output blanked as before.
    pub fn reblanked(&self, transcript: Transcript) -> Transcript {
        if self.notes.is_empty() { transcript } else { apply_notes(&transcript, &self.notes) }
    }

    /// Whether the settings let anything happen without being asked for.
    pub fn is_automatic(&self) -> bool {
        self.options.settings.enabled && self.options.settings.strategy != CompactionStrategy::Off
    }

    /// Whether the next request would fill the window further than it may.
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

    /// Shortens the conversation by the strategy that fits, telling when it begins and ends.
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

    /// What the settings say, as far as it fits.
    async fn action(&self, session: &dyn CompactionSession, wanted: CompactionRequest<'_>) -> CompactionStrategy {
        let directed = wanted.instructions.is_some_and(|text| !text.trim().is_empty());
        match self.options.settings.strategy {
            CompactionStrategy::Snapcompact => {
                let text = "the strategy `snapcompact` is not there yet; a summary is written instead";
                tell(session, text).await;
                CompactionStrategy::ContextFull
            }
            CompactionStrategy::Off => CompactionStrategy::ContextFull,
            // The request for a document would be as long as the one that was refused.
            CompactionStrategy::Handoff
                if matches!(wanted.reason, CompactionReason::Manual | CompactionReason::Overflow) =>
            {
                CompactionStrategy::ContextFull
            }
            _ if directed => CompactionStrategy::ContextFull,
            strategy => strategy,
        }
    }

    /// Replaces the older part of the conversation by a summary of it.
    async fn summarize(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        wanted: CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let told = Told::read(session, transcript).map_err(CompactionFailure::Failed)?;
        let size = self.size(session, transcript);
        let cut = self.cut(&told, size, session.model())?;
        let mut work = Work::new(&told, cut, self.options.touched);
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
            // The provider can be told neither.
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

    /// Whether there is anything that a compaction could take out. Only a summary knows before it is tried.
    pub fn may_shorten(&self, session: &dyn CompactionSession, transcript: &Transcript) -> bool {
        if matches!(self.options.settings.strategy, CompactionStrategy::Handoff | CompactionStrategy::Shake) {
            return true;
        }
        let size = self.size(session, transcript);
        let told = Told::read(session, transcript);
        told.is_ok_and(|told| self.cut(&told, size, session.model()).is_ok())
    }

    fn cut(&self, told: &Told, size: Size, model: &Model) -> Result<Cut, CompactionFailure> {
        let limits = &self.options.settings.limits;
        let most = trigger::threshold(model.context_window, limits).map_or(u64::MAX, |threshold| threshold / 2);
        let (measured, estimated) = size.measured.map_or((None, 0), |(measured, it)| (Some(measured), it));
        let keep = adapted_keep_recent(limits.keep_recent_tokens.min(most), measured, estimated);
        find_cut(&told.entries, keep).ok_or_else(|| {
            let already = told.previous.is_some() && told.entries.is_empty();
            let why = if already { "Already compacted" } else { "Nothing to compact (session too small)" };
            CompactionFailure::Skipped(why.to_owned())
        })
    }

    /// The summary, by a hook, an endpoint or a model.
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

    /// The larger model that the current one may be exchanged for.
    pub fn promotion(&self, model: &Model) -> Option<Arc<Model>> {
        let models = self.options.models.as_ref().filter(|_| self.options.settings.promotes)?;
        promote::target(model, &models())
    }

    /// The model to change to after the provider refused the conversation as too long; the next larger sibling will do.
    pub fn promotion_after_overflow(&self, model: &Model) -> Option<Arc<Model>> {
        let models = self.options.models.as_ref().filter(|_| self.options.settings.promotes)?;
        let models = models();
        promote::target(model, &models).or_else(|| promote::next_larger(model, &models))
    }

    /// Into the file first; the conversation is what the file says.
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

    /// Puts other words in the place of the last summary.
    pub fn correct(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &mut Transcript,
        summary: &str,
    ) -> Result<Compacted, CompactionFailure> {
        let told = Told::read(session, transcript).map_err(CompactionFailure::Failed)?;
        let Some(previous) = told.previous.clone() else {
            return Err(CompactionFailure::Skipped(
                "this conversation was not compacted\nhint: /compact does that".to_owned(),
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
            // The words that were corrected are to be read, not what the provider made before.
            preserve_data: with_native(preserve_data, None),
            warning: None,
        };
        let all = Cut { first_kept: 0, turn_start: None };
        let work = Work::new(&told, all, self.options.touched);
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
        // Who waits for a recovery has to know why there is none.
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

/// What leaves the context, and what of it stays word by word.
struct Work<'a> {
    previous: Option<&'a Previous>,
    /// To be summarized, without the turn that is cut through.
    history: Vec<Arc<Message>>,
    turn_prefix: Vec<Arc<Message>>,
    gone: Vec<Arc<Message>>,
    kept: usize,
    survivors: Survivors,
    evicted: Option<String>,
    first_kept: EntryId,
}

impl<'a> Work<'a> {
    fn new(told: &'a Told, cut: Cut, touched: TouchedBy) -> Self {
        let entries = &told.entries[..cut.first_kept];
        let gone = told.messages(0..cut.first_kept);
        let history_end = cut.turn_start.unwrap_or(cut.first_kept);
        let mut survivors = Survivors::from_details(told.previous.as_ref().and_then(|it| it.details.as_ref()));
        let evicted = entries.first().zip(entries.last()).filter(|_| told.recorded);
        let evicted = evicted.map(|(first, last)| evicted_url(&first.id, &last.id));
        match told.recorded {
            true => survivors.note(entries, None, touched),
            // What is not in a file cannot be read there.
            false => {
                survivors.files.merge(file_operations(&gone, touched));
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

    /// What the summary takes the place of.
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
    /// For a conversation that the provider alone has shortened.
    fn without_words(survivors: &Survivors) -> Self {
        Self { summary: compose(NO_WORDS, None, survivors), short: None }
    }
}

/// One request for the history, one for the beginning of a turn that is cut through, a small one for the short summary.
async fn ask(
    summarizer: &mut Summarizer<'_>,
    work: &Work<'_>,
    instructions: Option<&str>,
    compacting: &Compacting,
) -> Result<Made, CompactionFailure> {
    let previous = work.previous.map(|previous| strip_tags(&previous.summary));
    let usual = if previous.is_some() { prompts::UPDATE } else { prompts::SUMMARIZE };
    let history = match (&previous, work.history.is_empty()) {
        // Nothing is new but the beginning of a turn.
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
    // Without one the divider says less; the compaction stands.
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

/// A compaction that is bound to cost more than it saves is not begun, unless there is no choice.
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
        // Who asks for it wants room more than money.
        prices: if reason == CompactionReason::Manual { Prices::default() } else { model.cost },
    };
    match would_cost_more_than_it_saves(&estimate) {
        Some(why) => {
            Err(CompactionFailure::Skipped(format!("Not compacted: it would cost more than it saves ({why})")))
        }
        None => Ok(()),
    }
}

/// A summary that is as long as what it stands for helps nobody.
fn check_shorter(entry: &Compaction, work: &Work<'_>) -> Result<(), CompactionFailure> {
    let (summary, gone) = (estimate_tokens(&entry.summary), work.gone_tokens());
    if summary < gone {
        return Ok(());
    }
    Err(CompactionFailure::Skipped(format!(
        "Not compacted: the summary has about {summary} tokens, what it would replace only {gone}"
    )))
}
