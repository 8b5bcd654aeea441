//! `POST <base>/responses/compact`: the server compacts a conversation and returns items in its own format.

use omp_types::{Api, AssistantMessage, Model, ModelError, Request, Shortened};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::TokenCounts;
use super::input::{InputItem, conversation};
use crate::auth::Credential;
use crate::errors;
use crate::wire::{WireCall, endpoint, json};

/// `compat.remoteCompaction` of a model: whether its server offers compaction.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Offer {
    enabled: Option<bool>,
    endpoint: Option<String>,
    model: Option<String>,
}

#[derive(Serialize)]
struct CompactBody<'a> {
    model: &'a str,
    instructions: &'a str,
    input: Vec<InputItem<'a>>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    output: Vec<Value>,
    usage: Option<TokenCounts>,
}

/// Returns whether the model's server compacts conversations: OpenAI's does, others only if configured.
pub(crate) fn is_offered(model: &Model) -> bool {
    model.api == Api::OpenaiResponses && offer(model).enabled.unwrap_or(model.provider == "openai")
}

fn offer(model: &Model) -> Offer {
    let set = model.compat.get("remoteCompaction");
    set.and_then(|set| Offer::deserialize(set).ok()).unwrap_or_default()
}

pub(crate) fn encode(request: &Request, credential: &Credential) -> Result<WireCall, ModelError> {
    let model = &*request.model;
    let Offer { endpoint, model: other, .. } = offer(model);
    let body = CompactBody {
        model: other.as_deref().unwrap_or(&model.id),
        instructions: &request.system,
        input: conversation(request),
    };
    Ok(WireCall {
        url: endpoint.unwrap_or_else(|| endpoint::join(&model.base_url, "responses/compact")),
        headers: endpoint::json_headers(model, credential),
        body: json::write(&body)?,
    })
}

/// Decodes a response. Keeps only items that may be sent again; at least one must be in the server's own format.
pub(crate) fn decode(model: &Model, body: &[u8]) -> Result<Shortened, ModelError> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| {
        errors::disguised(model, body)
            .unwrap_or_else(|| errors::protocol(model, format_args!("it cannot be read: {error}")))
    })?;
    let items: Vec<Value> = answer.output.into_iter().filter(may_be_sent_again).map(without_status).collect();
    let Some(item) = items.iter().rfind(|item| is_made_by_server(item)).cloned() else {
        return Err(
            errors::disguised(model, body).unwrap_or_else(|| errors::protocol(model, "it contains no compaction"))
        );
    };
    let mut cost = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
    cost.usage = answer.usage.map(|counts| counts.usage(&model.cost)).unwrap_or_default();
    Ok(Shortened { items, item, answer: cost })
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_made_by_server(item: &Value) -> bool {
    match kind(item) {
        "compaction" => item.get("encrypted_content").is_some_and(Value::is_string),
        kind => kind == "compaction_summary",
    }
}

fn may_be_sent_again(item: &Value) -> bool {
    let role = item.get("role").and_then(Value::as_str);
    is_made_by_server(item) || (kind(item) == "message" && matches!(role, Some("user" | "assistant")))
}

/// Removes the status of an answer item, which servers refuse when it is sent back.
fn without_status(mut item: Value) -> Value {
    if kind(&item) == "message"
        && let Some(fields) = item.as_object_mut()
    {
        fields.shift_remove("status");
    }
    item
}

#[cfg(test)]
mod tests {
    use omp_types::{Content, CustomMessage, Message, UserMessage};
    use serde_json::json;

    use super::*;
    use crate::wire::{WireApi, sample};

    fn openai(id: &str) -> Model {
        Model { provider: "openai".into(), id: id.into(), ..sample::model(Api::OpenaiResponses) }
    }

    fn body_of(call: WireCall) -> Value {
        serde_json::from_slice(&call.body).unwrap()
    }

    #[test]
    fn openai_offers_it_and_whoever_says_so() {
        let mine = |compat: Value| Model { provider: "mine".into(), compat, ..openai("m") };
        assert!(is_offered(&openai("gpt")));
        assert!(!is_offered(&Model { api: Api::OpenaiCompletions, ..openai("gpt") }));
        assert!(!is_offered(&mine(Value::Null)) && !is_offered(&mine(json!({"remoteCompaction": "yes"}))));
        assert!(is_offered(&mine(json!({"remoteCompaction": {"enabled": true}}))));
        let off = json!({"remoteCompaction": {"enabled": false}});
        assert!(!is_offered(&Model { compat: off, ..openai("gpt") }));
    }

    #[test]
    fn an_answer_needs_an_item_of_the_servers_own() {
        let model = openai("gpt");
        let check =
            |body: Value, expect: Result<usize, &str>| match (decode(&model, body.to_string().as_bytes()), expect) {
                (Ok(found), Ok(count)) => assert_eq!(found.items.len(), count, "{body}"),
                (Err(error), Err(words)) => assert!(error.message.contains(words), "{error}"),
                (found, _) => panic!("{body}: {found:?}"),
            };
        let sealed = json!({"type": "compaction", "encrypted_content": "x"});
        let said = json!({"type": "message", "role": "user", "status": "completed", "content": []});
        check(
            json!({"output": [said, sealed, {"type": "reasoning"}, {"type": "message", "role": "system"}, 7]}),
            Ok(2),
        );
        check(json!({"output": [{"type": "compaction_summary", "summary": "s"}]}), Ok(1));
        check(json!({"output": [said, {"type": "compaction"}]}), Err("it contains no compaction"));
        check(json!({}), Err("it contains no compaction"));
        check(json!([1]), Err("cannot be read"));
        check(json!({"error": {"message": "not today"}}), Err("not today"));
        let found = decode(&model, json!({"output": [said, sealed]}).to_string().as_bytes()).unwrap();
        assert_eq!(found.items[0], json!({"type": "message", "role": "user", "content": []}));
        assert_eq!(found.item, sealed);
    }

    #[test]
    fn the_items_go_back_to_the_model_that_made_them_and_the_summary_to_any_other() {
        let model = openai("gpt");
        let sealed = json!({"type": "compaction", "encrypted_content": "x"});
        let answer = AssistantMessage::empty(model.api.clone(), &model.provider, &model.id);
        let shortened = Shortened { items: vec![sealed.clone()], item: sealed.clone(), answer };
        let kept = shortened.to_preserve(&model, "said before");
        let summary = Message::Custom(CustomMessage {
            custom_type: "compactionSummary".into(),
            content: vec![Content::text("READABLE")],
            display: true,
            details: Some(json!({"preserveData": {omp_types::SHORTENED_BY_PROVIDER: kept}})),
            timestamp: 0,
        });
        let go_on = Message::User(UserMessage::text("go on"));
        let request = |model: Model| sample::request(model, vec![summary.clone(), go_on.clone()]);
        let call = encode(&request(model.clone()), &Credential::None).unwrap();
        assert!(call.url.ends_with("/responses/compact"), "{}", call.url);
        let compact = body_of(call);
        assert_eq!(compact["input"][0], sealed);
        assert_eq!(compact["input"][1]["content"][0]["text"], "said before");
        assert!(compact["instructions"].is_string() && compact.get("stream").is_none());
        let usual =
            |model: Model| body_of(super::super::OpenaiResponses.encode(&request(model), &Credential::None).unwrap());
        assert_eq!(usual(model.clone())["input"][1], sealed);
        for other in [openai("other"), Model { provider: "mine".into(), ..openai("gpt") }] {
            let input = usual(other)["input"].to_string();
            assert!(input.contains("READABLE") && !input.contains("encrypted_content"), "{input}");
        }
    }
}
