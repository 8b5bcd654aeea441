//! Sends prompts to a session one after the other and enforces limits and signals.

use std::io;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use omp_session::{Command, Obeyed, Session, SessionEvent, SessionHost, TimeLimit, TypedPrompt};
use omp_types::Content;
use tokio::sync::mpsc;

use crate::driven::{Driven, ended, switch};
use crate::exit::Exit;
use crate::outcome::{Outcome, judge};
use crate::presenter::{Presenter, until_tick};

/// External limits of a run.
pub struct Limits {
    pub max_time: Option<Duration>,
    /// Receives the exit code for each signal; polled again after the first one.
    pub signals: mpsc::Receiver<Exit>,
}

/// Runs all prompts in order; the first failure ends the run. A command may switch to another session of the host, which
/// receives the remaining prompts. When this returns, no session is left. Fails if the output cannot be written.
///
/// Boxed: an `async fn` would be compiled again with the binary, which is compiled last and alone.
pub fn drive<'a>(
    driven: Driven,
    host: Option<&'a dyn SessionHost>,
    prompts: Vec<Vec<Content>>,
    presenter: &'a mut dyn Presenter,
    limits: Limits,
) -> LocalBoxFuture<'a, io::Result<Exit>> {
    Box::pin(async move {
        let mut slot = Some(driven);
        let written = converse(&mut slot, host, prompts, presenter, limits).await;
        let ended = ended(slot).await;
        match written {
            Ok(_) if ended.is_err() => Ok(Exit::Failed),
            Ok(exit) => Ok(exit),
            // A closed pipe is the reader's choice and not a failure. Other errors are failures.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Success),
            Err(error) => Err(error),
        }
    })
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
            Ok(Obeyed::Show { text, .. }) => {
                presenter.reply(&text)?;
                continue;
            }
            Ok(Obeyed::Switch(wish)) => {
                next_events = None;
                match switch(slot, host, wish, presenter).await? {
                    Ok(()) => continue,
                    Err(problem) => outcome = Outcome::usage(problem),
                }
                break;
            }
            Err(problem) => {
                outcome = Outcome::usage(problem);
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
            () = until_tick(presenter) => {
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
                        return Ok(stopped.unwrap_or_else(|| judge(session, &end, last_answer.as_deref())));
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
