//! The tool calls of a session for the client: announced while their arguments arrive, updated at a limited rate, and always
//! ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{ArrivingCall, Outcome};
use omp_session::{Session, ToolOutcome, ToolOutput};
use omp_types::{EditorFiles, PartialJson, ToolCall};
use omp_view::{Status, View};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::card;
use crate::editor_terminals::Terminals;
use crate::protocol::{SessionUpdate, ShownCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind};

/// Minimum interval between two updates of one call.
const PACE: Duration = Duration::from_millis(100);
/// Caps the size of old content shown in a diff.
const MAX_OLD: u64 = 1024 * 1024;

/// The calls of one answer.
pub struct Calls {
    session: Session,
    cwd: PathBuf,
    files: Option<Arc<dyn EditorFiles>>,
    open: Vec<Call>,
    /// Makes ids unique, because providers may reuse an id in a later answer.
    count: u64,
    /// The client's terminals, if it has them.
    terminals: Option<Arc<Terminals>>,
}

struct Call {
    /// The id that the client knows.
    shown_id: String,
    /// The model's id, once the arguments are complete.
    id: Option<String>,
    name: String,
    arriving: Arriving,
    next_update: Instant,
    /// Output that waits for the next update.
    waiting: Option<ToolOutput>,
    /// Whether the client was told which terminal it runs in.
    in_terminal: bool,
    old_text: Option<String>,
}

#[derive(Default)]
struct Arriving {
    content_index: usize,
    arguments: Map<String, Value>,
    partial: PartialJson,
}

impl Calls {
    pub fn new(session: Session, cwd: PathBuf) -> Self {
        Self { session, cwd, files: None, open: Vec::new(), count: 0, terminals: None }
    }

    /// Sets the files of a client that has files open.
    pub fn with_files(self, files: Option<Arc<dyn EditorFiles>>) -> Self {
        Self { files, ..self }
    }

    pub fn with_terminals(self, terminals: Option<Arc<Terminals>>) -> Self {
        Self { terminals, ..self }
    }

    /// The model begins to write a call.
    pub fn begin(&mut self, content_index: usize, name: &str) -> SessionUpdate {
        let arriving = Arriving { content_index, ..Arriving::default() };
        let (call, update) = self.announce(name, name, arriving);
        self.open.push(call);
        update
    }

    /// Adds a chunk of arguments; returns a preview if an update is due.
    pub fn arrive(&mut self, content_index: usize, delta: &str) -> Option<SessionUpdate> {
        let call = self.open.iter_mut().find(|call| call.is_arriving(content_index))?;
        call.arriving.partial.push(delta, &mut call.arriving.arguments);
        let now = Instant::now();
        if now < call.next_update {
            return None;
        }
        call.next_update = now + PACE;
        let arguments = Value::Object(call.arriving.arguments.clone());
        let look = ArrivingCall { id: &call.shown_id, arguments: &arguments, is_whole: false };
        let view = self.session.preview(&call.name, look)?;
        Some(call.update(previewed(&view, &self.cwd)))
    }

    /// Sets the complete arguments.
    pub fn arrived(&mut self, content_index: usize, whole: &ToolCall) -> SessionUpdate {
        let arguments = Value::Object(whole.arguments.clone());
        let position = self.open.iter().position(|call| call.is_arriving(content_index));
        let position = position.unwrap_or_else(|| {
            let (call, _) = self.announce(&whole.name, &whole.name, Arriving::default());
            self.open.push(call);
            self.open.len() - 1
        });
        let look = ArrivingCall { id: &self.open[position].shown_id, arguments: &arguments, is_whole: true };
        let view = self.session.preview(&whole.name, look);
        let running = view.is_none().then(|| self.rendered(&whole.name, &arguments, Outcome::Running)).flatten();
        let fields = match (&view, &running) {
            (Some(view), _) => previewed(view, &self.cwd),
            (None, Some(view)) => titled(view, &self.cwd),
            (None, None) => ToolCallUpdate::default(),
        };
        let kind = self.kind(&whole.name);
        let call = &mut self.open[position];
        call.id = Some(whole.id.clone());
        call.name.clone_from(&whole.name);
        call.arriving = Arriving::default();
        let (kind, name, raw_input) = (Some(kind), Some(whole.name.clone()), Some(arguments));
        call.update(ToolCallUpdate { kind, name, raw_input, ..fields })
    }

