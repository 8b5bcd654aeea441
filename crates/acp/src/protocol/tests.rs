//! Compares every message with the types of the official library: what omp sends is read by them and written again as the
//! same bytes, and what they write is read by omp.

use std::fmt::Debug;
use std::path::PathBuf;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema as official;
use omp_agent::{Choice, ChoiceOption};
use omp_jsonrpc::{Id, Incoming, Outgoing};
use serde_json::Map;

use super::*;
use crate::form;

#[track_caller]
fn sends<T: DeserializeOwned + Serialize>(ours: impl Serialize) {
    let text = serde_json::to_string(&ours).unwrap();
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

fn reads<T: DeserializeOwned>(theirs: impl Serialize) -> T {
    parameters(serde_json::to_value(theirs).unwrap()).unwrap()
}

fn session() -> SessionId {
    SessionId::new("s1")
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text { text: text.to_owned() }
}

fn image() -> ContentBlock {
    ContentBlock::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() }
}

fn config_option() -> ConfigOption {
    let value = |value: &str, description: Option<&str>| ConfigSelectOption {
        value: value.to_owned(),
        name: value.to_uppercase(),
        description: description.map(str::to_owned),
    };
    ConfigOption {
        id: "thinking",
        name: "Thinking",
        category: ConfigOptionCategory::ThoughtLevel,
        kind: ConfigOptionKind::Select,
        current_value: "low".to_owned(),
        options: vec![value("low", None), value("high", Some("more"))],
    }
}

fn call_content() -> Vec<ToolCallContent> {
    let diff = |old: Option<&str>| ToolCallContent::Diff {
        path: PathBuf::from("/p/a.txt"),
        old_text: old.map(str::to_owned),
        new_text: "b\n".to_owned(),
    };
    let content = |content| ToolCallContent::Content { content };
    let terminal = ToolCallContent::Terminal { terminal_id: "t1".to_owned() };
    vec![content(text("hi")), content(image()), diff(Some("a\n")), diff(None), terminal]
}

fn locations() -> Vec<ToolCallLocation> {
    let at = |line| ToolCallLocation { path: PathBuf::from("/p/a.txt"), line };
    vec![at(Some(3)), at(None)]
}

fn changed_call() -> ToolCallUpdate {
    ToolCallUpdate {
        tool_call_id: "call-1".to_owned(),
        kind: Some(ToolKind::Edit),
        status: Some(ToolCallStatus::InProgress),
        title: Some("edit a.txt".to_owned()),
        name: Some("edit".to_owned()),
        content: Some(call_content()),
        locations: Some(locations()),
        raw_input: Some(json!({"path": "a.txt"})),
        raw_output: Some(json!({"output": "done"})),
    }
}

#[test]
fn answers_are_read_by_the_official_types() {
    sends::<official::InitializeResponse>(agent("api-key", "where keys come from"));
    let opened = |session_id: Option<SessionId>| OpenedSession {
        session_id,
        modes: SessionModes {
            current_mode_id: "write",
            available_modes: vec![SessionMode { id: "write", name: "Write", description: "writes" }],
        },
        config_options: vec![config_option()],
        meta: Some(Map::from_iter([("omp".to_owned(), json!({"trusted": false}))])),
    };
    sends::<official::NewSessionResponse>(opened(Some(session())));
    sends::<official::LoadSessionResponse>(opened(None));
    sends::<official::ResumeSessionResponse>(opened(None));
    let info = |title: Option<&str>| SessionInfo {
        session_id: "s1".to_owned(),
        cwd: PathBuf::from("/p"),
        title: title.map(str::to_owned),
        updated_at: title.map(|_| "2026-11-15T20:00:03Z".to_owned()),
    };
    let sessions = || vec![info(Some("a title")), info(None)];
    sends::<official::ListSessionsResponse>(ListedSessions {
        sessions: sessions(),
        next_cursor: Some("100".to_owned()),
    });
    sends::<official::ListSessionsResponse>(ListedSessions { sessions: sessions(), next_cursor: None });
    sends::<official::SetSessionConfigOptionResponse>(json!({"configOptions": [config_option()]}));
    for stop_reason in [
        StopReason::EndTurn,
        StopReason::MaxTokens,
        StopReason::MaxTurnRequests,
        StopReason::Refusal,
        StopReason::Cancelled,
    ] {
        sends::<official::PromptResponse>(PromptResponse { stop_reason });
    }
    sends::<official::AuthenticateResponse>(json!({}));
    sends::<official::CloseSessionResponse>(json!({}));
    sends::<official::DeleteSessionResponse>(json!({}));
    sends::<official::SetSessionModeResponse>(json!({}));
}

