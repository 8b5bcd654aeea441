//! Dispatches the client's requests and sends the responses.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omp_session::{Command, OpenSession, SessionHost, SessionSwitch, SwitchFailed, SwitchedSession, Wish};
use omp_wire::{
    CommandsReply, DialogResponse, HostToolResult, LoginRequest, NegotiateRequest, NewsFrame, ProtocolReply,
    SetHostToolsRequest, SetHostUrisRequest, SubagentMessagesRequest, SubagentSubscriptionRequest, ToolNamesReply,
    UriSchemesReply,
};
use serde_json::json;

use super::current::Current;
use super::dialogs::Dialogs;
use super::frame::{self, DONE, Outcome, Refusal, data, response};
use super::host_tools::{HOST_SOURCE, HostTools};
use super::host_uris::HostUris;
use super::input::{Request, Unreadable};
use super::output::Output;
use super::prompting::send;
use super::shell::Shells;
use super::{messages, models, prompting, queues, sessions, state};

const NO_SESSION: &str = "no session is open\nhint: open one with `switch_session` or `new_session`";

pub struct Server {
    pub host: Arc<dyn SessionHost>,
    pub output: Output,
    pub dialogs: Arc<Dialogs>,
    pub tools: Arc<HostTools>,
    pub uris: Arc<HostUris>,
    pub shells: Shells,
    /// Empty while a session is moved, and if it could not be resumed afterwards.
    current: Mutex<Option<Arc<Current>>>,
}

impl Server {
    pub fn new(host: Arc<dyn SessionHost>, output: Output, first: OpenSession, uris: Arc<HostUris>) -> Self {
        let dialogs = Arc::new(Dialogs::new(output.clone()));
        let warnings = first.warnings.clone();
        let current = Mutex::new(Some(Current::new(first, &output, &dialogs)));
        let tools = Arc::new(HostTools::new(output.clone()));
        let shells = Shells::default();
        let server = Self { host, output, dialogs, tools, uris, shells, current };
        server.tell_commands();
        server.warn(&warnings);
        server
    }

