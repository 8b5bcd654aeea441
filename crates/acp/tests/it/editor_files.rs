//! Clients that offer all, some or faulty file access.

use std::time::Duration;

use omp_policy::ApprovalMode;
use omp_testkit::Turn;
use serde_json::{Value, json};

use crate::stage::Stage;

const SAVED: &str = "one\ntwo\nthree\n";
const OPEN: &str = "zero\none\ntwo\nthree\n";
const CHANGED: &str = "zero\none\n2\nthree\n";

/// A client with one open text, which it does not write to disk.
struct Client {
    stage: Stage,
    session: String,
    text: String,
    refuses: bool,
    /// Answers no write before this many reads.
    reads_first: usize,
    asked: Vec<String>,
    put_off: Option<Value>,
}

impl Client {
    async fn new(offers: Value, turns: impl IntoIterator<Item = Turn>) -> Self {
        let mut stage = Stage::new(ApprovalMode::Auto, turns);
        let capabilities = json!({"protocolVersion": 1, "clientCapabilities": {"fs": offers}});
        stage.request(0, "initialize", capabilities).await;
        stage.until_answer(0).await;
        let cwd = stage.workspace.project();
        stage.request(1, "session/new", json!({"cwd": cwd, "mcpServers": []})).await;
        let answer = stage.until_answer(1).await;
        let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
        Self { stage, session, text: OPEN.to_owned(), refuses: false, reads_first: 0, asked: Vec::new(), put_off: None }
    }

    /// Sends a prompt and answers requests until the turn ends.
    async fn turn(&mut self) {
        self.stage.prompt(2, &self.session, "go").await;
        loop {
            let frame = self.stage.frame().await;
            if frame["id"] == 2 && frame.get("method").is_none() {
                assert_eq!(frame["result"]["stopReason"], "end_turn", "{frame}");
                return;
            }
            let Some(method) = frame["method"].as_str().filter(|method| method.starts_with("fs/")) else { continue };
            assert_eq!(frame["params"]["sessionId"], *self.session);
            assert_eq!(frame["params"]["path"], *self.stage.workspace.project().join("a.txt").to_string_lossy());
            self.asked.push(method.to_owned());
            let reads = self.asked.iter().filter(|method| *method == "fs/read_text_file").count();
            if method == "fs/write_text_file" && reads < self.reads_first {
                self.put_off = Some(frame);
                continue;
            }
            self.reply(&frame).await;
            if let Some(write) = self.put_off.take_if(|_| reads >= self.reads_first) {
                self.reply(&write).await;
            }
        }
    }

    async fn reply(&mut self, frame: &Value) {
        let answer = self.answer(frame["method"].as_str().unwrap(), &frame["params"]);
        let mut reply = json!({"jsonrpc": "2.0", "id": frame["id"]});
        reply.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        self.stage.send(reply).await;
    }

    fn answer(&mut self, method: &str, params: &Value) -> Value {
        match method {
            "fs/read_text_file" => json!({"result": {"content": self.text}}),
            _ if self.refuses => json!({"error": {"code": -32000, "message": "the buffer is locked"}}),
            _ => {
                self.text = params["content"].as_str().unwrap().to_owned();
                json!({"result": {}})
            }
        }
    }

    /// Returns the last tool result that the model received.
    fn told(&self) -> String {
        format!("{:?}", self.stage.llm.requests().last().unwrap().messages.last().unwrap())
    }

    fn saved(&self) -> String {
        self.stage.workspace.read("a.txt").unwrap()
    }
}

fn look_and_edit() -> [Turn; 3] {
    let edit = json!({"path": "a.txt", "edits": [{"old_text": "two", "new_text": "2"}]});
    [Turn::call("read", json!({"path": "a.txt"})), Turn::call("edit", edit), Turn::text("Done.")]
}

#[tokio::test]
async fn unsaved_text_is_read_and_edits_are_saved_by_the_client() {
    let mut client = Client::new(json!({"readTextFile": true, "writeTextFile": true}), look_and_edit()).await;
    client.turn().await;
    let requests = client.stage.llm.requests();
    let read = format!("{:?}", requests[1].messages.last().unwrap());
    assert!(read.contains("1:zero\\n2:one"), "{read}");
    assert_eq!((client.text.as_str(), client.saved().as_str()), (CHANGED, SAVED));
    assert_eq!(client.asked.last().unwrap(), "fs/write_text_file");
    let shown = client.stage.transcript();
    assert!(shown.contains(r#""oldText":"zero\none\ntwo\nthree\n""#), "the diff is of the open text: {shown}");
    client.stage.end().await;
}

#[tokio::test]
async fn a_file_written_over_is_shown_as_it_was_open() {
    let write = json!({"path": "a.txt", "content": "new\n"});
    let offers = json!({"readTextFile": true, "writeTextFile": true});
    let mut client = Client::new(offers, [Turn::call("write", write), Turn::text("Done.")]).await;
    // The tool reads three times, and the diff once, which must not come too late.
    client.reads_first = 4;
    client.turn().await;
    assert_eq!((client.text.as_str(), client.saved().as_str()), ("new\n", SAVED));
    let shown = client.stage.transcript();
    assert!(shown.contains(r#""oldText":"zero\none\ntwo\nthree\n""#), "{shown}");
    client.stage.end().await;
}

#[tokio::test]
async fn the_half_that_is_not_offered_is_the_disk() {
    let mut reader = Client::new(json!({"readTextFile": true}), look_and_edit()).await;
    reader.turn().await;
    assert!(reader.asked.iter().all(|method| method == "fs/read_text_file"), "{:?}", reader.asked);
    assert_eq!(reader.saved(), CHANGED);
    reader.stage.end().await;
    let mut writer = Client::new(json!({"writeTextFile": true}), look_and_edit()).await;
    writer.turn().await;
    assert_eq!((writer.asked, writer.text.as_str()), (vec!["fs/write_text_file".to_owned()], "one\n2\nthree\n"));
    writer.stage.end().await;
    let mut nothing = Client::new(json!({}), look_and_edit()).await;
    nothing.turn().await;
    assert_eq!((nothing.asked.len(), nothing.saved().as_str()), (0, "one\n2\nthree\n"));
    nothing.stage.end().await;
}

#[tokio::test]
async fn a_refusal_is_told_to_the_model() {
    let mut client = Client::new(json!({"readTextFile": true, "writeTextFile": true}), look_and_edit()).await;
    client.refuses = true;
    client.turn().await;
    assert!(client.told().contains("the editor did not save it: the buffer is locked"), "{}", client.told());
    assert_eq!((client.text.as_str(), client.saved().as_str()), (OPEN, SAVED));
    client.stage.end().await;
}

/// A request is never answered; the end of the input must not wait for its timeout.
#[tokio::test]
async fn a_client_that_leaves_without_an_answer() {
    let mut client = Client::new(json!({"readTextFile": true}), look_and_edit()).await;
    client.stage.prompt(2, &client.session, "go").await;
    client.stage.until(|frame| frame["method"] == "fs/read_text_file").await;
    tokio::time::timeout(Duration::from_secs(10), client.stage.end()).await.expect("waits for the client");
}
