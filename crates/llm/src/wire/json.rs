//! JSON helpers: reads stream events without copying, extracts errors, and writes special request fields.
//!
//! Servers that implement the same API differ in details: a field is missing, null, or of another type. So fields that a
//! wire API does not need are never parsed, and fields that vary are kept as raw text until they are needed.

use std::borrow::Cow;

use omp_types::{ErrorKind, ImageContent, Model, ModelError};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::errors;

/// A string that is borrowed from the event if it has no escapes. (`Option<Cow<str>>` would always copy.)
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Parses one event; anything but the expected JSON is a broken stream.
pub(crate) fn parse<'a, T: Deserialize<'a>>(model: &Model, data: &'a str) -> Result<T, ModelError> {
    serde_json::from_str(data)
        .map_err(|error| errors::protocol(model, format_args!("an event cannot be read: {error}")))
}

/// Returns the text of a JSON string, the JSON itself for other values, and `None` for null.
pub(crate) fn text_of(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let raw = raw?.get();
    match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<Text>(raw).ok().map(|text| text.0),
        Some(b'n') => None,
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// Returns the text of a JSON string, and `None` for anything else.
pub(crate) fn string_of(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    raw.filter(|raw| raw.get().starts_with('"')).and_then(|raw| text_of(Some(raw)))
}

/// Error for a stream that ended before its last event.
pub(crate) fn cut_off(model: &Model, last_event: &str) -> ModelError {
    errors::protocol(model, format_args!("it was cut off before {last_event}"))
}

/// Error for JSON that contains neither an answer nor an error.
pub(crate) fn no_answer(model: &Model, body: &str) -> ModelError {
    let start = errors::quote(body);
    let hint = "hint: is the base URL right, and does the server speak this API?";
    errors::protocol(model, format_args!("it is JSON without an answer in it: {start}\n{hint}"))
}

/// Converts an error that a server reports inside a stream; `error` is the JSON of the error in any shape.
pub(crate) fn error_from(model: &Model, error: &str) -> ModelError {
    let body = format!("{{\"error\":{error}}}");
    errors::disguised(model, body.as_bytes()).unwrap_or_else(|| errors::reported(model, "", error))
}

/// Serializes a body.
pub(crate) fn write(body: &impl Serialize) -> Result<Vec<u8>, ModelError> {
    serde_json::to_vec(body)
        .map_err(|error| ModelError::new(ErrorKind::BadRequest, format!("the request cannot be written: {error}")))
}

/// Serializes an image in the form of the OpenAI APIs.
pub(crate) fn data_url<S: Serializer>(image: &&ImageContent, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("data:{};base64,{}", image.mime_type, image.data))
}

/// Serializes arguments as a string of JSON, as in the OpenAI APIs.
pub(crate) fn json_in_text<S: Serializer>(arguments: &&Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    let json = serde_json::to_string(arguments).map_err(serde::ser::Error::custom)?;
    serializer.serialize_str(&json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::Api;

    #[test]
    fn strings_without_escapes_are_borrowed() {
        #[derive(Deserialize)]
        struct Event<'a> {
            #[serde(borrow)]
            text: Option<Text<'a>>,
        }
        let model = sample::model(Api::OpenaiCompletions);
        let plain: Event = parse(&model, r#"{"text":"abc"}"#).unwrap();
        assert!(matches!(plain.text, Some(Text(Cow::Borrowed("abc")))));
        let escaped: Event = parse(&model, r#"{"text":"a\nb"}"#).unwrap();
        assert_eq!(escaped.text.unwrap().0, "a\nb");
        let missing: Event = parse(&model, r#"{"text":null}"#).unwrap();
        assert!(missing.text.is_none());
    }

    #[test]
    fn raw_fields_become_text() {
        let check = |json: &str, expect: Option<&str>| {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(text_of(Some(raw)).as_deref(), expect, "{json}");
        };
        check(r#""a\"b""#, Some("a\"b"));
        check(r#"{"a":1}"#, Some(r#"{"a":1}"#));
        check("429", Some("429"));
        check("null", None);
    }

    #[test]
    fn errors_in_any_shape_are_understood() {
        use ErrorKind::*;
        #[track_caller]
        fn check(json: &str, kind: ErrorKind, says: &str) {
            let error = error_from(&sample::model(Api::OpenaiCompletions), json);
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.message.contains(says), "{error}");
        }
        check(r#"{"message":"slow down","code":429}"#, RateLimit, "slow down");
        check(r#"{"message":"slow down","code":"rate_limit_exceeded"}"#, RateLimit, "slow down");
        check(r#"{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}"#, Overloaded, "Overloaded.");
        check(r#"{"message":"the maximum context length is 8192","code":400}"#, ContextOverflow, "8192");
        check(r#"{"message":"bad","type":"invalid_request_error"}"#, BadRequest, "bad");
        check(r#"{"message":"no","code":401}"#, Auth, "no");
        check(r#"{"message":null,"code":"server_error"}"#, Overloaded, "mine");
        check(r#""just text""#, Overloaded, "just text");
        check("{}", Overloaded, "mine");
    }
}