    pub fn current(&self) -> Result<Arc<Current>, Refusal> {
        self.slot().clone().ok_or_else(|| NO_SESSION.into())
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<Current>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn answer(&self, request: &Request, outcome: Outcome) {
        self.output.frame(&response(request.id.as_ref(), &request.kind, &outcome));
    }

    pub fn complain(&self, Unreadable(problem): &Unreadable) {
        let outcome: Outcome = Err(format!("Failed to parse command: {problem}").into());
        self.output.frame(&response(None, "parse", &outcome));
    }

    /// Handles frames that answer the session; they are not queued behind commands. Returns `false` for other frames.
    pub async fn overtakes(&self, request: &Request) -> bool {
        match request.kind.as_str() {
            "extension_ui_response" => {
                if let Ok(response) = request.fields::<DialogResponse>()
                    && let Some((id, answer)) = self.dialogs.respond(&response)
                    && let Ok(current) = self.current()
                {
                    // A session that has ended waits for no answer.
                    let _ = current.session.send(Command::Answer { id, answer }).await;
                }
            }
            "host_tool_result" => return self.reported(request, HostTools::finish),
            "host_tool_update" => return self.reported(request, HostTools::update),
            "host_uri_result" => match request.fields() {
                Ok(answer) => self.uris.answered(answer),
                Err(refusal) => self.answer(request, Err(refusal)),
            },
            _ => return false,
        }
        true
    }

    /// A malformed result is answered like an unknown command, so that the host is notified.
    fn reported(&self, request: &Request, take: impl FnOnce(&HostTools, HostToolResult)) -> bool {
        match request.fields() {
            Ok(reported) => take(&self.tools, reported),
            Err(refusal) => self.answer(request, Err(refusal)),
        }
        true
    }

    /// Runs concurrently with other commands, so that it can be aborted.
    pub fn start_bash(self: &Arc<Self>, request: Request) {
        let server = self.clone();
        // Taken before the task starts, because a following `abort_bash` may be handled first.
        let cancel = self.shells.token().child_token();
        self.shells.running.spawn(async move {
            let outcome = match request.fields().and_then(|bash| Ok((server.current()?, bash))) {
                Ok((current, bash)) => server.shells.run(&current, bash, cancel).await,
                Err(refusal) => Err(refusal),
            };
            server.answer(&request, outcome);
        });
    }

    /// Runs a slash command that sends a request concurrently with other commands; it ends with the session.
    fn start_aside(self: &Arc<Self>, current: Arc<Current>, request: Request) {
        let server = self.clone();
        let cancel = self.shells.token();
        self.shells.running.spawn(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => server.answer(&request, Err("the command was ended".into())),
                () = prompting::prompt(&server, current, &request) => {}
            }
        });
    }

    /// Runs concurrently with other commands, so that `abort` can end it.
    fn start_compaction(self: &Arc<Self>, current: Arc<Current>, request: Request) {
        let server = self.clone();
        self.shells.running.spawn(async move {
            let outcome = match request.kind.as_str() {
                "compact" => sessions::compact(&current, &request).await,
                _ => sessions::handoff(&current, &request).await,
            };
            server.answer(&request, outcome);
        });
    }

    /// Runs one command after the other.
    pub async fn obey(self: &Arc<Self>, request: Request) {
        if matches!(request.kind.as_str(), "new_session" | "switch_session" | "branch") {
            let outcome = self.change_session(&request).await;
            return self.answer(&request, outcome);
        }
        let current = match self.current() {
            Ok(current) => current,
            Err(refusal) => return self.answer(&request, Err(refusal)),
        };
        match request.kind.as_str() {
            "prompt" if prompting::takes_long(&current, &request) => return self.start_aside(current, request),
            "compact" | "handoff" => return self.start_compaction(current, request),
            "prompt" => return prompting::prompt(self, current, &request).await,
            "abort_and_prompt" => return prompting::abort_and_prompt(self, &current, &request).await,
            _ => {}
        }
        let Some(outcome) = self.outcome(&current, &request).await else {
            let unknown: Outcome = Err(format!("Unknown command: {}", request.kind).into());
            self.output.frame(&response(None, &request.kind, &unknown));
            return;
        };
        let chunks = request.kind == "negotiate_protocol" && outcome.is_ok();
        self.answer(&request, outcome);
        if chunks {
            self.output.use_chunks();
        }
    }

    async fn change_session(self: &Arc<Self>, request: &Request) -> Outcome {
        match request.kind.as_str() {
            "new_session" => sessions::new_session(self, request).await,
            "switch_session" => sessions::switch_session(self, request).await,
            _ => sessions::branch(self, request).await,
        }
    }

    /// Returns `None` for an unknown command.
    async fn outcome(&self, current: &Current, request: &Request) -> Option<Outcome> {
        Some(match request.kind.as_str() {
            "negotiate_protocol" => negotiate(request),
            "steer" => prompting::steer(current, request).await,
            "follow_up" => prompting::follow_up(current, request).await,
            "abort" => {
                current.abort().await;
                DONE
            }
            "get_state" => state::get_state(current),
            "get_session_stats" => state::get_session_stats(current),
            "set_todos" => state::set_todos(current, request),
            "get_available_commands" => data(&CommandsReply { commands: current.available_commands() }),
            "set_host_tools" => self.set_host_tools(current, request).await,
            "set_host_uri_schemes" => self.set_host_uri_schemes(request),
            "set_model" => models::set_model(self, current, request).await,
            "cycle_model" => models::cycle_model(self, current).await,
            "get_available_models" => models::get_available_models(self),
            "set_thinking_level" => models::set_thinking_level(self, current, request).await,
            "cycle_thinking_level" => models::cycle_thinking_level(self, current).await,
            "set_fast_mode" => models::set_fast_mode(request),
            "set_steering_mode" => queues::set_steering_mode(current, request).await,
            "set_follow_up_mode" => queues::set_follow_up_mode(current, request).await,
            "set_interrupt_mode" => queues::set_interrupt_mode(current, request).await,
            "set_auto_retry" => queues::set_auto_retry(current, request).await,
            "abort_retry" => queues::abort_retry(current).await,
            "abort_bash" => {
                self.shells.abort();
                DONE
            }
            "export_html" => sessions::export_html(self, current, request).await,
            "get_branch_messages" => sessions::get_branch_messages(current).await,
            "set_session_name" => sessions::set_session_name(current, request),
            "get_messages" => messages::get_messages(current),
            "get_messages_page" => messages::get_messages_page(current, request),
            "get_last_assistant_text" => messages::get_last_assistant_text(current),
            "set_auto_compaction" => queues::set_auto_compaction(current, request).await,
            _ => return absent(request),
        })
    }

    fn set_host_uri_schemes(&self, request: &Request) -> Outcome {
        let SetHostUrisRequest { schemes } = request.fields()?;
        data(&UriSchemesReply { schemes: self.uris.set(schemes)? })
    }

    async fn set_host_tools(&self, current: &Current, request: &Request) -> Outcome {
        let SetHostToolsRequest { tools } = request.fields()?;
        let had_some = self.tools.has_any();
        let names = self.tools.set(tools, &current.session.tools())?;
        if had_some || self.tools.has_any() {
            self.bring_tools(current).await?;
        }
        data(&ToolNamesReply { tool_names: names })
    }

    /// Offers the host's tools to the model from its next prompt on.
    async fn bring_tools(&self, current: &Current) -> Outcome {
        send(current, Command::SetTools { source: HOST_SOURCE.to_owned(), tools: self.tools.brought() }).await
    }

    /// Closes this session and opens another. If that cannot be opened this one stays, with its work aborted.
    pub async fn go_over(&self, wish: Wish) -> Result<(), Refusal> {
        self.shells.abort();
        self.shells.settle(Duration::ZERO).await;
        if let Ok(current) = self.current() {
            current.abort().await;
        }
        let old = self.current().ok();
        let cwd = old.as_ref().map(|old| PathBuf::from(&old.header.cwd));
        let switch = SessionSwitch::new(wish, cwd).after(old.as_ref().map(|old| &old.session));
        drop(old);
        match switch.run(&*self.host, self.uris.editor(), self.let_go()).await {
            Ok(SwitchedSession { opened, ends }) => {
                if let Ok(current) = self.current() {
                    current.session.ends_by(ends);
                }
                self.take_up(opened).await
            }
            Err(SwitchFailed { problem, reopened }) => {
                if let Some(again) = reopened {
                    self.take_up(*again).await?;
                }
                Err(problem.into())
            }
        }
    }

    /// Closes the session.
    async fn let_go(&self) -> Result<(), String> {
        let last = self.slot().take().ok_or(NO_SESSION)?;
        self.shells.abort();
        self.shells.settle(Duration::ZERO).await;
        last.retire().await;
        Ok(())
    }

    async fn take_up(&self, mut opened: OpenSession) -> Result<(), Refusal> {
        let warnings = std::mem::take(&mut opened.warnings);
        let next = Current::new(opened, &self.output, &self.dialogs);
        let last = self.slot().replace(next.clone());
        // Commands started meanwhile belong to the session that is being closed.
        self.shells.abort();
        self.shells.settle(Duration::ZERO).await;
        if let Some(last) = last {
            last.retire().await;
        }
        if self.tools.has_any() {
            self.bring_tools(&next).await?;
        }
        self.tell_commands();
        self.warn(&warnings);
        Ok(())
    }

    fn tell_commands(&self) {
        if let Ok(current) = self.current() {
            self.output.frame(&NewsFrame::AvailableCommandsUpdate { commands: current.available_commands().into() });
        }
    }

    fn warn(&self, warnings: &[String]) {
        for message in warnings {
            self.output.frame(&frame::warning(message));
        }
    }
}

