//! `--mode json`: the same frames, in the same order, with the same keys, as existing readers of this format expect.

use omp_testkit::{Fault, TempWorkspace, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene};

/// The type and kind of each frame, then its keys, then those of its content.
const EXPECT: &str = "\
session: cwd id timestamp type version
agent_start: type
turn_start: type
message_start user: message type | attribution content role timestamp
message_end user: message type | attribution content role timestamp
message_start assistant: message type | api content model provider responseId role stopReason timestamp usage
message_update thinking_start: assistantMessageEvent type | contentIndex type
message_update thinking_delta: assistantMessageEvent type | contentIndex delta type
message_update thinking_end: assistantMessageEvent type | content contentIndex type
message_update text_start: assistantMessageEvent type | contentIndex type
message_update text_delta: assistantMessageEvent type | contentIndex delta type
message_update text_end: assistantMessageEvent type | content contentIndex type
message_update toolcall_start: assistantMessageEvent type | contentIndex type
message_update toolcall_delta: assistantMessageEvent type | contentIndex delta type
message_update toolcall_start: assistantMessageEvent type | contentIndex type
message_update toolcall_delta: assistantMessageEvent type | contentIndex delta type
message_update toolcall_end: assistantMessageEvent type | contentIndex toolCall type
message_update toolcall_end: assistantMessageEvent type | contentIndex toolCall type
message_end assistant: message type | api content duration model provider responseId role stopReason timestamp ttft usage
spent: cached estimate message session turn type | cacheRead cacheWrite cost input output totalTokens
tool_execution_start read: args toolCallId toolName type
tool_execution_start bash: args toolCallId toolName type
tool_execution_end read: isError result toolCallId toolName type | content details
message_start toolResult: message type | content details isError role timestamp toolCallId toolName
message_end toolResult: message type | content details isError role timestamp toolCallId toolName
tool_execution_update bash: args partialResult toolCallId toolName type | content details
tool_execution_end bash: isError result toolCallId toolName type | content details
message_start toolResult: message type | content details isError role timestamp toolCallId toolName
message_end toolResult: message type | content details isError role timestamp toolCallId toolName
turn_end assistant: message toolResults type | api content duration model provider responseId role stopReason timestamp ttft usage
turn_start: type
message_start assistant: message type | api content model provider responseId role stopReason timestamp usage
message_update text_start: assistantMessageEvent type | contentIndex type
message_update text_delta: assistantMessageEvent type | contentIndex delta type
message_update text_end: assistantMessageEvent type | content contentIndex type
message_end assistant: message type | api content duration model provider responseId role stopReason timestamp ttft usage
spent: cached estimate message session turn type | cacheRead cacheWrite cost input output totalTokens
turn_end assistant: message toolResults type | api content duration model provider responseId role stopReason timestamp ttft usage
agent_end: isTerminal messages type
";

/// Formats a frame as a line of [`EXPECT`].
fn shape(frame: &Value) -> String {
    let keys = |value: &Value| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    let kind = frame["type"].as_str().unwrap();
    let carried = ["message", "assistantMessageEvent", "result", "partialResult"];
    let carried = carried.iter().find_map(|key| frame.get(key));
    let detail = [&frame["toolName"], &frame["message"]["role"], &frame["assistantMessageEvent"]["type"]];
    let detail = detail.iter().find_map(|value| value.as_str()).map(|word| format!(" {word}")).unwrap_or_default();
    let carried = carried.map(|value| format!(" | {}", keys(value))).unwrap_or_default();
    format!("{kind}{detail}: {}{carried}\n", keys(frame))
}

/// Whether the position of a frame may vary, because tools run concurrently and their output arrives at any time.
fn belongs_to_a_running_tool(line: &str) -> bool {
    line.starts_with("tool_execution_update") || line.starts_with("tool_execution_end")
}