#[test]
fn updates_are_read_by_the_official_types() {
    let shown = |kind, status, content, locations, raw_input| ShownCall {
        tool_call_id: "call-1".to_owned(),
        title: "edit".to_owned(),
        name: "edit".to_owned(),
        kind,
        status,
        content,
        locations,
        raw_input,
    };
    let entry = |status| PlanEntry { content: "look".to_owned(), priority: PlanEntryPriority::Medium, status };
    let command = |hint: Option<&str>| AvailableCommand {
        name: "compact".to_owned(),
        description: "shortens".to_owned(),
        input: hint.map(|hint| CommandInput { hint: hint.to_owned() }),
    };
    let cost = Cost { amount: 0.25, currency: "USD".to_owned() };
    let notice = |severity, description| SessionUpdate::Notice { severity, title: "look".to_owned(), description };
    let whole = shown(ToolKind::Edit, ToolCallStatus::Failed, call_content(), locations(), Some(json!({"a": 1})));
    let statuses = [PlanEntryStatus::Pending, PlanEntryStatus::InProgress, PlanEntryStatus::Completed];
    for update in [
        SessionUpdate::UserMessageChunk { content: text("hi") },
        SessionUpdate::AgentMessageChunk { content: image() },
        SessionUpdate::AgentThoughtChunk { content: text("hm") },
        SessionUpdate::ToolCall(shown(ToolKind::Other, ToolCallStatus::Pending, Vec::new(), Vec::new(), None)),
        SessionUpdate::ToolCall(whole),
        SessionUpdate::ToolCallUpdate(changed_call()),
        SessionUpdate::ToolCallUpdate(ToolCallUpdate { tool_call_id: "c".to_owned(), ..ToolCallUpdate::default() }),
        SessionUpdate::Plan { entries: statuses.map(entry).into() },
        SessionUpdate::AvailableCommandsUpdate { available_commands: vec![command(None), command(Some("what"))] },
        SessionUpdate::CurrentModeUpdate { current_mode_id: "write" },
        SessionUpdate::ConfigOptionUpdate { config_options: vec![config_option()] },
        SessionUpdate::SessionInfoUpdate { title: "a title".to_owned() },
        SessionUpdate::UsageUpdate { used: 3, size: 200_000, cost: Some(cost) },
        SessionUpdate::UsageUpdate { used: 3, size: 200_000, cost: None },
        notice(NoticeSeverity::Info, None),
        notice(NoticeSeverity::Warning, Some("more".to_owned())),
    ] {
        sends::<official::SessionNotification>(SessionNotification { session_id: session(), update });
    }
    let kinds = [ToolKind::Read, ToolKind::Edit, ToolKind::Search, ToolKind::Execute, ToolKind::Think, ToolKind::Other];
    kinds.into_iter().for_each(|kind| sends::<official::ToolKind>(kind));
    let statuses =
        [ToolCallStatus::Pending, ToolCallStatus::InProgress, ToolCallStatus::Completed, ToolCallStatus::Failed];
    statuses.into_iter().for_each(|status| sends::<official::ToolCallStatus>(status));
    let categories = [ConfigOptionCategory::Mode, ConfigOptionCategory::Model, ConfigOptionCategory::ThoughtLevel];
    categories.into_iter().for_each(|category| {
        sends::<official::SessionConfigOptionCategory>(category);
        let read: official::SessionConfigOptionCategory = serde_json::from_value(json!(category)).unwrap();
        assert!(!matches!(read, official::SessionConfigOptionCategory::Other(_)), "{category:?}");
    });
}

