//! Tests of encoded requests and decoded streams, for many servers.

use std::borrow::Cow;

use omp_types::{Api, CacheRetention, Content, InputKind, Model, Request, ThinkingLevel, ThinkingSupport, ToolCall};
use serde_json::{Value, json};

use crate::wire::sample::{self, answer, call, conversation, decode, request, result, shown, thinking, user};

fn model() -> Model {
    sample::model(Api::OpenaiCompletions)
}

fn at(base_url: &str, id: &str) -> Model {
    Model { base_url: base_url.into(), id: id.into(), ..model() }
}

#[test]
fn a_whole_conversation_on_a_plain_server() {
    let model = model();
    let messages = conversation(&model, "reasoning_content", "call_1|fc_1");
    insta::assert_snapshot!(shown(&request(model, messages)), @r#"
    https://llm.example.com/v1/chat/completions
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "m-1"
    stream: true
    stream_options: {"include_usage":true}
    max_tokens: 32000
    reasoning_effort: "medium"
    tools:
      {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]}}}
    messages:
      {"role":"system","content":"Be brief."}
      {"role":"user","content":[{"type":"text","text":"Look \"here\"."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"assistant","content":"Reading.","reasoning_content":"hm","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},{"id":"other","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.png\"}"}}]}
      {"role":"tool","tool_call_id":"call_1","content":"one\ntwo"}
      {"role":"tool","tool_call_id":"other","content":"(see the attached image)"}
      {"role":"user","content":[{"type":"text","text":"Images from the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"user","content":"A note."}
    "#);
}

#[test]
fn the_same_on_openai_itself() {
    let model = at("https://api.openai.com/v1/", "gpt-x");
    let messages = conversation(&model, "reasoning", "functions.read:0");
    let request = Request { cache: CacheRetention::Long, max_tokens: Some(1000), ..request(model, messages) };
    insta::assert_snapshot!(shown(&request), @r#"
    https://api.openai.com/v1/chat/completions
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "gpt-x"
    stream: true
    stream_options: {"include_usage":true}
    store: false
    max_completion_tokens: 1000
    prompt_cache_key: "session-1"
    prompt_cache_retention: "24h"
    reasoning_effort: "medium"
    tools:
      {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]},"strict":false}}
    messages:
      {"role":"developer","content":"Be brief."}
      {"role":"user","content":[{"type":"text","text":"Look \"here\"."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"assistant","content":"Reading.","reasoning":"hm","tool_calls":[{"id":"functionsread0_a12d3apm8dz","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},{"id":"other","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.png\"}"}}]}
      {"role":"tool","tool_call_id":"functionsread0_a12d3apm8dz","content":"one\ntwo"}
      {"role":"tool","tool_call_id":"other","content":"(see the attached image)"}
      {"role":"user","content":[{"type":"text","text":"Images from the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"user","content":"A note."}
    "#);
}

#[test]
fn the_same_on_mistral() {
    let model = at("https://api.mistral.ai/v1", "magistral");
    let messages = conversation(&model, "content", "call_1");
    insta::assert_snapshot!(shown(&request(model, messages)), @r#"
    https://api.mistral.ai/v1/chat/completions
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "magistral"
    stream: true
    max_tokens: 32000
    tools:
      {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]}}}
    messages:
      {"role":"system","content":"Be brief."}
      {"role":"user","content":[{"type":"text","text":"Look \"here\"."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"assistant","content":"<thinking>\nhm\n</thinking>\nReading.","tool_calls":[{"id":"16xj2wjzp","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},{"id":"xtysja7bq","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.png\"}"}}]}
      {"role":"tool","tool_call_id":"16xj2wjzp","name":"read","content":"one\ntwo"}
      {"role":"tool","tool_call_id":"xtysja7bq","name":"read","content":"(see the attached image)"}
      {"role":"assistant","content":"I have read the tool results."}
      {"role":"user","content":[{"type":"text","text":"Images from the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"user","content":"A note."}
    "#);
}

#[test]
fn claude_behind_openrouter_is_told_what_to_cache() {
    let mut model = at("https://openrouter.ai/api/v1", "anthropic/claude-x");
    model.compat = json!({"openRouterRouting": {"only": ["anthropic"]}});
    let messages = conversation(&model, "reasoning", "call_1");
    insta::assert_snapshot!(shown(&request(model.clone(), messages.clone())), @r#"
    https://openrouter.ai/api/v1/chat/completions
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "anthropic/claude-x"
    stream: true
    stream_options: {"include_usage":true}
    max_tokens: 32000
    reasoning: {"effort":"medium"}
    provider: {"only":["anthropic"]}
    tools:
      {"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]}}}
    messages:
      {"role":"system","content":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]}
      {"role":"user","content":[{"type":"text","text":"Look \"here\"."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"assistant","content":"Reading.","reasoning":"hm","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},{"id":"other","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.png\"}"}}]}
      {"role":"tool","tool_call_id":"call_1","content":"one\ntwo"}
      {"role":"tool","tool_call_id":"other","content":"(see the attached image)"}
      {"role":"user","content":[{"type":"text","text":"Images from the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0="}}]}
      {"role":"user","content":[{"type":"text","text":"A note.","cache_control":{"type":"ephemeral"}}]}
    "#);
    let up_to_results = request(model, messages[..4].to_vec());
    let sent = &sample::encoded(&up_to_results)["messages"];
    let marked: Vec<_> =
        sent.as_array().unwrap().iter().filter(|message| message.to_string().contains("cache_control")).collect();
    assert_eq!(marked.len(), 2, "the system prompt and the newest input");
}

#[test]
fn what_another_model_thought_or_signed_is_not_sent() {
    let model = model();
    let other = Model { id: "m-2".into(), ..model.clone() };
    let signed = ToolCall { thought_signature: Some(r#"{"type":"reasoning.encrypted"}"#.into()), ..call("c", "a") };
    let block = |maker: &Model| {
        answer(maker, vec![thinking("hm", "reasoning"), Content::text("ok"), Content::ToolCall(signed.clone())])
    };
    let only_thoughts = answer(&model, vec![thinking("hm", "reasoning")]);
    let sent = request(
        model.clone(),
        vec![block(&other), result("c", vec![]), block(&model), result("c", vec![]), only_thoughts],
    );
    insta::assert_snapshot!(shown(&sent).split_once("messages:").unwrap().1, @r#"

    {"role":"system","content":"Be brief."}
    {"role":"assistant","content":"ok","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}
    {"role":"tool","tool_call_id":"c","content":"(no output)"}
    {"role":"assistant","content":"ok","reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}
    {"role":"tool","tool_call_id":"c","content":"(no output)"}
    "#);
}

#[test]
fn a_blind_model_is_told_of_images() {
    let model = Model { input: vec![InputKind::Text], reasoning: false, ..model() };
    let request =
        Request { tools: [].into(), system: "".into(), ..request(model.clone(), conversation(&model, "", "c")) };
    insta::assert_snapshot!(shown(&request), @r#"
    https://llm.example.com/v1/chat/completions
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "m-1"
    stream: true
    stream_options: {"include_usage":true}
    max_tokens: 32000
    messages:
      {"role":"user","content":"Look \"here\".\n[An image was left out because this model does not take images.]"}
      {"role":"assistant","content":"Reading.","tool_calls":[{"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}},{"id":"other","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.png\"}"}}]}
      {"role":"tool","tool_call_id":"c","content":"one\ntwo"}
      {"role":"tool","tool_call_id":"other","content":"[An image was left out because this model does not take images.]"}
      {"role":"user","content":"A note."}
    "#);
}

#[test]
fn thinking_is_asked_for_in_each_servers_way() {
    #[track_caller]
    fn check(base_url: &str, compat: Value, requires_effort: bool, expect: [&str; 2]) {
        let mut model = Model { compat, ..at(base_url, "m") };
        model.thinking = Some(ThinkingSupport { requires_effort, ..ThinkingSupport::default() });
        let told = [ThinkingLevel::Off, ThinkingLevel::High].map(|level| {
            let request = Request { thinking: level, ..request(model.clone(), vec![user("hi")]) };
            let shown = shown(&request);
            let fields = ["reasoning_effort", "reasoning:", "thinking", "enable_thinking", "chat_template_kwargs"];
            let lines = shown.lines().filter(|line| fields.iter().any(|field| line.starts_with(field)));
            lines.collect::<Vec<_>>().join("; ")
        });
        assert_eq!(told, expect);
    }
    let none = || Value::Null;
    check("https://api.openai.com/v1", none(), false, ["", r#"reasoning_effort: "high""#]);
    check("https://api.example.com/v1", none(), false, ["", r#"reasoning_effort: "high""#]);
    check("https://api.example.com/v1", json!({"supportsReasoningEffort": false}), false, ["", ""]);
    let map = json!({"reasoningEffortMap": {"off": "none", "high": "max"}});
    check("https://api.example.com/v1", map, false, [r#"reasoning_effort: "none""#, r#"reasoning_effort: "max""#]);
    check("https://api.x.ai/v1", none(), false, ["", ""]);
    let zai = [r#"thinking: {"type":"disabled"}"#, r#"thinking: {"type":"enabled"}"#];
    check("https://api.z.ai/api/paas/v4", none(), false, zai);
    check("https://api.z.ai/api/paas/v4", none(), true, ["", zai[1]]);
    let deepseek = [zai[0], r#"thinking: {"type":"enabled"}; reasoning_effort: "high""#];
    check("https://api.deepseek.com", none(), false, deepseek);
    let qwen = ["enable_thinking: false", "enable_thinking: true"];
    check("https://portal.qwen.ai/v1", none(), false, qwen);
    let template =
        ["chat_template_kwargs: {\"enable_thinking\":false}", "chat_template_kwargs: {\"enable_thinking\":true}"];
    check("http://localhost:8000/v1", json!({"thinkingFormat": "qwen-chat-template"}), false, template);
    let router = [r#"reasoning: {"effort":"none"}"#, r#"reasoning: {"effort":"high"}"#];
    check("https://openrouter.ai/api/v1", none(), false, router);
    check("https://openrouter.ai/api/v1", none(), true, ["", router[1]]);
}

#[test]
fn output_limits_are_named_and_chosen_for_the_server() {
    #[track_caller]
    fn check(base_url: &str, own_limit: u64, asked: Option<u64>, expect: &str) {
        let model = Model { max_tokens: own_limit, ..at(base_url, "m") };
        let shown = shown(&Request { max_tokens: asked, ..request(model, vec![user("hi")]) });
        assert_eq!(shown.lines().find(|line| line.starts_with("max_")).unwrap_or("-"), expect);
    }
    check("https://api.example.com/v1", 64_000, None, "max_tokens: 32000");
    check("https://api.example.com/v1", 8192, None, "max_tokens: 8192");
    check("https://api.example.com/v1", 8192, Some(100), "max_tokens: 100");
    check("https://api.example.com/v1", 8192, Some(10_000), "max_tokens: 8192");
    check("https://api.example.com/v1", 0, None, "-");
    check("https://api.openai.com/v1", 128_000, None, "-");
    check("https://api.openai.com/v1", 128_000, Some(50), "max_completion_tokens: 50");
    check("http://127.0.0.1:11434/v1", 8192, None, "-");
}

#[test]
fn extra_fields_are_merged_but_cannot_break_the_request() {
    let compat = json!({
        "extraBody": {"gateway": "m1-01", "temperature": 0.2, "stream": false, "messages": []},
        "vercelGatewayRouting": {"order": ["anthropic", "openai"]},
    });
    let shown = shown(&request(Model { compat, ..model() }, vec![user("hi")]));
    let fields: Vec<_> = shown.lines().filter(|line| !line.starts_with(' ')).skip(4).collect();
    insta::assert_snapshot!(fields.join("\n"), @r#"
    model: "m-1"
    stream: true
    stream_options: {"include_usage":true}
    max_tokens: 32000
    reasoning_effort: "medium"
    providerOptions: {"gateway":{"order":["anthropic","openai"]}}
    gateway: "m1-01"
    temperature: 0.2
    tools:
    messages:
    "#);
}

#[test]
fn call_ids_fit_the_server_and_stay_pairs() {
    let long = "x".repeat(450);
    for (base_url, limit) in [("https://api.openai.com/v1", 40), ("https://api.mistral.ai/v1", 9)] {
        for id in ["toolu_01", "abcDEF123", "functions.read:0", &long, "call_1|fc_1"] {
            let model = at(base_url, "m");
            let messages = vec![answer(&model, vec![Content::ToolCall(call(id, "a"))]), result(id, vec![])];
            let sent = &sample::encoded(&request(model, messages))["messages"];
            let call_id = sent[1]["tool_calls"][0]["id"].as_str().unwrap();
            assert_eq!(Some(call_id), sent[2]["tool_call_id"].as_str());
            assert!(call_id.len() <= limit, "{call_id}");
        }
    }
}

#[test]
fn each_body_begins_the_next() {
    let sign = |turn: usize| ("reasoning_content".to_owned(), format!("call_{turn}"));
    sample::check_prefixes(&model(), sign, &[]);
    sample::check_prefixes(&at("https://api.mistral.ai/v1", "m"), sign, &[]);
    let marker = r#","cache_control":{"type":"ephemeral"}"#;
    sample::check_prefixes(&at("https://openrouter.ai/api/v1", "anthropic/claude-x"), sign, &[marker]);
}

fn chunks(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("data: {line}\n\n")).collect()
}

fn delta(delta: &str) -> String {
    format!(
        r#"{{"id":"r1","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#
    )
}

fn finish(reason: &str) -> String {
    format!(r#"{{"id":"r1","choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

/// Decodes deltas, a finish reason and `[DONE]`.
fn read(deltas: &[&str], reason: &str) -> String {
    let lines: Vec<_> = deltas.iter().map(|text| delta(text)).chain([finish(reason), "[DONE]".to_owned()]).collect();
    decode(&model(), &chunks(&lines.iter().map(String::as_str).collect::<Vec<_>>()))
}

#[test]
fn a_whole_answer_is_read() {
    let sse = include_str!("../../../tests/it/fixtures/openai-completions-tools.sse");
    insta::assert_snapshot!(decode(&model(), sse), @r#"
    thinking "I should look." <reasoning_content>
    text "Reading both.\n"
    call call_1 read {"path":"a.txt"}
    call call_2 read {"path":"b.txt"}
    ToolUse, tokens [176, 80, 1024, 0], $0.0010784
    "#);
    let (message, _) = sample::decode_message(&model(), sse);
    assert_eq!(message.response_id.as_deref(), Some("chatcmpl-abc"));
}

#[test]
fn text_and_thinking_come_under_many_names() {
    insta::assert_snapshot!(read(&[r#"{"role":"assistant","content":""}"#, r#"{"content":"Hel"}"#, r#"{"content":"lo\n"}"#], "stop"), @r#"
    text "Hello\n"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(read(&[r#"{"reasoning_content":"a"}"#, r#"{"reasoning_content":"b","content":null}"#, r#"{"content":"c"}"#], "stop"), @r#"
    thinking "ab" <reasoning_content>
    text "c"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(read(&[r#"{"reasoning":"a"}"#, r#"{"content":"b"}"#, r#"{"reasoning":"c"}"#], "stop"), @r#"
    thinking "a" <reasoning>
    text "b"
    thinking "c" <reasoning>
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(read(&[r#"{"reasoning_text":"a","reasoning":null}"#], "stop"), @r#"
    thinking "a" <reasoning_text>
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(read(&[r#"{"reasoning_content":"a","reasoning":"a"}"#], "stop"), @r#"
    thinking "a" <reasoning_content>
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(read(&[r#"{"refusal":"No."}"#], "stop"), @r#"
    text "No."
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(read(&[r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"},{"type":"new"}]}"#], "stop"), @r#"
    thinking "a" <content>
    text "b"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn pieces_of_calls_find_each_other() {
    // Parallel calls by index, in fragments.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}"#,
        r#"{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"find","arguments":"{"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}},{"index":1,"function":{"arguments":"}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]}"#,
    ], "tool_calls"), @r#"
    call a read {"path":"x"}
    call b find {}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // Whole calls without an index, arguments as an object, `stop` as the reason.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"id":"a","function":{"name":"read","arguments":{"path":"x"}}},{"id":"b","function":{"name":"read","arguments":"{}"}}]}"#,
    ], "stop"), @r#"
    call a read {"path":"x"}
    call b read {}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // The same index for different calls.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"b","function":{"name":"find","arguments":"{}"}}]}"#,
    ], "tool_calls"), @"
    call a read {}
    call b find {}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    ");
    // ID and name repeated in every fragment.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\""}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":":1}"}}]}"#,
    ], "tool_calls"), @r#"
    call a read {"path":1}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // ID and name repeated in every fragment, without an index.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{\"path\""}}]}"#,
        r#"{"tool_calls":[{"function":{"arguments":":"}}]}"#,
        r#"{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"1}"}}]}"#,
    ], "tool_calls"), @r#"
    call a read {"path":1}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // Two calls with the same ID.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#,
        r#"{"tool_calls":[{"index":1,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#,
    ], "tool_calls"), @"
    call a read {}
    call a_2 read {}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    ");
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}},{"id":"a","function":{"name":"find","arguments":"{}"}}]}"#,
    ], "tool_calls"), @"
    call a read {}
    call a_2 find {}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    ");
    // Two calls without an ID.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{}"}},{"index":1,"function":{"name":"read"}}]}"#,
    ], "tool_calls"), @"
    call call_6sgzvucymslf read {}
    call call_9sqknzq1yerq read {}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    ");
    // The call is repeated at the end.
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}"}}]}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":1}"}}]}"#,
    ], "tool_calls"), @r#"
    call a read {"path":1}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // The stream ends in the middle of the arguments.
    insta::assert_snapshot!(read(&[
        r#"{"content":"Now"}"#,
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"command\":\"rm -rf bui"}}]}"#,
    ], "length"), @r#"
    text "Now"
    call a bash invalid "{\"command\":\"rm -rf bui"
    Length, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // The single function call of the older API.
    insta::assert_snapshot!(read(&[
        r#"{"function_call":{"name":"read","arguments":"{\"a\""}}"#,
        r#"{"function_call":{"arguments":":1}"}}"#,
    ], "function_call"), @r#"
    call call_6sgzvucymslf read {"a":1}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn encrypted_thoughts_stay_with_their_call() {
    insta::assert_snapshot!(read(&[
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}],"reasoning_details":[{"type":"reasoning.encrypted","id":"a","data":"xyz"},{"type":"reasoning.encrypted","id":"other","data":"q"},{"type":"reasoning.text","text":"t"}]}"#,
    ], "tool_calls"), @r#"
    call a read {} <{"type":"reasoning.encrypted","id":"a","data":"xyz"}>
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn tokens_are_counted_wherever_they_are_reported() {
    #[track_caller]
    fn check(usage: &str, expect: &str) {
        let text = delta(r#"{"content":"x"}"#);
        let (stop, own) = (finish("stop"), format!(r#"{{"choices":[],"usage":{usage}}}"#));
        let told = decode(&model(), &chunks(&[&text, &stop, &own, "[DONE]"]));
        assert_eq!(told.lines().last(), Some(expect));
        let within = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop","usage":{usage}}}]}}"#);
        assert_eq!(decode(&model(), &chunks(&[&text, &within])), told);
        let groq = format!(r#"{{"choices":[],"x_groq":{{"usage":{usage}}}}}"#);
        assert_eq!(decode(&model(), &chunks(&[&text, &stop, &groq])), told);
    }
    check(r#"{"prompt_tokens":10,"completion_tokens":2}"#, "Stop, tokens [10, 2, 0, 0], $0.0000300");
    check(
        r#"{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":1},"completion_tokens_details":{"reasoning_tokens":5}}"#,
        "Stop, tokens [1, 7, 8, 1], $0.0000738",
    );
    check(
        r#"{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4}"#,
        "Stop, tokens [6, 2, 4, 0], $0.0000264",
    );
    check(r#"{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":40}"#, "Stop, tokens [0, 2, 10, 0], $0.0000210");
    // Thinking is counted separately from the completion.
    check(
        r#"{"prompt_tokens":10,"completion_tokens":2,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":5}}"#,
        "Stop, tokens [10, 7, 0, 0], $0.0000800",
    );
    check(
        r#"{"prompt_tokens":null,"completion_tokens":null,"prompt_tokens_details":null}"#,
        "Stop, tokens [0, 0, 0, 0], $0.0000000",
    );
}

#[test]
fn an_answer_ends_well_or_says_why_not() {
    let text = delta(r#"{"content":"x"}"#);
    let check = |lines: &[&str]| decode(&model(), &chunks(lines));
    let ends_well = "text \"x\"\nStop, tokens [0, 0, 0, 0], $0.0000000\n";
    assert_eq!(check(&[&text, &finish("stop"), "[DONE]"]), ends_well);
    assert_eq!(check(&[&text, &finish("stop")]), ends_well, "no [DONE]");
    assert_eq!(check(&[&text, "[DONE]"]), ends_well, "no finish reason");
    assert_eq!(check(&[&text, &finish("eos"), "[DONE]"]), ends_well, "an unknown reason");
    assert_eq!(check(&[&text, &finish("tool_calls"), "[DONE]"]), ends_well, "calls announced but none made");
    insta::assert_snapshot!(check(&[&text, &finish("length"), "[DONE]"]), @r#"
    text "x"
    Length, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(check(&[&text]), @r#"
    text "x"
    Protocol: the answer from mine/m-1 is not usable: it was cut off before a finish reason
    "#);
    insta::assert_snapshot!(check(&[]), @"Protocol: the answer from mine/m-1 is not usable: it was cut off before a finish reason");
    insta::assert_snapshot!(check(&["[DONE]"]), @"Protocol: the answer from mine/m-1 is not usable: it was cut off before any content");
    insta::assert_snapshot!(check(&[&text, &text[..text.len() - 5]]), @r#"
    text "x"
    Protocol: the answer from mine/m-1 is not usable: an event cannot be read: EOF while parsing a value at line 1 column 108
    "#);
    insta::assert_snapshot!(check(&["[]"]), @"Protocol: the answer from mine/m-1 is not usable: it was cut off before a finish reason");
    insta::assert_snapshot!(check(&[&text, &finish("content_filter")]), @r#"
    text "x"
    Refused: mine ended the answer from m-1 for policy reasons: content_filter
    "#);
    insta::assert_snapshot!(check(&[&text, &finish("insufficient_system_resource")]), @r#"
    text "x"
    Overloaded: mine cannot serve m-1 right now: the answer ended with `insufficient_system_resource`
    "#);
    insta::assert_snapshot!(check(&[&text, r#"{"error":{"message":"Rate limit reached","code":429}}"#]), @r#"
    text "x"
    RateLimit: mine is rate limiting requests to m-1 (429): Rate limit reached
    "#);
    insta::assert_snapshot!(check(&[&text, r#"{"error":"out of memory"}"#]), @r#"
    text "x"
    Overloaded: mine cannot serve m-1 right now: out of memory
    "#);
    insta::assert_snapshot!(check(&[r#"{"object":"error","message":"maximum context length is 4096 tokens","code":400}"#]), @"
    ContextOverflow: the conversation is too long for mine/m-1 (400): maximum context length is 4096 tokens
    hint: start a new session, or choose a model with a larger context window
    ");
    insta::assert_snapshot!(check(&[r#"{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"Upstream failed"}}]}"#]), @"Overloaded: mine cannot serve m-1 right now (502): Upstream failed");
}

#[test]
fn a_stream_cut_anywhere_is_not_an_answer() {
    let sse = include_str!("../../../tests/it/fixtures/openai-completions-tools.sse");
    sample::check_cuts(&model(), sse, r#""finish_reason":"tool_calls""#);
}

#[test]
fn what_is_not_understood_is_passed_over() {
    let text = delta(r#"{"content":"x","audio":{"id":1},"annotations":[]}"#);
    let odd = [
        r#"{}"#,
        r#"{"choices":null}"#,
        r#"{"choices":[{}]}"#,
        r#"{"choices":[{"delta":null,"finish_reason":null}],"usage":null,"error":null}"#,
        r#"{"choices":[{"delta":{"content":{"strange":1},"tool_calls":null}}],"system_fingerprint":{"a":[1]}}"#,
        r#"{"object":"ping","id":null}"#,
    ];
    let stop = finish("stop");
    let lines: Vec<&str> = odd.into_iter().chain([text.as_str(), stop.as_str()]).collect();
    assert_eq!(decode(&model(), &chunks(&lines)), "text \"x\"\nStop, tokens [0, 0, 0, 0], $0.0000000\n");
}

#[test]
fn arguments_may_be_split_at_any_byte() {
    let arguments = r#"{"path":"a\"b\\ü","list":[1,{"x":null}]}"#;
    for at in (1..arguments.len()).filter(|at| arguments.is_char_boundary(*at)) {
        let piece = |text: &str| {
            let function =
                json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "read", "arguments": text}}]});
            Cow::<str>::Owned(function.to_string())
        };
        let told = read(&[&piece(&arguments[..at]), &piece(&arguments[at..])], "tool_calls");
        let whole: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(told.lines().next().unwrap(), format!("call c read {whole}"), "split at {at}");
    }
}