#[tokio::test]
async fn frames_have_the_shape_and_order_that_readers_know() {
    let first = Turn::text("Reading.").thinking("look first").and_call("read", json!({"path": "a.txt"}));
    // The command ends only after its first output was reported.
    let command = "echo hi; until [ -e go ]; do sleep 0.01; done";
    let turns = [first.and_call("bash", json!({"command": command})), Turn::text(["It has three lin", "es."])];
    let scene = Scene::new(Wire::Completions, turns).await;
    let mut running = scene.omp(&["--mode", "json", "-p", "read it"]).start();
    running.until("tool_execution_update").await;
    scene.workspace.write("go", "").unwrap();
    let ran = running.finish().await.exits(0);
    let frames = ran.json_lines();
    let mut shapes: Vec<String> = frames.iter().map(shape).collect();
    // How text is split into deltas depends on the network.
    shapes.dedup();
    let expect: Vec<String> = EXPECT.split_inclusive('\n').map(str::to_owned).collect();
    let fixed =
        |lines: &[String]| lines.iter().filter(|line| !belongs_to_a_running_tool(line)).cloned().collect::<String>();
    let loose = |lines: &[String]| {
        let mut lines: Vec<_> = lines.iter().filter(|line| belongs_to_a_running_tool(line)).cloned().collect();
        lines.sort();
        lines.concat()
    };
    let mut once = expect.clone();
    once.dedup();
    assert_eq!(fixed(&shapes), fixed(&once));
    assert_eq!(loose(&shapes), loose(&expect));
    check_tool_order(&frames);
    assert_eq!(frames.last().unwrap()["isTerminal"], true);
    let results: Vec<_> = frames.iter().filter(|frame| frame["message"]["role"] == "toolResult").collect();
    assert_eq!(results[0]["message"]["toolName"], "read");
}

/// Checks the order for each call: start, updates, end, result.
fn check_tool_order(frames: &[Value]) {
    let position = |kind: &str, tool: &str| {
        let found = frames.iter().position(|frame| {
            frame["type"] == kind && (frame["toolName"] == tool || frame["message"]["toolName"] == tool)
        });
        found.unwrap_or_else(|| panic!("no {kind} for {tool}"))
    };
    for tool in ["read", "bash"] {
        let (start, end) = (position("tool_execution_start", tool), position("tool_execution_end", tool));
        assert!(start < end && end < position("message_start", tool), "{tool}");
    }
    let update = position("tool_execution_update", "bash");
    assert!(position("tool_execution_start", "bash") < update && update < position("tool_execution_end", "bash"));
}

#[tokio::test]
async fn a_retry_is_told_in_frames() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Hello.").fault(Fault::status(529).times(1))]).await;
    let ran = scene.omp(&["--mode", "json", "-p", "hi"]).run().await.exits(0);
    let frames = ran.json_lines();
    let find =
        |kind: &str| frames.iter().find(|frame| frame["type"] == kind).unwrap_or_else(|| panic!("{kind}: {ran}"));
    let start = find("auto_retry_start");
    assert_eq!((&start["attempt"], &start["maxAttempts"]), (&json!(1), &json!(10)));
    assert!(start["errorMessage"].as_str().unwrap().contains("(529)") && start["delayMs"].is_u64(), "{start}");
    let end = find("auto_retry_end");
    assert_eq!((&end["success"], &end["attempt"]), (&json!(true), &json!(1)));
    let ends: Vec<_> =
        frames.iter().filter(|frame| frame["type"] == "agent_end").map(|frame| &frame["isTerminal"]).collect();
    assert_eq!(ends, [&json!(false), &json!(true)]);
}

#[tokio::test]
async fn a_failure_is_the_last_frame() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Hello.").fault(Fault::status(401))]).await;
    let ran = scene.omp(&["--mode", "json", "-p", "hi"]).run().await.exits(1);
    let last = ran.json_lines().pop().unwrap();
    assert_eq!(last["type"], "error");
    assert!(last["message"].as_str().unwrap().contains("(401)"), "{last}");
}

#[tokio::test]
async fn what_stops_the_run_before_it_begins_goes_to_standard_error() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let ran = Omp::bare(&workspace).args(["--mode", "json", "-p", "hi", "--model", "mock/none"]).run().await;
    ran.exits(2).prints("").complains(&["mock/none", "hint: "]);
}
