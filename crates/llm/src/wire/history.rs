//! Decides which parts of a conversation are sent to a model, for all wire APIs.
//!
//! Signatures, encrypted thinking and item IDs are valid only for the model that created them, so they are sent only to the
//! same provider, API and model. Thinking of other models is left out rather than converted to text: a model that reads
//! thoughts as text soon writes its own thoughts as text. Text and calls are always kept. Images are sent only to models
//! that accept them; others get a line of text instead. Messages with unknown roles are not sent.

use std::borrow::Cow;

use omp_types::{AssistantMessage, Content, ImageContent, InputKind, Message, Model, ToolCall, ToolResultMessage};

const IMAGE_NOT_READ: &str = "[An image was left out because this model does not take images.]";
const IMAGE_MISSING: &str = "[An image was left out because its data could not be loaded.]";
const NO_OUTPUT: &str = "(no output)";
const ONLY_IMAGES: &str = "(see the attached image)";

/// A part of an earlier answer that may be sent. A signature is present only if the same model created it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AnswerPiece<'a> {
    Text { text: &'a str, signature: Option<&'a str> },
    Thinking { text: &'a str, signature: Option<&'a str> },
    RedactedThinking(&'a str),
    Call { call: &'a ToolCall, signature: Option<&'a str> },
}

/// A part of user input or tool output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InputPiece<'a> {
    Text(&'a str),
    Image(&'a ImageContent),
}

/// Returns whether `model` gave this answer, over the same provider and API.
pub(crate) fn is_own(answer: &AssistantMessage, model: &Model) -> bool {
    answer.model == model.id && answer.provider == model.provider && answer.api == model.api
}

pub(crate) fn pieces<'a>(answer: &'a AssistantMessage, model: &Model) -> impl Iterator<Item = AnswerPiece<'a>> {
    let own = is_own(answer, model);
    let signature = move |signature: &'a Option<String>| signature.as_deref().filter(|text| own && !text.is_empty());
    answer.content.iter().filter_map(move |block| match block {
        Content::Text(block) => {
            let signature = signature(&block.text_signature);
            // Some providers sign an empty text; it must be sent back nevertheless.
            let worth_sending = !block.text.trim().is_empty() || signature.is_some();
            worth_sending.then_some(AnswerPiece::Text { text: &block.text, signature })
        }
        Content::Thinking(block) if own => {
            Some(AnswerPiece::Thinking { text: &block.thinking, signature: signature(&block.thinking_signature) })
        }
        Content::RedactedThinking(block) if own => Some(AnswerPiece::RedactedThinking(&block.data)),
        Content::ToolCall(call) => Some(AnswerPiece::Call { call, signature: signature(&call.thought_signature) }),
        Content::Thinking(_) | Content::RedactedThinking(_) | Content::Image(_) => None,
    })
}

/// Returns the content of an input message, from the user or from the program.
pub(crate) fn input_of(message: &Message) -> Option<&[Content]> {
    match message {
        Message::User(user) => Some(&user.content),
        Message::Custom(custom) => Some(&custom.content),
        Message::Assistant(_) | Message::ToolResult(_) | Message::Other(_) => None,
    }
}

/// Returns the parts of an input or a tool result; blank text is left out.
pub(crate) fn inputs<'a>(content: &'a [Content], model: &Model) -> impl Iterator<Item = InputPiece<'a>> {
    let takes_images = model.accepts(InputKind::Image);
    content.iter().filter_map(move |block| match block {
        Content::Text(text) => (!text.text.trim().is_empty()).then_some(InputPiece::Text(&text.text)),
        Content::Image(_) if !takes_images => Some(InputPiece::Text(IMAGE_NOT_READ)),
        Content::Image(image) if image.data.starts_with("blob:") => Some(InputPiece::Text(IMAGE_MISSING)),
        Content::Image(image) => Some(InputPiece::Image(image)),
        Content::Thinking(_) | Content::RedactedThinking(_) | Content::ToolCall(_) => None,
    })
}

/// Splits a tool result for wire APIs that accept only text results: the text, never empty, and the images.
pub(crate) fn result_text_and_images<'a>(
    result: &'a ToolResultMessage,
    model: &Model,
) -> (Cow<'a, str>, Vec<&'a ImageContent>) {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for input in inputs(&result.content, model) {
        match input {
            InputPiece::Text(text) => texts.push(text),
            InputPiece::Image(image) => images.push(image),
        }
    }
    let text = match texts.as_slice() {
        [] if images.is_empty() => Cow::Borrowed(NO_OUTPUT),
        [] => Cow::Borrowed(ONLY_IMAGES),
        texts => joined(texts, "\n"),
    };
    (text, images)
}

/// Joins texts; borrows if there is only one.
pub(crate) fn joined<'a>(texts: &[&'a str], separator: &str) -> Cow<'a, str> {
    match texts {
        [one] => Cow::Borrowed(one),
        many => Cow::Owned(many.join(separator)),
    }
}

/// Converts a call ID to one that any provider accepts: letters, digits, `_` and `-`, at most `max` bytes. The same ID
/// always gives the same result, so a call and its result stay a pair; different IDs stay different.
pub(crate) fn portable_id(id: &str, max: usize) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !id.is_empty() && id.len() <= max && id.bytes().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let tag = fingerprint(id, 11);
    let keep = max.saturating_sub(tag.len() + 1);
    let mut portable: String = id.chars().filter(|c| c.is_ascii() && is_plain(*c as u8)).take(keep).collect();
    if !portable.is_empty() {
        portable.push('_');
    }
    portable.push_str(&tag);
    Cow::Owned(portable)
}

