//! Answers the client's requests. No handler waits, so that the next message is read at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse, CancelNotification,
    ClientCapabilities, CloseSessionRequest, CloseSessionResponse, ConfigOptionUpdate, CurrentModeUpdate,
    DeleteSessionRequest, DeleteSessionResponse, Implementation, InitializeRequest, InitializeResponse,
    ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
    SessionCapabilities, SessionCloseCapabilities, SessionDeleteCapabilities, SessionId, SessionInfo,
    SessionListCapabilities, SessionResumeCapabilities, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::v1::{Builder, ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, ErrorCode, HandleDispatchFrom, on_receive_notification, on_receive_request,
};
use omp_policy::ApprovalMode;
use omp_session::{Command, SessionHost, SessionListing, Wish};
use tokio_util::task::TaskTracker;

use crate::live::{Live, lock};
use crate::opening::{ENDING, Held};
use crate::options;
use crate::transport::Flow;

/// Sessions per page of the list.
const PAGE: usize = 100;
const KEYS: &str = "api-key";

pub struct AcpServer {
    pub host: Arc<dyn SessionHost>,
    pub flow: Flow,
    pub capabilities: Mutex<Arc<ClientCapabilities>>,
    pub sessions: Mutex<HashMap<SessionId, Held>>,
    /// Requests in progress.
    requests: TaskTracker,
}

macro_rules! answers {
    ($builder:expr, $server:expr, $($request:ty => $method:ident,)*) => {{
        let builder = $builder;
        $(let server = $server.clone();
        let builder = builder.on_receive_request(
            async move |request: $request, responder, connection: ConnectionTo<Client>| {
                server.$method(request, responder, connection);
                Ok(())
            },
            on_receive_request!(),
        );)*
        builder
    }};
}

/// The agent's side of a connection.
pub fn connection(server: &Arc<AcpServer>) -> Builder<Agent, impl HandleDispatchFrom<Client> + use<>> {
    let builder = answers!(Agent.v1().name("omp"), server,
        InitializeRequest => initialize,
        AuthenticateRequest => authenticate,
        NewSessionRequest => new_session,
        LoadSessionRequest => load_session,
        ResumeSessionRequest => resume_session,
        ListSessionsRequest => list_sessions,
        CloseSessionRequest => close_session,
        DeleteSessionRequest => delete_session,
        SetSessionModeRequest => set_mode,
        SetSessionConfigOptionRequest => set_option,
        PromptRequest => prompt,
    );
    let server = server.clone();
    builder.on_receive_notification(
        async move |cancel: CancelNotification, _: ConnectionTo<Client>| {
            if let Ok(live) = server.live(&cancel.session_id) {
                live.cancel();
            }
            Ok(())
        },
        on_receive_notification!(),
    )
}

impl AcpServer {
    pub fn new(host: Arc<dyn SessionHost>, flow: Flow) -> Self {
        Self { host, flow, capabilities: Mutex::default(), sessions: Mutex::default(), requests: TaskTracker::new() }
    }

    /// Ends all sessions and waits until they are saved.
    pub async fn end(&self) {
        self.flow.close();
        let held: Vec<Held> = lock(&self.sessions).drain().map(|(_, held)| held).collect();
        futures_util::future::join_all(held.into_iter().map(Held::end)).await;
        self.requests.close();
        let _ = tokio::time::timeout(ENDING, self.requests.wait()).await;
    }

