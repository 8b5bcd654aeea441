//! One session of a connection: its queue of prompts, their cancellation, its settings.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_jsonrpc::RpcError;
use omp_session::{Answer, Command, Obeyed, RunEnd, Safeguards, Session, TodoBoard, TypedPrompt, Wish};
use omp_types::{ErrorKind, TaskPhase};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::options::Chosen;
use crate::protocol::{AUTH_REQUIRED, AvailableCommand, CommandInput, PromptBlock, SessionUpdate, StopReason};
use crate::updates::Updates;
use crate::{plan, prompt};

/// Caps the prompts queued behind the running one.
const MAX_WAITING: usize = 16;

pub struct Live {
    pub session: Session,
    pub cwd: PathBuf,
    pub updates: Updates,
    pub chosen: Mutex<Chosen>,
    /// Tools that the user has decided about for the rest of the session.
    pub decided: Mutex<HashMap<String, Answer>>,
    /// Cancelled when the session ends.
    pub closed: CancellationToken,
    pub todos: Option<Arc<dyn TodoBoard>>,
    pub safeguards: Safeguards,
    turns: Turns,
    told_plan: Mutex<Vec<TaskPhase>>,
}

/// The running and queued prompts, and how to stop them.
#[derive(Default)]
struct Turns {
    running: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
    cancel: Mutex<CancellationToken>,
    end: Mutex<Option<oneshot::Sender<Ended>>>,
}

/// How a prompt ended.
pub struct Ended {
    pub end: RunEnd,
    /// The last answer was cut off by the model's output limit.
    pub cut_off: bool,
}

/// The place of a prompt in the queue. Taken before later messages are read, so that a cancel applies to it.
pub struct Ticket {
    live: Arc<Live>,
    pub cancel: CancellationToken,
}

impl Live {
    pub fn new(
        session: Session,
        cwd: PathBuf,
        updates: Updates,
        todos: Option<Arc<dyn TodoBoard>>,
        safeguards: Safeguards,
    ) -> Self {
        Self {
            chosen: Mutex::new(Chosen::from(&*session.snapshot())),
            session,
            cwd,
            updates,
            decided: Mutex::default(),
            closed: CancellationToken::new(),
            todos,
            safeguards,
            turns: Turns::default(),
            told_plan: Mutex::default(),
        }
    }

    pub fn ticket(self: &Arc<Self>) -> Result<Ticket, RpcError> {
        if self.turns.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING {
            self.turns.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(RpcError::new(RpcError::INVALID_REQUEST, "too many prompts are queued for this session"));
        }
        Ok(Ticket { live: self.clone(), cancel: lock(&self.turns.cancel).clone() })
    }

    /// Cancels the running and all queued prompts.
    pub fn cancel(&self) {
        std::mem::take(&mut *lock(&self.turns.cancel)).cancel();
    }

    /// Returns the token of the running and queued prompts.
    pub fn cancellation(&self) -> CancellationToken {
        lock(&self.turns.cancel).clone()
    }

    /// Called by the pump after all updates of the prompt were sent.
    pub fn ended(&self, ended: Ended) {
        if let Some(waiting) = lock(&self.turns.end).take() {
            // The receiver may be gone with its connection.
            drop(waiting.send(ended));
        }
    }

    /// Stops everything and returns when nothing runs any more.
    pub async fn close(&self) {
        self.cancel();
        drop(self.turns.running.lock().await);
        self.closed.cancel();
    }

    pub async fn tell_commands(&self) {
        // Commands that start or open sessions are left out, because the editor does that.
        let commands = self.session.commands();
        let offered = commands.iter().filter(|command| !command.switches_session()).map(|command| {
            let input = command.arguments().map(|hint| CommandInput { hint: hint.to_owned() });
            AvailableCommand { name: command.name().to_owned(), description: command.description().to_owned(), input }
        });
        let available_commands = offered.collect();
        self.updates.send(SessionUpdate::AvailableCommandsUpdate { available_commands }).await;
    }

    /// Sends the task list if it has changed.
    pub async fn tell_plan(&self) {
        let Some(todos) = &self.todos else { return };
        let phases = todos.phases();
        if std::mem::replace(&mut *lock(&self.told_plan), phases.clone()) != phases {
            self.updates.send(SessionUpdate::Plan { entries: plan::entries(&phases) }).await;
        }
    }
}

impl Ticket {
    pub async fn run(self, blocks: Vec<PromptBlock>) -> Result<StopReason, RpcError> {
        let live = self.live.clone();
        let content = prompt::convert(blocks, &live.cwd)?;
        let _turn = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Ok(StopReason::Cancelled),
            turn = live.turns.running.lock() => turn,
        };
        let obeyed = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Ok(StopReason::Cancelled),
            obeyed = live.session.obey(TypedPrompt::all_text(content)) => obeyed,
        };
        let command = match obeyed.map_err(|problem| RpcError::new(RpcError::INVALID_PARAMS, problem))? {
            Obeyed::Send(command) => command,
            Obeyed::Show { text, .. } => {
                live.updates.message(text).await;
                live.tell_plan().await;
                return Ok(StopReason::EndTurn);
            }
            // The host was not called yet, so nothing has changed.
            Obeyed::Switch(Wish::Move { .. }) => {
                let why = "an editor's session stays in its folder\nhint: close it and run `omp sessions move`";
                return Err(RpcError::new(RpcError::INVALID_PARAMS, why));
            }
            Obeyed::Switch(_) => {
                let why = "sessions cannot be switched here\nhint: start or open the session in your editor";
                return Err(RpcError::new(RpcError::INVALID_PARAMS, why));
            }
        };
        let ended = self.follow(command).await?;
        stop_reason(ended)
    }

    /// Handles one prompt until its end. A cancel is sent after the prompt, so that it cannot be missed.
    async fn follow(&self, command: Command) -> Result<Ended, RpcError> {
        let gone = || RpcError::new(RpcError::INTERNAL_ERROR, "the session has ended");
        let (sender, mut end) = oneshot::channel();
        *lock(&self.live.turns.end) = Some(sender);
        self.live.session.send(command).await.map_err(|_| gone())?;
        tokio::select! {
            biased;
            ended = &mut end => return ended.map_err(|_| gone()),
            () = self.cancel.cancelled() => {}
        }
        self.live.session.send(Command::Abort).await.map_err(|_| gone())?;
        end.await.map_err(|_| gone())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.live.turns.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

fn stop_reason(ended: Ended) -> Result<StopReason, RpcError> {
    match ended.end {
        RunEnd::Finished if ended.cut_off => Ok(StopReason::MaxTokens),
        RunEnd::Finished => Ok(StopReason::EndTurn),
        RunEnd::Aborted => Ok(StopReason::Cancelled),
        RunEnd::Stopped(_) => Ok(StopReason::EndTurn),
        RunEnd::OverBudget(_) | RunEnd::TurnLimit => Ok(StopReason::MaxTurnRequests),
        RunEnd::Failed(error) => match error.kind {
            ErrorKind::Refused => Ok(StopReason::Refusal),
            ErrorKind::Auth => Err(RpcError::new(AUTH_REQUIRED, error.message)),
            _ => Err(RpcError::new(RpcError::INTERNAL_ERROR, error.message)),
        },
        RunEnd::Fatal(reason) => Err(RpcError::new(RpcError::INTERNAL_ERROR, reason)),
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
