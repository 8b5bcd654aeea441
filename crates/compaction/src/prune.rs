//! Takes tool output that is no longer worth its tokens out of the context. Calls and results stay pairs.
//!
//! Changing what stands far up in a conversation makes the provider forget its cached prefix, which costs more than a
//! stale result does. So what is stale goes only where little follows it or when the cache is cold anyway.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use omp_types::{
    Content, Message, ThinkingContent, ToolCall, ToolResultMessage, TouchedBy, TouchedFiles, Transcript,
    estimate_tokens,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) const SUPERSEDED: &str = "[Superseded by a newer read of this file]";
pub(crate) const USELESS: &str = "[Uneventful result elided]";
/// Old output smaller than this stays: a line in its place would be no shorter.
const SMALL: u64 = 50;
/// What a picture is taken to cost.
const IMAGE: u64 = 1_200;

/// What the provider still has in its cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheState {
    /// When the last request was answered; `None` when nothing can be cached.
    pub last_request_ms: Option<u64>,
    pub lifetime_ms: u64,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Only what is stale, and only where the cache loses little.
    EveryTurn,
    /// Also old output, in case that makes a compaction needless.
    BeforeCompaction,
}

#[derive(Clone, Debug)]
pub(crate) struct PrunePolicy {
    pub pass: Pass,
    /// Tokens of the newest tool output that stay.
    pub protect_tokens: u64,
    /// Fewer than this are not worth it; of old output only.
    pub least_saving: u64,
    /// `compaction.dropUseless`.
    pub drop_useless: bool,
    /// `compaction.supersedeReads`.
    pub supersede_reads: bool,
    pub protected_tools: BTreeSet<String>,
    /// The plan that is being carried out, as the model names it.
    pub plan_file: Option<String>,
    /// Which files a call is about.
    pub touched: TouchedBy,
}

pub(crate) struct Pruned {
    pub transcript: Transcript,
    /// Oldest first.
    pub notes: Vec<PruneNote>,
}

/// What was done to one message; kept in the file, so that a resumed session is told the same. The time tells apart what
/// has the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "camelCase")]
pub(crate) enum PruneNote {
    /// The result of a call says this instead.
    #[serde(rename_all = "camelCase")]
    Result { call_id: String, at: u64, text: String },
    /// What the model thought before an answer is gone.
    Thinking { at: u64 },
}

impl Default for PrunePolicy {
    fn default() -> Self {
        Self {
            pass: Pass::EveryTurn,
            protect_tokens: 40_000,
            least_saving: 20_000,
            drop_useless: true,
            supersede_reads: true,
            protected_tools: BTreeSet::from(["skill".to_owned()]),
            plan_file: None,
            touched: TouchedBy::default(),
        }
    }
}

impl CacheState {
    pub fn is_warm(&self, now_ms: u64) -> bool {
        self.last_request_ms.is_some_and(|last| now_ms.saturating_sub(last) < self.lifetime_ms)
    }
}

