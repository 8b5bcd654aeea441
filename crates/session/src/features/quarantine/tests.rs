//! Which blocks are left out after which refusal.

use omp_types::{Api, AssistantMessage, ImageContent, RedactedThinking, StopReason, ThinkingContent, ToolCall};
use omp_types::{Content, ToolResultMessage, UserMessage};

use super::*;

fn image(data: &str) -> Content {
    Content::Image(ImageContent { data: data.into(), mime_type: "image/png".into() })
}

/// Two questions with images, an answer that thinks and calls, a result with an image, and a last question.
fn conversation() -> Transcript {
    let call = ToolCall { id: "toolu_1".into(), name: "read".into(), ..ToolCall::default() };
    let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
    answer.stop_reason = StopReason::ToolUse;
    answer.content = vec![
        Content::Thinking(ThinkingContent {
            thinking: "hm".into(),
            thinking_signature: Some("a-very-long-signature".into()),
        }),
        Content::RedactedThinking(RedactedThinking { data: "sealed".into() }),
        Content::text("I look."),
        Content::ToolCall(call.clone()),
    ];
    let mut result = ToolResultMessage::error(&call, "done");
    result.content.push(image("CCCC"));
    Transcript::repair([
        Message::User(UserMessage::new(vec![Content::text("first"), image("AAAA"), image("BBBB")])),
        Message::Assistant(answer),
        Message::ToolResult(result),
        Message::User(UserMessage::text("last")),
    ])
}

/// One word per block, with left-out blocks in brackets.
fn shape(transcript: &Transcript) -> String {
    let block = |block: &Content| match block {
        Content::Text(text) if text.text.starts_with("[Left out: ") => {
            text.text["[Left out: ".len()..].split(['.', ',']).next().map(|what| format!("({what})")).unwrap()
        }
        Content::Text(text) => text.text.clone(),
        Content::Image(image) => image.data.clone(),
        Content::Thinking(_) => "thinking".to_owned(),
        Content::RedactedThinking(_) => "redacted".to_owned(),
        Content::ToolCall(call) => call.id.clone(),
    };
    let messages =
        transcript.messages().iter().map(|message| message.content().iter().map(block).collect::<Vec<_>>().join(" "));
    messages.collect::<Vec<_>>().join(" | ")
}

fn refusal(message: &str) -> ModelError {
    ModelError { status: Some(400), ..ModelError::new(ErrorKind::BadRequest, message) }
}

fn written() -> Value {
    json!({"messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "first"},
            {"type": "image", "source": {"data": "AAAA"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,BBBB"}},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "a-very-long-signature"},
            {"type": "redacted_thinking", "data": "sealed"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1"},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                {"type": "text", "text": "done"},
                {"type": "image", "source": {"data": "CCCC"}},
            ]},
            {"type": "text", "text": "last"},
        ]},
    ]})
}

/// Checks what is sent after each refusal; `-` if nothing is left to try.
#[track_caller]
fn check(refusals: &[&str], expect: &[&str]) {
    let mut quarantine = Blocks::default();
    let mut transcript = conversation();
    for (words, expect) in refusals.iter().zip(expect) {
        let next = quarantine.next(&refusal(words), &transcript, || Some(written()));
        assert_eq!(next.as_ref().map_or_else(|| "-".to_owned(), shape), *expect, "{words}");
        transcript = next.unwrap_or(transcript);
    }
    if *expect.last().unwrap() == "-" {
        let original = quarantine.give_up().unwrap();
        assert_eq!(shape(&original), shape(&conversation()), "what did not help comes back");
    }
}

const REST: &str = "thinking redacted I look. toolu_1 | done CCCC | last";