fn negotiate(request: &Request) -> Outcome {
    let NegotiateRequest { protocol_version } = request.fields()?;
    if protocol_version != 2 {
        return Err(format!("Unsupported RPC protocol version: {protocol_version}").into());
    }
    data(&ProtocolReply { protocol_version: 2 })
}

/// Commands for missing features. The responses are those of a program without any such items.
fn absent(request: &Request) -> Option<Outcome> {
    Some(match request.kind.as_str() {
        "set_subagent_subscription" => set_subagent_subscription(request),
        "get_subagents" => data(&json!({"subagents": []})),
        "get_subagent_messages" => Err(unknown_subagent(request)),
        "get_login_providers" => data(&json!({"providers": []})),
        "login" => Err(unknown_provider(request)),
        _ => return None,
    })
}

fn set_subagent_subscription(request: &Request) -> Outcome {
    let SubagentSubscriptionRequest { level } = request.fields()?;
    match level.as_str() {
        Some("off" | "progress" | "events") => data(&json!({"level": level})),
        _ => {
            let named = level.as_str().map_or_else(|| level.to_string(), str::to_owned);
            Err(format!("Invalid subagent subscription level: {named}").into())
        }
    }
}

fn unknown_subagent(request: &Request) -> Refusal {
    match request.fields() {
        Err(refusal) => refusal,
        Ok(SubagentMessagesRequest { subagent_id: Some(id), .. }) => {
            format!("Unknown subagent or session file unavailable: {id}").into()
        }
        Ok(SubagentMessagesRequest { session_file: Some(_), .. }) => "Unknown subagent session file".into(),
        Ok(_) => "get_subagent_messages requires subagentId or sessionFile".into(),
    }
}

fn unknown_provider(request: &Request) -> Refusal {
    match request.fields() {
        Err(refusal) => refusal,
        Ok(LoginRequest { provider_id }) => format!("Unknown OAuth provider: {provider_id}").into(),
    }
}
