//! Renders one entry of a session as HTML: messages as articles, facts as lines, unknown entries as JSON.

use omp_agent::ToolSet;
use omp_stdx::format::{compact, plural};
use omp_types::{Message, Secrets, Tally, ToolCall};
use serde_json::Value;

use crate::markdown::{Lines, markdown};
use crate::markup::{Html, excerpt};
use crate::pictures::Pictures;

/// Maximum number of characters of a text in the sidebar.
const EXCERPT: usize = 80;

/// Renders entries and counts them.
pub(crate) struct EntryScribe<'a> {
    pub drawing: &'a [ToolSet],
    pub secrets: &'a Secrets,
    pub pictures: Pictures,
    pub tally: Tally,
}

/// Position of an entry.
pub(crate) struct EntryPlace<'a> {
    /// Unique on the page.
    pub anchor: &'a str,
    pub time: String,
}

/// The sidebar text of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub class: &'static str,
    pub text: String,
}

impl Mention {
    pub fn new(class: &'static str, text: &str) -> Self {
        Self { class, text: excerpt(text, EXCERPT) }
    }
}

impl EntryScribe<'_> {
    /// Renders an entry. Calls of answers wait in `pending` for their results.
    pub fn entry(
        &mut self,
        html: &mut Html,
        anchor: &str,
        entry: &Value,
        pending: &mut Vec<ToolCall>,
    ) -> Option<Mention> {
        let place = EntryPlace { anchor, time: time_of(entry) };
        let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "message" => self.message_entry(html, &place, entry, pending),
            "custom_message" => self.custom_message(html, &place, entry),
            "compaction" => {
                let before = entry.get("tokensBefore").and_then(Value::as_f64).unwrap_or_default() as u64;
                let title = format!("Compaction ({} tokens before)", compact(before));
                summary(html, &place, &title, field("summary"));
                Some(Mention::new("fact", "compaction"))
            }
            "branch_summary" => {
                summary(html, &place, "Summary of the abandoned branch", field("summary"));
                Some(Mention::new("fact", "branch summary"))
            }
            "session_init" => {
                session_init(html, &place, entry);
                None
            }
            // Program data, and entries that the sidebar shows in another way.
            "custom" | "label" | "credential_pin" => None,
            kind => {
                fact_or_json(html, &place, kind, entry);
                None
            }
        }
    }

    /// Renders calls without a result.
    pub fn unanswered(&mut self, html: &mut Html, pending: &mut Vec<ToolCall>) {
        for call in pending.drain(..) {
            self.call(html, &call, None);
        }
    }

    fn message_entry(
        &mut self,
        html: &mut Html,
        place: &EntryPlace<'_>,
        entry: &Value,
        pending: &mut Vec<ToolCall>,
    ) -> Option<Mention> {
        let mut value = entry.get("message").cloned().unwrap_or_default();
        // The name in version 2.
        if value.get("role").and_then(Value::as_str) == Some("hookMessage") {
            value["role"] = "custom".into();
        }
        match serde_json::from_value::<Message>(value) {
            Ok(message) => {
                self.tally.add(&message);
                self.message(html, place, &message, pending)
            }
            Err(error) => {
                let why = format!("a message in an unknown format: {error}");
                json_entry(html, place, &why, entry);
                None
            }
        }
    }

    fn custom_message(&mut self, html: &mut Html, place: &EntryPlace<'_>, entry: &Value) -> Option<Mention> {
        let mut value = entry.clone();
        value["role"] = "custom".into();
        value["timestamp"] = 0.into();
        match serde_json::from_value::<Message>(value) {
            Ok(message) => self.message(html, place, &message, &mut Vec::new()),
            Err(error) => {
                json_entry(html, place, &format!("a message in an unknown format: {error}"), entry);
                None
            }
        }
    }
}

/// Renders an entry that cannot be read from the file.
pub(crate) fn damaged(html: &mut Html, anchor: &str, why: &str) {
    html.raw("<p class=\"fact failed\"").attr("id", anchor).raw(">");
    html.text(&format!("an entry is missing here: {why}")).raw("</p>");
}