#[test]
fn requests_are_read_by_the_official_types() {
    let kinds = [
        PermissionOptionKind::AllowOnce,
        PermissionOptionKind::AllowAlways,
        PermissionOptionKind::RejectOnce,
        PermissionOptionKind::RejectAlways,
    ];
    let option = |kind| PermissionOption { option_id: "o".to_owned(), name: "Option".to_owned(), kind };
    sends::<official::RequestPermissionRequest>(PermissionRequest {
        session_id: session(),
        tool_call: changed_call(),
        options: kinds.map(option).into(),
    });
    let file = |content| FileRequest { session_id: session(), path: PathBuf::from("/p/a"), content };
    sends::<official::ReadTextFileRequest>(file(None));
    sends::<official::WriteTextFileRequest>(file(Some("text".to_owned())));
    let variable = EnvVariable { name: "A".to_owned(), value: "b".to_owned() };
    let create = |args, env| CreateTerminalRequest {
        session_id: session(),
        command: "sh".to_owned(),
        args,
        env,
        cwd: PathBuf::from("/p"),
        output_byte_limit: 4096,
    };
    sends::<official::CreateTerminalRequest>(create(vec!["-c".to_owned()], vec![variable]));
    sends::<official::CreateTerminalRequest>(create(Vec::new(), Vec::new()));
    let about = TerminalRequest { session_id: session(), terminal_id: "t1".to_owned() };
    sends::<official::TerminalOutputRequest>(&about);
    sends::<official::WaitForTerminalExitRequest>(&about);
    sends::<official::KillTerminalRequest>(&about);
    sends::<official::ReleaseTerminalRequest>(&about);
}

#[test]
fn forms_are_read_by_the_official_types() {
    let option = |about: Option<&str>| ChoiceOption { label: "left".to_owned(), description: about.map(str::to_owned) };
    for (multi, is_closed, recommended, options) in [
        (true, false, Some(0), vec![option(Some("to the west")), option(None)]),
        (true, true, None, vec![option(None)]),
        (false, false, Some(0), vec![option(None)]),
        (false, true, None, vec![option(None)]),
        (false, false, None, Vec::new()),
    ] {
        let choice = Choice { question: "Which way?".to_owned(), options, multi, recommended, is_closed };
        for call in [None, Some("call-1".to_owned())] {
            let form = form::of(&choice, session(), call);
            let read: official::CreateElicitationRequest = serde_json::from_value(json!(form)).unwrap();
            assert!(matches!(read.mode, official::ElicitationMode::Form(_)), "{read:?}");
            sends::<official::CreateElicitationRequest>(form);
        }
    }
}

#[track_caller]
fn check<T: DeserializeOwned + Debug>(theirs: impl Serialize, expect: &str) {
    assert_eq!(format!("{:?}", reads::<T>(theirs)), expect);
}

#[test]
fn official_requests_are_read() {
    let servers = || {
        vec![
            official::McpServer::Stdio(official::McpServerStdio::new("files", "/bin/files")),
            official::McpServer::Http(official::McpServerHttp::new("web", "https://example.com")),
        ]
    };
    let names = "[McpServer { name: \"files\" }, McpServer { name: \"web\" }]";
    check::<NewSessionRequest>(
        official::NewSessionRequest::new("/p").mcp_servers(servers()),
        &format!("NewSessionRequest {{ cwd: \"/p\", mcp_servers: {names} }}"),
    );
    let stored = |servers: &str| {
        format!("StoredSessionRequest {{ session_id: SessionId(\"s1\"), cwd: \"/p\", mcp_servers: {servers} }}")
    };
    check::<StoredSessionRequest>(official::LoadSessionRequest::new("s1", "/p").mcp_servers(servers()), &stored(names));
    check::<StoredSessionRequest>(official::ResumeSessionRequest::new("s1", "/p"), &stored("[]"));
    check::<Option<ListSessionsRequest>>(
        official::ListSessionsRequest::new().cwd(PathBuf::from("/p")).cursor("100".to_owned()),
        "Some(ListSessionsRequest { cwd: Some(\"/p\"), cursor: Some(\"100\") })",
    );
    check::<Option<ListSessionsRequest>>(json!(null), "None");
    let about = "SessionRequest { session_id: SessionId(\"s1\") }";
    check::<SessionRequest>(official::CloseSessionRequest::new("s1"), about);
    check::<SessionRequest>(official::DeleteSessionRequest::new("s1"), about);
    check::<SessionRequest>(official::CancelNotification::new("s1"), about);
    check::<SetModeRequest>(
        official::SetSessionModeRequest::new("s1", "write"),
        "SetModeRequest { session_id: SessionId(\"s1\"), mode_id: \"write\" }",
    );
    check::<SetOptionRequest>(
        official::SetSessionConfigOptionRequest::new("s1", "mode", "write"),
        "SetOptionRequest { session_id: SessionId(\"s1\"), config_id: \"mode\", value: String(\"write\") }",
    );
    check::<SetOptionRequest>(
        official::SetSessionConfigOptionRequest::new("s1", "mode", true),
        "SetOptionRequest { session_id: SessionId(\"s1\"), config_id: \"mode\", value: Bool(true) }",
    );
    check::<AuthenticateRequest>(
        official::AuthenticateRequest::new("api-key"),
        "AuthenticateRequest { method_id: \"api-key\" }",
    );
}

