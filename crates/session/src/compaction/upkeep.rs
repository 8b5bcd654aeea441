//! The life of a compaction: what is cut, who summarizes it, what is written, what the conversation is afterwards.

use std::sync::Arc;

use omp_store::{Compaction, EntryId};
use omp_types::{
    AssistantMessage, Message, Model, Prices, ThinkingLevel, Transcript, estimate_message_tokens, estimate_tokens,
    now_ms,
};
use tokio_util::sync::CancellationToken;

use super::hooks::{Compacting, CompactionHooks, CompactionPlan, Hooked, TreeHooks};
use super::native::with_native;
use super::outcome::{Compacted, CompactionReason, Failure, Survived};
use super::remote::RemoteSummary;
use super::settings::{CompactionSettings, CompactionStrategy};
use super::span::{Previous, Told};
use super::summarize::{Material, Summarizer};
use super::trigger::{self, Size};
use super::{
    Cut, Estimate, Pass, PruneNote, Survivors, adapted_keep_recent, apply_notes, compose, evicted_url, file_operations,
    find_cut, promote, prompts, serialize, strip_tags, would_cost_more_than_it_saves,
};
use crate::control::Control;
use crate::event::SessionEvent;
use crate::history;
use crate::retry::RetryPolicy;

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
    pub hooks: Vec<Arc<dyn CompactionHooks>>,
    /// Take part in moves within the tree.
    pub tree_hooks: Vec<Arc<dyn TreeHooks>>,
}

/// What a compaction needs of the session besides its own state.
pub(crate) struct Scene<'a> {
    pub control: &'a Arc<Control>,
    pub model: &'a Arc<Model>,
    pub thinking: ThinkingLevel,
    pub retry: RetryPolicy,
    pub cancel: &'a CancellationToken,
}

/// What is wished for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub reason: CompactionReason,
    pub instructions: Option<&'a str>,
    /// Whether the prompt is tried again afterwards.
    pub will_retry: bool,
}

pub(crate) struct Upkeep {
    pub options: CompactionOptions,
    /// What was blanked, to be done again whenever the conversation is read from the file.
    pub notes: Vec<PruneNote>,
    /// Counts of the provider from before this are of a longer conversation.
    pub stale_until_ms: u64,
    /// The size at which nothing could be done; below a tenth more it is not tried again.
    pub gave_up_at: Option<u64>,
    /// What summaries have cost since it was last asked for.
    pub spent: Vec<AssistantMessage>,
}

impl Upkeep {
    pub fn new(options: CompactionOptions, notes: Vec<PruneNote>) -> Self {
        Self { options, notes, stale_until_ms: 0, gave_up_at: None, spent: Vec::new() }
    }

    pub fn take_spent(&mut self) -> Vec<AssistantMessage> {
        std::mem::take(&mut self.spent)
    }

    pub fn size(&self, control: &Control, transcript: &Transcript) -> Size {
        let prefix = || trigger::prefix_tokens(&control.told.system(), control.tools().specs());
        trigger::size(transcript.messages(), prefix, self.stale_until_ms)
    }

    /// A conversation as it may be sent, from what the file says.
    pub fn rebuilt(&self, control: &Control, messages: Vec<Message>) -> Transcript {
        let transcript = control.as_sent(history::prepare(messages));
        if self.notes.is_empty() { transcript } else { apply_notes(&transcript, &self.notes) }
    }

    /// Whether the settings let anything happen without being asked for.
    pub fn is_automatic(&self) -> bool {
        self.options.settings.enabled && self.options.settings.strategy != CompactionStrategy::Off
    }

    /// Whether the next request would fill the window further than it may.
    pub fn is_full(&mut self, scene: &Scene<'_>, transcript: &mut Transcript) -> bool {
        if !self.options.settings.enabled || !scene.control.compacts() {
            return false;
        }
        let Some(threshold) = trigger::threshold(scene.model.context_window, &self.options.settings.limits) else {
            return false;
        };
        let mut tokens = self.size(scene.control, transcript).tokens;
        if tokens > threshold && self.prune(scene, transcript, Pass::BeforeCompaction) {
            tokens = self.size(scene.control, transcript).tokens;
        }
        let retried = self.gave_up_at.is_none_or(|before| tokens > before.saturating_add(before / 10));
        tokens > threshold && retried && (self.is_automatic() || self.promotion(scene.model).is_some())
    }