    /// The call runs, or is about to need approval.
    pub async fn start(&mut self, id: &str, name: &str, arguments: &Value) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        let view = self.rendered(name, arguments, Outcome::Running);
        if self.named(id).is_none() {
            let title = view.as_ref().map_or_else(|| name.to_owned(), card::title);
            let (mut call, update) = self.announce(name, &title, Arriving::default());
            call.id = Some(id.to_owned());
            self.open.push(call);
            updates.push(update);
        }
        let old_text = match view.as_ref().and_then(|view| view.whole_file.as_deref()) {
            Some(path) => self.old_text(path).await,
            None => None,
        };
        let fields = view.map(|view| titled(&view, &self.cwd)).unwrap_or_default();
        if let Some(call) = self.named(id) {
            call.old_text = old_text;
            updates.push(call.update(ToolCallUpdate { status: Some(ToolCallStatus::InProgress), ..fields }));
        }
        updates
    }

    /// Adds output of a running call; returns an update if one is due.
    pub fn progress(&mut self, id: &str, partial: ToolOutput) -> Option<SessionUpdate> {
        let terminal = self.terminals.as_ref().and_then(|terminals| terminals.of_call(id));
        let call = self.named(id)?;
        if let Some(terminal) = terminal {
            // The client shows the output in that terminal as it arrives.
            let content = vec![card::terminal(terminal)];
            let untold = !std::mem::replace(&mut call.in_terminal, true);
            return untold.then(|| call.update(with_content(content)));
        }
        call.waiting = Some(partial);
        if Instant::now() < call.next_update { None } else { call.flush() }
    }

    /// Returns when the next waiting output may be sent.
    pub fn due(&self) -> Option<Instant> {
        self.open.iter().filter(|call| call.waiting.is_some()).map(|call| call.next_update).min()
    }

    pub fn flush(&mut self) -> Vec<SessionUpdate> {
        let now = Instant::now();
        self.open.iter_mut().filter(|call| call.next_update <= now).filter_map(Call::flush).collect()
    }

    pub fn end(&mut self, outcome: &ToolOutcome) -> Option<SessionUpdate> {
        let ToolOutcome { call_id, name, arguments, output } = outcome;
        let position = self.open.iter().position(|call| call.id.as_deref() == Some(call_id))?;
        let call = self.open.remove(position);
        let fields = self.ended(name, arguments, output, call.old_text.clone());
        let terminal = self.terminals.as_ref().and_then(|terminals| terminals.forget(call_id));
        Some(call.update(match terminal {
            Some(terminal) => {
                let content = Some(card::ended_in(terminal, output));
                ToolCallUpdate { content, raw_output: Some(card::raw(output)), ..fields }
            }
            None => fields,
        }))
    }

    /// Ends the calls that never ran because an answer or a run was aborted.
    pub fn give_up(&mut self) -> Vec<SessionUpdate> {
        if let Some(terminals) = &self.terminals {
            self.open.iter().filter_map(|call| call.id.as_deref()).for_each(|id| drop(terminals.forget(id)));
        }
        let failed = |call: Call| call.update(with_status(ToolCallStatus::Failed));
        self.open.drain(..).map(failed).collect()
    }

    /// Returns the client's id of a call; without a call, that of the newest one.
    pub fn shown_id(&self, id: Option<&str>) -> Option<String> {
        let wanted = self.open.iter().rev().find(|call| id.is_none() || call.id.as_deref() == id);
        wanted.map(|call| call.shown_id.clone())
    }

    /// Returns a call of an earlier conversation with its result.
    pub fn past(&mut self, call: &ToolCall, output: Option<&ToolOutput>) -> SessionUpdate {
        let arguments = Value::Object(call.arguments.clone());
        self.count += 1;
        let fields = match output {
            Some(output) => self.ended(&call.name, &arguments, output, None),
            None => with_status(ToolCallStatus::Failed),
        };
        SessionUpdate::ToolCall(ShownCall {
            // An open session may be replayed, so the ids of its old calls must differ from those of new ones.
            tool_call_id: format!("past-{}", self.count),
            title: fields.title.unwrap_or_else(|| call.name.clone()),
            name: call.name.clone(),
            kind: self.kind(&call.name),
            status: fields.status.unwrap_or(ToolCallStatus::Pending),
            content: fields.content.unwrap_or_default(),
            locations: fields.locations.unwrap_or_default(),
            raw_input: Some(arguments),
        })
    }

    fn announce(&mut self, name: &str, title: &str, arriving: Arriving) -> (Call, SessionUpdate) {
        self.count += 1;
        let call = Call {
            shown_id: format!("call-{}", self.count),
            id: None,
            name: name.to_owned(),
            arriving,
            next_update: Instant::now(),
            waiting: None,
            in_terminal: false,
            old_text: None,
        };
        let shown = ShownCall {
            tool_call_id: call.shown_id.clone(),
            title: title.to_owned(),
            name: name.to_owned(),
            kind: self.kind(name),
            status: ToolCallStatus::Pending,
            content: Vec::new(),
            locations: Vec::new(),
            raw_input: None,
        };
        (call, SessionUpdate::ToolCall(shown))
    }

    /// Returns the kind of a tool.
    pub fn kind(&self, tool: &str) -> ToolKind {
        card::kind(self.session.call_kind(tool))
    }

    fn named(&mut self, id: &str) -> Option<&mut Call> {
        self.open.iter_mut().find(|call| call.id.as_deref() == Some(id))
    }

    fn rendered(&self, name: &str, arguments: &Value, outcome: Outcome<&Value>) -> Option<View> {
        self.session.view(name, arguments, outcome)
    }

    fn ended(&self, name: &str, arguments: &Value, output: &ToolOutput, old_text: Option<String>) -> ToolCallUpdate {
        let details = output.details.as_ref();
        let outcome = match details {
            Some(details) => Outcome::Done { details, is_error: output.is_error },
            None if output.is_error => Outcome::Failed,
            None => Outcome::Done { details: &Value::Null, is_error: false },
        };
        let view = self.rendered(name, arguments, outcome);
        let status = if output.is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let Some(view) = view else {
            return ToolCallUpdate { status: Some(status), ..with_content(card::output(output)) };
        };
        let mut content = match card::whole_file(&view).filter(|_| !output.is_error) {
            Some((path, new)) => vec![card::written(self.cwd.join(path), old_text, new)],
            None => card::content(&view, &self.cwd),
        };
        if content.is_empty() || output.is_error {
            content.extend(card::output(output));
        }
        ToolCallUpdate { status: Some(status), content: Some(content), ..titled(&view, &self.cwd) }
    }

    /// Returns the content of a file before it is overwritten.
    async fn old_text(&self, path: &str) -> Option<String> {
        let path = self.cwd.join(path);
        let metadata = tokio::fs::metadata(&path).await.ok()?;
        if !metadata.is_file() || metadata.len() > MAX_OLD {
            return None;
        }
        match self.open_text(path.clone()).await {
            Some(text) => Some(text),
            None => tokio::fs::read_to_string(&path).await.ok(),
        }
    }

    /// Returns the text as the client has it.
    async fn open_text(&self, path: PathBuf) -> Option<String> {
        let files = self.files.clone()?;
        tokio::task::spawn_blocking(move || files.read(&path)).await.ok()?
    }
}