    fn initialize(
        &self,
        request: InitializeRequest,
        responder: Responder<InitializeResponse>,
        _: ConnectionTo<Client>,
    ) {
        *lock(&self.capabilities) = Arc::new(request.client_capabilities);
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .delete(SessionDeleteCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .session_capabilities(sessions);
        let keys = AuthMethodAgent::new(KEYS, "API keys").description(
            "omp takes keys from its environment (such as ANTHROPIC_API_KEY) or from models.yml".to_owned(),
        );
        respond(
            responder,
            Ok(InitializeResponse::new(ProtocolVersion::V1)
                .agent_capabilities(capabilities)
                .auth_methods(vec![AuthMethod::Agent(keys)])
                .agent_info(Implementation::new("omp", env!("CARGO_PKG_VERSION")).title("omp".to_owned()))),
        );
    }

    fn authenticate(
        &self,
        request: AuthenticateRequest,
        responder: Responder<AuthenticateResponse>,
        _: ConnectionTo<Client>,
    ) {
        let answer = if *request.method_id.0 != *KEYS {
            Err(invalid(format!("there is no way to authenticate called `{}`\nhint: `{KEYS}`", request.method_id)))
        } else if self.host.models().is_empty() {
            Err(no_key())
        } else {
            Ok(AuthenticateResponse::new())
        };
        respond(responder, answer);
    }

    fn new_session(
        self: &Arc<Self>,
        request: NewSessionRequest,
        responder: Responder<NewSessionResponse>,
        connection: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let wish = Wish::New { cwd: Some(request.cwd.clone()), parent: None };
            match server.begin(wish, &request.cwd, &request.mcp_servers, connection, false).await {
                Err(error) => respond(responder, Err(error)),
                Ok(begun) => {
                    let chosen = lock(&begun.live.chosen).clone();
                    let response = NewSessionResponse::new(begun.live.updates.id.clone())
                        .modes(options::modes(&chosen))
                        .config_options(options::options(&chosen, &server.host.models()))
                        .meta(begun.meta());
                    respond(responder, Ok(response));
                    begun.tell().await;
                }
            }
        });
    }

    fn load_session(
        self: &Arc<Self>,
        request: LoadSessionRequest,
        responder: Responder<LoadSessionResponse>,
        connection: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let found = server.go_on(request.session_id, request.cwd, &request.mcp_servers, connection, true);
            match found.await {
                Err(error) => respond(responder, Err(error)),
                Ok(begun) => {
                    let chosen = lock(&begun.live.chosen).clone();
                    let response = LoadSessionResponse::new()
                        .modes(options::modes(&chosen))
                        .config_options(options::options(&chosen, &server.host.models()))
                        .meta(begun.meta());
                    respond(responder, Ok(response));
                    begun.tell().await;
                }
            }
        });
    }

    fn resume_session(
        self: &Arc<Self>,
        request: ResumeSessionRequest,
        responder: Responder<ResumeSessionResponse>,
        connection: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let found = server.go_on(request.session_id, request.cwd, &request.mcp_servers, connection, false);
            match found.await {
                Err(error) => respond(responder, Err(error)),
                Ok(begun) => {
                    let chosen = lock(&begun.live.chosen).clone();
                    let response = ResumeSessionResponse::new()
                        .modes(options::modes(&chosen))
                        .config_options(options::options(&chosen, &server.host.models()))
                        .meta(begun.meta());
                    respond(responder, Ok(response));
                    begun.tell().await;
                }
            }
        });
    }

    fn list_sessions(
        self: &Arc<Self>,
        request: ListSessionsRequest,
        responder: Responder<ListSessionsResponse>,
        _: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let start = match request.cursor.as_deref().map(str::parse::<usize>) {
                Some(Err(_)) => return respond(responder, Err(invalid("this cursor is not one of ours".to_owned()))),
                Some(Ok(start)) => start,
                None => 0,
            };
            let listed = tokio::task::spawn_blocking(move || server.host.sessions(request.cwd)).await;
            let listed = listed.map_err(Error::into_internal_error).and_then(|listed| listed.map_err(failed));
            respond(responder, listed.map(|listed| page(&listed, start)));
        });
    }

    fn close_session(
        self: &Arc<Self>,
        request: CloseSessionRequest,
        responder: Responder<CloseSessionResponse>,
        _: ConnectionTo<Client>,
    ) {
        let held = lock(&self.sessions).remove(&request.session_id);
        let Some(held) = held else { return respond(responder, Err(unknown(&request.session_id))) };
        self.requests.spawn(async move {
            held.end().await;
            respond(responder, Ok(CloseSessionResponse::new()));
        });
    }

    fn delete_session(
        self: &Arc<Self>,
        request: DeleteSessionRequest,
        responder: Responder<DeleteSessionResponse>,
        _: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            respond(responder, server.delete(request.session_id).await.map(|()| DeleteSessionResponse::new()));
        });
    }

    fn set_mode(
        self: &Arc<Self>,
        request: SetSessionModeRequest,
        responder: Responder<SetSessionModeResponse>,
        _: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let set = server.set(&request.session_id, options::MODE, &request.mode_id.0).await;
            let live = match set {
                Err(error) => return respond(responder, Err(error)),
                Ok(live) => live,
            };
            respond(responder, Ok(SetSessionModeResponse::new()));
            let chosen = lock(&live.chosen).clone();
            let options = ConfigOptionUpdate::new(options::options(&chosen, &server.host.models()));
            live.updates.send(SessionUpdate::ConfigOptionUpdate(options)).await;
        });
    }

    fn set_option(
        self: &Arc<Self>,
        request: SetSessionConfigOptionRequest,
        responder: Responder<SetSessionConfigOptionResponse>,
        _: ConnectionTo<Client>,
    ) {
        let server = self.clone();
        self.requests.spawn(async move {
            let value = request.value.as_value_id().map(|value| value.0.clone()).unwrap_or_default();
            let live = match server.set(&request.session_id, &request.config_id.0, &value).await {
                Err(error) => return respond(responder, Err(error)),
                Ok(live) => live,
            };
            let chosen = lock(&live.chosen).clone();
            let options = options::options(&chosen, &server.host.models());
            respond(responder, Ok(SetSessionConfigOptionResponse::new(options)));
            if *request.config_id.0 == *options::MODE {
                let update = CurrentModeUpdate::new(chosen.mode.as_str());
                live.updates.send(SessionUpdate::CurrentModeUpdate(update)).await;
            }
        });
    }

    fn prompt(self: &Arc<Self>, request: PromptRequest, responder: Responder<PromptResponse>, _: ConnectionTo<Client>) {
        let ticket = match self.live(&request.session_id).and_then(|live| live.ticket()) {
            Err(error) => return respond(responder, Err(error)),
            Ok(ticket) => ticket,
        };
        let withdrawn = responder.cancellation();
        let live = self.live(&request.session_id);
        self.requests.spawn(async move {
            let run = Box::pin(ticket.run(request.prompt));
            tokio::pin!(run);
            let answer = tokio::select! {
                answer = &mut run => answer,
                () = withdrawn.cancelled() => {
                    if let Ok(live) = live {
                        live.cancel();
                    }
                    run.await
                }
            };
            respond(responder, answer);
        });
    }

    pub fn live(&self, id: &SessionId) -> Result<Arc<Live>, Error> {
        lock(&self.sessions).get(id).map(|held| held.live.clone()).ok_or_else(|| unknown(id))
    }

    /// Changes one setting of a session.
    async fn set(&self, id: &SessionId, option: &str, value: &str) -> Result<Arc<Live>, Error> {
        let live = self.live(id)?;
        let no_value = || invalid(format!("`{value}` is no value of `{option}`"));
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
            other => return Err(invalid(format!("there is no option `{other}`"))),
        };
        live.session.send(command).await.map_err(|closed| failed(closed.to_string()))?;
        Ok(live)
    }
}