    /// Shortens the conversation by the strategy that fits, telling when it begins and ends.
    pub async fn run(
        &mut self,
        scene: &Scene<'_>,
        transcript: &mut Transcript,
        wanted: Wanted<'_>,
    ) -> Result<Option<Compacted>, Failure> {
        let by_hand = wanted.reason == CompactionReason::Manual;
        if let Some(why) = scene.control.before_compaction(by_hand, wanted.instructions).await {
            let why = format!("Not compacted: {why}");
            tell(scene.control, &why).await;
            self.gave_up_at = Some(self.size(scene.control, transcript).tokens);
            return Err(Failure::Skipped(why));
        }
        let mut action = self.action(scene, wanted).await;
        scene.control.set_compacting(true);
        scene.control.outlet.send(SessionEvent::CompactionStart { reason: wanted.reason, action }).await;
        let mut done = self.act(action, scene, transcript, wanted).await;
        if action != CompactionStrategy::ContextFull && matches!(done, Err(Failure::Failed(_) | Failure::Skipped(_))) {
            action = CompactionStrategy::ContextFull;
            done = self.act(action, scene, transcript, wanted).await;
        }
        self.gave_up_at = match &done {
            Ok(_) => None,
            Err(_) => Some(self.size(scene.control, transcript).tokens),
        };
        scene.control.set_compacting(false);
        scene.control.outlet.send(ended(&done, action, wanted)).await;
        if done.is_ok() {
            scene.control.after_compaction().await;
        }
        done
    }

    async fn act(
        &mut self,
        action: CompactionStrategy,
        scene: &Scene<'_>,
        transcript: &mut Transcript,
        wanted: Wanted<'_>,
    ) -> Result<Option<Compacted>, Failure> {
        match action {
            CompactionStrategy::Handoff => {
                let document = self.hand_off(scene, transcript, None).await?;
                self.save_handoff(scene, &document).await;
                Ok(None)
            }
            CompactionStrategy::Shake => self.shake_off(scene, transcript).map(|()| None),
            _ => self.summarize(scene, transcript, wanted).await.map(Some),
        }
    }

