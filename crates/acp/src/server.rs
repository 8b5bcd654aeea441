//! Answers the client's requests. No handler waits, so that the next message is read at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use omp_jsonrpc::{Handler, IncomingRequest, Peer, Responder, RpcError};
use omp_policy::ApprovalMode;
use omp_session::{Command, SessionHost, SessionListing, Wish};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::EditorClient;
use crate::live::{Live, lock};
use crate::opening::{Begun, ENDING, Held};
use crate::options;
use crate::protocol::{
    self, AUTH_REQUIRED, AuthenticateRequest, ClientCapabilities, InitializeRequest, ListSessionsRequest,
    ListedSessions, NewSessionRequest, PromptRequest, PromptResponse, RESOURCE_NOT_FOUND, SessionId, SessionInfo,
    SessionRequest, SessionUpdate, SetModeRequest, SetOptionRequest, StoredSessionRequest,
};

/// Sessions per page of the list.
const PAGE: usize = 100;
const KEYS: &str = "api-key";
const INITIALIZE: &str = "initialize";

pub struct AcpServer {
    pub host: Arc<dyn SessionHost>,
    pub capabilities: Mutex<Arc<ClientCapabilities>>,
    pub sessions: Mutex<HashMap<SessionId, Held>>,
    greeting: Mutex<Greeting>,
    /// Cancelled when the connection is closing.
    closing: CancellationToken,
    /// Requests in progress.
    requests: TaskTracker,
}

/// How far the client has come with `initialize`, which must be its first request.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Greeting {
    #[default]
    Missing,
    /// The client may repeat it before its first other request.
    Done,
    Over,
}

/// The agent's side of a connection.
pub struct AcpHandler(pub Arc<AcpServer>);

impl Handler for AcpHandler {
    fn take_request(&self, peer: &Peer, request: IncomingRequest) -> Option<IncomingRequest> {
        let IncomingRequest { method, params, responder } = request;
        let server = &self.0;
        if let Err(refused) = server.admit(&method) {
            responder.respond_soon(Err(refused));
            return None;
        }
        let client = || EditorClient::new(peer.clone(), server.closing.clone());
        match method.as_str() {
            INITIALIZE => server.initialize(params, responder),
            "authenticate" => read(params, responder, |request, back| server.authenticate(&request, back)),
            "session/new" => read(params, responder, |request, back| server.new_session(request, back, client())),
            "session/load" => read(params, responder, |request, back| server.go_to(request, back, client(), true)),
            "session/resume" => read(params, responder, |request, back| server.go_to(request, back, client(), false)),
            "session/list" => {
                read(params, responder, |request: Option<_>, back| {
                    server.list_sessions(request.unwrap_or_default(), back)
                });
            }
            "session/close" => read(params, responder, |request, back| server.close_session(&request, back)),
            "session/delete" => read(params, responder, |request, back| server.delete_session(request, back)),
            "session/set_mode" => read(params, responder, |request, back| server.set_mode(request, back)),
            "session/set_config_option" => read(params, responder, |request, back| server.set_option(request, back)),
            "session/prompt" => read(params, responder, |request, back| server.prompt(request, back)),
            _ => {
                let unknown = RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found").with_data(method);
                responder.respond_soon(Err(unknown));
            }
        }
        None
    }

    /// Applies to the prompts that were read before, so it happens before the next message is read.
    fn notification(&self, _: &Peer, method: &str, params: Value) -> BoxFuture<'static, ()> {
        if method == "session/cancel"
            && let Ok(cancel) = protocol::parameters::<SessionRequest>(params)
            && let Ok(live) = self.0.live(&cancel.session_id)
        {
            live.cancel();
        }
        Box::pin(std::future::ready(()))
    }
}

/// Calls `take` with the parameters of a request, or answers that they cannot be read.
fn read<T: DeserializeOwned>(params: Value, responder: Responder, take: impl FnOnce(T, Responder)) {
    match protocol::parameters(params) {
        Ok(request) => take(request, responder),
        Err(error) => responder.respond_soon(Err(error)),
    }
}

impl AcpServer {
    pub fn new(host: Arc<dyn SessionHost>) -> Self {
        Self {
            host,
            capabilities: Mutex::default(),
            sessions: Mutex::default(),
            greeting: Mutex::default(),
            closing: CancellationToken::new(),
            requests: TaskTracker::new(),
        }
    }

    /// Ends all sessions and waits until they are saved.
    pub async fn end(&self) {
        self.closing.cancel();
        let held: Vec<Held> = lock(&self.sessions).drain().map(|(_, held)| held).collect();
        futures_util::future::join_all(held.into_iter().map(Held::end)).await;
        self.requests.close();
        let _ = tokio::time::timeout(ENDING, self.requests.wait()).await;
    }

