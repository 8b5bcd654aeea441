//! Removes tool output that is no longer worth its tokens. Calls and results stay paired.
//!
//! A change early in the conversation invalidates the provider's cached prefix, which costs more than a stale result. So
//! stale output is removed only where little follows it or when the cache is cold anyway.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use omp_types::{
    CallFactSources, CallFacts, Content, Message, ShownContent, ThinkingContent, ToolCall, ToolResultMessage,
    Transcript, estimate_tokens,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) const SUPERSEDED: &str = "[Superseded by a newer read of this file]";
pub(crate) const USELESS: &str = "[Uneventful result elided]";
/// Smaller output is kept: a placeholder would be no shorter.
const SMALL: u64 = 50;
/// Assumed tokens of an image.
pub(crate) const IMAGE: u64 = 1_200;

/// State of the provider's cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheState {
    /// Time of the last answer; `None` if nothing can be cached.
    pub last_request_ms: Option<u64>,
    pub lifetime_ms: u64,
}

/// What to prune.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Only stale output, and only where the cache loses little.
    EveryTurn,
    /// Also old output, which may make a compaction unnecessary.
    BeforeCompaction,
}

#[derive(Clone, Debug)]
pub(crate) struct PrunePolicy {
    pub pass: Pass,
    /// Tokens of the newest tool output that are kept.
    pub protect_tokens: u64,
    /// Minimum number of tokens to save; applies to old output only.
    pub least_saving: u64,
    /// `compaction.dropUseless`.
    pub drop_useless: bool,
    /// `compaction.supersedeReads`.
    pub supersede_reads: bool,
    /// The current plan file, as the model names it.
    pub plan_file: Option<String>,
    /// What the tools state about their calls.
    pub facts: CallFactSources,
}

pub(crate) struct Pruned {
    pub transcript: Transcript,
    /// Oldest first.
    pub notes: Vec<PruneNote>,
}

/// The change of one message; stored in the file, so that a resumed session sends the same conversation. The time
/// distinguishes messages with the same ID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase")]
pub(crate) enum PruneNote {
    /// The result of a call is replaced by this text.
    #[serde(rename_all = "camelCase")]
    Result { call_id: String, at: u64, text: String },
    /// The thinking before an answer is removed.
    Thinking { at: u64 },
    /// The pictures in a message of the user are removed.
    Pictures { at: u64 },
}

impl Default for PrunePolicy {
    fn default() -> Self {
        Self {
            pass: Pass::EveryTurn,
            protect_tokens: 40_000,
            least_saving: 20_000,
            drop_useless: true,
            supersede_reads: true,
            plan_file: None,
            facts: CallFactSources::default(),
        }
    }
}

impl CacheState {
    pub fn is_warm(&self, now_ms: u64) -> bool {
        self.last_request_ms.is_some_and(|last| now_ms.saturating_sub(last) < self.lifetime_ms)
    }
}

/// Returns `None` if nothing is worth removing.
pub(crate) fn prune(transcript: &Transcript, policy: &PrunePolicy, now_ms: u64, cache: CacheState) -> Option<Pruned> {
    // Messages stay unchanged while the provider has them in its cache.
    if policy.pass == Pass::EveryTurn && cache.is_warm(now_ms) {
        return None;
    }
    let mut found = stale(transcript.messages(), policy);
    if policy.pass == Pass::BeforeCompaction {
        add_old_output(transcript.messages(), policy, &mut found);
    }
    let saved_tokens: u64 = found.iter().map(|it| it.saved).sum();
    let least = if policy.pass == Pass::EveryTurn { 1 } else { policy.least_saving.max(1) };
    if saved_tokens < least {
        return None;
    }
    found.sort_by_key(|it| it.at);
    let notes: Vec<PruneNote> = found.into_iter().map(|it| it.note).collect();
    Some(Pruned { transcript: apply_notes(transcript, &notes), notes })
}

/// Reapplies recorded changes to a conversation that was read from the file.
pub(crate) fn apply_notes(transcript: &Transcript, notes: &[PruneNote]) -> Transcript {
    let mut results: HashMap<(&str, u64), &str> = HashMap::new();
    let (mut thoughts, mut pictures) = (HashSet::new(), HashSet::new());
    for note in notes {
        match note {
            PruneNote::Result { call_id, at, text } => drop(results.insert((call_id, *at), text)),
            PruneNote::Thinking { at } => drop(thoughts.insert(*at)),
            PruneNote::Pictures { at } => drop(pictures.insert(*at)),
        }
    }
    transcript.with_contents(|_, message| match message {
        Message::ToolResult(result) => {
            let text = results.get(&(result.tool_call_id.as_str(), result.timestamp))?;
            Some(vec![Content::text(*text)])
        }
        Message::Assistant(answer) if thoughts.contains(&answer.timestamp) => Some(without_thinking(&answer.content)),
        Message::User(user) if pictures.contains(&user.timestamp) => Some(without_pictures(&user.content)),
        _ => None,
    })
}

/// Each thought is replaced by an unsigned empty one, which tells the wire APIs that item IDs of the answer are invalid.
fn without_thinking(content: &[Content]) -> Vec<Content> {
    let emptied = content.iter().filter_map(|block| match block {
        Content::Thinking(_) => Some(Content::Thinking(ThinkingContent::default())),
        Content::RedactedThinking(_) => None,
        other => Some(other.clone()),
    });
    emptied.collect()
}

