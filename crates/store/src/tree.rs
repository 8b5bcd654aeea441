//! The tree of a session for interactive navigation: one row per entry, with filters and search.

use omp_types::{AssistantMessage, Content, Message, StopReason};
use serde_json::Value;

use crate::context::ancestors;
use crate::entry::{EntryBody, EntryId};
use crate::ids::hash;
use crate::open::LoadedSession;
use crate::window::Window;

/// Maximum number of characters kept of an entry's text.
const PREVIEW: usize = 200;
/// Maximum number of characters that are searched.
const SEARCHED: usize = 400;

/// One entry of the tree, in file order. Parents precede their children.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryNode {
    pub id: EntryId,
    /// Index of the parent in the node list.
    pub parent: Option<usize>,
    pub timestamp: String,
    /// The entry type, such as `message` or `compaction`.
    pub kind: String,
    /// Set only for messages.
    pub role: Option<String>,
    /// The tool that a result is from.
    pub tool: Option<String>,
    /// The start of its text, on one line.
    pub preview: String,
    pub label: Option<String>,
    /// Whether it is on the path from the root to the leaf.
    pub active: bool,
    pub leaf: bool,
    /// An answer that has only tool calls and did not fail.
    only_calls: bool,
    said: bool,
    /// Bookkeeping, or a note that only the model reads.
    behind: bool,
    searched: String,
}

/// Which nodes are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TreeFilter {
    /// The conversation, without bookkeeping.
    #[default]
    Default,
    NoTools,
    /// Messages with text, summaries, and failed answers.
    Said,
    UserOnly,
    LabeledOnly,
    All,
}

/// A visible node, below its nearest visible ancestor.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownNode<'a> {
    pub node: &'a EntryNode,
    /// Index among the visible nodes.
    pub parent: Option<usize>,
}

impl LoadedSession {
    /// Returns all readable entries. `leaf` is the current leaf; without one, no entry is active.
    pub fn tree(&self, leaf: Option<&EntryId>) -> Vec<EntryNode> {
        let leaf = leaf.and_then(|leaf| self.scan.ids.position(hash(leaf.as_str())));
        let mut active = vec![false; self.scan.spots.len()];
        ancestors(&self.scan, leaf).for_each(|position| active[position as usize] = true);
        let mut labels = self.labels_among(0..self.scan.spots.len() as u32);
        let mut window = Window::new(&self.file);
        let mut places = vec![None; self.scan.spots.len()];
        let mut nodes: Vec<EntryNode> = Vec::new();
        for position in 0..self.scan.spots.len() as u32 {
            let Some(entry) = self.entry_at_alone(position, &mut window) else { continue };
            let (id, timestamp, body) = entry;
            // An unreadable parent is replaced by the nearest readable ancestor.
            let above = ancestors(&self.scan, Some(position)).skip(1).find_map(|above| places[above as usize]);
            places[position as usize] = Some(nodes.len());
            nodes.push(EntryNode {
                parent: above,
                timestamp,
                active: active[position as usize],
                leaf: leaf == Some(position),
                label: labels.remove(&id),
                id,
                ..EntryNode::of(&body)
            });
        }
        nodes
    }

    fn entry_at_alone(&self, position: u32, window: &mut Window<'_>) -> Option<(EntryId, String, EntryBody)> {
        let (line, _) = crate::context::read_line(window, &self.scan.spots[position as usize]).ok()?;
        crate::entry_read::read_entry(&line, position)
    }
}

/// Returns the nodes that pass the filter and contain every word of the query, ignoring case.
pub fn shown<'a>(nodes: &'a [EntryNode], filter: TreeFilter, query: &str) -> Vec<ShownNode<'a>> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut places = vec![None; nodes.len()];
    let mut shown = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let above = node.parent.and_then(|parent| places[parent]);
        if node.passes(filter) && node.holds(&words) {
            places[position] = Some(shown.len());
            shown.push(ShownNode { node, parent: above });
        } else {
            places[position] = above;
        }
    }
    shown
}