impl Call {
    fn is_arriving(&self, content_index: usize) -> bool {
        self.id.is_none() && self.arriving.content_index == content_index
    }

    fn flush(&mut self) -> Option<SessionUpdate> {
        let partial = self.waiting.take()?;
        self.next_update = Instant::now() + PACE;
        Some(self.update(with_content(card::running(&partial))))
    }

    fn update(&self, fields: ToolCallUpdate) -> SessionUpdate {
        SessionUpdate::ToolCallUpdate(ToolCallUpdate { tool_call_id: self.shown_id.clone(), ..fields })
    }
}

fn titled(view: &View, cwd: &Path) -> ToolCallUpdate {
    let locations = card::locations(view, cwd);
    ToolCallUpdate {
        title: Some(card::title(view)),
        locations: Some(locations).filter(|locations| !locations.is_empty()),
        ..ToolCallUpdate::default()
    }
}

fn with_status(status: ToolCallStatus) -> ToolCallUpdate {
    ToolCallUpdate { status: Some(status), ..ToolCallUpdate::default() }
}

fn with_content(content: Vec<ToolCallContent>) -> ToolCallUpdate {
    ToolCallUpdate { content: Some(content), ..ToolCallUpdate::default() }
}

fn previewed(view: &View, cwd: &Path) -> ToolCallUpdate {
    let content = card::content(view, cwd);
    let failed = view.status == Status::Failed;
    let content = Some(content).filter(|content| !content.is_empty() && !failed);
    ToolCallUpdate { content, ..titled(view, cwd) }
}
