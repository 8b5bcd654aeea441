//! The client of the official Rust library, which reads every message with its own types.

use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CloseSessionRequest, ContentBlock, InitializeRequest, ListSessionsRequest, NewSessionRequest,
    PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionConfigKind, SessionNotification, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionModeRequest, StopReason, TextContent, ToolCallStatus,
};
use agent_client_protocol::{Channel, Client, TransportFrame, on_receive_notification, on_receive_request};
use futures_util::StreamExt;
use omp_policy::ApprovalMode;
use omp_session::BudgetLimits;
use omp_testkit::Turn;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, split};

use crate::stage::Agent;

/// Connects the library to a stream.
fn transport(stream: DuplexStream) -> Channel {
    let (ours, theirs) = Channel::duplex();
    let (mut frames, sender) = ours.into_parts();
    let (read, mut write) = split(stream);
    tokio::spawn(async move {
        while let Some(frame) = frames.next().await {
            let line = frame.to_json().unwrap() + "\n";
            if write.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
        // The agent may have gone before.
        let _ = write.shutdown().await;
    });
    tokio::spawn(async move {
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let frame = TransportFrame::parse_json(&line);
            assert!(matches!(frame, TransportFrame::Single(_)), "{line}");
            if sender.unbounded_send(frame).is_err() {
                return;
            }
        }
    });
    theirs
}

fn says(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::Text(TextContent::new(text))]
}

#[tokio::test]
async fn a_whole_conversation() {
    let edit = json!({"path": "a.txt", "edits": [{"old_text": "two", "new_text": "2"}]});
    let turns = [
        Turn::call("edit", edit),
        Turn::text("Done.").thinking("Well."),
        Turn::call("bash", json!({"command": "touch made; sleep 60"})),
    ];
    let agent = Agent::start(BudgetLimits::default(), ApprovalMode::AskAll, turns);
    let cwd = agent.workspace.project();
    let (updates, asked) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
    let (heard, questions) = (updates.clone(), asked.clone());
    let (started, running) = tokio::sync::mpsc::unbounded_channel();
    let running = tokio::sync::Mutex::new(running);
    let served = Client
        .v1()
        .name("test")
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                *questions.lock().unwrap() += 1;
                let allow = SelectedPermissionOutcome::new(request.options[0].option_id.clone());
                responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(allow)))
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |told: SessionNotification, _| {
                if let SessionUpdate::ToolCallUpdate(update) = &told.update
                    && update.fields.status == Some(ToolCallStatus::InProgress)
                {
                    started.send(()).unwrap();
                }
                heard.lock().unwrap().push(told.update);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(transport(agent.stream), async move |client| {
            let welcome = client.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
            assert_eq!(welcome.agent_info.unwrap().name, "omp");
            assert!(welcome.agent_capabilities.load_session);
            client.send_request(AuthenticateRequest::new("api-key")).block_task().await?;
            let session = client.send_request(NewSessionRequest::new(cwd)).block_task().await?;
            let (id, modes) = (session.session_id, session.modes.unwrap());
            let other = modes.available_modes.iter().find(|mode| mode.id != modes.current_mode_id).unwrap();
            client.send_request(SetSessionModeRequest::new(id.clone(), other.id.clone())).block_task().await?;
            let back = SetSessionConfigOptionRequest::new(id.clone(), "mode", modes.current_mode_id.0.as_ref());
            let options = client.send_request(back).block_task().await?.config_options;
            let SessionConfigKind::Select(mode) = &options[0].kind else { panic!("{options:?}") };
            assert_eq!(mode.current_value.0, modes.current_mode_id.0);
            assert!(client.send_request(ListSessionsRequest::new()).block_task().await?.sessions.is_empty());
            let answer = client.send_request(PromptRequest::new(id.clone(), says("change it"))).block_task().await?;
            assert_eq!(answer.stop_reason, StopReason::EndTurn);
            while running.lock().await.try_recv().is_ok() {}
            let prompt = client.send_request(PromptRequest::new(id.clone(), says("wait")));
            running.lock().await.recv().await;
            prompt.cancel()?;
            assert_eq!(prompt.block_task().await?.stop_reason, StopReason::Cancelled);
            let nobody = client.send_request(PromptRequest::new("nobody", says("hi"))).block_task().await;
            assert!(nobody.unwrap_err().message.contains("unknown session `nobody`"));
            client.send_request(CloseSessionRequest::new(id)).block_task().await?;
            Ok(())
        })
        .await;
    served.unwrap();
    agent.task.await.unwrap();
    assert_eq!(agent.workspace.read("a.txt").unwrap(), "one\n2\nthree\n");
    assert_eq!(*asked.lock().unwrap(), 2);
    let told = updates.lock().unwrap();
    let is_told = |wanted: fn(&SessionUpdate) -> bool| assert!(told.iter().any(wanted), "{told:?}");
    is_told(|update| matches!(update, SessionUpdate::AvailableCommandsUpdate(_)));
    is_told(|update| matches!(update, SessionUpdate::ConfigOptionUpdate(_)));
    is_told(|update| matches!(update, SessionUpdate::CurrentModeUpdate(_)));
    is_told(|update| matches!(update, SessionUpdate::AgentThoughtChunk(_)));
    is_told(|update| matches!(update, SessionUpdate::AgentMessageChunk(_)));
    is_told(|update| matches!(update, SessionUpdate::ToolCall(_)));
}
