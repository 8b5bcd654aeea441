//! The questions of `ask` as a form, for clients that support forms: one or several options, and a text field.

use agent_client_protocol::v1::schema::{
    ClientCapabilities, CreateElicitationRequest, CreateElicitationResponse, ElicitationAction,
    ElicitationContentValue, ElicitationFormMode, ElicitationSchema, ElicitationSessionScope, EnumOption,
    MultiSelectPropertySchema, SessionId, StringPropertySchema,
};
use omp_agent::Choice;
use omp_session::Answer;

const CHOICE: &str = "choice";
const OTHER: &str = "other";

pub fn are_offered(client: &ClientCapabilities) -> bool {
    client.elicitation.as_ref().is_some_and(|elicitation| elicitation.supports_form())
}

/// `call` is the client's id of the call that asks.
pub fn of(choice: &Choice, session: SessionId, call: Option<String>) -> CreateElicitationRequest {
    let scope = ElicitationSessionScope::new(session).tool_call_id(call.map(Into::into));
    CreateElicitationRequest::new(ElicitationFormMode::new(scope, fields(choice)), choice.question.clone())
}

fn fields(choice: &Choice) -> ElicitationSchema {
    let recommended = choice.recommended.and_then(|index| choice.options.get(index)).map(|option| option.label.clone());
    let options: Vec<EnumOption> = choice
        .options
        .iter()
        .map(|option| EnumOption::new(&option.label, &option.label).description(option.description.clone()))
        .collect();
    let typed = |title: &str| StringPropertySchema::new().title(title.to_owned());
    if options.is_empty() {
        return ElicitationSchema::new().property(OTHER, typed("Answer"), true);
    }
    let chosen = if choice.multi {
        let several = MultiSelectPropertySchema::titled(options).title("Choose any".to_owned());
        let several = several.default_value(recommended.map(|label| vec![label]));
        ElicitationSchema::new().property(CHOICE, several, false)
    } else {
        let one = StringPropertySchema::new().title("Choose one".to_owned()).one_of(options);
        ElicitationSchema::new().property(CHOICE, one.default_value(recommended), false)
    };
    if choice.is_closed {
        return chosen;
    }
    chosen.property(OTHER, typed("Something else"), false)
}

/// Typed text overrides a preselected option; if several may be chosen, both count.
pub fn understood(response: CreateElicitationResponse, multi: bool) -> Answer {
    let ElicitationAction::Accept(accepted) = response.action else { return Answer::No };
    let mut content = accepted.content.unwrap_or_default();
    let chosen = match content.remove(CHOICE) {
        Some(ElicitationContentValue::String(one)) => vec![one],
        Some(ElicitationContentValue::StringArray(several)) => several,
        _ => Vec::new(),
    };
    let typed = match content.remove(OTHER) {
        Some(ElicitationContentValue::String(typed)) if !typed.trim().is_empty() => Some(typed),
        _ => None,
    };
    if multi {
        let all: Vec<String> = chosen.into_iter().chain(typed).collect();
        return if all.is_empty() { Answer::No } else { Answer::Choices(all) };
    }
    typed.or_else(|| chosen.into_iter().next()).map_or(Answer::No, Answer::Text)
}

#[cfg(test)]
mod tests {
    use omp_agent::ChoiceOption;
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(multi: bool, response: Value, expect: Answer) {
        let read: CreateElicitationResponse = serde_json::from_value(response.clone()).unwrap();
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