/// Each picture is replaced by a note.
fn without_pictures(content: &[Content]) -> Vec<Content> {
    let noted = content.iter().map(|block| match block {
        Content::Image(_) => Content::text("[A picture was left out]"),
        other => other.clone(),
    });
    noted.collect()
}

/// A message that can be pruned.
struct Candidate {
    at: usize,
    saved: u64,
    note: PruneNote,
}

impl Candidate {
    /// Returns `None` if nothing would be saved, as for already pruned output.
    fn new(at: usize, result: &ToolResultMessage, text: String) -> Option<Self> {
        let saved = output_tokens(result).checked_sub(estimate_tokens(&text)).filter(|saved| *saved > 0)?;
        let note = PruneNote::Result { call_id: result.tool_call_id.clone(), at: result.timestamp, text };
        Some(Self { at, saved, note })
    }
}

/// Returns useless results, and reads that a newer read has replaced.
fn stale(messages: &[Arc<Message>], policy: &PrunePolicy) -> Vec<Candidate> {
    let calls = calls(messages);
    let mut newer = NewerReads::default();
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate().rev() {
        if let Message::ToolResult(result) = &**message
            && !result.is_error
        {
            let call = calls.get(&(result.tool_call_id.as_str(), at)).copied();
            let facts = policy.facts_of(call, result);
            let superseded = policy.supersede_reads && call.is_some_and(|call| newer.replaces(call, &facts));
            let text = match (superseded, result.useless && policy.drop_useless) {
                (true, _) => Some(SUPERSEDED),
                (false, true) => Some(USELESS),
                (false, false) => None,
            };
            if let Some(text) = text.filter(|_| !policy.protects(&facts)) {
                found.extend(Candidate::new(at, result, text.to_owned()));
            }
        }
    }
    found
}

/// Adds all output older than the newest `protect_tokens` that is not in the list yet.
fn add_old_output(messages: &[Arc<Message>], policy: &PrunePolicy, found: &mut Vec<Candidate>) {
    let calls = calls(messages);
    let known: HashSet<usize> = found.iter().map(|it| it.at).collect();
    let mut newer = 0;
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::ToolResult(result) = &**message else { continue };
        let tokens = output_tokens(result);
        let call = calls.get(&(result.tool_call_id.as_str(), at)).copied();
        let is_protected = || policy.protects(&policy.facts_of(call, result));
        let goes = newer >= policy.protect_tokens && tokens >= SMALL && !is_protected();
        newer += tokens;
        if goes && !known.contains(&at) {
            found.extend(Candidate::new(at, result, format!("[Output truncated - {tokens} tokens]")));
        }
    }
}

impl PrunePolicy {
    fn facts_of(&self, call: Option<&ToolCall>, result: &ToolResultMessage) -> CallFacts {
        call.map(|call| self.facts.of(call, result.details.as_ref())).unwrap_or_default()
    }

    /// Instructions for the model must not be removed.
    fn protects(&self, facts: &CallFacts) -> bool {
        let is_plan = |path: &String| self.plan_file.as_ref() == Some(path);
        facts.has_instructions || facts.files.read.iter().any(is_plan)
    }
}

/// Reads that are later in the conversation than the current position of the scan.
#[derive(Default)]
struct NewerReads {
    /// The exact arguments of the reads.
    exact: HashSet<String>,
    /// Files that were shown completely.
    whole: HashSet<String>,
}

impl NewerReads {
    /// Returns whether a newer read makes this one obsolete. Records it for earlier reads.
    fn replaces(&mut self, call: &ToolCall, facts: &CallFacts) -> bool {
        let ([path], []) = (facts.files.read.as_slice(), facts.files.modified.as_slice()) else { return false };
        if facts.shown == ShownContent::Nothing {
            return false;
        }
        let asked = format!("{} {}", call.name, Value::Object(call.arguments.clone()));
        let replaced = self.whole.contains(path) || self.exact.contains(&asked);
        if facts.shown != ShownContent::Outline {
            self.exact.insert(asked);
        }
        if facts.shown == ShownContent::All {
            self.whole.insert(path.clone());
        }
        replaced
    }
}

/// Returns the call of each result, by ID and position: the latest with that ID before it.
fn calls(messages: &[Arc<Message>]) -> HashMap<(&str, usize), &ToolCall> {
    let mut latest: HashMap<&str, &ToolCall> = HashMap::new();
    let mut calls = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        match &**message {
            Message::Assistant(answer) => latest.extend(answer.tool_calls().map(|call| (call.id.as_str(), call))),
            Message::ToolResult(result) => {
                if let Some(call) = latest.get(result.tool_call_id.as_str()) {
                    calls.insert((result.tool_call_id.as_str(), at), *call);
                }
            }
            _ => {}
        }
    }
    calls
}

/// Returns the tokens of the output itself, without message overhead.
pub(super) fn output_tokens(result: &ToolResultMessage) -> u64 {
    let of_block = |block: &Content| block.as_text().map_or(IMAGE, estimate_tokens);
    result.content.iter().map(of_block).sum()
}

#[cfg(test)]
mod tests;