fn page(listed: &[SessionListing], start: usize) -> ListSessionsResponse {
    let shown = listed.iter().skip(start).take(PAGE);
    let sessions = shown.map(|listing| {
        let about = listing.title.clone().or_else(|| listing.first_message.clone());
        let updated = jiff::Timestamp::try_from(listing.modified).ok().map(|time| time.to_string());
        SessionInfo::new(listing.id.clone(), listing.cwd.clone()).title(about).updated_at(updated)
    });
    let next = (start + PAGE < listed.len()).then(|| (start + PAGE).to_string());
    ListSessionsResponse::new(sessions.collect()).next_cursor(next)
}

/// A client that has disconnected receives no response.
fn respond<T: agent_client_protocol::JsonRpcResponse>(responder: Responder<T>, answer: Result<T, Error>) {
    let _ = responder.respond_with_result(answer);
}

pub fn invalid(why: String) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, why)
}

pub fn failed(why: String) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, why)
}

pub fn unknown(id: &SessionId) -> Error {
    let message = format!("there is no session `{id}`\nhint: session/list names those there are");
    Error::new(ErrorCode::RESOURCE_NOT_FOUND, message).data(serde_json::json!({"sessionId": id}))
}

fn no_key() -> Error {
    let message = "no key for any model provider was found\nhint: set one in omp's environment, such as \
        ANTHROPIC_API_KEY, or name a provider in models.yml, then start omp again";
    Error::new(ErrorCode::AUTH_REQUIRED, message)
}