    /// What the settings say, as far as it fits.
    async fn action(&self, scene: &Scene<'_>, wanted: Wanted<'_>) -> CompactionStrategy {
        let directed = wanted.instructions.is_some_and(|text| !text.trim().is_empty());
        match self.options.settings.strategy {
            CompactionStrategy::Snapcompact => {
                let text = "the strategy `snapcompact` is not there yet; a summary is written instead";
                tell(scene.control, text).await;
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
        scene: &Scene<'_>,
        transcript: &mut Transcript,
        wanted: Wanted<'_>,
    ) -> Result<Compacted, Failure> {
        let told = Told::read(scene.control, transcript).map_err(Failure::Failed)?;
        let size = self.size(scene.control, transcript);
        let cut = self.cut(&told, size, scene.model)?;
        let mut work = Work::new(&told, cut);
        if scene.model.context_window > 0 {
            work.survivors.ledger.fit(scene.model.context_window / 8, scene.model.context_window / 4);
        }
        check_worth(&work, size, scene.model, wanted.reason)?;
        let plan = CompactionPlan {
            reason: wanted.reason,
            instructions: wanted.instructions,
            messages: &work.gone,
            previous_summary: told.previous.as_ref().map(|previous| previous.summary.as_str()),
            tokens_before: size.tokens,
        };
        let hooked = Hooked::ask(&self.options.hooks, &plan)?;
        let native = match hooked.is_plain() && wanted.instructions.is_none_or(|text| text.trim().is_empty()) {
            true => self.by_provider(scene, transcript, &work.gone, &work.survivors).await?,
            // The provider can be told neither.
            false => None,
        };
        let made = match self.make(scene, &work, wanted, &hooked).await {
            Err(Failure::Failed(_)) if native.is_some() => Made::without_words(&work.survivors),
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
        let id = self.write(scene, transcript, &entry, &told, cut)?;
        let compacted = Compacted::of(&entry, self.survived(scene, transcript, id, &work));
        self.options.hooks.iter().for_each(|hook| hook.compacted(&compacted, hooked.own.is_some()));
        Ok(compacted)
    }

    /// Whether there is anything that a compaction could take out. Only a summary knows before it is tried.
    pub fn may_shorten(&self, scene: &Scene<'_>, transcript: &Transcript) -> bool {
        if matches!(self.options.settings.strategy, CompactionStrategy::Handoff | CompactionStrategy::Shake) {
            return true;
        }
        let size = self.size(scene.control, transcript);
        let told = Told::read(scene.control, transcript);
        told.is_ok_and(|told| self.cut(&told, size, scene.model).is_ok())
    }

    fn cut(&self, told: &Told, size: Size, model: &Model) -> Result<Cut, Failure> {
        let limits = &self.options.settings.limits;
        let most = trigger::threshold(model.context_window, limits).map_or(u64::MAX, |threshold| threshold / 2);
        let (measured, estimated) = size.measured.map_or((None, 0), |(measured, it)| (Some(measured), it));
        let keep = adapted_keep_recent(limits.keep_recent_tokens.min(most), measured, estimated);
        find_cut(&told.entries, keep).ok_or_else(|| {
            let already = told.previous.is_some() && told.entries.is_empty();
            let why = if already { "Already compacted" } else { "Nothing to compact (session too small)" };
            Failure::Skipped(why.to_owned())
        })
    }

    /// The summary, by a hook, an endpoint or a model.
    async fn make(
        &mut self,
        scene: &Scene<'_>,
        work: &Work<'_>,
        wanted: Wanted<'_>,
        hooked: &Hooked,
    ) -> Result<Made, Failure> {
        if let Some(own) = &hooked.own {
            return Ok(Made { summary: own.clone(), short: None });
        }
        let mut summarizer = self.summarizer(scene);
        let made = ask(&mut summarizer, work, wanted.instructions, &hooked.compacting).await;
        let (spent, notes) = (summarizer.spent, summarizer.notes);
        self.spent.extend(spent);
        for note in notes {
            tell(scene.control, &note).await;
        }
        made
    }

    pub fn summarizer<'a>(&'a self, scene: &'a Scene<'_>) -> Summarizer<'a> {
        let larger = self.promotion(scene.model);
        Summarizer {
            llm: &*scene.control.llm,
            models: [Some(scene.model.clone()), larger].into_iter().flatten().collect(),
            remote: self.options.remote.as_deref().filter(|_| self.options.settings.remote),
            retry: scene.retry,
            reserve_tokens: self.options.settings.limits.reserve_tokens,
            cancel: scene.cancel,
            spent: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The larger model that the current one may be exchanged for.
    pub fn promotion(&self, model: &Model) -> Option<Arc<Model>> {
        let models = self.options.models.as_ref().filter(|_| self.options.settings.promotes)?;
        promote::target(model, &models())
    }

    /// The same for a conversation that was refused: then the next larger sibling will do as well.
    pub fn promotion_after_overflow(&self, model: &Model) -> Option<Arc<Model>> {
        let models = self.options.models.as_ref().filter(|_| self.options.settings.promotes)?;
        let models = models();
        promote::target(model, &models).or_else(|| promote::next_larger(model, &models))
    }

    /// Into the file first, then the conversation is read anew from it.
    fn write(
        &mut self,
        scene: &Scene<'_>,
        transcript: &mut Transcript,
        entry: &Compaction,
        told: &Told,
        cut: Cut,
    ) -> Result<Option<EntryId>, Failure> {
        let failed = |why: String| Failure::Failed(why);
        let id = scene.control.recorder().compaction(entry).map_err(|error| failed(error.to_string()))?;
        let messages = match &id {
            Some(id) => reread(scene.control, id).map_err(failed)?,
            None => {
                let kept = told.messages(cut.first_kept..told.entries.len());
                let kept = kept.iter().map(|message| Message::clone(message));
                std::iter::once(entry.as_message(now_ms())).chain(kept).collect()
            }
        };
        *transcript = self.rebuilt(scene.control, messages);
        scene.control.set_messages(transcript.messages());
        self.stale_until_ms = now_ms();
        Ok(id)
    }

    fn survived(
        &self,
        scene: &Scene<'_>,
        transcript: &Transcript,
        entry: Option<EntryId>,
        work: &Work<'_>,
    ) -> Survived {
        let names = |files: &std::collections::BTreeSet<String>| files.iter().cloned().collect::<Vec<_>>();
        let files = &work.survivors.files;
        Survived {
            entry,
            tokens_after: self.size(scene.control, transcript).tokens,
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
        scene: &Scene<'_>,
        transcript: &mut Transcript,
        summary: &str,
    ) -> Result<Compacted, Failure> {
        let told = Told::read(scene.control, transcript).map_err(Failure::Failed)?;
        let Some(previous) = told.previous.clone() else {
            return Err(Failure::Skipped("this conversation was not compacted\nhint: /compact does that".to_owned()));
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
        let work = Work::new(&told, all);
        let id = self.write(scene, transcript, &entry, &told, all)?;
        Ok(Compacted::of(&entry, self.survived(scene, transcript, id, &work)))
    }
}

fn reread(control: &Control, leaf: &EntryId) -> Result<Vec<Message>, String> {
    match control.recorder().go_to(Some(leaf.clone())) {
        Some(Ok(Some(context))) => Ok(context.messages),
        Some(Err(error)) => Err(error.to_string()),
        Some(Ok(None)) | None => Err("the compaction cannot be found in the session's file".to_owned()),
    }
}

pub(crate) async fn tell(control: &Control, text: &str) {
    control.outlet.send(SessionEvent::Notice { source: "compaction", text: text.to_owned() }).await;
}

fn ended(done: &Result<Option<Compacted>, Failure>, action: CompactionStrategy, wanted: Wanted<'_>) -> SessionEvent {
    let (result, error) = match done {
        Ok(result) => (result.clone().map(Box::new), None),
        Err(Failure::Failed(why)) => (None, Some(wanted.reason.failed(why))),
        // Who waits for a recovery has to know why there is none.
        Err(Failure::Skipped(why)) if wanted.will_retry => (None, Some(wanted.reason.failed(why))),
        Err(_) => (None, None),
    };
    SessionEvent::CompactionEnd {
        reason: wanted.reason,
        action,
        result,
        aborted: matches!(done, Err(Failure::Aborted)),
        will_retry: done.is_ok() && wanted.will_retry,
        skipped: match done {
            Err(Failure::Skipped(why)) => Some(why.clone()),
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
    fn new(told: &'a Told, cut: Cut) -> Self {
        let entries = &told.entries[..cut.first_kept];
        let gone = told.messages(0..cut.first_kept);
        let history_end = cut.turn_start.unwrap_or(cut.first_kept);
        let mut survivors = Survivors::from_details(told.previous.as_ref().and_then(|it| it.details.as_ref()));
        let evicted = entries.first().zip(entries.last()).filter(|_| told.recorded);
        let evicted = evicted.map(|(first, last)| evicted_url(&first.id, &last.id));
        match told.recorded {
            true => survivors.note(entries, None),
            // What is not in a file cannot be read there.
            false => {
                survivors.files.merge(file_operations(&gone));
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
) -> Result<Made, Failure> {
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
        Err(Failure::Aborted) => return Err(Failure::Aborted),
        short => short.ok().map(|text| one_line(&text)).filter(|text| !text.is_empty()),
    };
    Ok(Made { summary: compose(&history, prefix.as_deref(), &work.survivors), short })
}

fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(LONGEST_SHORT).collect()
}

/// A compaction that is bound to cost more than it saves is not begun, unless there is no choice.
fn check_worth(work: &Work<'_>, size: Size, model: &Model, reason: CompactionReason) -> Result<(), Failure> {
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
        Some(why) => Err(Failure::Skipped(format!("Not compacted: it would cost more than it saves ({why})"))),
        None => Ok(()),
    }
}

/// A summary that is as long as what it stands for helps nobody.
fn check_shorter(entry: &Compaction, work: &Work<'_>) -> Result<(), Failure> {
    let (summary, gone) = (estimate_tokens(&entry.summary), work.gone_tokens());
    if summary < gone {
        return Ok(());
    }
    Err(Failure::Skipped(format!(
        "Not compacted: the summary has about {summary} tokens, what it would replace only {gone}"
    )))
}
