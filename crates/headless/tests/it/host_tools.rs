//! Tools and schemes of the client.

use omp_testkit::Turn;
use serde_json::{Value, json};

use crate::client::{Rpc, TestHost, outline};

fn weather() -> Value {
    json!({"type": "set_host_tools", "tools": [{
        "name": "weather",
        "description": "Tells the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }]})
}

async fn call() -> (Rpc, Value) {
    let turns = [Turn::call("weather", json!({"city": "Bonn"})), Turn::text("Rain."), Turn::text("More.")];
    let mut rpc = Rpc::start(TestHost::new(turns)).await;
    let set = rpc.ask(weather()).await;
    assert_eq!(set["data"], json!({"toolNames": ["weather"]}));
    rpc.send(&json!({"type": "prompt", "message": "go"}));
    let request = rpc.until("host_tool_call").await.pop().unwrap();
    (rpc, request)
}

#[tokio::test]
async fn the_client_runs_its_tool() {
    let (mut rpc, request) = call().await;
    assert_eq!((&request["toolName"], &request["arguments"]), (&json!("weather"), &json!({"city": "Bonn"})));
    assert!(request["toolCallId"].is_string() && request["id"].is_string(), "{request}");
    let content = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    rpc.send(&json!({"type": "host_tool_update", "id": request["id"], "partialResult": content("looking")}));
    let update = rpc.until("tool_execution_update").await.pop().unwrap();
    assert_eq!(update["partialResult"]["content"][0]["text"], "looking");
    rpc.send(&json!({"type": "host_tool_result", "id": request["id"], "result": content("rain")}));
    let end = rpc.until("tool_execution_end").await.pop().unwrap();
    assert_eq!((&end["result"]["content"][0]["text"], &end["isError"]), (&json!("rain"), &json!(false)));
    rpc.until("agent_end").await;
    assert_eq!(rpc.host.llm.requests()[0].tools[0].name, "weather");

    // They stay available in the next session, and can be removed.
    rpc.ask(json!({"type": "new_session"})).await;
    let dumped = |state: &Value| state["data"]["dumpTools"].as_array().unwrap().len();
    rpc.prompt("more").await;
    assert_eq!(dumped(&rpc.ask(json!({"type": "get_state"})).await), 1);
    rpc.ask(json!({"type": "set_host_tools", "tools": []})).await;
    rpc.prompt("most").await;
    assert_eq!(dumped(&rpc.ask(json!({"type": "get_state"})).await), 0);
}

#[tokio::test]
async fn a_failure_is_told_to_the_model() {
    let (mut rpc, request) = call().await;
    let result = json!({"content": [{"type": "text", "text": "no network"}]});
    rpc.send(&json!({"type": "host_tool_result", "id": request["id"], "result": result, "isError": true}));
    let end = rpc.until("tool_execution_end").await.pop().unwrap();
    assert_eq!((&end["result"]["content"][0]["text"], &end["isError"]), (&json!("no network"), &json!(true)));
}

#[tokio::test]
async fn an_aborted_call_is_taken_back() {
    let (mut rpc, request) = call().await;
    rpc.send(&json!({"type": "abort"}));
    let cancel = rpc.until("host_tool_cancel").await.pop().unwrap();
    assert_eq!(cancel["targetId"], request["id"]);
    rpc.send(&json!({"type": "host_tool_result", "id": request["id"], "result": {"content": []}}));
    assert_eq!(rpc.ask(json!({"type": "get_state"})).await["success"], true);
}

#[tokio::test]
async fn a_client_that_leaves_fails_its_calls() {
    let (rpc, _) = call().await;
    let (rest, _) = rpc.finish().await;
    assert!(outline(&rest).contains(&"agent_end".to_owned()), "{rest:?}");
}

#[tokio::test]
async fn bad_tools_are_refused() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("x")])).await;
    let tool = |name: &str, description: &str| json!({"name": name, "description": description, "parameters": {}});
    for (tools, error) in [
        (json!([tool(" ", "d")]), "Host tool at index 0 must provide a non-empty name"),
        (json!([tool("a", "")]), "Host tool \"a\" must provide a non-empty description"),
        (
            json!([{"name": "a", "description": "d", "parameters": []}]),
            "Host tool \"a\" must provide a JSON Schema object",
        ),
        (json!([tool("a", "d"), tool("a", "d")]), "RPC host tool names must be unique"),
        (json!(7), "Invalid set_host_tools command: invalid type: integer `7`, expected a sequence"),
    ] {
        let refused = rpc.ask(json!({"type": "set_host_tools", "tools": tools})).await;
        assert_eq!(refused["error"], error);
    }
}

#[tokio::test]
async fn schemes_are_replaced_and_bad_ones_refused() {
    let mut rpc = Rpc::start(TestHost::new([Turn::text("x")])).await;
    let many: Vec<Value> = (0..257).map(|number| json!({"scheme": format!("s{number}")})).collect();
    for (schemes, error) in [
        (json!([{}]), "Host URI scheme must be a non-empty string"),
        (json!([{"scheme": " "}]), "Host URI scheme must be a non-empty string"),
        (json!([{"scheme": "1db"}]), "Host URI scheme contains invalid characters: 1db"),
        (json!([{"scheme": "d/b"}]), "Host URI scheme contains invalid characters: d/b"),
        (json!([{"scheme": "SECURITY"}]), "Host URI scheme is reserved by OMP: security://"),
        (json!([{"scheme": "db"}, {"scheme": "artifact"}]), "Host URI scheme is reserved by OMP: artifact://"),
        (json!([{"scheme": "https"}]), "Host URI scheme is reserved by OMP: https://"),
        (json!(many), "an RPC host can register at most 256 URI schemes"),
        (json!(7), "Invalid set_host_uri_schemes command: invalid type: integer `7`, expected a sequence"),
    ] {
        let refused = rpc.ask(json!({"type": "set_host_uri_schemes", "schemes": schemes})).await;
        assert_eq!(refused["error"], error);
    }
    let schemes =
        json!([{"scheme": " Db "}, {"scheme": "x+y", "description": "d"}, {"scheme": "db", "writable": true}]);
    let set = rpc.ask(json!({"type": "set_host_uri_schemes", "schemes": schemes})).await;
    assert_eq!(set["data"], json!({"schemes": ["db", "x+y"]}));
    // An answer to an unknown request is ignored; an invalid one is reported.
    rpc.send(&json!({"type": "host_uri_result", "id": "uri_9", "content": "late"}));
    let odd = rpc.ask(json!({"type": "host_uri_result", "content": 7})).await;
    assert_eq!((&odd["command"], &odd["success"]), (&json!("host_uri_result"), &json!(false)), "{odd}");
}
