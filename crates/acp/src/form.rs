//! The questions of `ask` as a form, for clients that support forms: one or several options, and a text field.

use omp_agent::{Choice, ChoiceOption};
use omp_session::Answer;
use serde_json::{Value, json};

use crate::protocol::{CreateElicitationRequest, ElicitationAction, ElicitationResponse, SessionId};

const CHOICE: &str = "choice";
const OTHER: &str = "other";

/// `call` is the client's id of the call that asks.
pub fn of(choice: &Choice, session: SessionId, call: Option<String>) -> CreateElicitationRequest {
    CreateElicitationRequest {
        session_id: session,
        tool_call_id: call,
        requested_schema: fields(choice),
        message: choice.question.clone(),
    }
}

fn fields(choice: &Choice) -> Value {
    let typed = |title: &str| json!({"type": "string", "title": title});
    if choice.options.is_empty() {
        return json!({"type": "object", "properties": {OTHER: typed("Answer")}, "required": [OTHER]});
    }
    let options: Vec<Value> = choice.options.iter().map(as_constant).collect();
    let recommended = choice.recommended.and_then(|index| choice.options.get(index)).map(|option| &option.label);
    let mut chosen = if choice.multi {
        json!({"type": "array", "title": "Choose any", "items": {"anyOf": options}})
    } else {
        json!({"type": "string", "title": "Choose one"})
    };
    if let Some(label) = recommended {
        chosen["default"] = if choice.multi { json!([label]) } else { json!(label) };
    }
    if !choice.multi {
        chosen["oneOf"] = options.into();
    }
    let mut properties = json!({CHOICE: chosen});
    if !choice.is_closed {
        properties[OTHER] = typed("Something else");
    }
    json!({"type": "object", "properties": properties})
}

fn as_constant(option: &ChoiceOption) -> Value {
    let mut constant = json!({"const": option.label, "title": option.label});
    if let Some(description) = &option.description {
        constant["description"] = json!(description);
    }
    constant
}

/// Typed text overrides a preselected option; if several may be chosen, both count.
pub fn understood(response: ElicitationResponse, multi: bool) -> Answer {
    if response.action != ElicitationAction::Accept {
        return Answer::No;
    }
    let content = response.content.unwrap_or_default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let chosen: Vec<String> = match content.get(CHOICE) {
        Some(Value::Array(several)) => several.iter().filter_map(text).collect(),
        one => one.and_then(text).into_iter().collect(),
    };
    let typed = content.get(OTHER).and_then(text).filter(|typed| !typed.trim().is_empty());
    if multi {
        let all: Vec<String> = chosen.into_iter().chain(typed).collect();
        return if all.is_empty() { Answer::No } else { Answer::Choices(all) };
    }
    typed.or_else(|| chosen.into_iter().next()).map_or(Answer::No, Answer::Text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(multi: bool, response: Value, expect: Answer) {
        let read: ElicitationResponse = serde_json::from_value(response.clone()).unwrap();
        assert_eq!(understood(read, multi), expect, "{response}");
    }

    #[test]
    fn answers_are_options_or_what_was_typed() {
        let accept = |content: Value| json!({"action": "accept", "content": content});
        let text = |text: &str| Answer::Text(text.to_owned());
        check(false, accept(json!({"choice": "left"})), text("left"));
        check(false, accept(json!({"choice": "left", "other": "up"})), text("up"));
        check(false, accept(json!({"choice": "left", "other": " "})), text("left"));
        check(false, accept(json!({})), Answer::No);
        check(false, json!({"action": "accept"}), Answer::No);
        check(false, json!({"action": "decline"}), Answer::No);
        check(false, json!({"action": "cancel"}), Answer::No);
        let several = Answer::Choices(vec!["left".into(), "right".into(), "up".into()]);
        check(true, accept(json!({"choice": ["left", "right"], "other": "up"})), several);
        check(true, accept(json!({"choice": []})), Answer::No);
        check(true, accept(json!({"choice": 5, "other": "up"})), Answer::Choices(vec!["up".into()]));
    }

    #[test]
    fn a_form_has_the_options_and_room_for_another_answer() {
        let option = |label: &str| ChoiceOption { label: label.to_owned(), description: Some(format!("go {label}")) };
        let mut choice = Choice {
            question: "Which way?".to_owned(),
            options: vec![option("left"), option("right")],
            multi: true,
            recommended: Some(1),
            is_closed: false,
        };
        let shown =
            |choice: &Choice| serde_json::to_value(of(choice, SessionId::new("s"), Some("call-1".into()))).unwrap();
        let options = json!([
            {"const": "left", "title": "left", "description": "go left"},
            {"const": "right", "title": "right", "description": "go right"},
        ]);
        let form = shown(&choice);
        assert_eq!((&form["mode"], &form["message"]), (&json!("form"), &json!("Which way?")));
        assert_eq!((&form["sessionId"], &form["toolCallId"]), (&json!("s"), &json!("call-1")));
        let fields = &form["requestedSchema"]["properties"];
        assert_eq!((&fields["choice"]["type"], &fields["choice"]["default"]), (&json!("array"), &json!(["right"])));
        assert_eq!(fields["choice"]["items"]["anyOf"], options);
        assert_eq!(fields["other"]["type"], "string");
        choice.multi = false;
        let fields = &shown(&choice)["requestedSchema"]["properties"];
        assert_eq!((&fields["choice"]["type"], &fields["choice"]["default"]), (&json!("string"), &json!("right")));
        assert_eq!(fields["choice"]["oneOf"], options);
        choice.is_closed = true;
        assert!(shown(&choice)["requestedSchema"]["properties"].get("other").is_none());
        choice.options.clear();
        assert_eq!(shown(&choice)["requestedSchema"]["required"], json!(["other"]));
    }
}
