//! The conversation as contents and parts, borrowed from the history.

use std::borrow::Cow;

use omp_types::{AssistantMessage, ImageContent, Message, Model, Request, ToolResultMessage};
use serde::Serialize;
use serde_json::{Map, Value};

use super::is_gemini_3;
use crate::wire::history::{self, AnswerPiece, InputPiece};

/// Google's marker for calls made by another model: Gemini 3 refuses calls without any signature.
const FOREIGN_CALL: &str = "skip_thought_signature_validator";
const RESULT_IMAGES: &str = "Images from the tool results above:";
const ID_LIMIT: usize = 64;
pub(super) const NAME_LIMIT: usize = 64;

#[derive(Serialize)]
pub(super) struct RequestContent<'a> {
    role: &'static str,
    parts: Vec<RequestPart<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestPart<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<SentFunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Serialize)]
struct SentFunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    args: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    response: FunctionOutcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<RequestPart<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum FunctionOutcome<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

pub(super) fn contents(request: &Request) -> Vec<RequestContent<'_>> {
    let model = &*request.model;
    let mut contents = Contents {
        model,
        is_gemini_3: is_gemini_3(model),
        // The field is specific to Google; compatible servers may not support it.
        sends_ids: model.base_url.contains("googleapis.com"),
        sent: Vec::new(),
        results: Vec::new(),
        images: Vec::new(),
    };
    for message in &request.messages {
        match &**message {
            Message::Assistant(answer) => contents.answer(answer),
            Message::ToolResult(result) => contents.result(result),
            other => {
                if let Some(content) = history::input_of(other) {
                    contents.flush_results();
                    contents.push("user", history::inputs(content, model).map(part).collect());
                }
            }
        }
    }
    contents.flush_results();
    contents.sent
}

struct Contents<'a> {
    model: &'a Model,
    is_gemini_3: bool,
    sends_ids: bool,
    sent: Vec<RequestContent<'a>>,
    /// Results since the last answer: they must be in one content.
    results: Vec<RequestPart<'a>>,
    /// Their images, for models that accept none within a result.
    images: Vec<&'a ImageContent>,
}

impl<'a> Contents<'a> {
    fn push(&mut self, role: &'static str, parts: Vec<RequestPart<'a>>) {
        if !parts.is_empty() {
            self.sent.push(RequestContent { role, parts });
        }
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.flush_results();
        let mut parts = Vec::new();
        let mut first_call = true;
        for piece in history::pieces(answer, self.model) {
            match piece {
                AnswerPiece::Text { text, signature } => {
                    parts.push(RequestPart {
                        text: Some(text),
                        thought_signature: signature,
                        ..RequestPart::default()
                    });
                }
                // Thoughts are sent back only for their signature; the model does not read them.
                AnswerPiece::Thinking { text, signature: Some(signature) } => {
                    parts.push(RequestPart {
                        text: Some(text),
                        thought: true,
                        thought_signature: Some(signature),
                        ..RequestPart::default()
                    });
                }
                AnswerPiece::Thinking { .. } | AnswerPiece::RedactedThinking(_) => {}
                AnswerPiece::Call { call, signature } => {
                    // Of parallel calls, only the first is signed.
                    let stand_in = (self.is_gemini_3 && first_call).then_some(FOREIGN_CALL);
                    first_call = false;
                    let name = history::portable_id(&call.name, NAME_LIMIT);
                    let call = SentFunctionCall { id: self.id(&call.id), name, args: &call.arguments };
                    let thought_signature = signature.or(stand_in);
                    parts.push(RequestPart { function_call: Some(call), thought_signature, ..RequestPart::default() });
                }
            }
        }
        self.push("model", parts);
    }

    fn result(&mut self, result: &'a ToolResultMessage) {
        let (text, images) = history::result_text_and_images(result, self.model);
        let parts = if self.is_gemini_3 {
            images.into_iter().map(|image| part(InputPiece::Image(image))).collect()
        } else {
            self.images.extend(images);
            Vec::new()
        };
        let response = FunctionResponse {
            id: self.id(&result.tool_call_id),
            name: history::portable_id(&result.tool_name, NAME_LIMIT),
            response: if result.is_error { FunctionOutcome::Error(text) } else { FunctionOutcome::Output(text) },
            parts,
        };
        self.results.push(RequestPart { function_response: Some(response), ..RequestPart::default() });
    }

    fn flush_results(&mut self) {
        let results = std::mem::take(&mut self.results);
        self.push("user", results);
        if !self.images.is_empty() {
            let images = std::mem::take(&mut self.images);
            let heading = std::iter::once(RequestPart { text: Some(RESULT_IMAGES), ..RequestPart::default() });
            let parts = heading.chain(images.into_iter().map(|image| part(InputPiece::Image(image)))).collect();
            self.push("user", parts);
        }
    }

    fn id(&self, id: &'a str) -> Option<Cow<'a, str>> {
        self.sends_ids.then(|| history::portable_id(id, ID_LIMIT))
    }
}

fn part(input: InputPiece<'_>) -> RequestPart<'_> {
    match input {
        InputPiece::Text(text) => RequestPart { text: Some(text), ..RequestPart::default() },
        InputPiece::Image(image) => {
            let inline_data = InlineData { mime_type: &image.mime_type, data: &image.data };
            RequestPart { inline_data: Some(inline_data), ..RequestPart::default() }
        }
    }
}
