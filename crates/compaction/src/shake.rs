//! The mechanical strategy: shortens old tool results and drops old thinking, without a model.
//!
//! The result is deterministic, and already shortened messages stay unchanged.

use std::sync::Arc;

use omp_types::{Content, Message, ToolResultMessage, Transcript, estimate_message_tokens, estimate_tokens};

use crate::evicted::Addresses;
use crate::prune::{IMAGE, PruneNote, apply_notes, output_tokens};
use crate::shorten::middle_out;

/// Number of characters kept of an old result.
const KEPT: usize = 400;
/// Results up to this number of tokens are kept whole.
const SMALL: u64 = 200;

#[derive(Clone, Debug)]
pub(crate) struct ShakePolicy {
    /// Tokens at the end that stay unchanged.
    pub keep_recent_tokens: u64,
    pub least_saving: u64,
    /// URLs of the full results.
    pub addresses: Addresses,
}

impl Default for ShakePolicy {
    fn default() -> Self {
        Self { keep_recent_tokens: 16_000, least_saving: 4_000, addresses: Addresses::default() }
    }
}

pub(crate) struct Shaken {
    pub transcript: Transcript,
    pub notes: ShakeNotes,
}

/// What can be left out.
pub(crate) struct ShakeNotes {
    pub saved_tokens: u64,
    /// Oldest first; [`apply_notes`] reapplies them.
    pub notes: Vec<PruneNote>,
}

/// Returns `None` if too little would be saved.
pub(crate) fn shake(transcript: &Transcript, policy: &ShakePolicy) -> Option<Shaken> {
    shake_notes(transcript.messages(), policy).map(|notes| notes.apply(transcript))
}

/// Leaves out every picture, in results and in messages of the user. Returns `None` if there is none.
pub(crate) fn shake_pictures(transcript: &Transcript, addresses: &Addresses) -> Option<Shaken> {
    let (mut saved_tokens, mut notes) = (0, Vec::new());
    for message in transcript.messages() {
        let count = message.content().iter().filter(|block| matches!(block, Content::Image(_))).count() as u64;
        let note = match &**message {
            _ if count == 0 => continue,
            Message::ToolResult(result) => {
                let address = addresses.find(result);
                let text = without_pictures(whole_text(&result.content), address);
                PruneNote::Result { call_id: result.tool_call_id.clone(), at: result.timestamp, text }
            }
            Message::User(user) => PruneNote::Pictures { at: user.timestamp },
            _ => continue,
        };
        saved_tokens += count * IMAGE;
        notes.push(note);
    }
    (!notes.is_empty()).then(|| ShakeNotes { saved_tokens, notes }.apply(transcript))
}

impl ShakeNotes {
    fn apply(self, transcript: &Transcript) -> Shaken {
        Shaken { transcript: apply_notes(transcript, &self.notes), notes: self }
    }
}

/// Returns `None` if too little would be saved.
pub(crate) fn shake_notes(messages: &[Arc<Message>], policy: &ShakePolicy) -> Option<ShakeNotes> {
    let old = &messages[..recent_from(messages, policy.keep_recent_tokens)];
    // Providers require the thinking of the current turn.
    let turn = messages.iter().rposition(|message| matches!(**message, Message::User(_))).unwrap_or(0);
    let (mut saved_tokens, mut notes) = (0, Vec::new());
    for (at, message) in old.iter().enumerate() {
        let shaken = match &**message {
            Message::ToolResult(result) => shortened(result, &policy.addresses),
            Message::Assistant(answer) if at < turn => {
                let saved = thinking_tokens(&answer.content);
                (saved > 0).then_some((saved, PruneNote::Thinking { at: answer.timestamp }))
            }
            _ => None,
        };
        if let Some((saved, note)) = shaken {
            saved_tokens += saved;
            notes.push(note);
        }
    }
    (saved_tokens >= policy.least_saving.max(1)).then_some(ShakeNotes { saved_tokens, notes })
}

/// Returns the index of the first recent message.
fn recent_from(messages: &[Arc<Message>], keep: u64) -> usize {
    let mut kept = 0;
    let full = messages.iter().rposition(|message| {
        kept += estimate_message_tokens(message);
        kept > keep
    });
    full.map_or(0, |at| at + 1)
}

fn shortened(result: &ToolResultMessage, addresses: &Addresses) -> Option<(u64, PruneNote)> {
    let before = output_tokens(result);
    if before <= SMALL {
        return None;
    }
    let address = addresses.find(result);
    let pictures = result.content.iter().any(|block| matches!(block, Content::Image(_)));
    let mut text = middle_out(&whole_text(&result.content), KEPT, |missing| {
        format!("\n[… {missing} characters left out; the whole is at {address} …]\n")
    })
    .into_owned();
    if pictures {
        text = without_pictures(text, address);
    }
    let saved = before.checked_sub(estimate_tokens(&text)).filter(|saved| *saved > 0)?;
    Some((saved, PruneNote::Result { call_id: result.tool_call_id.clone(), at: result.timestamp, text }))
}