    /// Refuses requests before `initialize`, and an `initialize` after other requests.
    fn admit(&self, method: &str) -> Result<(), RpcError> {
        let refused = |why: String| Err(RpcError::new(RpcError::INVALID_REQUEST, "Invalid request").with_data(why));
        let mut greeting = lock(&self.greeting);
        match (*greeting, method == INITIALIZE) {
            (Greeting::Missing | Greeting::Done, true) => Ok(()),
            (Greeting::Over, true) => refused(
                "ACP initialization cannot be repeated after any other request; reconnect to initialize again"
                    .to_owned(),
            ),
            (Greeting::Missing, false) => {
                refused(format!("ACP initialization must complete before `{method}` can be used"))
            }
            (Greeting::Done | Greeting::Over, false) => {
                *greeting = Greeting::Over;
                Ok(())
            }
        }
    }

    fn initialize(&self, params: Value, responder: Responder) {
        let answer = InitializeRequest::read(params).map(|request| {
            *lock(&self.capabilities) = Arc::new(request.client_capabilities);
            *lock(&self.greeting) = Greeting::Done;
            let keys = "omp takes keys from its environment (such as ANTHROPIC_API_KEY) or from models.yml";
            protocol::agent(KEYS, keys)
        });
        responder.respond_soon(answer);
    }

    fn authenticate(&self, request: &AuthenticateRequest, responder: Responder) {
        let answer = if request.method_id != KEYS {
            Err(invalid(format!("unknown authentication method `{}`\nhint: use `{KEYS}`", request.method_id)))
        } else if self.host.models().is_empty() {
            Err(no_key())
        } else {
            Ok(json!({}))
        };
        responder.respond_soon(answer);
    }

    fn new_session(self: &Arc<Self>, request: NewSessionRequest, responder: Responder, client: EditorClient) {
        let server = self.clone();
        self.requests.spawn(async move {
            let wish = Wish::New { cwd: Some(request.cwd.clone()), parent: None };
            let begun = server.begin(wish, &request.cwd, &request.mcp_servers, client, false).await;
            server.answer_opened(begun, responder, true).await;
        });
    }