/// `None` when nothing is worth taking out.
pub(crate) fn prune(transcript: &Transcript, policy: &PrunePolicy, now_ms: u64, cache: CacheState) -> Option<Pruned> {
    // What was sent stays as it was sent while the provider has it.
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

/// Does again what was done to a conversation before it was written and read.
pub(crate) fn apply_notes(transcript: &Transcript, notes: &[PruneNote]) -> Transcript {
    let mut results: HashMap<(&str, u64), &str> = HashMap::new();
    let mut thoughts = HashSet::new();
    for note in notes {
        match note {
            PruneNote::Result { call_id, at, text } => drop(results.insert((call_id, *at), text)),
            PruneNote::Thinking { at } => drop(thoughts.insert(*at)),
        }
    }
    transcript.with_contents(|_, message| match message {
        Message::ToolResult(result) => {
            let text = results.get(&(result.tool_call_id.as_str(), result.timestamp))?;
            Some(vec![Content::text(*text)])
        }
        Message::Assistant(answer) if thoughts.contains(&answer.timestamp) => Some(without_thinking(&answer.content)),
        _ => None,
    })
}

/// An unsigned empty thought stays in place of each: it tells the wires that item ids of the answer are void.
fn without_thinking(content: &[Content]) -> Vec<Content> {
    let emptied = content.iter().filter_map(|block| match block {
        Content::Thinking(_) => Some(Content::Thinking(ThinkingContent::default())),
        Content::RedactedThinking(_) => None,
        other => Some(other.clone()),
    });
    emptied.collect()
}

/// Something that can go.
struct Candidate {
    at: usize,
    saved: u64,
    note: PruneNote,
}

impl Candidate {
    /// `None` where nothing would be saved, as with what was pruned before.
    fn new(at: usize, result: &ToolResultMessage, text: String) -> Option<Self> {
        let saved = output_tokens(result).checked_sub(estimate_tokens(&text)).filter(|saved| *saved > 0)?;
        let note = PruneNote::Result { call_id: result.tool_call_id.clone(), at: result.timestamp, text };
        Some(Self { at, saved, note })
    }
}

/// Useless results and reads that a newer read has replaced.
fn stale(messages: &[Arc<Message>], policy: &PrunePolicy) -> Vec<Candidate> {
    let calls = calls(messages);
    let mut newer = NewerReads::default();
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate().rev() {
        if let Message::ToolResult(result) = &**message
            && !result.is_error
        {
            let call = calls.get(&(result.tool_call_id.as_str(), at)).copied();
            let superseded =
                policy.supersede_reads && call.is_some_and(|call| newer.replaces(call, result, policy.touched));
            let text = match (superseded, result.useless && policy.drop_useless) {
                (true, _) => Some(SUPERSEDED),
                (false, true) => Some(USELESS),
                (false, false) => None,
            };
            if let Some(text) = text.filter(|_| !policy.protects(&result.tool_name, call)) {
                found.extend(Candidate::new(at, result, text.to_owned()));
            }
        }
    }
    found
}

/// Everything older than the newest `protect_tokens` of output, as far as it is not among the found.
fn add_old_output(messages: &[Arc<Message>], policy: &PrunePolicy, found: &mut Vec<Candidate>) {
    let calls = calls(messages);
    let known: HashSet<usize> = found.iter().map(|it| it.at).collect();
    let mut newer = 0;
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::ToolResult(result) = &**message else { continue };
        let tokens = output_tokens(result);
        let call = calls.get(&(result.tool_call_id.as_str(), at)).copied();
        let goes = newer >= policy.protect_tokens && tokens >= SMALL && !policy.protects(&result.tool_name, call);
        newer += tokens;
        if goes && !known.contains(&at) {
            found.extend(Candidate::new(at, result, format!("[Output truncated - {tokens} tokens]")));
        }
    }
}

impl PrunePolicy {
    /// What the model was told to follow must not vanish.
    fn protects(&self, tool: &str, call: Option<&ToolCall>) -> bool {
        let read = call.map(|call| (self.touched.0)(call).read).unwrap_or_default();
        let is_told = |path: &String| path.starts_with("skill://") || self.plan_file.as_ref() == Some(path);
        self.protected_tools.contains(tool) || read.iter().any(is_told)
    }
}

/// Reads that stand later in the conversation than where the walk is.
#[derive(Default)]
struct NewerReads {
    /// What was asked for, to the letter.
    exact: HashSet<String>,
    /// Files of which every line was shown.
    whole: HashSet<String>,
}

impl NewerReads {
    /// Whether one of them makes this read needless. Remembers it for those before.
    fn replaces(&mut self, call: &ToolCall, result: &ToolResultMessage, touched: TouchedBy) -> bool {
        let TouchedFiles { mut read, modified } = (touched.0)(call);
        let Some(path) = read.pop().filter(|_| read.is_empty() && modified.is_empty()) else { return false };
        let asked = format!("{} {}", call.name, Value::Object(call.arguments.clone()));
        let replaced = self.whole.contains(&path) || self.exact.contains(&asked);
        let outline = result.details.as_ref().is_some_and(|details| details.get("summary").is_some());
        // An outline shows less than an older read of the same words may have shown.
        if !outline {
            self.exact.insert(asked);
        }
        if !outline && shows_all(result) {
            self.whole.insert(path);
        }
        replaced
    }
}

/// Whether a read has shown every line of its file, as its details say.
fn shows_all(result: &ToolResultMessage) -> bool {
    let Some(details) = &result.details else { return false };
    let total = details.get("totalLines").and_then(Value::as_u64);
    let shown = details.pointer("/displayContent/lineNumbers").and_then(Value::as_array);
    matches!((total, shown), (Some(total), Some(shown)) if total > 0 && shown.len() as u64 >= total)
}

/// The call that each result answers, by id and position: the latest of that id before it.
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

/// What the output itself costs, without what stands around any message.
pub(super) fn output_tokens(result: &ToolResultMessage) -> u64 {
    let of_block = |block: &Content| block.as_text().map_or(IMAGE, estimate_tokens);
    result.content.iter().map(of_block).sum()
}

#[cfg(test)]
mod tests;