impl EntryNode {
    fn of(body: &EntryBody) -> Self {
        let text = text_of(body);
        let message = match body {
            EntryBody::Message(message) => Some(&**message),
            _ => None,
        };
        let answer = message.and_then(Message::as_assistant);
        let words = message.and_then(words_of).unwrap_or_else(|| text.clone());
        let one_line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            id: "".into(),
            parent: None,
            timestamp: String::new(),
            kind: body.kind().to_owned(),
            role: message.map(|message| message.role().to_owned()),
            tool: message.and_then(tool_of),
            preview: one_line.chars().take(PREVIEW).collect(),
            label: None,
            active: false,
            leaf: false,
            only_calls: answer.is_some_and(only_calls),
            said: is_said(body),
            behind: is_behind(body),
            searched: text.to_lowercase(),
        }
    }

    fn passes(&self, filter: TreeFilter) -> bool {
        if self.only_calls && !self.leaf && filter != TreeFilter::All {
            return false;
        }
        let conversation = !self.behind;
        match filter {
            TreeFilter::All => true,
            TreeFilter::Default => conversation,
            TreeFilter::NoTools => conversation && self.role.as_deref() != Some("toolResult"),
            TreeFilter::Said => self.said,
            TreeFilter::UserOnly => self.role.as_deref() == Some("user"),
            TreeFilter::LabeledOnly => self.label.is_some(),
        }
    }

    fn holds(&self, words: &[&str]) -> bool {
        let label = self.label.as_deref().unwrap_or_default().to_lowercase();
        let role = self.role.as_deref().unwrap_or_default().to_lowercase();
        words.iter().all(|word| [&self.searched, &label, &role, &self.kind].iter().any(|text| text.contains(word)))
    }
}

fn only_calls(answer: &AssistantMessage) -> bool {
    let ended_well = matches!(answer.stop_reason, StopReason::Stop | StopReason::ToolUse);
    ended_well && answer.text().trim().is_empty() && answer.tool_calls().next().is_some()
}

/// Returns the text or error of an answer; an answer with neither is shown by its calls.
fn words_of(message: &Message) -> Option<String> {
    let (words, failed) = match message {
        Message::Assistant(answer) => {
            (answer.text(), matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted))
        }
        Message::Other(other) if other.role == "assistant" => (text_in(&other.value["content"]), false),
        _ => return None,
    };
    match words.trim().is_empty() {
        true => failed.then(|| "(failed)".to_owned()),
        false => Some(words.chars().take(SEARCHED).collect()),
    }
}

fn is_said(body: &EntryBody) -> bool {
    match body {
        EntryBody::Message(message) => message.role() == "user" || words_of(message).is_some(),
        EntryBody::CustomMessage(entry) => entry.display,
        EntryBody::Compaction(_) | EntryBody::BranchSummary(_) => true,
        _ => false,
    }
}

fn is_behind(body: &EntryBody) -> bool {
    match body {
        EntryBody::CustomMessage(entry) => !entry.display,
        other => matches!(other.kind(), "label" | "custom" | "model_change" | "thinking_level_change" | "title_change"),
    }
}

fn tool_of(message: &Message) -> Option<String> {
    match message {
        Message::ToolResult(result) => Some(result.tool_name.clone()),
        _ => None,
    }
}

fn text_of(body: &EntryBody) -> String {
    let text = match body {
        EntryBody::Message(message) => text_of_message(message),
        EntryBody::CustomMessage(entry) => format!("{} {}", entry.custom_type, omp_types::text_of(&entry.content)),
        EntryBody::Compaction(entry) => entry.summary.clone(),
        EntryBody::BranchSummary(entry) => entry.summary.clone(),
        EntryBody::ModelChange(entry) => entry.model.clone(),
        EntryBody::ThinkingLevelChange(entry) => entry.thinking_level.clone().unwrap_or_default(),
        EntryBody::Custom(entry) => entry.custom_type.clone(),
        EntryBody::Label(entry) => entry.label.clone().unwrap_or_default(),
        EntryBody::ModeChange(entry) => entry.mode.clone(),
        EntryBody::SessionInit(entry) => entry.task.clone(),
        EntryBody::TtsrInjection(entry) => entry.injected_rules.join(", "),
        EntryBody::McpToolSelection(entry) => entry.selected_tool_names.join(", "),
        EntryBody::TitleChange(entry) => entry.title.clone(),
        EntryBody::ServiceTierChange(entry) => entry.service_tier.to_string(),
        EntryBody::CredentialPin(entry) => entry.provider.clone(),
        EntryBody::ResetBoundary | EntryBody::Other(_) => String::new(),
    };
    text.chars().take(SEARCHED).collect()
}

/// Returns the text of a message; for calls, what they are about.
pub(crate) fn text_of_message(message: &Message) -> String {
    if let Message::Other(other) = message {
        let parts = ["command", "code", "output"].map(|key| other.value.get(key).and_then(|text| text.as_str()));
        let content = text_in(&other.value["content"]);
        return parts.into_iter().flatten().chain([content.as_str()]).collect::<Vec<_>>().join("\n");
    }
    let parts = message.content().iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.text.clone()),
        Content::ToolCall(call) => {
            Some(format!("[{} {}]", call.name, serde_json::to_string(&call.arguments).unwrap_or_default()))
        }
        Content::Image(_) | Content::Thinking(_) | Content::RedactedThinking(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// Returns the text in the content of a message of unknown shape.
fn text_in(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}