/// Creates an ID for a call without one: the same answer always gets the same IDs, and different answers get different ones
/// as far as they can be distinguished.
pub(crate) fn made_up_id(answer: &AssistantMessage, name: &str, arguments: &str) -> String {
    let response = answer.response_id.as_deref().unwrap_or_default();
    let position = answer.content.len();
    format!("call_{}", fingerprint(&format!("{response}\n{position}\n{name}\n{arguments}"), 12))
}

/// Returns `length` letters and digits that depend only on the text.
pub(crate) fn fingerprint(text: &str, length: usize) -> String {
    const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // FNV-1a is stable between versions and machines, unlike the hashers of std.
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    let digit = |_| {
        let digit = ALPHABET[(hash % 36) as usize];
        hash /= 36;
        if hash == 0 {
            hash = fnv(0xcbf2_9ce4_8422_2325, digit);
        }
        char::from(digit)
    };
    (0..length).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::{Api, StopReason, TextContent, ThinkingContent};

    fn signed_answer(model: &Model) -> AssistantMessage {
        let mut answer = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
        answer.stop_reason = StopReason::ToolUse;
        answer.content = vec![
            Content::Thinking(ThinkingContent { thinking: "hm".into(), thinking_signature: Some("s1".into()) }),
            Content::RedactedThinking(omp_types::RedactedThinking { data: "secret".into() }),
            Content::Text(TextContent { text: String::new(), text_signature: None }),
            Content::Text(TextContent { text: "ok".into(), text_signature: Some("s2".into()) }),
            Content::ToolCall(ToolCall {
                id: "c".into(),
                name: "read".into(),
                thought_signature: Some("s3".into()),
                ..ToolCall::default()
            }),
        ];
        answer
    }

    fn shape(answer: &AssistantMessage, model: &Model) -> String {
        let names = pieces(answer, model).map(|piece| match piece {
            AnswerPiece::Text { text, signature } => format!("text:{text}:{}", signature.unwrap_or("-")),
            AnswerPiece::Thinking { text, signature } => format!("thinking:{text}:{}", signature.unwrap_or("-")),
            AnswerPiece::RedactedThinking(data) => format!("redacted:{data}"),
            AnswerPiece::Call { call, signature } => format!("call:{}:{}", call.id, signature.unwrap_or("-")),
        });
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn signatures_go_back_only_to_the_model_that_made_them() {
        let model = sample::model(Api::OpenaiCompletions);
        let answer = signed_answer(&model);
        assert_eq!(shape(&answer, &model), "thinking:hm:s1 redacted:secret text:ok:s2 call:c:s3");
        let foreign = "text:ok:- call:c:-";
        assert_eq!(shape(&answer, &Model { id: "other".into(), ..model.clone() }), foreign);
        assert_eq!(shape(&answer, &Model { provider: "other".into(), ..model.clone() }), foreign);
        assert_eq!(shape(&answer, &Model { api: Api::OpenaiResponses, ..model }), foreign);
    }

    #[test]
    fn an_empty_text_is_kept_only_for_its_signature() {
        let model = sample::model(Api::GoogleGenerativeAi);
        let mut answer = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
        answer.content = vec![Content::Text(TextContent { text: String::new(), text_signature: Some("s".into()) })];
        assert_eq!(shape(&answer, &model), "text::s");
        assert_eq!(shape(&answer, &Model { id: "other".into(), ..model }), "");
    }

    fn result(content: Vec<Content>) -> ToolResultMessage {
        let call = ToolCall { id: "c".into(), name: "read".into(), ..ToolCall::default() };
        ToolResultMessage { content, ..ToolResultMessage::error(&call, "") }
    }

    #[test]
    fn results_are_never_empty_and_images_are_never_silently_lost() {
        let image = |data: &str| Content::Image(ImageContent { data: data.into(), mime_type: "image/png".into() });
        let seeing = sample::model(Api::OpenaiCompletions);
        let blind = Model { input: vec![InputKind::Text], ..seeing.clone() };
        let check = |content: Vec<Content>, model: &Model, text: &str, images: usize| {
            let result = result(content);
            let (found, found_images) = result_text_and_images(&result, model);
            assert_eq!((&*found, found_images.len()), (text, images));
        };
        check(vec![], &seeing, NO_OUTPUT, 0);
        check(vec![Content::text("  \n")], &seeing, NO_OUTPUT, 0);
        check(vec![image("AA")], &seeing, ONLY_IMAGES, 1);
        check(vec![Content::text("a"), image("AA"), Content::text("b")], &seeing, "a\nb", 1);
        check(vec![image("AA")], &blind, IMAGE_NOT_READ, 0);
        check(vec![image("blob:sha256:00")], &seeing, IMAGE_MISSING, 0);
    }

    #[test]
    fn ids_are_made_portable_without_losing_their_identity() {
        assert_eq!(portable_id("call_1-A", 40), "call_1-A");
        let long = "x".repeat(500);
        for id in ["", "call_1|fc_2", "functions.read:0", "ä", long.as_str(), &format!("{long}y")] {
            let portable = portable_id(id, 40);
            assert!(!portable.is_empty() && portable.len() <= 40, "{portable}");
            assert!(portable.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{portable}");
            assert_eq!(portable, portable_id(id, 40));
        }
        assert_ne!(portable_id(&long, 40), portable_id(&format!("{long}y"), 40));
        assert_ne!(portable_id("a.b", 40), portable_id("a:b", 40));
    }

    #[test]
    fn fingerprints_never_change() {
        assert_eq!(fingerprint("call_1", 9).len(), 9);
        assert_eq!(fingerprint("call_1", 9), fingerprint("call_1", 9));
        assert_eq!(fingerprint("", 20).len(), 20);
    }
}