#[test]
fn official_prompts_are_read() {
    let embedded = |resource| official::ContentBlock::Resource(official::EmbeddedResource::new(resource));
    let blob = official::BlobResourceContents::new("aGk=", "file:///b").mime_type("image/png".to_owned());
    let link = official::ResourceLink::new("a.rs", "file:///a.rs").title("A".to_owned());
    let blocks = vec![
        official::ContentBlock::Text(official::TextContent::new("hi")),
        official::ContentBlock::Image(official::ImageContent::new("aGk=", "image/png")),
        official::ContentBlock::Audio(official::AudioContent::new("aGk=", "audio/wav")),
        official::ContentBlock::ResourceLink(link),
        embedded(official::EmbeddedResourceResource::TextResourceContents(official::TextResourceContents::new(
            "fn a() {}",
            "file:///a.rs",
        ))),
        embedded(official::EmbeddedResourceResource::BlobResourceContents(blob)),
    ];
    let read: PromptRequest = reads(official::PromptRequest::new("s1", blocks));
    let shown: Vec<String> = read.prompt.iter().map(|block| format!("{block:?}")).collect();
    assert_eq!(
        shown,
        [
            r#"Text { text: "hi" }"#,
            r#"Image { data: "aGk=", mime_type: "image/png" }"#,
            "Audio",
            r#"ResourceLink { uri: "file:///a.rs", name: "a.rs", title: Some("A") }"#,
            r#"Resource { resource: Text { text: "fn a() {}", uri: "file:///a.rs" } }"#,
            r#"Resource { resource: Blob { blob: "aGk=", uri: "file:///b", mime_type: Some("image/png") } }"#,
        ]
    );
}

#[test]
fn capabilities_are_read_and_wrong_ones_count_as_absent() {
    let files = official::FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
    let all = official::ClientCapabilities::new()
        .fs(files)
        .terminal(true)
        .session(official::ClientSessionCapabilities::new().notices(official::NoticeCapabilities::new()))
        .elicitation(official::ElicitationCapabilities::new().form(official::ElicitationFormCapabilities::new()));
    let request = official::InitializeRequest::new(ProtocolVersion::V1).client_capabilities(all);
    let read = |params: Value| {
        let read = InitializeRequest::read(params).map(|request| request.client_capabilities)?;
        let (fs, notices, forms) = (&read.fs, read.has_notices(), read.has_forms());
        Ok::<_, RpcError>([fs.read_text_file, fs.write_text_file, read.terminal, notices, forms])
    };
    assert_eq!(read(json!(request)), Ok([true; 5]));
    assert_eq!(read(json!({"protocolVersion": 1})), Ok([false; 5]));
    let wrong =
        json!({"fs": {"readTextFile": "yes", "writeTextFile": true}, "terminal": 7, "session": [], "elicitation": 1});
    assert_eq!(
        read(json!({"protocolVersion": 1, "clientCapabilities": wrong})),
        Ok([false, true, false, false, false])
    );
    assert_eq!(read(json!({"protocolVersion": 1, "clientCapabilities": "none"})), Ok([false; 5]));
    let later = json!({"fs": {"readTextFile": true}, "elicitation": {"form": {}}});
    assert_eq!(read(json!({"protocolVersion": 2, "capabilities": later})), Ok([false, false, false, false, true]));
    for wrong in [json!({}), json!(null), json!({"protocolVersion": "1"}), json!({"protocolVersion": 70_000})] {
        assert_eq!(read(wrong).unwrap_err().code, RpcError::INVALID_PARAMS);
    }
}

