//! Tests of encoding. Decoding is tested in `tests/it/anthropic.rs`.

use super::*;
use crate::wire::sample;
use omp_types::{Api, CacheRetention, Content, Message, RedactedThinking, ThinkingLevel, ToolCall};
use serde_json::{Value, json};

fn model() -> Model {
    Model { id: "claude-x".into(), provider: "anthropic".into(), ..sample::model(Api::AnthropicMessages) }
}

fn encoded(request: &Request) -> Value {
    let call = AnthropicMessages.encode(request, &Credential::ApiKey("key".into())).unwrap();
    serde_json::from_slice(&call.body).unwrap()
}

fn messages(messages: Vec<Message>) -> Value {
    let mut body = encoded(&sample::request(model(), messages));
    let mut turns = body["messages"].take();
    strip_markers(&mut turns);
    turns
}

fn strip_markers(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("cache_control");
            object.values_mut().for_each(strip_markers);
        }
        Value::Array(array) => array.iter_mut().for_each(strip_markers),
        _ => {}
    }
}

#[test]
fn a_whole_request() {
    let mut request = sample::request(model(), sample::conversation(&model(), "sig", "call_1"));
    request.cache = CacheRetention::Long;
    request.thinking = ThinkingLevel::Low;
    insta::assert_json_snapshot!(encoded(&request), @r#"
    {
      "model": "claude-x",
      "max_tokens": 34048,
      "stream": true,
      "thinking": {
        "type": "enabled",
        "budget_tokens": 2048
      },
      "system": [
        {
          "type": "text",
          "text": "Be brief.",
          "cache_control": {
            "type": "ephemeral",
            "ttl": "1h"
          }
        }
      ],
      "tools": [
        {
          "name": "read",
          "description": "Reads a file.",
          "input_schema": {
            "type": "object",
            "properties": {
              "path": {
                "type": "string",
                "description": "File to read."
              }
            },
            "required": [
              "path"
            ]
          },
          "cache_control": {
            "type": "ephemeral",
            "ttl": "1h"
          }
        }
      ],
      "messages": [
        {
          "role": "user",
          "content": [
            {
              "type": "text",
              "text": "Look \"here\"."
            },
            {
              "type": "image",
              "source": {
                "type": "base64",
                "media_type": "image/png",
                "data": "iVBORw0="
              },
              "cache_control": {
                "type": "ephemeral",
                "ttl": "1h"
              }
            }
          ]
        },
        {
          "role": "assistant",
          "content": [
            {
              "type": "thinking",
              "thinking": "hm",
              "signature": "sig"
            },
            {
              "type": "text",
              "text": "Reading."
            },
            {
              "type": "tool_use",
              "id": "call_1",
              "name": "read",
              "input": {
                "path": "a.txt"
              }
            },
            {
              "type": "tool_use",
              "id": "other",
              "name": "read",
              "input": {
                "path": "b.png"
              }
            }
          ]
        },
        {
          "role": "user",
          "content": [
            {
              "type": "tool_result",
              "tool_use_id": "call_1",
              "content": [
                {
                  "type": "text",
                  "text": "one"
                },
                {
                  "type": "text",
                  "text": "two"
                }
              ],
              "is_error": true
            },
            {
              "type": "tool_result",
              "tool_use_id": "other",
              "content": [
                {
                  "type": "image",
                  "source": {
                    "type": "base64",
                    "media_type": "image/png",
                    "data": "iVBORw0="
                  }
                }
              ]
            },
            {
              "type": "text",
              "text": "A note.",
              "cache_control": {
                "type": "ephemeral",
                "ttl": "1h"
              }
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn each_body_continues_the_one_before() {
    let marker = r#","cache_control":{"type":"ephemeral"}"#;
    sample::check_prefixes(&model(), |turn| (format!("sig{turn}"), format!("call_{turn}")), &[marker]);
}

#[test]
fn at_most_four_blocks_are_marked() {
    let mut history = Vec::new();
    for _ in 0..5 {
        history.extend(sample::conversation(&model(), "sig", "call_1"));
    }
    let body = encoded(&sample::request(model(), history)).to_string();
    assert_eq!(body.matches("cache_control").count(), 4);
}

#[test]
fn the_two_sides_take_turns() {
    let user = sample::user;
    let turns = messages(vec![user("a"), user("b"), sample::answer(&model(), vec![Content::text("c")]), user("d")]);
    assert_eq!(
        turns,
        json!([
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "c"}]},
            {"role": "user", "content": [{"type": "text", "text": "d"}]},
        ])
    );
}

#[test]
fn blank_blocks_and_empty_turns_are_left_out() {
    let blank = || Content::text(" \n");
    let turns = messages(vec![sample::user("a"), sample::answer(&model(), vec![blank()]), sample::user("  ")]);
    assert_eq!(turns, json!([{"role": "user", "content": [{"type": "text", "text": "a"}]}]));
    let call = Content::ToolCall(sample::call("c", "p"));
    let turns =
        messages(vec![sample::user("a"), sample::answer(&model(), vec![call]), sample::result("c", vec![blank()])]);
    assert_eq!(turns[2]["content"], json!([{"type": "tool_result", "tool_use_id": "c"}]));
}

#[test]
fn every_call_has_exactly_one_result() {
    let call = |id: &str| Content::ToolCall(sample::call(id, "p"));
    let turns = messages(vec![
        sample::user("go"),
        sample::result("stray", vec![Content::text("x")]),
        sample::answer(&model(), vec![call("a"), call("b")]),
        sample::result("b", vec![Content::text("y")]),
        sample::result("b", vec![Content::text("again")]),
        sample::user("on"),
    ]);
    let blocks = turns[2]["content"].as_array().unwrap();
    let shape: Vec<_> = blocks.iter().map(|block| block["tool_use_id"].as_str().unwrap_or("text")).collect();
    assert_eq!(shape, ["b", "a", "text"]);
    assert_eq!(turns.as_array().unwrap().len(), 3);
}

#[test]
fn ids_and_names_are_made_acceptable_on_both_sides() {
    let call = ToolCall { name: "my tool".into(), ..sample::call("call_1|fc_2", "p") };
    let turns = messages(vec![
        sample::user("go"),
        sample::answer(&model(), vec![Content::ToolCall(call)]),
        sample::result("call_1|fc_2", vec![Content::text("y")]),
    ]);
    let used = &turns[1]["content"][0];
    let plain =
        |value: &Value| value.as_str().unwrap().bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    assert!(plain(&used["id"]) && plain(&used["name"]), "{used}");
    assert_eq!(used["id"], turns[2]["content"][0]["tool_use_id"]);
}

#[test]
fn thinking_goes_back_signed_to_its_own_model_or_not_at_all() {
    let thoughts = || {
        vec![
            sample::thinking("signed", "sig"),
            sample::thinking("unsigned", ""),
            Content::RedactedThinking(RedactedThinking { data: "secret".into() }),
            Content::text("said"),
        ]
    };
    let own = messages(vec![sample::user("a"), sample::answer(&model(), thoughts())]);
    assert_eq!(
        own[1]["content"],
        json!([
            {"type": "thinking", "thinking": "signed", "signature": "sig"},
            {"type": "redacted_thinking", "data": "secret"},
            {"type": "text", "text": "said"},
        ])
    );
    let other = Model { id: "claude-y".into(), ..model() };
    let foreign = messages(vec![sample::user("a"), sample::answer(&other, thoughts())]);
    assert_eq!(foreign[1]["content"], json!([{"type": "text", "text": "said"}]));
}

#[test]
fn images_of_other_types_are_left_out_in_words() {
    let image = omp_types::ImageContent { data: "AA==".into(), mime_type: "image/tiff".into() };
    let turns = messages(vec![Message::User(omp_types::UserMessage::new(vec![Content::Image(image)]))]);
    assert!(turns[0]["content"][0]["text"].as_str().unwrap().contains("left out"));
}

#[test]
fn nothing_is_sent_where_there_is_nothing() {
    let mut request = sample::request(model(), vec![sample::user("hi")]);
    request.system = "".into();
    request.tools = [].into();
    request.thinking = ThinkingLevel::Off;
    insta::assert_snapshot!(encoded(&request), @r#"{"model":"claude-x","max_tokens":32000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#);
}

#[test]
fn a_base_url_may_name_the_version_or_not() {
    for base in ["https://h", "https://h/", "https://h/v1", "https://h/v1/", "https://h/v1/messages"] {
        assert_eq!(url(base), "https://h/v1/messages");
    }
    assert_eq!(url("https://h/v1/acc/gw/anthropic"), "https://h/v1/acc/gw/anthropic/v1/messages");
}

#[track_caller]
fn check_headers(model: &Model, credential: Credential, expect: &[&str]) {
    let mut request = sample::request(model.clone(), Vec::new());
    request.thinking = ThinkingLevel::Off;
    let headers = AnthropicMessages.encode(&request, &credential).unwrap().headers;
    let shown: Vec<_> = headers.iter().skip(3).map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(shown, expect);
}

#[test]
fn keys_and_tokens_travel_in_their_own_headers() {
    let plain = model();
    check_headers(&plain, Credential::None, &[]);
    check_headers(&plain, Credential::ApiKey("k".into()), &["x-api-key: k"]);
    check_headers(&plain, Credential::Bearer("t".into()), &["authorization: Bearer t"]);
    let oauth = Credential::Bearer("sk-ant-oat01-x".into());
    let expect = ["authorization: Bearer sk-ant-oat01-x", "anthropic-beta: oauth-2025-04-20"];
    check_headers(&plain, oauth.clone(), &expect);
    let own = [("Anthropic-Beta".to_owned(), "a, b".to_owned()), ("X-Team".to_owned(), "t".to_owned())];
    let configured = Model { headers: own.into(), ..model() };
    let betas = "anthropic-beta: a,b,oauth-2025-04-20";
    check_headers(&configured, oauth, &["authorization: Bearer sk-ant-oat01-x", "X-Team: t", betas]);
}
