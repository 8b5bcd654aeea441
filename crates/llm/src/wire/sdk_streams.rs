//! Tests the decoders with streams built from the event types of the vendors' own SDKs.
//!
//! `crates/testkit/sdk/streams.py` writes the streams, in every order that the vendors' documentation allows, and the
//! results of the SDKs' own accumulators.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use omp_http::SseDecoder;
use omp_types::{Api, AssistantMessage, Content, MessageBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{sample, wire_for};

/// Folder in which `scripts/test` keeps the SDKs.
const SDK: &str = "vendor-sdks-1";

#[derive(Deserialize)]
struct Case {
    wire: String,
    name: String,
    sse: String,
    expect: Value,
}

#[expect(clippy::disallowed_methods, reason = "a test runs the vendors' SDKs, which live in the user's cache")]
fn cases() -> Vec<Case> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let python = cache.expect("neither XDG_CACHE_HOME nor HOME is set").join("omp-tests").join(SDK).join("bin/python");
    assert!(python.is_file(), "{} is missing\nhint: scripts/test installs it", python.display());
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testkit/sdk/streams.py");
    let output = Command::new(python).arg("-B").arg(script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Decodes a stream that arrives in these chunks.
fn decoded<'a>(api: &Api, pieces: impl Iterator<Item = &'a [u8]>) -> Result<AssistantMessage, String> {
    let model = Arc::new(sample::model(api.clone()));
    let mut decoder = wire_for(api).unwrap().decoder(model.clone());
    let mut answer = MessageBuilder::new(&model);
    let mut events = SseDecoder::new();
    let mut failure = None;
    let mut on_event = |name: &str, data: &str| {
        if failure.is_none() && !answer.is_finished() {
            failure = decoder.event(name, data, &mut answer).err();
        }
    };
    for piece in pieces {
        events.push(piece, &mut on_event).map_err(|error| error.to_string())?;
    }
    events.finish(&mut on_event).map_err(|error| error.to_string())?;
    if failure.is_none() && !answer.is_finished() {
        failure = decoder.end(&mut answer).err();
    }
    match failure {
        Some(error) => Err(error.to_string()),
        None => Ok(answer.message().clone()),
    }
}

fn told(message: &AssistantMessage) -> Value {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for block in &message.content {
        match block {
            Content::Text(block) => text.push_str(&block.text),
            Content::Thinking(block) => thinking.push_str(&block.thinking),
            Content::ToolCall(call) => calls.push(json!({"name": call.name, "arguments": call.arguments})),
            _ => {}
        }
    }
    let usage = [message.usage.input, message.usage.cache_read, message.usage.output];
    json!({"text": text, "thinking": thinking, "calls": calls, "stop": message.stop_reason, "usage": usage})
}

#[test]
fn every_order_and_split_is_read_as_the_sdks_read_it() {
    let cases = cases();
    let mut wires: Vec<&str> = cases.iter().map(|case| case.wire.as_str()).collect();
    wires.dedup();
    assert_eq!(wires, ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"]);
    for (number, Case { wire, name, sse, expect }) in cases.iter().enumerate() {
        let api = Api::from(wire.as_str());
        let bytes = sse.as_bytes();
        let check = |found: Result<AssistantMessage, String>, how: &str| {
            let found = found.unwrap_or_else(|error| panic!("{wire}: {name}, {how}: {error}\n{sse}"));
            assert_eq!(told(&found), *expect, "{wire}: {name}, {how}\n{sse}");
            let ids: std::collections::HashSet<_> = found.tool_calls().map(|call| call.id.clone()).collect();
            assert_eq!(ids.len(), found.tool_calls().count(), "{wire}: {name}: ids are not unique");
        };
        check(decoded(&api, std::iter::once(bytes)), "whole");
        // Splits at every position.
        check(decoded(&api, bytes.chunks(1)), "byte by byte");
        check(decoded(&api, bytes.chunks(7)), "by seven");
        // Trying one cut at every position takes long, so it is done only for some streams.
        if number % 40 == 0 {
            for cut in 1..bytes.len() {
                let (before, after) = bytes.split_at(cut);
                check(decoded(&api, [before, after].into_iter()), &format!("cut at {cut}"));
            }
        }
    }
}
