//! Packs OpenAI's two IDs of a call into one and back, and stores IDs of texts.
//!
//! A call has an ID that pairs it with its result and an item ID that ties it to the thinking before it. Both must be sent
//! back, so the call's ID in a transcript is `<call_id>|<item_id>`. A text has an item ID and sometimes a phase.

use std::borrow::Cow;

use omp_types::AssistantMessage;
use serde::{Deserialize, Serialize};

use crate::wire::history;

const LIMIT: usize = 64;

/// A text's signature if it needs more than the ID.
#[derive(Serialize, Deserialize)]
struct TextSignature<'a> {
    v: u8,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    phase: Option<Cow<'a, str>>,
}

/// Returns the transcript ID for a new call. A call ID that the answer already contains is changed, so that both calls get a
/// result.
pub(super) fn join(call_id: &str, item_id: &str, answer: &AssistantMessage) -> String {
    let taken = |candidate: &str| answer.tool_calls().any(|call| halves(&call.id).0 == candidate);
    let call_id = if call_id.is_empty() { item_id } else { call_id };
    let mut unique = if call_id.is_empty() { format!("call_{}", answer.content.len()) } else { call_id.to_owned() };
    let base = unique.clone();
    let mut number = 2;
    while taken(&unique) {
        unique = format!("{base}_{number}");
        number += 1;
    }
    if item_id.is_empty() { unique } else { format!("{unique}|{item_id}") }
}

/// Returns the ID that pairs a call with its result, for calls of any provider.
pub(super) fn call_id(id: &str) -> Cow<'_, str> {
    history::portable_id(halves(id).0, LIMIT)
}

/// Returns the call's item ID, if it is in the server's format.
pub(super) fn call_item_id(id: &str) -> Option<&str> {
    halves(id).1.filter(|item| is_item_id(item, "fc_"))
}

/// Returns the signature that is stored with a text.
pub(super) fn text_signature(id: &str, phase: Option<&str>) -> Option<String> {
    match phase {
        None => (!id.is_empty()).then(|| id.to_owned()),
        Some(phase) => {
            let signature = TextSignature { v: 1, id: Cow::Borrowed(id), phase: Some(Cow::Borrowed(phase)) };
            serde_json::to_string(&signature).ok()
        }
    }
}

/// Returns item ID and phase of a text.
pub(super) fn text_item<'a>(signature: Option<&'a str>) -> (Option<Cow<'a, str>>, Option<Cow<'a, str>>) {
    let own = |id: &str| is_item_id(id, "msg_");
    match signature {
        Some(json) if json.starts_with('{') => match serde_json::from_str::<TextSignature<'a>>(json) {
            Ok(signature) => (Some(signature.id).filter(|id| own(id)), signature.phase),
            Err(_) => (None, None),
        },
        Some(id) if own(id) => (Some(Cow::Borrowed(id)), None),
        _ => (None, None),
    }
}

fn halves(id: &str) -> (&str, Option<&str>) {
    id.split_once('|').map_or((id, None), |(call, item)| (call, Some(item)))
}

fn is_item_id(id: &str, prefix: &str) -> bool {
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    id.starts_with(prefix) && id.len() <= LIMIT && plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::{Api, Content};

    #[test]
    fn foreign_ids_are_made_acceptable_and_stay_a_pair() {
        let long = format!("call_{}|fc_1", "x".repeat(450));
        for id in ["call_1|fc_2", "toolu_01AB", "functions.read:0", long.as_str(), ""] {
            let sent = call_id(id);
            assert!(!sent.is_empty() && sent.len() <= 64 && !sent.contains('|'), "{sent}");
            assert_eq!(sent, call_id(id));
        }
        assert_eq!(call_id("call_1|fc_2"), "call_1");
        assert_eq!(call_item_id("call_1|fc_2"), Some("fc_2"));
        assert_eq!(call_item_id("call_1|toolu_2"), None);
        assert_eq!(call_item_id(&format!("call_1|fc_{}", "x".repeat(80))), None);
        assert_eq!(call_item_id("call_1"), None);
    }

    #[test]
    fn one_call_id_used_twice_becomes_two() {
        let model = sample::model(Api::OpenaiResponses);
        let mut answer = AssistantMessage::empty(model.api.clone(), "p", "m");
        for (item, expect) in [("fc_1", "c|fc_1"), ("fc_2", "c_2|fc_2"), ("fc_3", "c_3|fc_3"), ("", "c_4")] {
            let id = join("c", item, &answer);
            assert_eq!(id, expect);
            answer.content.push(Content::ToolCall(sample::call(&id, "a")));
        }
        assert_eq!(join("", "fc_9", &answer), "fc_9|fc_9");
        assert_eq!(join("", "", &answer), "call_4");
    }

    #[test]
    fn a_phase_is_kept_with_the_id() {
        let check = |id: &str, phase: Option<&str>| {
            let signature = text_signature(id, phase).unwrap();
            let (found, found_phase) = text_item(Some(&signature));
            assert_eq!((found.as_deref(), found_phase.as_deref()), (Some(id), phase), "{signature}");
        };
        check("msg_1", None);
        check("msg_1", Some("commentary"));
        assert_eq!(text_item(Some("sig")), (None, None));
        assert_eq!(text_item(Some("{broken")), (None, None));
        assert_eq!(text_item(None), (None, None));
    }
}
