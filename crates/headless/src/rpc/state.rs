//! `get_state`, `get_session_stats` and what can be set besides models and queues.

use omp_session::{Safeguards, SessionStats, Snapshot, stats};
use omp_types::{Model, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::activity::LastAnswer;
use super::current::Current;
use super::frame::{Outcome, data};
use super::input::Request;
use super::queues::{interrupt_name, mode_name};

/// An answer that was quicker says nothing about speed.
const MIN_DURATION: f64 = 100.0;
/// Bytes of a prompt that make a token, as long as no provider has counted.
const BYTES_PER_TOKEN: usize = 4;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    #[serde(flatten)]
    session: SessionState<'a>,
    auto_compaction_enabled: bool,
    queued_message_count: usize,
    todo_phases: Value,
    fast_mode_enabled: bool,
    tokens_per_second: Option<f64>,
    fast_mode_active: bool,
    message_count: usize,
    system_prompt: [&'a str; 1],
    dump_tools: &'a RawValue,
    context_usage: ContextUsage,
    #[serde(flatten)]
    safeguards: &'a Safeguards,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionState<'a> {
    model: &'a Model,
    thinking_level: &'static str,
    is_streaming: bool,
    is_compacting: bool,
    steering_mode: &'static str,
    follow_up_mode: &'static str,
    interrupt_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_file: Option<String>,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_name: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContextUsage {
    tokens: u64,
    context_window: u64,
    percent: f64,
}

pub fn get_state(current: &Current) -> Outcome {
    let snapshot = current.session.snapshot();
    let system = current.session.system_prompt();
    let tools = current.session.tools();
    let dump_tools = dumped(tools.specs()).map_err(|error| error.to_string())?;
    let last = current.activity.last_answer();
    data(&State {
        session: session_state(&snapshot, current.activity.works()),
        auto_compaction_enabled: snapshot.auto_compaction,
        queued_message_count: snapshot.queued,
        todo_phases: current.todos.as_ref().map_or_else(|| json!([]), |todos| todos.phases()),
        fast_mode_enabled: false,
        tokens_per_second: last.and_then(speed),
        fast_mode_active: false,
        message_count: snapshot.message_count,
        system_prompt: [&system],
        dump_tools: &dump_tools,
        context_usage: context_usage(&snapshot, last, system.len() + dump_tools.get().len()),
        safeguards: &current.safeguards,
    })
}

fn session_state(snapshot: &Snapshot, works: bool) -> SessionState<'_> {
    SessionState {
        model: &snapshot.model,
        thinking_level: snapshot.thinking.as_str(),
        is_streaming: works,
        is_compacting: snapshot.compacting,
        steering_mode: mode_name(snapshot.modes.steering),
        follow_up_mode: mode_name(snapshot.modes.follow_up),
        interrupt_mode: interrupt_name(snapshot.modes.interrupt),
        session_file: snapshot.file.as_ref().map(|file| file.display().to_string()),
        session_id: &snapshot.session_id,
        session_name: snapshot.title.as_deref(),
    }
}

fn dumped(specs: &[ToolSpec]) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(specs)
}

fn speed(last: LastAnswer) -> Option<f64> {
    let duration = last.duration.filter(|duration| *duration >= MIN_DURATION)?;
    (last.output_tokens > 0).then(|| last.output_tokens as f64 * 1000.0 / duration)
}

/// As the provider counted last, or estimated from the bytes of what every request begins with.
fn context_usage(snapshot: &Snapshot, last: Option<LastAnswer>, prefix: usize) -> ContextUsage {
    let tokens = last.map_or((prefix / BYTES_PER_TOKEN) as u64, |last| last.prompt_tokens);
    let context_window = snapshot.model.context_window;
    ContextUsage { tokens, context_window, percent: tokens as f64 * 100.0 / context_window.max(1) as f64 }
}

pub fn get_session_stats(current: &Current) -> Outcome {
    let snapshot = current.session.snapshot();
    let messages = current.session.messages();
    let counted = stats(&snapshot.session_id, messages.iter().map(|message| &**message), snapshot.model.context_window);
    let counted = counted.with_spending(&snapshot.spending);
    data(&SessionStats { session_file: snapshot.file.clone(), ..counted })
}

#[derive(Deserialize)]
struct Phases {
    phases: Value,
}

pub fn set_todos(current: &Current, request: &Request) -> Outcome {
    let Phases { phases } = request.fields()?;
    let todos = current.todos.as_ref().ok_or("the todo tool is off, so there is no list to set")?;
    todos.set_phases(phases)?;
    data(&json!({"todoPhases": todos.phases()}))
}
