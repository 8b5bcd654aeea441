//! `get_state`, `get_session_stats`, and settings besides models and queues.

use std::borrow::Cow;

use omp_session::{SandboxState, SessionStats, Snapshot, stats};
use omp_types::ToolSpec;
use omp_wire::{ContainmentBody, ContextUsageBody, SetTodosRequest, StateReply, TodosReply, UndoBody};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::activity::LastAnswer;
use super::current::Current;
use super::frame::{Outcome, data};
use super::input::Request;
use super::queues::{interrupt_name, mode_name};

/// Shorter answers are too short to measure speed.
const MIN_DURATION: f64 = 100.0;
/// Estimated bytes per token, until the provider has reported a count.
const BYTES_PER_TOKEN: usize = 4;

pub fn get_state(current: &Current) -> Outcome {
    let snapshot = current.session.snapshot();
    let system = current.session.system_prompt();
    let tools = current.session.tools();
    let dump_tools = dumped(tools.specs()).map_err(|error| error.to_string())?;
    let last = current.activity.last_answer();
    let safeguards = &current.safeguards;
    data(&StateReply {
        model: Cow::Borrowed(&*snapshot.model),
        thinking_level: snapshot.thinking.as_str().into(),
        is_streaming: current.activity.works(),
        is_compacting: snapshot.compacting,
        steering_mode: mode_name(snapshot.modes.steering).into(),
        follow_up_mode: mode_name(snapshot.modes.follow_up).into(),
        interrupt_mode: interrupt_name(snapshot.modes.interrupt).into(),
        session_file: snapshot.file.as_ref().map(|file| file.display().to_string()),
        session_id: snapshot.session_id.as_str().into(),
        session_name: snapshot.title.as_deref().map(Cow::Borrowed),
        auto_compaction_enabled: snapshot.auto_compaction,
        queued_message_count: snapshot.queued,
        todo_phases: json!(current.todos.as_ref().map(|todos| todos.phases()).unwrap_or_default()),
        fast_mode_enabled: false,
        tokens_per_second: last.and_then(speed),
        fast_mode_active: false,
        message_count: snapshot.message_count,
        system_prompt: [Cow::Borrowed(&*system)],
        dump_tools: Cow::Borrowed(&*dump_tools),
        context_usage: context_usage(&snapshot, last, system.len() + dump_tools.get().len()),
        containment: safeguards.containment.as_ref().map(containment),
        trusted: safeguards.trusted,
        undo: UndoBody { enabled: safeguards.undo.enabled },
    })
}

fn containment(contained: &SandboxState) -> ContainmentBody<'_> {
    ContainmentBody {
        mode: contained.mode,
        network: contained.network,
        rung: contained.rung.into(),
        missing: Cow::Borrowed(&contained.missing),
        refused: contained.refused.as_deref().map(Cow::Borrowed),
    }
}

fn dumped(specs: &[ToolSpec]) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(specs)
}

fn speed(last: LastAnswer) -> Option<f64> {
    let duration = last.duration.filter(|duration| *duration >= MIN_DURATION)?;
    (last.output_tokens > 0).then(|| last.output_tokens as f64 * 1000.0 / duration)
}

/// Uses the provider's last count, or an estimate from the bytes of the request prefix.
fn context_usage(snapshot: &Snapshot, last: Option<LastAnswer>, prefix: usize) -> ContextUsageBody {
    let tokens = last.map_or((prefix / BYTES_PER_TOKEN) as u64, |last| last.prompt_tokens);
    let context_window = snapshot.model.context_window;
    ContextUsageBody { tokens, context_window, percent: tokens as f64 * 100.0 / context_window.max(1) as f64 }
}

pub fn get_session_stats(current: &Current) -> Outcome {
    let snapshot = current.session.snapshot();
    let messages = current.session.messages();
    let counted = stats(&snapshot.session_id, messages.iter().map(|message| &**message), snapshot.model.context_window);
    let counted = counted.with_spending(&snapshot.spending);
    data(&SessionStats { session_file: snapshot.file.clone(), ..counted })
}

pub fn set_todos(current: &Current, request: &Request) -> Outcome {
    let SetTodosRequest { phases } = request.fields()?;
    let todos = current.todos.as_ref().ok_or("the todo tool is off, so there is no list")?;
    todos.set_phases(phases)?;
    data(&TodosReply { todo_phases: json!(todos.phases()) })
}
