//! Tests of encoded requests and decoded streams, from OpenAI and compatible servers.

use omp_types::{Api, CacheRetention, Content, Model, Request, ThinkingLevel};
use serde_json::{Value, json};

use crate::wire::sample::{
    self, answer, call, conversation, decode, request, result, shown, signed_text, thinking, user,
};

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}"#;

fn model() -> Model {
    Model { base_url: "https://api.openai.com/v1".into(), ..sample::model(Api::OpenaiResponses) }
}

fn local() -> Model {
    Model { base_url: "http://127.0.0.1:8080".into(), ..sample::model(Api::OpenaiResponses) }
}

fn input_of(model: &Model, messages: Vec<omp_types::Message>) -> String {
    shown(&request(model.clone(), messages)).split_once("input:\n").unwrap().1.to_owned()
}

#[test]
fn a_whole_conversation_on_openai() {
    let model = model();
    let messages = conversation(&model, REASONING, "call_1|fc_1");
    insta::assert_snapshot!(shown(&request(model, messages)), @r#"
    https://api.openai.com/v1/responses
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "m-1"
    stream: true
    store: false
    include:
      "reasoning.encrypted_content"
    reasoning: {"effort":"medium","summary":"auto"}
    prompt_cache_key: "session-1"
    tools:
      {"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]},"strict":false}
    input:
      {"role":"developer","content":[{"type":"input_text","text":"Be brief."}]}
      {"role":"user","content":[{"type":"input_text","text":"Look \"here\"."},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw0="}]}
      {"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}
      {"type":"message","role":"assistant","content":"Reading."}
      {"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a.txt\"}"}
      {"type":"function_call","call_id":"other","name":"read","arguments":"{\"path\":\"b.png\"}"}
      {"type":"function_call_output","call_id":"call_1","output":"one\ntwo"}
      {"type":"function_call_output","call_id":"other","output":[{"type":"input_text","text":"(see the attached image)"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw0="}]}
      {"role":"user","content":[{"type":"input_text","text":"A note."}]}
    "#);
}

#[test]
fn the_same_on_a_local_server() {
    let model = Model { reasoning: false, ..local() };
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":""}"#;
    let messages = conversation(&model, reasoning, "call_1|fc_1");
    insta::assert_snapshot!(shown(&request(model, messages)), @r#"
    http://127.0.0.1:8080/responses
    content-type: application/json
    accept: text/event-stream
    authorization: Bearer key
    model: "m-1"
    stream: true
    store: false
    prompt_cache_key: "session-1"
    tools:
      {"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]},"strict":false}
    input:
      {"role":"system","content":[{"type":"input_text","text":"Be brief."}]}
      {"role":"user","content":[{"type":"input_text","text":"Look \"here\"."},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw0="}]}
      {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":""}
      {"type":"message","role":"assistant","content":"Reading."}
      {"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a.txt\"}"}
      {"type":"function_call","call_id":"other","name":"read","arguments":"{\"path\":\"b.png\"}"}
      {"type":"function_call_output","call_id":"call_1","output":"one\ntwo"}
      {"type":"function_call_output","call_id":"other","output":"(see the attached image)"}
      {"role":"user","content":[{"type":"input_text","text":"Images from the tool results above:"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBORw0="}]}
      {"role":"user","content":[{"type":"input_text","text":"A note."}]}
    "#);
}

#[test]
fn ids_and_reasoning_go_back_only_together() {
    let model = model();
    let block = |reasoning: &str| {
        let blocks =
            vec![thinking("hm", reasoning), signed_text("ok", "msg_1"), Content::ToolCall(call("c|fc_1", "a"))];
        vec![answer(&model, blocks), result("c|fc_1", vec![])]
    };
    insta::assert_snapshot!(input_of(&model, block(REASONING)), @r#"
    {"role":"developer","content":[{"type":"input_text","text":"Be brief."}]}
    {"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA"}
    {"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}
    {"type":"function_call","id":"fc_1","call_id":"c","name":"read","arguments":"{\"path\":\"a\"}"}
    {"type":"function_call_output","call_id":"c","output":"(no output)"}
    "#);
    let without_ids = input_of(&model, block(r#"{"id":"rs_1","type":"reasoning","summary":[]}"#));
    insta::assert_snapshot!(without_ids, @r#"
    {"role":"developer","content":[{"type":"input_text","text":"Be brief."}]}
    {"type":"message","role":"assistant","content":"ok"}
    {"type":"function_call","call_id":"c","name":"read","arguments":"{\"path\":\"a\"}"}
    {"type":"function_call_output","call_id":"c","output":"(no output)"}
    "#);
    assert_eq!(input_of(&model, block("not JSON")), without_ids);
    assert_eq!(input_of(&model, block("")), without_ids);
    let other = Model { id: "other".into(), ..model.clone() };
    assert_eq!(input_of(&other, block(REASONING)), without_ids);
    // Reasoning without output must not be sent.
    let trailing = answer(&model, vec![Content::text("ok"), thinking("hm", REASONING)]);
    assert!(!input_of(&model, vec![trailing]).contains("rs_1"));
}

#[test]
fn a_phase_goes_back_with_its_text() {
    let model = model();
    let text = signed_text("Looking.", r#"{"v":1,"id":"msg_1","phase":"commentary"}"#);
    insta::assert_snapshot!(input_of(&model, vec![answer(&model, vec![text])]), @r#"
    {"role":"developer","content":[{"type":"input_text","text":"Be brief."}]}
    {"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Looking.","annotations":[]}]}
    "#);
}

#[test]
fn fields_depend_on_model_and_request() {
    #[track_caller]
    fn check(request: Request, expect: [&str; 5]) {
        let body = sample::encoded(&request);
        let fields = ["include", "reasoning", "max_output_tokens", "prompt_cache_key", "prompt_cache_retention"];
        let told = fields.map(|field| body.get(field).map_or_else(|| "-".to_owned(), Value::to_string));
        assert_eq!(told, expect);
    }
    let ask = |model: Model| request(model, vec![user("hi")]);
    let (encrypted, medium) = (r#"["reasoning.encrypted_content"]"#, r#"{"effort":"medium","summary":"auto"}"#);
    let key = r#""session-1""#;
    check(ask(model()), [encrypted, medium, "-", key, "-"]);
    check(Request { thinking: ThinkingLevel::Off, ..ask(model()) }, [encrypted, "-", "-", key, "-"]);
    check(ask(Model { reasoning: false, ..model() }), ["-", "-", "-", key, "-"]);
    check(Request { max_tokens: Some(9), session_id: None, ..ask(model()) }, [encrypted, medium, "9", "-", "-"]);
    check(Request { cache: CacheRetention::Long, ..ask(model()) }, [encrypted, medium, "-", key, r#""24h""#]);
    check(Request { cache: CacheRetention::Long, ..ask(local()) }, [encrypted, medium, "-", key, "-"]);
    let long = sample::encoded(&Request { session_id: Some("s".repeat(300)), ..ask(model()) });
    assert!(long["prompt_cache_key"].as_str().unwrap().len() <= 64);
    let compat = json!({"extraBody": {"service_tier": "flex", "input": [], "store": true}});
    let extra = sample::encoded(&ask(Model { compat, ..model() }));
    assert_eq!((&extra["service_tier"], &extra["store"]), (&json!("flex"), &json!(false)));
}

#[test]
fn one_of_becomes_any_of() {
    let mut asked = request(model(), vec![user("hi")]);
    let mut tool = asked.tools[0].clone();
    tool.parameters = json!({"type": "object", "properties": {
        "a": {"oneOf": [{"type": "string"}, {"oneOf": [{"type": "integer"}]}]},
        "oneOf": {"type": "string"},
    }});
    asked.tools = [tool].into();
    let expect = json!({"type": "object", "properties": {
        "a": {"anyOf": [{"type": "string"}, {"anyOf": [{"type": "integer"}]}]},
        "oneOf": {"type": "string"},
    }});
    assert_eq!(sample::encoded(&asked)["tools"][0]["parameters"], expect);
}

#[test]
fn each_body_begins_the_next() {
    let sign = |turn: usize| (REASONING.to_owned(), format!("call_{turn}|fc_{turn}"));
    sample::check_prefixes(&model(), sign, &[]);
    sample::check_prefixes(&local(), sign, &[]);
}

fn events(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("data: {line}\n\n")).collect()
}

fn read(lines: &[&str]) -> String {
    let completed = r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed"}}"#;
    let lines: Vec<_> = lines.iter().copied().chain([completed]).collect();
    decode(&model(), &events(&lines))
}

#[test]
fn a_whole_answer_is_read() {
    let sse = include_str!("../../../tests/it/fixtures/openai-responses-tools.sse");
    insta::assert_snapshot!(decode(&model(), sse), @r#"
    thinking "Look first." <{"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAB","summary":[{"type":"summary_text","text":"Look first."}]}>
    text "Reading it." <msg_1>
    call call_1|fc_1 read {"path":"a.txt"}
    ToolUse, tokens [176, 80, 1024, 0], $0.0010784
    "#);
    let (message, _) = sample::decode_message(&model(), sse);
    assert_eq!(message.response_id.as_deref(), Some("resp_1"));
}

#[test]
fn what_was_read_is_sent_back_as_it_came() {
    let sse = include_str!("../../../tests/it/fixtures/openai-responses-tools.sse");
    let (message, _) = sample::decode_message(&model(), sse);
    insta::assert_snapshot!(input_of(&model(), vec![omp_types::Message::Assistant(message)]), @r#"
    {"role":"developer","content":[{"type":"input_text","text":"Be brief."}]}
    {"id":"rs_1","type":"reasoning","encrypted_content":"gAAAAB","summary":[{"type":"summary_text","text":"Look first."}]}
    {"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"Reading it.","annotations":[]}]}
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a.txt\"}"}
    "#);
}

#[test]
fn items_are_read_even_where_events_are_missing() {
    // Only the finished items.
    insta::assert_snapshot!(read(&[
        r#"{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"hi"},{"type":"refusal","refusal":" no"}]}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"read","arguments":"{\"path\":1}"}}"#,
    ]), @r#"
    thinking "a\n\nb" <{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]}>
    text "hi no" <msg_1>
    call c read {"path":1}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // Only the finished response.
    let whole = r#"{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"hi"}]}]}}"#;
    insta::assert_snapshot!(decode(&model(), &events(&[whole])), @r#"
    text "hi" <msg_1>
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // Deltas without a start event, and no end of the item.
    insta::assert_snapshot!(read(&[
        r#"{"type":"response.reasoning_text.delta","item_id":"rs_1","delta":"hm"}"#,
        r#"{"type":"response.output_text.delta","item_id":"msg_1","delta":"a"}"#,
        r#"{"type":"response.output_text.delta","item_id":"msg_1","delta":"b"}"#,
    ]), @r#"
    thinking "hm"
    text "ab"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // A call whose name comes last.
    insta::assert_snapshot!(read(&[
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"pa"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"th\":1}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"read","arguments":"{\"path\":1}"}}"#,
    ]), @r#"
    call c|fc_1 read {"path":1}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
    // The kind is only in the event name.
    let named = "event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\nevent: response.completed\ndata: {\"response\":{}}\n\n";
    insta::assert_snapshot!(decode(&model(), named), @r#"
    text "x"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn calls_may_be_interleaved_and_share_an_id() {
    insta::assert_snapshot!(read(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"read","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"c","name":"find","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_2","delta":"{\"b\""}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":"{\"a\":1}"}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":1,"item_id":"fc_2","arguments":"{\"b\":2}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"read","arguments":"{\"a\":1}"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_2","call_id":"c","name":"find","arguments":"{\"b\":2}"}}"#,
    ]), @r#"
    call c|fc_1 read {"a":1}
    call c_2|fc_2 find {"b":2}
    ToolUse, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn summaries_are_kept_apart() {
    insta::assert_snapshot!(read(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"one"}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}"#,
    ]), @r#"
    thinking "one\n\ntwo"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn an_answer_ends_well_or_says_why_not() {
    let text = r#"{"type":"response.output_text.delta","delta":"x"}"#;
    let check = |lines: &[&str]| decode(&model(), &events(lines));
    insta::assert_snapshot!(check(&[text, r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":5,"output_tokens":6}}}"#]), @r#"
    text "x"
    Length, tokens [5, 6, 0, 0], $0.0000650
    "#);
    insta::assert_snapshot!(check(&[text, r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#]), @r#"
    text "x"
    Refused: mine ended the answer from m-1 for policy reasons: content_filter
    "#);
    insta::assert_snapshot!(check(&[text, r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down"}}}"#]), @r#"
    text "x"
    RateLimit: mine is rate limiting requests to m-1: Slow down
    "#);
    insta::assert_snapshot!(check(&[text, r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#]), @r#"
    text "x"
    Overloaded: mine cannot serve m-1 right now: the answer ended with `failed`
    "#);
    insta::assert_snapshot!(check(&[text, r#"{"type":"error","code":"server_error","message":"Boom","param":null}"#]), @r#"
    text "x"
    Overloaded: mine cannot serve m-1 right now: Boom
    "#);
    insta::assert_snapshot!(check(&[r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Too long"}}"#]), @"
    ContextOverflow: the conversation is too long for mine/m-1: Too long
    hint: start a new session, or choose a model with a larger context window
    ");
    let named =
        "event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\nevent: response.incomplete\ndata: {}\n\n";
    assert!(decode(&model(), named).contains("Length"));
    insta::assert_snapshot!(check(&[text]), @r#"
    text "x"
    Protocol: the answer from mine/m-1 is not usable: it was cut off before `response.completed`
    "#);
    insta::assert_snapshot!(check(&[text, "[DONE]"]), @r#"
    text "x"
    Protocol: the answer from mine/m-1 is not usable: it was cut off before `response.completed`
    "#);
    insta::assert_snapshot!(check(&[]), @"Protocol: the answer from mine/m-1 is not usable: it was cut off before `response.completed`");
    insta::assert_snapshot!(check(&[text, r#"{"type":"response.output_te"#]), @r#"
    text "x"
    Protocol: the answer from mine/m-1 is not usable: an event cannot be read: EOF while parsing a string at line 1 column 27
    "#);
    insta::assert_snapshot!(check(&[r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c","name":"bash"}}"#, r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"command\":\"rm"}"#, r#"{"type":"response.incomplete","response":{}}"#]), @r#"
    call c|fc_1 bash invalid "{\"command\":\"rm"
    Length, tokens [0, 0, 0, 0], $0.0000000
    "#);
}

#[test]
fn a_stream_cut_anywhere_is_not_an_answer() {
    let sse = include_str!("../../../tests/it/fixtures/openai-responses-tools.sse");
    sample::check_cuts(&model(), sse, r#""type":"response.completed""#);
}

#[test]
fn what_is_not_understood_is_passed_over() {
    insta::assert_snapshot!(read(&[
        r#"{"type":"response.created","response":{"id":"resp_1","output":[],"usage":null}}"#,
        r#"{"type":"response.in_progress","response":{"id":"resp_1"}}"#,
        r#"{"type":"response.web_search_call.searching","item_id":"ws_1","output_index":0}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws_1"}}"#,
        r#"{"type":"response.custom.delta","delta":{"an":"object"},"arguments":[1]}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"ws_1"}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"x","logprobs":[]}"#,
        r#"{"type":"response.output_text.annotation.added","annotation":{}}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":9,"arguments":"{}"}"#,
        r#"{}"#,
    ]), @r#"
    text "x"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
}