#[test]
fn a_place_in_the_request_tells_the_block() {
    for (words, left) in [
        ("messages.0.content.1.image.source.base64: bad data", "first (image/png image) BBBB"),
        ("Invalid value: messages[0].content[2].image_url.url", "first AAAA (image/png image)"),
    ] {
        check(&[words], &[&format!("{left} | {REST}")]);
    }
    let start = "first AAAA BBBB";
    check(
        &["messages.2.content.0.tool_result.content.1.image.source: broken"],
        &[&format!("{start} | thinking redacted I look. toolu_1 | done (image/png image) | last")],
    );
    check(
        &["messages.1.content.0: Invalid `signature` in `thinking` block"],
        &[&format!("{start} | (thinking) redacted I look. toolu_1 | done CCCC | last")],
    );
    check(
        &["messages[1].content[2]: unpaired surrogate"],
        &[&format!("{start} | thinking redacted (text) toolu_1 | done CCCC | last")],
    );
}

#[test]
fn a_call_goes_together_with_its_result() {
    check(
        &["messages.1: `tool_use` ids were found without `tool_result` blocks: toolu_1."],
        &["first AAAA BBBB | thinking redacted I look. (call of read and its result) | last"],
    );
}

#[test]
fn without_a_place_the_newest_is_tried_first_and_then_more() {
    check(
        &["Could not process image", "Could not process image", "Could not process image"],
        &[
            "first AAAA BBBB | thinking redacted I look. toolu_1 | done (image/png image) | last",
            "first (image/png image) (image/png image) | thinking redacted I look. toolu_1 | done (image/png image) | last",
            "-",
        ],
    );
}

#[test]
fn another_refusal_means_that_the_first_was_right() {
    check(
        &["messages.0.content.1.image: bad", "messages.0.content.2.image: bad"],
        &[
            &format!("first (image/png image) BBBB | {REST}"),
            &format!("first (image/png image) (image/png image) | {REST}"),
        ],
    );
}

#[test]
fn the_search_ends_after_four_requests() {
    let words: Vec<String> = (0..5).map(|number| format!("images are bad, reason {number}")).collect();
    let mut quarantine = Blocks::default();
    let mut transcript = Transcript::repair([Message::User(UserMessage::new(
        (0..9).map(|number| image(&format!("{number:04}"))).collect(),
    ))]);
    let mut tries = 0;
    for words in &words {
        let Some(next) = quarantine.next(&refusal(words), &transcript, || None) else { break };
        tries += 1;
        transcript = next;
    }
    assert_eq!(tries, MAX_TRIES);
}

#[test]
fn what_a_person_has_just_said_and_what_is_no_block_stay() {
    check(&["messages.2.content.1: text is too strange"], &["-"]);
    check(&["tools.0.custom.input_schema: JSON schema is invalid"], &["-"]);
    let mut quarantine = Blocks::default();
    let errors = [
        ModelError::new(ErrorKind::BadRequest, "no address for the image"),
        ModelError { status: Some(404), ..ModelError::new(ErrorKind::BadRequest, "no such image model") },
        ModelError { status: Some(400), ..ModelError::new(ErrorKind::ContextOverflow, "too many images") },
    ];
    for error in errors {
        assert!(quarantine.next(&error, &conversation(), || None).is_none(), "{error}");
    }
}

#[test]
fn what_was_confirmed_is_kept_and_found_again() {
    let mut quarantine = Blocks::default();
    let refused = conversation();
    let sent = quarantine.next(&refusal("messages.0.content.1: bad image"), &refused, || Some(written())).unwrap();
    let (told, entry) = quarantine.confirm().unwrap();
    assert_eq!(told.blocks, ["image/png image, 1 kB"]);
    assert_eq!(quarantine.confirm(), None, "told once");
    let data = entry.data.unwrap();
    let again = Blocks::restored([&data]);
    let resumed = again.transcript(refused.messages().iter().map(|message| Message::clone(message)));
    let bytes = |transcript: &Transcript| serde_json::to_string(&transcript.for_model()).unwrap();
    assert_eq!(bytes(&resumed), bytes(&sent));
    assert_eq!(Blocks::restored([&json!({"blocks": [7, {"key": 1}]}), &json!(null)]).held.len(), 0);
}
