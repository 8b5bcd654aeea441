//! Sends prompts to a session one after the other and enforces limits and signals.

use std::io;
use std::time::Duration;

use omp_session::{
    Command, Obeyed, OpenSession, RunEnd, Session, SessionEvent, SessionHost, SessionSwitch, SwitchedSession,
    TimeLimit, TypedPrompt, Wish,
};
use omp_types::{Content, Editor, ErrorKind, Message, ModelError, StopReason};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

use crate::exit::Exit;

/// Presents a session's events in the format of one mode.
pub trait Presenter: Send {
    fn event(&mut self, event: &SessionEvent) -> io::Result<()>;

    /// Returns when to call [`Presenter::tick`], if the output changes over time.
    fn next_tick(&self) -> Option<tokio::time::Instant> {
        None
    }

    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Shows the reply of a slash command.
    fn reply(&mut self, text: &str) -> io::Result<()>;

    /// Called when the following events belong to another session.
    fn switched(&mut self, to: &OpenSession) -> io::Result<()>;

    /// Called after all prompts; `problem` is the reason of a failure.
    fn finish(&mut self, problem: Option<&str>) -> io::Result<()>;
}

/// External limits of a run.
pub struct Limits {
    pub max_time: Option<Duration>,
    /// Receives the exit code for each signal; polled again after the first one.
    pub signals: mpsc::Receiver<Exit>,
}

/// A session and the prompts that are sent to it.
pub struct Driven {
    pub session: Session,
    pub actor: JoinHandle<()>,
}

impl Driven {
    /// Waits until everything that the session owns has ended.
    async fn end(self) -> Result<(), JoinError> {
        let Self { session, actor, .. } = self;
        drop(session);
        actor.await
    }
}

impl From<OpenSession> for Driven {
    fn from(opened: OpenSession) -> Self {
        let OpenSession { session, actor, .. } = opened;
        Self { session, actor }
    }
}

/// Runs all prompts in order; the first failure ends the run. A command may switch to another session of the host, which
/// receives the remaining prompts. When this returns, no session is left. Fails if the output cannot be written.
pub async fn drive(
    driven: Driven,
    host: Option<&dyn SessionHost>,
    prompts: Vec<Vec<Content>>,
    presenter: &mut dyn Presenter,
    limits: Limits,
) -> io::Result<Exit> {
    let mut slot = Some(driven);
    let written = converse(&mut slot, host, prompts, presenter, limits).await;
    let ended = match slot {
        Some(driven) => driven.end().await,
        None => Ok(()),
    };
    match written {
        Ok(_) if ended.is_err() => Ok(Exit::Failed),
        Ok(exit) => Ok(exit),
        // A closed pipe is the reader's choice and not a failure. Other errors are failures.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(error),
    }
}

/// The slot is empty afterwards if the old session was closed and the next one could not be opened.
async fn converse(
    slot: &mut Option<Driven>,
    host: Option<&dyn SessionHost>,
    prompts: Vec<Vec<Content>>,
    presenter: &mut dyn Presenter,
    mut limits: Limits,
) -> io::Result<Exit> {
    // Subscribed before the first prompt of a session.
    let mut next_events = None;
    let limit = TimeLimit::begin(limits.max_time);
    let mut outcome = Outcome { exit: Exit::Success, problem: None };
    for prompt in prompts {
        let Some(driven) = slot.as_ref() else { break };
        let events = next_events.get_or_insert_with(|| driven.session.events());
        let command = match driven.session.obey(TypedPrompt::last_text(prompt).refusing_attachments()).await {
            Ok(Obeyed::Send(command)) => command,
            Ok(Obeyed::Show(text) | Obeyed::Copy(text)) => {
                presenter.reply(&text)?;
                continue;
            }
            Ok(Obeyed::Switch(wish)) => match switch(slot, host, wish, presenter).await? {
                Ok(()) => {
                    next_events = None;
                    continue;
                }
                Err(problem) => {
                    outcome = Outcome { exit: Exit::Usage, problem: Some(problem) };
                    break;
                }
            },
            Err(problem) => {
                outcome = Outcome { exit: Exit::Usage, problem: Some(problem) };
                break;
            }
        };
        if driven.session.send(command).await.is_err() {
            outcome = Outcome::failed("the session has ended");
            break;
        }
        outcome = watch(&driven.session, events, presenter, limit, &mut limits.signals).await?;
        if outcome.exit != Exit::Success {
            break;
        }
    }
    presenter.finish(outcome.problem.as_deref())?;
    Ok(outcome.exit)
}

