//! Questions to the user, sent to the client.

use std::borrow::Cow;
use std::sync::Arc;

use omp_agent::{AnyPlan, AnyTool, Choice, ChoiceOption, Concurrency, Outcome, Tier, ToolCx, ToolOutput, plan_of};
use omp_policy::{ApprovalMode, Policy};
use omp_testkit::Turn;
use omp_types::Content;
use omp_view::View;
use serde_json::{Value, json};

use crate::client::{Rpc, TestHost};

/// Asks for a color if its arguments say so, else needs approval and does nothing.
struct Paint;

impl AnyTool for Paint {
    fn name(&self) -> Cow<'_, str> {
        "paint".into()
    }

    fn description(&self) -> Cow<'_, str> {
        "Paints".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object"})
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        let asks = arguments.get("ask").is_some() || arguments.get("open").is_some();
        let tier = if asks { Tier::Read } else { Tier::Exec };
        let run = async move |cx: ToolCx| {
            let mut text = "painted".to_owned();
            if arguments.get("ask").is_some() {
                let option =
                    |label: &str| ChoiceOption { label: label.to_owned(), description: Some(format!("like {label}")) };
                let choice = Choice {
                    question: "Which colour?".to_owned(),
                    options: vec![option("red"), option("blue")],
                    multi: arguments["ask"] == "many",
                    recommended: Some(0),
                    is_closed: false,
                };
                let answer = cx.questions.as_ref().unwrap().choose(choice).await;
                text = format!("{answer:?}");
            }
            if let Some(url) = arguments["open"].as_str() {
                let opened = cx.questions.as_ref().unwrap().open_url(url.to_owned(), "To log in".to_owned()).await;
                text = format!("{opened:?}");
            }
            Ok(ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() })
        };
        Ok(plan_of(tier, move |cx| Box::pin(async move { run(cx).await })))
    }

    fn render(&self, arguments: &Value, _: Outcome<&Value>) -> View {
        View { command: arguments["command"].as_str().map(str::to_owned), ..View::default() }
    }
}

async fn begin(arguments: Value) -> (Rpc, Value) {
    let mut host = TestHost::new([Turn::call("paint", arguments), Turn::text("Done.")]);
    host.tools = vec![Arc::new(Paint)];
    host.policy = Policy { mode: ApprovalMode::AskAll, ..Policy::default() };
    let mut rpc = Rpc::start(host).await;
    rpc.send(&json!({"type": "prompt", "message": "go"}));
    let request = rpc.until("extension_ui_request").await.pop().unwrap();
    (rpc, request)
}

/// Answers questions until the tool has its result, and returns it.
async fn result(rpc: &mut Rpc) -> String {
    let end = rpc.until("tool_execution_end").await.pop().unwrap();
    end["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

fn respond(rpc: &mut Rpc, request: &Value, response: Value) {
    let mut response = response;
    response["type"] = "extension_ui_response".into();
    response["id"] = request["id"].clone();
    rpc.send(&response);
}

#[tokio::test]
async fn an_address_is_a_choice_with_the_address_in_the_title() {
    let (mut rpc, request) = begin(json!({"open": "https://example.com/login?a=b"})).await;
    insta::assert_snapshot!(request.to_string(), @r#"{"type":"extension_ui_request","id":"ui_1","method":"select","title":"Open this address?\nTo log in\nhttps://example.com/login?a=b","options":["I have opened it","Cancel"]}"#);
    respond(&mut rpc, &request, json!({"value": "I have opened it"}));
    assert_eq!(result(&mut rpc).await, "Ok(true)");
}

#[tokio::test]
async fn approval_is_a_choice_with_the_call_in_the_title() {
    let (mut rpc, request) = begin(json!({"command": "rm -r /"})).await;
    insta::assert_snapshot!(request.to_string(), @r#"{"type":"extension_ui_request","id":"ui_1","method":"select","title":"Allow tool: paint\nrm -r /","options":["Approve","Deny","Always allow: paint","Always deny: paint","Allow for this session: paint","Always allow in this project: paint","Deny, and say what to do instead"]}"#);
    respond(&mut rpc, &request, json!({"value": "Approve"}));
    assert_eq!(result(&mut rpc).await, "painted");

    let (mut rpc, request) = begin(json!({"a": 1})).await;
    assert_eq!(request["title"], "Allow tool: paint\n{\"a\":1}");
    respond(&mut rpc, &request, json!({"cancelled": true}));
    assert_eq!(result(&mut rpc).await, "The user refused this call.");
}

#[tokio::test]
async fn a_question_is_a_choice_or_the_users_own_words() {
    let (mut rpc, request) = begin(json!({"ask": "one"})).await;
    insta::assert_snapshot!(request.to_string(), @r#"{"type":"extension_ui_request","id":"ui_1","method":"select","title":"Which colour?\n- red: like red\n- blue: like blue","options":["red (Recommended)","blue","Other (type your own)"]}"#);
    respond(&mut rpc, &request, json!({"value": "Other (type your own)"}));
    let typing = rpc.until("extension_ui_request").await.pop().unwrap();
    assert_eq!(typing["method"], "input");
    respond(&mut rpc, &typing, json!({"value": "green"}));
    assert_eq!(result(&mut rpc).await, r#"Some(["green"])"#);

    let (mut rpc, request) = begin(json!({"ask": "many"})).await;
    respond(&mut rpc, &request, json!({"value": "[ ] blue"}));
    let again = rpc.until("extension_ui_request").await.pop().unwrap();
    assert_eq!(
        again["options"],
        json!(["[ ] red (Recommended)", "[x] blue", "Done selecting", "Other (type your own)"])
    );
    respond(&mut rpc, &again, json!({"value": "Done selecting"}));
    assert_eq!(result(&mut rpc).await, r#"Some(["blue"])"#);
}

#[tokio::test]
async fn a_dialog_whose_asker_is_gone_is_taken_back() {
    let (mut rpc, request) = begin(json!({"ask": "one"})).await;
    rpc.send(&json!({"id": "x", "type": "abort"}));
    let cancel = rpc.until("extension_ui_request").await.pop().unwrap();
    assert_eq!((&cancel["method"], &cancel["targetId"]), (&json!("cancel"), &request["id"]));
    respond(&mut rpc, &request, json!({"value": "red"}));
    assert_eq!(rpc.ask(json!({"type": "get_state"})).await["data"]["isStreaming"], false);
}
