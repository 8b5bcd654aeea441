//! How a prompt ended, as an exit code and a text for people.

use omp_session::{RunEnd, Session};
use omp_types::{ErrorKind, Message, ModelError, StopReason};

use crate::exit::Exit;

pub(crate) struct Outcome {
    pub(crate) exit: Exit,
    pub(crate) problem: Option<String>,
}

impl Outcome {
    pub(crate) fn failed(problem: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, problem: Some(problem.into()) }
    }

    pub(crate) fn usage(problem: String) -> Self {
        Self { exit: Exit::Usage, problem: Some(problem) }
    }

    pub(crate) fn limit(problem: impl Into<String>) -> Self {
        Self { exit: Exit::Limit, problem: Some(problem.into()) }
    }
}

/// What the end of a run means for the exit code.
pub(crate) fn judge(session: &Session, end: &RunEnd, last: Option<&Message>) -> Outcome {
    let exit = match end {
        RunEnd::Finished => return finished(last),
        RunEnd::Failed(error) => return Outcome::failed(with_hint(error, session.snapshot().file.is_some())),
        RunEnd::Aborted => return Outcome { exit: Exit::Interrupted, problem: Some("aborted".to_owned()) },
        RunEnd::Fatal(_) | RunEnd::Stopped(_) => Exit::Failed,
        RunEnd::OverBudget(_) | RunEnd::TurnLimit => Exit::Limit,
    };
    Outcome { exit, problem: end.problem().map(str::to_owned) }
}

fn finished(last: Option<&Message>) -> Outcome {
    match last.and_then(Message::as_assistant).map(|answer| answer.stop_reason) {
        Some(StopReason::Length) => Outcome::limit("the answer was cut off by the model's output limit"),
        _ => Outcome { exit: Exit::Success, problem: None },
    }
}

/// Adds a hint to a failure that has none of its own.
fn with_hint(error: &ModelError, recorded: bool) -> String {
    let hint = match error.kind {
        _ if error.message.contains("hint: ") => return error.message.clone(),
        ErrorKind::Refused => "rephrase the message, or try another --model",
        kind if !kind.retryable() => return error.message.clone(),
        _ if recorded => "the session is saved; continue later with `omp -c -p \"continue\"`, or try another --model",
        _ => "try again later, or with another --model",
    };
    format!("{}\nhint: {hint}", error.message)
}
