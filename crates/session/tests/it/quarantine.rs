//! Tests that a refusal by a provider does not end the conversation.

use std::sync::Arc;

use omp_session::{Command, QUARANTINE_ENTRY, Resumed, RunEnd, SessionEvent};
use omp_store::{BlobStore, LoadedSession};
use omp_testkit::{Reply, ScriptedLlm, Turn};
use omp_types::{Content, ErrorKind, ImageContent, Message, ModelError, Request, UserMessage};

use crate::stage::Stage;

/// Images of one pixel.
pub const GREEN: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC";
const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

fn refuse(words: &str) -> Reply {
    Reply::fail(ModelError { status: Some(400), ..ModelError::new(ErrorKind::BadRequest, words) })
}

fn image(data: &str) -> Content {
    Content::Image(ImageContent { data: data.into(), mime_type: "image/png".into() })
}

fn look_at(data: &str) -> Command {
    Command::Prompt(vec![Content::text("look"), image(data)].into())
}

fn images_in(request: &Request) -> Vec<String> {
    let users = request.messages.iter().filter_map(|message| match &**message {
        Message::User(user) => Some(&user.content),
        _ => None,
    });
    let images = users.flatten().filter_map(|block| match block {
        Content::Image(image) => Some(image.data.clone()),
        _ => None,
    });
    images.collect()
}

#[tokio::test]
async fn a_refused_image_is_left_out_told_of_and_noted() {
    let mut stage = Stage::new([refuse("Could not process image"), Turn::text("I cannot see it.").into()]);
    stage.send(look_at(GREEN)).await;
    let mut told = Vec::new();
    let (lines, end) = stage
        .until_idle(|event| {
            if let SessionEvent::Quarantined(quarantined) = event {
                told.push(quarantined.clone());
            }
        })
        .await;
    assert_eq!(end, RunEnd::Finished);
    assert_eq!(
        lines,
        ["user", "answer Error: ", "end (terminal: false)", "answer Stop: I cannot see it.", "end (terminal: true)"]
    );
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].blocks.as_slice(), told[0].reason.as_str()),
        (&["image/png image, 1 kB".to_owned()][..], "Could not process image")
    );
    assert_eq!(stage.entries()[2..], ["message user", "message assistant", "custom quarantine", "message assistant"]);
    assert!(std::fs::read_to_string(&stage.file).unwrap().contains(GREEN), "the file keeps the original");
}

#[tokio::test]
async fn the_rest_of_the_prefix_stays_to_the_byte_and_the_image_stays_out() {
    let mut stage = Stage::new([
        Turn::text("hello").into(),
        refuse("Could not process image"),
        Turn::text("no").into(),
        Turn::text("on").into(),
    ]);
    stage.prompt("hi").await;
    stage.send(look_at(GREEN)).await;
    stage.until_idle(|_| {}).await;
    stage.prompt("go on").await;
    let requests = stage.llm.requests();
    let written = |request: &Request| -> Vec<String> {
        request.messages.iter().map(|message| serde_json::to_string(&**message).unwrap()).collect()
    };
    let (refused, taken, next) = (written(&requests[1]), written(&requests[2]), written(&requests[3]));
    assert_eq!(refused[..2], taken[..2]);
    assert_eq!(taken[..], next[..taken.len()]);
    assert_eq!(images_in(&requests[1]), [GREEN]);
    assert!(images_in(&requests[3]).is_empty());
    assert!(taken[2].contains("Left out: image/png image, 1 kB"), "{}", taken[2]);
}

#[tokio::test]
async fn a_resumed_session_leaves_it_out_from_the_start() {
    let mut first = Stage::new([refuse("Could not process image"), Turn::text("no").into()]);
    first.send(look_at(GREEN)).await;
    first.until_idle(|_| {}).await;
    let mut loaded = LoadedSession::open(&first.file, BlobStore::new(&first.workspace.agent_dir())).unwrap();
    let (history, quarantined) = (loaded.context().messages, loaded.custom_data(QUARANTINE_ENTRY));
    let llm = ScriptedLlm::new([Turn::text("fine")]);
    let mut second = Stage::with(llm, |options| {
        options.resumed = Resumed { messages: history, quarantined, ..Resumed::default() };
    });
    let (_, end) = second.prompt("go on").await;
    assert_eq!(end, RunEnd::Finished);
    assert!(images_in(&second.llm.requests()[0]).is_empty());
    assert!(
        second
            .session
            .messages()
            .iter()
            .any(|message| matches!(&**message, Message::User(user) if user.content.len() == 2))
    );
}

#[tokio::test]
async fn a_session_that_was_bricked_works_again() {
    let bad = Message::User(UserMessage::new(vec![Content::text("look"), image(GREEN), image(RED)]));
    let llm = ScriptedLlm::new([
        refuse("image exceeds 5 MB maximum"),
        refuse("image exceeds 5 MB maximum"),
        Turn::text("back").into(),
    ]);
    let mut stage = Stage::with(llm, |options| options.resumed = vec![bad].into());
    let (_, end) = stage.prompt("are you there?").await;
    assert_eq!(end, RunEnd::Finished);
    let counts: Vec<_> = stage.llm.requests().iter().map(|request| images_in(request).len()).collect();
    assert_eq!(counts, [2, 1, 0]);
}

#[tokio::test]
async fn what_does_not_help_comes_back() {
    let mut stage = Stage::new((0..9).map(|_| refuse("the image of the world is wrong")));
    stage.send(look_at(GREEN)).await;
    let (_, end) = stage.until_idle(|_| {}).await;
    assert!(matches!(end, RunEnd::Failed(_)));
    assert_eq!(stage.llm.requests().len(), 2, "one image can be left out once");
    let kept =
        |message: &Arc<Message>| matches!(&**message, Message::User(user) if user.content.contains(&image(GREEN)));
    assert!(stage.session.messages().iter().any(kept));
    assert!(!stage.entries().contains(&"custom quarantine".to_owned()));
}

#[tokio::test]
async fn an_image_that_comes_up_in_the_middle_of_a_run_is_left_out_there() {
    let mut stage = Stage::new([
        refuse("Could not process image"),
        Turn::text("one").into(),
        refuse("Could not process image"),
        Turn::text("two").into(),
    ]);
    for (data, answer) in [(GREEN, "one"), (RED, "two")] {
        stage.send(look_at(data)).await;
        let (lines, _) = stage.until_idle(|_| {}).await;
        assert!(lines.contains(&format!("answer Stop: {answer}")), "{lines:?}");
    }
    assert_eq!(stage.llm.requests().len(), 4);
}