fn whole_text(content: &[Content]) -> String {
    content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
}

fn without_pictures(text: String, address: &str) -> String {
    format!("{text}\n[A picture was left out; see {address}]")
}

fn thinking_tokens(content: &[Content]) -> u64 {
    let of_block = |block: &Content| match block {
        Content::Thinking(thinking) => estimate_tokens(&thinking.thinking),
        Content::RedactedThinking(redacted) => estimate_tokens(&redacted.data),
        _ => 0,
    };
    content.iter().map(of_block).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, entries, transcript};
    use proptest::prelude::*;

    fn long_session() -> Vec<Line> {
        let mut lines = Vec::new();
        for turn in 0..10 {
            lines.push(Line::User(format!("turn {turn}")));
            lines.push(Line::Thought("hm ".repeat(1_000)));
            lines.extend(Line::read(
                &turn.to_string(),
                "a.rs",
                &format!("first {turn}\n{}last", "line\n".repeat(2_000)),
            ));
        }
        lines
    }

    #[test]
    fn old_results_and_thoughts_shrink_and_recent_ones_stay() {
        let lines = long_session();
        let before = transcript(&lines);
        let policy = ShakePolicy { addresses: Addresses::of(&entries(&lines)), ..ShakePolicy::default() };
        let shaken = shake(&before, &policy).unwrap();
        let after = shaken.transcript.messages();
        assert_eq!(after.len(), before.len());
        let cost =
            |transcript: &Transcript| transcript.messages().iter().map(|it| estimate_message_tokens(it)).sum::<u64>();
        assert!(cost(&shaken.transcript) < cost(&before) / 2);
        insta::assert_snapshot!(after[3].content()[0].as_text().unwrap().replace("line\n", "."), @"
        first 0
        ..............................................li
        [… 9612 characters left out; the whole is at history://00000003 …]

        ...............................last
        ");
        assert_eq!(thinking_tokens(after[1].content()), 0);
        assert!(matches!(&after[1].content()[0], Content::Thinking(it) if it.thinking_signature.is_none()));
        let recent = before.len() - 4;
        assert!(after[recent..].iter().zip(&before.messages()[recent..]).all(|(now, then)| Arc::ptr_eq(now, then)));
        assert!(shake(&shaken.transcript, &policy).is_none(), "twice changes nothing");
        let file = serde_json::to_string(&shaken.notes.notes).unwrap();
        let notes: Vec<PruneNote> = serde_json::from_str(&file).unwrap();
        let again = apply_notes(&before, &notes);
        assert!(
            again.messages().iter().zip(after).all(|(one, other)| one == other),
            "a resumed session is told the same"
        );
    }

    #[test]
    fn the_thoughts_of_the_running_turn_stay() {
        let mut lines = vec![Line::User("go".into()), Line::Thought("hm ".repeat(2_000))];
        lines.extend(Line::read("1", "a.rs", &"line\n".repeat(40_000)));
        lines.extend(Line::shape("aaaa"));
        let policy = ShakePolicy { keep_recent_tokens: 100, ..ShakePolicy::default() };
        let shaken = shake(&transcript(&lines), &policy).unwrap();
        assert!(thinking_tokens(shaken.transcript.messages()[1].content()) > 0);
        assert_eq!(shaken.notes.notes.len(), 1);
    }

    #[test]
    fn little_is_left_alone() {
        assert!(shake(&transcript(&Line::shape("ucrcra")), &ShakePolicy::default()).is_none());
        assert!(shake(&Transcript::new(), &ShakePolicy::default()).is_none());
    }

    proptest! {
        #[test]
        fn shaking_keeps_every_call_with_its_result(shape in "[uacrn]{0,40}", keep in 0_u64..3_000) {
            let before = transcript(&Line::shape(&shape));
            let policy = ShakePolicy { keep_recent_tokens: keep, least_saving: 0, ..ShakePolicy::default() };
            if let Some(shaken) = shake(&before, &policy) {
                let ids = |transcript: &Transcript| -> Vec<String> {
                    transcript.messages().iter().map(|message| match &**message {
                        Message::ToolResult(result) => result.tool_call_id.clone(),
                        Message::Assistant(answer) => answer.tool_calls().map(|call| call.id.clone()).collect(),
                        other => other.role().to_owned(),
                    }).collect()
                };
                prop_assert_eq!(ids(&before), ids(&shaken.transcript));
            }
        }
    }
}
