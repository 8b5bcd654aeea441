//! The conversation as contents and parts, borrowed from the history.

use std::borrow::Cow;

use omp_types::{AssistantMessage, ImageContent, Message, Model, Request, ToolResultMessage};
use serde::Serialize;
use serde_json::{Map, Value};

use super::is_gemini_3;
use crate::wire::history::{self, Input, Piece};

/// Google's own word for "this call was made by another model": without any signature Gemini 3 refuses the call.
const FOREIGN_CALL: &str = "skip_thought_signature_validator";
const RESULT_IMAGES: &str = "Images from the tool results above:";
const ID_LIMIT: usize = 64;
pub(super) const NAME_LIMIT: usize = 64;

#[derive(Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
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
struct FunctionCall<'a> {
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
    response: Outcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(Cow<'a, str>),
    Error(Cow<'a, str>),
}

pub(super) fn contents(request: &Request) -> Vec<Content<'_>> {
    let model = &*request.model;
    let mut contents = Contents {
        model,
        is_gemini_3: is_gemini_3(model),
        // The field is Google's own; what imitates the API may not know it.
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
    sent: Vec<Content<'a>>,
    /// Results since the last answer: they must stand in one content.
    results: Vec<Part<'a>>,
    /// Their images, for models that take none within a result.
    images: Vec<&'a ImageContent>,
}

impl<'a> Contents<'a> {
    fn push(&mut self, role: &'static str, parts: Vec<Part<'a>>) {
        if !parts.is_empty() {
            self.sent.push(Content { role, parts });
        }
    }

    fn answer(&mut self, answer: &'a AssistantMessage) {
        self.flush_results();
        let mut parts = Vec::new();
        let mut first_call = true;
        for piece in history::pieces(answer, self.model) {
            match piece {
                Piece::Text { text, signature } => {
                    parts.push(Part { text: Some(text), thought_signature: signature, ..Part::default() });
                }
                // Thoughts are sent back only for their signature; the model does not read them.
                Piece::Thinking { text, signature: Some(signature) } => {
                    parts.push(Part {
                        text: Some(text),
                        thought: true,
                        thought_signature: Some(signature),
                        ..Part::default()
                    });
                }
                Piece::Thinking { .. } | Piece::RedactedThinking(_) => {}
                Piece::Call { call, signature } => {
                    // Of parallel calls only the first is signed.
                    let stand_in = (self.is_gemini_3 && first_call).then_some(FOREIGN_CALL);
                    first_call = false;
                    let name = history::portable_id(&call.name, NAME_LIMIT);
                    let call = FunctionCall { id: self.id(&call.id), name, args: &call.arguments };
                    let thought_signature = signature.or(stand_in);
                    parts.push(Part { function_call: Some(call), thought_signature, ..Part::default() });
                }
            }
        }
        self.push("model", parts);
    }

    fn result(&mut self, result: &'a ToolResultMessage) {
        let (text, images) = history::result_text_and_images(result, self.model);
        let parts = if self.is_gemini_3 {
            images.into_iter().map(|image| part(Input::Image(image))).collect()
        } else {
            self.images.extend(images);
            Vec::new()
        };
        let response = FunctionResponse {
            id: self.id(&result.tool_call_id),
            name: history::portable_id(&result.tool_name, NAME_LIMIT),
            response: if result.is_error { Outcome::Error(text) } else { Outcome::Output(text) },
            parts,
        };
        self.results.push(Part { function_response: Some(response), ..Part::default() });
    }

    fn flush_results(&mut self) {
        let results = std::mem::take(&mut self.results);
        self.push("user", results);
        if !self.images.is_empty() {
            let images = std::mem::take(&mut self.images);
            let heading = std::iter::once(Part { text: Some(RESULT_IMAGES), ..Part::default() });
            let parts = heading.chain(images.into_iter().map(|image| part(Input::Image(image)))).collect();
            self.push("user", parts);
        }
    }

    fn id(&self, id: &'a str) -> Option<Cow<'a, str>> {
        self.sends_ids.then(|| history::portable_id(id, ID_LIMIT))
    }
}

fn part(input: Input<'_>) -> Part<'_> {
    match input {
        Input::Text(text) => Part { text: Some(text), ..Part::default() },
        Input::Image(image) => {
            let inline_data = InlineData { mime_type: &image.mime_type, data: &image.data };
            Part { inline_data: Some(inline_data), ..Part::default() }
        }
    }
}