/// Switches to another session. If it cannot be opened the old one stays, unless it had to be closed first.
async fn switch(
    slot: &mut Option<Driven>,
    host: Option<&dyn SessionHost>,
    wish: Wish,
    presenter: &mut dyn Presenter,
) -> io::Result<Result<(), String>> {
    let Some(host) = host else { return Ok(Err("there is no other session to go to here".to_owned())) };
    let switch = SessionSwitch::new(wish, None);
    let before = if switch.lets_go_first() { slot.take() } else { None };
    if let Err(problem) = ended(before).await {
        return Ok(Err(problem));
    }
    let SwitchedSession { opened, ends } = match switch.open(host, Editor::default()).await {
        Ok(switched) => switched,
        // The run ends, so the old session is not resumed.
        Err(failed) => return Ok(Err(failed.problem)),
    };
    slot.iter().for_each(|old| old.session.ends_by(ends));
    presenter.switched(&opened)?;
    Ok(ended(slot.replace(opened.into())).await)
}

async fn ended(old: Option<Driven>) -> Result<(), String> {
    let Some(old) = old else { return Ok(()) };
    old.end().await.map_err(|error| format!("the old session did not end well: {error}"))
}

struct Outcome {
    exit: Exit,
    problem: Option<String>,
}

impl Outcome {
    fn failed(problem: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, problem: Some(problem.into()) }
    }

    fn limit(problem: impl Into<String>) -> Self {
        Self { exit: Exit::Limit, problem: Some(problem.into()) }
    }
}

/// Handles events until one prompt has ended.
async fn watch(
    session: &Session,
    events: &mut mpsc::Receiver<SessionEvent>,
    presenter: &mut dyn Presenter,
    limit: TimeLimit,
    signals: &mut mpsc::Receiver<Exit>,
) -> io::Result<Outcome> {
    let mut last_answer = None;
    let mut stopped: Option<Outcome> = None;
    loop {
        tokio::select! {
            biased;
            Some(exit) = signals.recv() => {
                if stopped.as_ref().is_some_and(|outcome| outcome.exit != Exit::Limit) {
                    return Ok(Outcome { exit, problem: None });
                }
                stopped = Some(Outcome { exit, problem: Some("aborted".to_owned()) });
                abort(session).await;
            }
            () = limit.reached(), if stopped.is_none() => {
                stopped = Some(Outcome::limit(TimeLimit::REACHED));
                abort(session).await;
            }
            () = until(presenter.next_tick()) => {
                if let Err(error) = presenter.tick() {
                    abort(session).await;
                    return Err(error);
                }
            }
            event = events.recv() => {
                let Some(event) = event else { return Ok(Outcome::failed("the session has ended")) };
                if let Err(error) = presenter.event(&event) {
                    abort(session).await;
                    return Err(error);
                }
                match event {
                    SessionEvent::Agent(omp_session::AgentEvent::MessageEnd { message }) => last_answer = Some(message),
                    SessionEvent::Idle { end, .. } => {
                        return Ok(stopped.unwrap_or_else(|| judge(session, end, last_answer.as_deref())));
                    }
                    _ => {}
                }
            }
        }
    }
}

async fn abort(session: &Session) {
    // A session that has ended needs no abort.
    let _ = session.send(Command::Abort).await;
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn judge(session: &Session, end: RunEnd, last: Option<&Message>) -> Outcome {
    match end {
        RunEnd::Finished => match last.and_then(Message::as_assistant).map(|answer| answer.stop_reason) {
            Some(StopReason::Length) => Outcome::limit("the answer was cut off by the model's output limit"),
            _ => Outcome { exit: Exit::Success, problem: None },
        },
        RunEnd::Failed(error) => Outcome::failed(with_hint(&error, session.snapshot().file.is_some())),
        RunEnd::Fatal(reason) => Outcome::failed(reason),
        RunEnd::OverBudget(reason) => Outcome::limit(reason),
        RunEnd::Stopped(reason) => Outcome::failed(reason),
        RunEnd::TurnLimit => Outcome::limit("the turn limit is reached before the work was done"),
        RunEnd::Aborted => Outcome { exit: Exit::Interrupted, problem: Some("aborted".to_owned()) },
    }
}

/// Adds a hint to a failure that has none of its own.
fn with_hint(error: &ModelError, recorded: bool) -> String {
    let hint = match error.kind {
        _ if error.message.contains("hint: ") => return error.message.clone(),
        ErrorKind::Refused => "put it in other words, or try another --model",
        kind if !kind.retryable() => return error.message.clone(),
        _ if recorded => "nothing is lost; go on later with `omp -c -p \"go on\"`, or try another --model",
        _ => "try again later, or with another --model",
    };
    format!("{}\nhint: {hint}", error.message)
}