fn summary(html: &mut Html, place: &EntryPlace<'_>, title: &str, text: &str) {
    html.raw("<details class=\"note\"").attr("id", place.anchor).raw("><summary>").text(title);
    html.raw(" <time>").text(&place.time).raw("</time></summary>");
    markdown(html, text, Lines::Flow);
    html.raw("</details>");
}

fn session_init(html: &mut Html, place: &EntryPlace<'_>, entry: &Value) {
    let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    html.raw("<details class=\"note\"").attr("id", place.anchor).raw("><summary>Initial setup</summary>");
    html.raw("<h5>Task</h5>").pre_text(field("task"));
    let tools = entry.get("tools").and_then(Value::as_array);
    let tools: Vec<_> = tools.into_iter().flatten().filter_map(Value::as_str).collect();
    if !tools.is_empty() {
        html.raw("<h5>Tools</h5>").pre_text(&tools.join(", "));
    }
    html.raw("<h5>System prompt</h5>").pre_text(field("systemPrompt")).raw("</details>");
}

/// Renders small changes as one line and larger ones as JSON.
fn fact_or_json(html: &mut Html, place: &EntryPlace<'_>, kind: &str, entry: &Value) {
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    let fact = match kind {
        "model_change" => {
            let parts = field("provider").zip(field("modelId")).map(|(provider, model)| format!("{provider}/{model}"));
            field("model").map(str::to_owned).or(parts).map(|model| format!("model {model}"))
        }
        "thinking_level_change" => Some(format!("thinking {}", field("thinkingLevel").unwrap_or("off"))),
        "service_tier_change" => Some(format!("service tier {}", field("serviceTier").unwrap_or("default"))),
        "mode_change" => field("mode").map(|mode| format!("mode {mode}")),
        "title_change" => field("title").map(|title| format!("title {title}")),
        "reset_boundary" => Some("the context restarts here".to_owned()),
        "ttsr_injection" | "mcp_tool_selection" => names_in(entry),
        _ => None,
    };
    match fact {
        Some(fact) => {
            html.raw("<p class=\"fact\"").attr("id", place.anchor).raw(">").text(&fact).raw("</p>");
        }
        None => json_entry(html, place, &format!("an entry of kind {kind}"), entry),
    }
}

fn names_in(entry: &Value) -> Option<String> {
    let (what, names) = match (entry.get("injectedRules"), entry.get("selectedToolNames")) {
        (Some(rules), _) => ("rules", rules),
        (None, Some(tools)) => ("MCP tools", tools),
        (None, None) => return None,
    };
    let names: Vec<_> = names.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(format!("{what}: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") }))
}

pub(crate) fn json_entry(html: &mut Html, place: &EntryPlace<'_>, title: &str, value: &Value) {
    html.raw("<details class=\"note\"").attr("id", place.anchor).raw("><summary>").text(title).raw("</summary>");
    html.pre(&format!("{value:#}")).raw("</details>");
}

/// Formats `2026-11-15 20:00:03`; empty for an invalid time.
fn time_of(entry: &Value) -> String {
    let stamp = entry.get("timestamp").and_then(Value::as_str).unwrap_or_default();
    match stamp.get(..19) {
        Some(time) if stamp.is_ascii() => time.replacen('T', " ", 1),
        _ => String::new(),
    }
}

/// Formats the usage of a model: `1 answer`, `12.3k tokens`, `$0.05`.
pub(crate) fn usage_text(answers: usize, usage: &omp_types::Usage) -> String {
    let mut text = format!(
        "{}, {} in, {} out",
        plural(answers, "answer", "answers"),
        compact(usage.prompt_tokens()),
        compact(usage.output)
    );
    if usage.cost.total > 0.0 {
        text.push_str(&format!(", ${:.4}", usage.cost.total));
    }
    text
}
