//! Tests of encoded requests and decoded streams.

use omp_types::{Api, Content, Message, Model, Request, ThinkingLevel, ToolCall, ToolResultMessage};

use crate::auth::Credential;
use crate::wire::sample::{
    self, answer, call, conversation, decode, request, result, shown, signed_text, thinking, user,
};
use crate::wire::wire_for;

fn gemini(id: &str) -> Model {
    Model {
        id: id.into(),
        base_url: "https://generativelanguage.googleapis.com/v1beta".into(),
        ..sample::model(Api::GoogleGenerativeAi)
    }
}

fn model() -> Model {
    gemini("gemini-2.5-flash")
}

fn contents_of(model: &Model, messages: Vec<Message>) -> String {
    shown(&request(model.clone(), messages)).split_once("contents:\n").unwrap().1.to_owned()
}

#[test]
fn a_whole_conversation() {
    let model = model();
    let messages = conversation(&model, "c2ln", "call_1");
    insta::assert_snapshot!(shown(&request(model, messages)), @r#"
    https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse
    content-type: application/json
    accept: text/event-stream
    x-goog-api-key: key
    generationConfig: {"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}
    systemInstruction: {"parts":[{"text":"Be brief."}]}
    tools:
      {"functionDeclarations":[{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"File to read."}},"required":["path"]}}]}
    contents:
      {"role":"user","parts":[{"text":"Look \"here\"."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0="}}]}
      {"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"Reading."},{"functionCall":{"id":"call_1","name":"read","args":{"path":"a.txt"}}},{"functionCall":{"id":"other","name":"read","args":{"path":"b.png"}}}]}
      {"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"read","response":{"error":"one\ntwo"}}},{"functionResponse":{"id":"other","name":"read","response":{"output":"(see the attached image)"}}}]}
      {"role":"user","parts":[{"text":"Images from the tool results above:"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0="}}]}
      {"role":"user","parts":[{"text":"A note."}]}
    "#);
}

#[test]
fn the_same_for_gemini_3() {
    let model = gemini("gemini-3-pro-preview");
    let messages = conversation(&model, "", "call_1");
    insta::assert_snapshot!(contents_of(&model, messages), @r#"
    {"role":"user","parts":[{"text":"Look \"here\"."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0="}}]}
    {"role":"model","parts":[{"text":"Reading."},{"functionCall":{"id":"call_1","name":"read","args":{"path":"a.txt"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"other","name":"read","args":{"path":"b.png"}}}]}
    {"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"read","response":{"error":"one\ntwo"}}},{"functionResponse":{"id":"other","name":"read","response":{"output":"(see the attached image)"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0="}}]}}]}
    {"role":"user","parts":[{"text":"A note."}]}
    "#);
}

#[test]
fn the_same_on_a_server_that_imitates_google() {
    let model = Model { base_url: "https://opencode.ai/zen/v1".into(), reasoning: false, ..model() };
    let messages = conversation(&model, "", "call_1");
    let request = Request { tools: [].into(), system: "".into(), max_tokens: Some(99), ..request(model, messages) };
    insta::assert_snapshot!(shown(&request), @r#"
    https://opencode.ai/zen/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse
    content-type: application/json
    accept: text/event-stream
    x-goog-api-key: key
    generationConfig: {"maxOutputTokens":99}
    contents:
      {"role":"user","parts":[{"text":"Look \"here\"."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0="}}]}
      {"role":"model","parts":[{"text":"Reading."},{"functionCall":{"name":"read","args":{"path":"a.txt"}}},{"functionCall":{"name":"read","args":{"path":"b.png"}}}]}
      {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"error":"one\ntwo"}}},{"functionResponse":{"name":"read","response":{"output":"(see the attached image)"}}}]}
      {"role":"user","parts":[{"text":"Images from the tool results above:"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0="}}]}
      {"role":"user","parts":[{"text":"A note."}]}
    "#);
}

#[test]
fn signatures_go_back_where_they_came_from() {
    let block = |maker: &Model| {
        let signed = ToolCall { thought_signature: Some("c2ln".into()), ..call("c", "a") };
        let blocks = vec![
            thinking("hm", "dGg="),
            signed_text("ok", "dHh0"),
            signed_text("", "ZW5k"),
            Content::ToolCall(signed),
            Content::ToolCall(call("d", "b")),
        ];
        vec![answer(maker, blocks), result("c", vec![]), result("d", vec![])]
    };
    let model = gemini("gemini-3-pro-preview");
    insta::assert_snapshot!(contents_of(&model, block(&model)), @r#"
    {"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"dGg="},{"text":"ok","thoughtSignature":"dHh0"},{"text":"","thoughtSignature":"ZW5k"},{"functionCall":{"id":"c","name":"read","args":{"path":"a"}},"thoughtSignature":"c2ln"},{"functionCall":{"id":"d","name":"read","args":{"path":"b"}}}]}
    {"role":"user","parts":[{"functionResponse":{"id":"c","name":"read","response":{"output":"(no output)"}}},{"functionResponse":{"id":"d","name":"read","response":{"output":"(no output)"}}}]}
    "#);
    // Made by another model: the first call has the marker.
    insta::assert_snapshot!(contents_of(&model, block(&gemini("gemini-3-flash"))), @r#"
    {"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"c","name":"read","args":{"path":"a"}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"d","name":"read","args":{"path":"b"}}}]}
    {"role":"user","parts":[{"functionResponse":{"id":"c","name":"read","response":{"output":"(no output)"}}},{"functionResponse":{"id":"d","name":"read","response":{"output":"(no output)"}}}]}
    "#);
    let older = self::model();
    insta::assert_snapshot!(contents_of(&older, block(&model)), @r#"
    {"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"c","name":"read","args":{"path":"a"}}},{"functionCall":{"id":"d","name":"read","args":{"path":"b"}}}]}
    {"role":"user","parts":[{"functionResponse":{"id":"c","name":"read","response":{"output":"(no output)"}}},{"functionResponse":{"id":"d","name":"read","response":{"output":"(no output)"}}}]}
    "#);
}

#[test]
fn a_failed_call_is_an_error_to_the_model() {
    let model = model();
    let failed = Message::ToolResult(ToolResultMessage::error(&call("c", "a"), "no such file"));
    let messages = vec![answer(&model, vec![Content::ToolCall(call("c", "a"))]), failed];
    assert!(contents_of(&model, messages).contains(r#""response":{"error":"no such file"}"#));
}

#[test]
fn a_token_goes_where_tokens_go() {
    let wire = wire_for(&Api::GoogleGenerativeAi).unwrap();
    let headers = |credential| {
        let headers = wire.encode(&request(model(), vec![user("hi")]), &credential).unwrap().headers;
        assert_eq!(headers[0], ("content-type".to_owned(), "application/json".to_owned()));
        assert_eq!(headers[1], ("accept".to_owned(), "text/event-stream".to_owned()));
        headers[2..].to_vec()
    };
    assert_eq!(headers(Credential::Bearer("t".into())), [("authorization".to_owned(), "Bearer t".to_owned())]);
    assert_eq!(headers(Credential::ApiKey("k".into())), [("x-goog-api-key".to_owned(), "k".to_owned())]);
    assert_eq!(headers(Credential::None), []);
}

#[test]
fn off_is_said_aloud() {
    let asked = Request { thinking: ThinkingLevel::Off, ..request(model(), vec![user("hi")]) };
    assert_eq!(sample::encoded(&asked)["generationConfig"].to_string(), r#"{"thinkingConfig":{"thinkingBudget":0}}"#);
}

#[test]
fn each_body_begins_the_next() {
    let sign = |turn: usize| ("c2ln".to_owned(), format!("call_{turn}"));
    sample::check_prefixes(&model(), sign, &[]);
    sample::check_prefixes(&gemini("gemini-3-pro-preview"), sign, &[]);
}

fn events(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("data: {line}\n\n")).collect()
}

fn parts(parts: &str) -> String {
    format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0}}],"responseId":"r1"}}"#)
}

fn finish(reason: &str) -> String {
    format!(
        r#"{{"candidates":[{{"finishReason":"{reason}","index":0}}],"usageMetadata":{{"promptTokenCount":4,"candidatesTokenCount":3}}}}"#
    )
}

fn read(chunks: &[&str]) -> String {
    let lines: Vec<_> = chunks.iter().map(|chunk| parts(chunk)).chain([finish("STOP")]).collect();
    decode(&model(), &events(&lines.iter().map(String::as_str).collect::<Vec<_>>()))
}

#[test]
fn a_whole_answer_is_read() {
    let sse = include_str!("../../../tests/it/fixtures/google-tools.sse");
    insta::assert_snapshot!(decode(&model(), sse), @r#"
    thinking "**Looking**\n\nI should read both files."
    text "Reading both."
    call call_593znpxe2fws read {"path":"a.txt"} <CpcBAVSo>
    call call_ryqoj5pd5jse read {"path":"b.txt"}
    ToolUse, tokens [176, 80, 1024, 0], $0.0010784
    "#);
    let (message, _) = sample::decode_message(&model(), sse);
    assert_eq!(message.response_id.as_deref(), Some("resp-1"));
}

#[test]
fn parts_become_blocks() {
    insta::assert_snapshot!(read(&[r#"{"text":"a","thought":true},{"text":"b","thought":true}"#, r#"{"text":"c"}"#, r#"{"text":"d"}"#]), @r#"
    thinking "ab"
    text "cd"
    Stop, tokens [4, 3, 0, 0], $0.0000340
    "#);
    // A late signature on an empty part.
    insta::assert_snapshot!(read(&[r#"{"text":"a"}"#, r#"{"text":"","thoughtSignature":"c2ln"}"#]), @r#"
    text "a" <c2ln>
    Stop, tokens [4, 3, 0, 0], $0.0000340
    "#);
    // A signed part is not merged with the next.
    insta::assert_snapshot!(read(&[r#"{"text":"a","thoughtSignature":"c2ln"}"#, r#"{"text":"b"}"#]), @r#"
    text "a" <c2ln>
    text "b"
    Stop, tokens [4, 3, 0, 0], $0.0000340
    "#);
    // Only a signature.
    insta::assert_snapshot!(read(&[r#"{"text":"","thoughtSignature":"c2ln"}"#]), @r#"
    text "" <c2ln>
    Stop, tokens [4, 3, 0, 0], $0.0000340
    "#);
    // Parts of other kinds.
    insta::assert_snapshot!(read(&[r#"{"executableCode":{"code":"1"}},{},{"text":"a","partMetadata":{}}"#]), @r#"
    text "a"
    Stop, tokens [4, 3, 0, 0], $0.0000340
    "#);
}

#[test]
fn calls_come_whole_and_get_ids() {
    let twice = r#"{"functionCall":{"name":"read","args":{"path":"a"}}}"#;
    let told = read(&[&format!("{twice},{twice}"), r#"{"functionCall":{"name":"list"},"thoughtSignature":"c2ln"}"#]);
    insta::assert_snapshot!(told, @r#"
    call call_4qjdn3o9qrsj read {"path":"a"}
    call call_z40h37lq8c27 read {"path":"a"}
    call call_gxc5mz150mix list {} <c2ln>
    ToolUse, tokens [4, 3, 0, 0], $0.0000340
    "#);
    assert_eq!(
        told,
        read(&[&format!("{twice},{twice}"), r#"{"functionCall":{"name":"list"},"thoughtSignature":"c2ln"}"#])
    );
    // The server's own IDs are kept, even if it uses one twice.
    insta::assert_snapshot!(read(&[r#"{"functionCall":{"id":"x","name":"read","args":{}}},{"functionCall":{"id":"x","name":"read","args":null}}"#]), @"
    call x read {}
    call x_2 read {}
    ToolUse, tokens [4, 3, 0, 0], $0.0000340
    ");
    // Calls whose arguments are not an object are not run.
    insta::assert_snapshot!(read(&[r#"{"functionCall":{"name":"read","args":[1]}}"#]).split_once(' ').unwrap().1.split_once(' ').unwrap().1, @r#"
    read invalid "[1]"
    ToolUse, tokens [4, 3, 0, 0], $0.0000340
    "#);
}

#[test]
fn tokens_are_counted() {
    let usage = r#"{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":5,"thoughtsTokenCount":7,"toolUsePromptTokenCount":1,"totalTokenCount":113}"#;
    let last = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"x"}}]}},"finishReason":"STOP"}}],"usageMetadata":{usage}}}"#
    );
    let told = decode(&model(), &events(&[&last]));
    assert_eq!(told, "text \"x\"\nStop, tokens [41, 12, 60, 0], $0.0001670\n");
    // Counts in a separate event.
    let text = r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}"#;
    assert_eq!(decode(&model(), &events(&[text, &format!(r#"{{"usageMetadata":{usage}}}"#)])), told);
}

#[test]
fn an_answer_ends_well_or_says_why_not() {
    let text = parts(r#"{"text":"x"}"#);
    let check = |lines: &[&str]| decode(&model(), &events(lines));
    insta::assert_snapshot!(check(&[&text, r#"{"candidates":[{"finishReason":"STOP"}]}"#]), @r#"
    text "x"
    Stop, tokens [0, 0, 0, 0], $0.0000000
    "#);
    insta::assert_snapshot!(check(&[&text, &finish("MAX_TOKENS")]), @r#"
    text "x"
    Length, tokens [4, 3, 0, 0], $0.0000340
    "#);
    insta::assert_snapshot!(check(&[&text, &finish("SAFETY")]), @r#"
    text "x"
    Refused: mine ended the answer from gemini-2.5-flash for policy reasons: SAFETY
    "#);
    insta::assert_snapshot!(check(&[&text, r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x)"}]}"#]), @r#"
    text "x"
    Protocol: the answer from mine/gemini-2.5-flash is not usable: it ended with MALFORMED_FUNCTION_CALL: Malformed function call: print(x)
    "#);
    insta::assert_snapshot!(check(&[&finish("MISSING_THOUGHT_SIGNATURE")]), @"BadRequest: mine refused the request to gemini-2.5-flash: MISSING_THOUGHT_SIGNATURE");
    insta::assert_snapshot!(check(&[&text, &finish("SOMETHING_NEW")]), @r#"
    text "x"
    Protocol: the answer from mine/gemini-2.5-flash is not usable: it ended with SOMETHING_NEW
    "#);
    insta::assert_snapshot!(check(&[r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}}"#]), @"Refused: mine ended the answer from gemini-2.5-flash for policy reasons: the prompt was blocked (PROHIBITED_CONTENT)");
    insta::assert_snapshot!(check(&[r#"{"promptFeedback":{"safetyRatings":[]}}"#, &text]), @r#"
    text "x"
    Protocol: the answer from mine/gemini-2.5-flash is not usable: it was cut off before a finish reason
    "#);
    insta::assert_snapshot!(check(&[&text, r#"{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED"}}"#]), @r#"
    text "x"
    RateLimit: mine is rate limiting requests to gemini-2.5-flash (429): Quota exceeded.
    "#);
    insta::assert_snapshot!(check(&[r#"[{"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}}]"#]), @"Overloaded: mine cannot serve gemini-2.5-flash right now (503): Overloaded.");
    insta::assert_snapshot!(check(&[&text]), @r#"
    text "x"
    Protocol: the answer from mine/gemini-2.5-flash is not usable: it was cut off before a finish reason
    "#);
    insta::assert_snapshot!(check(&[]), @"Protocol: the answer from mine/gemini-2.5-flash is not usable: it was cut off before a finish reason");
    insta::assert_snapshot!(check(&[&text, &text[..40]]), @r#"
    text "x"
    Protocol: the answer from mine/gemini-2.5-flash is not usable: an event cannot be read: EOF while parsing a string at line 1 column 40
    "#);
}

#[test]
fn a_stream_cut_anywhere_is_not_an_answer() {
    let sse = include_str!("../../../tests/it/fixtures/google-tools.sse");
    sample::check_cuts(&model(), sse, r#""finishReason":"STOP""#);
}

#[test]
fn what_is_not_understood_is_passed_over() {
    let odd = [
        r#"{}"#,
        r#"{"candidates":null,"modelVersion":"x"}"#,
        r#"{"candidates":[{"content":null,"groundingMetadata":{}}]}"#,
        r#"{"candidates":[{"content":{"role":"model"}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP","safetyRatings":[]}]}"#,
    ];
    assert_eq!(decode(&model(), &events(&odd)), "text \"x\"\nStop, tokens [0, 0, 0, 0], $0.0000000\n");
}
