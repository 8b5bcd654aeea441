//! Keeps evicted messages readable: the summary names a URL for each span.

use std::collections::HashMap;

use omp_store::EntryId;
use omp_types::{Message, ToolResultMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cut::ConversationEntry;

/// Maximum number of separate spans; older ones are merged.
const MAX_SPANS: usize = 12;

/// Returns the URL of all entries from one to another, inclusive.
pub(crate) fn evicted_url(first: &EntryId, last: &EntryId) -> String {
    url(first.as_str(), last.as_str())
}

fn url(first: &str, last: &str) -> String {
    if first == last { format!("history://{first}") } else { format!("history://{first}..{last}") }
}

/// All spans that compactions of this branch have removed, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Evicted {
    pub spans: Vec<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Span {
    pub first: String,
    pub last: String,
    pub messages: u64,
    /// A short description of its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl Span {
    /// Returns `None` for an empty list.
    pub fn of(entries: &[ConversationEntry], about: Option<&str>) -> Option<Self> {
        let id = |entry: &ConversationEntry| entry.id.as_str().to_owned();
        let about = about.map(|about| about.split_whitespace().collect::<Vec<_>>().join(" "));
        Some(Self {
            first: id(entries.first()?),
            last: id(entries.last()?),
            messages: entries.len() as u64,
            about: about.filter(|about| !about.is_empty()),
        })
    }

    pub fn url(&self) -> String {
        url(&self.first, &self.last)
    }
}

impl Evicted {
    pub fn from_details(details: Option<&Value>) -> Self {
        let spans = details.and_then(|details| details.get("evicted")).cloned();
        Self { spans: spans.and_then(|spans| serde_json::from_value(spans).ok()).unwrap_or_default() }
    }

    pub fn add(&mut self, span: Span) {
        self.spans.push(span);
        while self.spans.len() > MAX_SPANS {
            let oldest = self.spans.remove(0);
            let next = &mut self.spans[0];
            next.messages += oldest.messages;
            next.first = oldest.first;
            next.about = None;
        }
    }

    /// Formats the spans for the summary message; empty if there are none.
    pub fn tag(&self) -> String {
        if self.spans.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "<evicted>\nLeft out here, kept in full: `read` these addresses, with lines behind them (`:1-200`) where they \
             are long, before you guess or repeat a call.\n",
        );
        for span in &self.spans {
            let about = span.about.as_deref().map(|about| format!(": {about}")).unwrap_or_default();
            let unit = if span.messages == 1 { "message" } else { "messages" };
            text.push_str(&format!("{} ({} {unit}){about}\n", span.url(), span.messages));
        }
        text + "</evicted>"
    }
}

/// URLs of full results: by call ID and time, because some providers reuse call IDs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses(HashMap<(String, u64), String>);

impl Addresses {
    pub fn of(entries: &[ConversationEntry]) -> Self {
        let results = entries.iter().filter_map(|entry| match &*entry.message {
            Message::ToolResult(result) => {
                Some(((result.tool_call_id.clone(), result.timestamp), url(entry.id.as_str(), entry.id.as_str())))
            }
            _ => None,
        });
        Self(results.collect())
    }

    /// Returns the URL of the whole history if the entry is unknown.
    pub fn find(&self, result: &ToolResultMessage) -> &str {
        let key = (result.tool_call_id.clone(), result.timestamp);
        self.0.get(&key).map_or("history://", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, entries};
    use serde_json::json;

    #[test]
    fn spans_are_told_with_their_addresses() {
        let all = entries(&Line::shape("uauaua"));
        let mut evicted = Evicted::default();
        assert_eq!(evicted.tag(), "");
        evicted.add(Span::of(&all[..3], Some(" made the\nparser ")).unwrap());
        evicted.add(Span::of(&all[3..4], None).unwrap());
        assert!(Span::of(&[], None).is_none());
        insta::assert_snapshot!(evicted.tag(), @"
        <evicted>
        Left out here, kept in full: `read` these addresses, with lines behind them (`:1-200`) where they are long, before you guess or repeat a call.
        history://00000000..00000002 (3 messages): made the parser
        history://00000003 (1 message)
        </evicted>
        ");
        assert_eq!(Evicted::from_details(Some(&json!({"evicted": evicted.spans}))), evicted);
        assert_eq!(Evicted::from_details(Some(&json!({"evicted": 3}))), Evicted::default());
        assert_eq!(evicted_url(&"a".into(), &"b".into()), "history://a..b");
    }

    #[test]
    fn old_spans_become_one() {
        let mut evicted = Evicted::default();
        for at in 0..100 {
            let about = Some(format!("part {at}"));
            evicted.add(Span { first: format!("f{at}"), last: format!("l{at}"), messages: 2, about });
        }
        assert_eq!(evicted.spans.len(), MAX_SPANS);
        assert_eq!(evicted.spans[0].url(), "history://f0..l88");
        assert_eq!(evicted.spans.iter().map(|span| span.messages).sum::<u64>(), 200);
    }
}
