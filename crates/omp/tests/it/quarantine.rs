//! A provider that refuses an image does not end the session, on any wire.

use std::sync::Arc;
use std::time::SystemTime;

use omp_store::{BlobStore, EntryBody, NewSession, SessionWriter, SessionsDir};
use omp_testkit::{Fault, FaultStatus, Turn, Wire};
use omp_types::{Content, ImageContent, Message, UserMessage};
use serde_json::{Value, json};

use crate::harness::{Scene, messages_in};

/// Images that omp considers valid.
const GOOD: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC";
const BAD: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// A session whose first message has a bad image and then a good one, as a crash could have left it.
fn write_bricked(scene: &Scene) -> std::path::PathBuf {
    let image = |data: &str| Content::Image(ImageContent { data: data.into(), mime_type: "image/png".into() });
    let said = UserMessage::new(vec![Content::text("look"), image(BAD), image(GOOD)]);
    let env = scene.workspace.env_snapshot();
    let (agent, project) = (scene.workspace.agent_dir(), scene.workspace.project());
    let folder = SessionsDir::new(&agent, &env).session_dir_for(&project);
    let new = NewSession { cwd: &project, now: SystemTime::now(), parent_session: None };
    let mut writer = SessionWriter::create(&folder, BlobStore::new(&agent), new);
    writer.append(&EntryBody::Message(Arc::new(Message::User(said)))).unwrap();
    writer.path().to_owned()
}

/// The provider's error, which names the position of the bad image in the request.
fn refusal(wire: Wire) -> Value {
    match wire {
        Wire::Anthropic => json!({"type": "error", "error": {
            "type": "invalid_request_error",
            "message": "messages.0.content.1.image.source.base64: invalid base64 data",
        }}),
        Wire::Completions => json!({"error": {
            "message": "Invalid 'messages[1].content[1].image_url.url'. Expected a base64-encoded data URL",
            "type": "invalid_request_error", "param": null, "code": "invalid_base64",
        }}),
        Wire::Responses => json!({"error": {
            "message": "Invalid 'input[1].content[1].image_url'. Expected a base64-encoded data URL",
            "type": "invalid_request_error", "param": "input[1].content[1].image_url", "code": "invalid_value",
        }}),
        Wire::Google => json!({"error": {
            "code": 400,
            "message": "Invalid value at 'contents[0].parts[1].inline_data.data' (TYPE_BYTES), Base64 decoding failed",
            "status": "INVALID_ARGUMENT",
        }}),
    }
}

fn refused_once(wire: Wire, answer: &str) -> Turn {
    let status = FaultStatus::new(400).header("content-type", "application/json").body(refusal(wire).to_string());
    Turn::text(answer).fault(Fault::from(status).times(1))
}

#[tokio::test]
async fn a_bricked_session_works_again_on_every_wire() {
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [refused_once(wire, "Here I am."), Turn::text("Still here.")]).await;
        let file = write_bricked(&scene);
        let ran = scene.omp(&["-c", "-p", "are you there?"]).run().await.exits(0).prints("Here I am.\n");
        assert!(ran.stderr.contains("no longer sent to the model") && ran.stderr.contains("image/png image"), "{ran}");
        scene.omp(&["-c", "-p", "and now?"]).run().await.exits(0).prints("Still here.\n");
        let requests = scene.server.model_requests();
        let bodies: Vec<String> = requests.iter().map(|request| request.json().unwrap().to_string()).collect();
        let holds = |needle: &str| bodies.iter().map(|body| body.contains(needle)).collect::<Vec<_>>();
        assert_eq!(holds(BAD), [true, false, false], "{wire:?}: only the refused image is left out, and it stays out");
        assert_eq!(holds(GOOD), [true, true, true], "{wire:?}");
        let Message::User(first) = &messages_in(&file, &scene.workspace.agent_dir())[0] else { panic!("no prompt") };
        assert_eq!(first.content.len(), 3, "the file keeps what was said");
        assert!(std::fs::read_to_string(&file).unwrap().contains(BAD));
    }
}

#[tokio::test]
async fn json_mode_tells_it_as_a_notice() {
    let wire = Wire::Completions;
    let scene = Scene::new(wire, [refused_once(wire, "Here.")]).await;
    write_bricked(&scene);
    let frames = scene.omp(&["--mode", "json", "-c", "-p", "hello?"]).run().await.exits(0).json_lines();
    let notice = frames.iter().find(|frame| frame["type"] == "notice").expect("nothing was told");
    assert_eq!((&notice["level"], &notice["source"]), (&json!("warning"), &json!("quarantine")));
    assert!(notice["message"].as_str().unwrap().contains("image/png image"), "{notice}");
}

#[tokio::test]
async fn a_refusal_that_is_about_nothing_in_particular_stands() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text("never").fault(Fault::status(400))]).await;
    scene.omp(&["-p", "hello"]).run().await.exits(1).complains(&["refused the request"]);
    assert_eq!(scene.server.model_requests().len(), 1);
}