#[test]
fn official_answers_are_read() {
    let selected = official::SelectedPermissionOutcome::new("allow");
    check::<PermissionResponse>(
        official::RequestPermissionResponse::new(official::RequestPermissionOutcome::Selected(selected)),
        "PermissionResponse { outcome: Selected { option_id: \"allow\" } }",
    );
    check::<PermissionResponse>(
        official::RequestPermissionResponse::new(official::RequestPermissionOutcome::Cancelled),
        "PermissionResponse { outcome: Cancelled }",
    );
    let form = |action| official::CreateElicitationResponse::new(action);
    check::<ElicitationResponse>(
        form(official::ElicitationAction::Decline),
        "ElicitationResponse { action: Decline, content: None }",
    );
    check::<ElicitationResponse>(
        form(official::ElicitationAction::Cancel),
        "ElicitationResponse { action: Cancel, content: None }",
    );
    check::<ElicitationResponse>(json!({"action": "postpone"}), "ElicitationResponse { action: Other, content: None }");
    let content = [("choice".to_owned(), official::ElicitationContentValue::String("left".to_owned()))];
    let accept = official::ElicitationAcceptAction::new().content(std::collections::BTreeMap::from(content));
    let read: ElicitationResponse = reads(form(official::ElicitationAction::Accept(accept)));
    assert_eq!((read.action, json!(read.content)), (ElicitationAction::Accept, json!({"choice": "left"})));
    check::<ReadText>(official::ReadTextFileResponse::new("text"), "ReadText { content: \"text\" }");
    check::<CreatedTerminal>(official::CreateTerminalResponse::new("t1"), "CreatedTerminal { terminal_id: \"t1\" }");
    let status = official::TerminalExitStatus::new().exit_code(3).signal("SIGTERM".to_owned());
    let shown = "TerminalExitStatus { exit_code: Some(3), signal: Some(\"SIGTERM\") }";
    check::<TerminalOutput>(
        official::TerminalOutputResponse::new("hi", false).exit_status(status.clone()),
        &format!("TerminalOutput {{ output: \"hi\", truncated: false, exit_status: Some({shown}) }}"),
    );
    check::<Option<TerminalExitStatus>>(official::WaitForTerminalExitResponse::new(status), &format!("Some({shown})"));
    check::<Option<TerminalExitStatus>>(json!(null), "None");
    check::<TerminalExitStatus>(
        json!({"exitCode": "3", "signal": 9}),
        "TerminalExitStatus { exit_code: None, signal: None }",
    );
}

#[test]
fn cancellations_are_read_and_written_as_the_official_types_do() {
    let dialect = protocol().dialect;
    let wire = dialect.write(8, dialect.cancel(7, "m", "").unwrap());
    let read: official::CancelRequestNotification = serde_json::from_value(wire["params"].clone()).unwrap();
    assert_eq!((&wire["method"], json!(read)), (&json!("$/cancel_request"), json!({"requestId": "omp-7"})));
    let theirs = json!(official::CancelRequestNotification::new(official::RequestId::Number(5)));
    let message = Incoming::Notification { method: "$/cancel_request".to_owned(), params: theirs };
    assert_eq!(dialect.cancelled(&message), Some(Id::from(5)));
}

#[test]
fn only_answers_to_our_requests_are_taken() {
    let dialect = protocol().dialect;
    let request = Outgoing::Request { method: "m".to_owned(), params: Value::Null };
    assert_eq!(dialect.write(7, request)["id"], "omp-7");
    let id_of = |id: Value| match dialect.read(json!({"jsonrpc": "2.0", "id": id, "result": {}})).remove(0) {
        Ok(Incoming::Response { id, .. }) => id,
        other => panic!("{other:?}"),
    };
    assert_eq!(id_of(json!("omp-7")), Id::from(7));
    for foreign in [json!(7), json!("7"), json!("omp-x"), json!(null)] {
        assert_eq!(id_of(foreign), Id::Null);
    }
    let answered = |wire: Value| dialect.read(wire).remove(0).unwrap_err().answer.map(|error| error.code);
    assert_eq!(answered(json!({"jsonrpc": "2.0"})), Some(RpcError::INVALID_REQUEST));
    assert_eq!(answered(json!({"id": {}, "method": "m"})), Some(RpcError::INVALID_REQUEST));
    assert_eq!(answered(json!({"id": {}, "result": 1})), None);
    assert_eq!(answered(json!([{"id": 1, "method": "m"}])), Some(RpcError::INVALID_REQUEST));
}
