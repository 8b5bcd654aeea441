//! Tests two hundred turns from one repeated turn, and the prefix check over the client's requests.

use omp_testkit::{Script, Server, Wire, prefix};
use serde_json::Value;

use crate::client::{Client, path, request};

const SCRIPT: &str = r#"
turns:
  - text: "step {i}"
    repeat: 199
    calls:
      - { name: read, arguments: { path: "file-{i}.txt" } }
  - text: done
"#;

/// Plays the script with a client that only appends, unless `spoil` changes its requests.
async fn play(wire: Wire, spoil: impl Fn(usize, &mut Value)) -> Server {
    let server = Server::start(Script::parse("test", SCRIPT).unwrap()).await.unwrap();
    let mut client = Client::connect(&server).await;
    for turn in 0..200 {
        let mut body = request(wire, turn);
        spoil(turn, &mut body);
        client.send("POST", path(wire), body.to_string().as_bytes()).await;
        let answer = client.answer().await.unwrap();
        let expect = if turn == 199 { "done".to_owned() } else { format!("file-{turn}.txt") };
        assert!(answer.text().contains(&expect), "{wire:?} turn {turn}");
    }
    server
}

#[tokio::test]
async fn two_hundred_turns_share_their_prefix() {
    for wire in Wire::ALL {
        prefix::assert_prefix_stable(&play(wire, |_, _| {}).await.requests());
    }
}

#[tokio::test]
async fn one_changed_tool_in_turn_150_is_found() {
    let server = play(Wire::Responses, |turn, body| {
        if turn == 150 {
            body["tools"][0]["name"] = "reed".into();
        }
    })
    .await;
    let problem = prefix::check_prefixes(&server.requests()).unwrap_err();
    assert!(problem.contains("request 151 after request 150") && problem.contains("reed"), "{problem}");
}