    /// Loads a session, which tells its conversation again, or resumes it.
    fn go_to(
        self: &Arc<Self>,
        request: StoredSessionRequest,
        responder: Responder,
        client: EditorClient,
        told_again: bool,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let StoredSessionRequest { session_id, cwd, mcp_servers } = request;
            let begun = server.go_on(session_id, cwd, &mcp_servers, client, told_again).await;
            server.answer_opened(begun, responder, false).await;
        });
    }

    async fn answer_opened(&self, begun: Result<Begun, RpcError>, responder: Responder, is_new: bool) {
        match begun {
            Err(error) => responder.respond(Err(error)).await,
            Ok(begun) => {
                let id = is_new.then(|| begun.live.updates.id.clone());
                respond(responder, Ok(begun.opened(id, &self.host.models()))).await;
                begun.tell().await;
            }
        }
    }

    fn list_sessions(self: &Arc<Self>, request: ListSessionsRequest, responder: Responder) {
        let server = self.clone();
        self.requests.spawn(async move {
            let start = match request.cursor.as_deref().map(str::parse::<usize>) {
                Some(Err(_)) => {
                    return responder.respond(Err(invalid("unknown cursor".to_owned()))).await;
                }
                Some(Ok(start)) => start,
                None => 0,
            };
            let listed = tokio::task::spawn_blocking(move || server.host.sessions(request.cwd)).await;
            let listed = listed.map_err(|error| internal(&error)).and_then(|listed| listed.map_err(failed));
            respond(responder, listed.map(|listed| page(&listed, start))).await;
        });
    }

    fn close_session(self: &Arc<Self>, request: &SessionRequest, responder: Responder) {
        let held = lock(&self.sessions).remove(&request.session_id);
        let Some(held) = held else { return responder.respond_soon(Err(unknown(&request.session_id))) };
        self.requests.spawn(async move {
            held.end().await;
            responder.respond(Ok(json!({}))).await;
        });
    }

    fn delete_session(self: &Arc<Self>, request: SessionRequest, responder: Responder) {
        let server = self.clone();
        self.requests.spawn(async move {
            responder.respond(server.delete(request.session_id).await.map(|()| json!({}))).await;
        });
    }

    fn set_mode(self: &Arc<Self>, request: SetModeRequest, responder: Responder) {
        let server = self.clone();
        self.requests.spawn(async move {
            let set = server.set(&request.session_id, options::MODE, &request.mode_id).await;
            let live = match set {
                Err(error) => return responder.respond(Err(error)).await,
                Ok(live) => live,
            };
            responder.respond(Ok(json!({}))).await;
            let chosen = lock(&live.chosen).clone();
            let config_options = options::options(&chosen, &server.host.models());
            live.updates.send(SessionUpdate::ConfigOptionUpdate { config_options }).await;
        });
    }

    fn set_option(self: &Arc<Self>, request: SetOptionRequest, responder: Responder) {
        let server = self.clone();
        self.requests.spawn(async move {
            let value = request.value.as_str().unwrap_or_default();
            let live = match server.set(&request.session_id, &request.config_id, value).await {
                Err(error) => return responder.respond(Err(error)).await,
                Ok(live) => live,
            };
            let chosen = lock(&live.chosen).clone();
            let config_options = options::options(&chosen, &server.host.models());
            responder.respond(Ok(json!({"configOptions": config_options}))).await;
            if request.config_id == options::MODE {
                let update = SessionUpdate::CurrentModeUpdate { current_mode_id: chosen.mode.as_str() };
                live.updates.send(update).await;
            }
        });
    }

    fn prompt(self: &Arc<Self>, request: PromptRequest, responder: Responder) {
        let live = self.live(&request.session_id);
        let (live, ticket) = match live.and_then(|live| live.ticket().map(|ticket| (live, ticket))) {
            Err(error) => return responder.respond_soon(Err(error)),
            Ok(found) => found,
        };
        let withdrawn = responder.cancellation();
        self.requests.spawn(async move {
            let run = Box::pin(ticket.run(request.prompt));
            tokio::pin!(run);
            let answer = tokio::select! {
                answer = &mut run => answer,
                () = withdrawn.cancelled() => {
                    live.cancel();
                    run.await
                }
            };
            respond(responder, answer.map(|stop_reason| PromptResponse { stop_reason })).await;
        });
    }

    pub fn live(&self, id: &SessionId) -> Result<Arc<Live>, RpcError> {
        lock(&self.sessions).get(id).map(|held| held.live.clone()).ok_or_else(|| unknown(id))
    }

    /// Changes one setting of a session.
    async fn set(&self, id: &SessionId, option: &str, value: &str) -> Result<Arc<Live>, RpcError> {
        let live = self.live(id)?;
        let no_value = || invalid(format!("`{value}` is not a valid value of `{option}`"));
        let command = match option {
            options::MODE => {
                let mode = ApprovalMode::named(value).ok_or_else(no_value)?;
                lock(&live.chosen).mode = mode;
                Command::SetApprovalMode(mode)
            }
            options::MODEL => {
                let models = self.host.models();
                let model = models.iter().find(|model| options::model_id(model) == value).ok_or_else(no_value)?;
                lock(&live.chosen).model = model.clone();
                Command::SetModel(model.clone())
            }
            options::THINKING => {
                let level = value.parse().map_err(invalid)?;
                lock(&live.chosen).thinking = level;
                Command::SetThinking(level)
            }
            other => return Err(invalid(format!("unknown option `{other}`"))),
        };
        live.session.send(command).await.map_err(|closed| failed(closed.to_string()))?;
        Ok(live)
    }
}

fn page(listed: &[SessionListing], start: usize) -> ListedSessions {
    let shown = listed.iter().skip(start).take(PAGE);
    let sessions = shown.map(|listing| SessionInfo {
        session_id: listing.id.clone(),
        cwd: listing.cwd.clone(),
        title: listing.title.clone().or_else(|| listing.first_message.clone()),
        updated_at: jiff::Timestamp::try_from(listing.modified).ok().map(|time| time.to_string()),
    });
    let next_cursor = (start + PAGE < listed.len()).then(|| (start + PAGE).to_string());
    ListedSessions { sessions: sessions.collect(), next_cursor }
}

/// A client that has disconnected receives no response.
async fn respond<T: Serialize>(responder: Responder, answer: Result<T, RpcError>) {
    let answer = answer.and_then(|answer| serde_json::to_value(answer).map_err(|error| internal(&error)));
    responder.respond(answer).await;
}

pub fn invalid(why: String) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, why)
}

pub fn failed(why: String) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, why)
}

pub fn internal(error: &dyn std::error::Error) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, "Internal error").with_data(error.to_string())
}

pub fn unknown(id: &SessionId) -> RpcError {
    let message = format!("unknown session `{id}`\nhint: session/list lists the sessions");
    RpcError::new(RESOURCE_NOT_FOUND, message).with_data(json!({"sessionId": id}))
}

fn no_key() -> RpcError {
    let message = "no API key found\nhint: set one in omp's environment, such as ANTHROPIC_API_KEY, or add a provider to models.yml, then restart omp";
    RpcError::new(AUTH_REQUIRED, message)
}
