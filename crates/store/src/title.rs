//! The title line: the first line of a session file, always 256 bytes, so that it can be overwritten by a new title.
//!
//! It is the only part of a session file that is written in place. A title that does not fit is truncated; the
//! `title_change` entry appended with it holds the full title.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::entry::TitleChange;
use crate::header::SessionHeader;

/// Length of the line, including its newline.
pub(crate) const SLOT_BYTES: usize = 256;

/// The allowed keys. A line with others is damaged or was written by a newer program.
const KEYS: [&str; 6] = ["type", "v", "title", "source", "updatedAt", "pad"];
const PREFIX: &str = r#"{"type":"title","#;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TitleSource {
    /// Generated from the conversation.
    Auto,
    /// Given by the user; never replaced by a generated one.
    User,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TitleSlot {
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TitleSource>,
    #[serde(default)]
    pub updated_at: String,
}

/// A `title_change` entry and its time.
#[derive(Debug, Deserialize)]
pub(crate) struct Changed {
    #[serde(flatten)]
    change: TitleChange,
    #[serde(default)]
    timestamp: String,
}

/// Determines the current title and its source from all data in the file. The title line may be truncated; the last change
/// holds the full title. A title line that is damaged or was not overwritten is older than the change, so the change wins.
pub(crate) fn current(
    slot: Option<&TitleSlot>,
    changed: Option<Changed>,
    header: Option<&SessionHeader>,
) -> (Option<String>, Option<TitleSource>) {
    let newer = changed.filter(|Changed { change, timestamp }| {
        slot.is_none_or(|slot| {
            *timestamp > slot.updated_at || (!slot.title.is_empty() && change.title.starts_with(&slot.title))
        })
    });
    if let Some(Changed { change, .. }) = newer {
        return (Some(change.title), Some(change.source));
    }
    match slot.filter(|slot| !slot.title.is_empty()) {
        Some(slot) => (Some(slot.title.clone()), slot.source),
        None => header.map_or((None, None), |header| (header.title.clone(), header.title_source)),
    }
}

impl TitleSlot {
    pub fn to_line(&self) -> String {
        let mut title = self.title.as_str();
        loop {
            if let Some(line) = self.padded(title) {
                return line;
            }
            let Some((last, _)) = title.char_indices().next_back() else { return String::new() };
            title = &title[..last];
        }
    }

    /// Returns `None` if the title is too long.
    fn padded(&self, title: &str) -> Option<String> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let source = match self.source {
            None => "",
            Some(TitleSource::Auto) => r#""source":"auto","#,
            Some(TitleSource::User) => r#""source":"user","#,
        };
        let updated = quoted(&self.updated_at);
        let start = format!(r#"{PREFIX}"v":1,"title":{},{source}"updatedAt":{updated},"pad":""#, quoted(title));
        let end = "\"}\n";
        let room = SLOT_BYTES.checked_sub(start.len() + end.len())?;
        Some(format!("{start}{}{end}", " ".repeat(room)))
    }
}

/// Returns whether the first bytes of a file are a title line that may be overwritten. A damaged one may not.
pub(crate) fn is_slot(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(PREFIX.as_bytes())
        && memchr::memchr(b'\n', first_bytes) == Some(SLOT_BYTES - 1)
        && serde_json::from_slice::<TitleSlot>(&first_bytes[..SLOT_BYTES]).is_ok()
        && serde_json::from_slice::<Map<String, Value>>(&first_bytes[..SLOT_BYTES])
            .is_ok_and(|slot| slot.keys().all(|key| KEYS.contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(title: &str, source: Option<TitleSource>, kept: &str) {
        let slot = TitleSlot { title: title.into(), source, updated_at: "2026-11-15T20:00:03.186Z".into() };
        let line = slot.to_line();
        assert_eq!(line.len(), SLOT_BYTES, "{line}");
        assert!(is_slot(line.as_bytes()));
        let read: TitleSlot = serde_json::from_str(&line).unwrap();
        assert_eq!(read, TitleSlot { title: kept.into(), ..slot });
    }

    #[test]
    fn every_title_line_is_256_bytes() {
        check("", None, "");
        check("My \"Title\" näme", Some(TitleSource::User), "My \"Title\" näme");
        check("line\nbreak\u{1}", Some(TitleSource::Auto), "line\nbreak\u{1}");
        check(&"x".repeat(1000), None, &"x".repeat(174));
        check(&"é".repeat(200), None, &"é".repeat(87));
        check(&"\"".repeat(200), None, &"\"".repeat(87));
    }
}
