//! Commands that arrive during a run: those that can be handled at once are, the others wait.

use std::collections::VecDeque;

use omp_agent::Queues;
use tokio::sync::mpsc;

use crate::control::Control;
use crate::{Command, GoToError};

/// Maximum commands postponed until the running prompt is done. Beyond this nothing is read, not even answers to questions;
/// only an abort is handled.
const MAX_POSTPONED: usize = 1024;

/// The commands of a session, in the order in which they are handled.
pub(crate) struct Inbox {
    commands: mpsc::Receiver<Command>,
    postponed: VecDeque<Command>,
}

impl Inbox {
    pub fn new(commands: mpsc::Receiver<Command>) -> Self {
        Self { commands, postponed: VecDeque::new() }
    }

    /// The next postponed command, if there is one.
    pub fn postponed(&mut self) -> Option<Command> {
        self.postponed.pop_front()
    }

    /// `None` when all senders are dropped.
    pub async fn next(&mut self) -> Option<Command> {
        match self.postponed() {
            Some(command) => Some(command),
            None => self.commands.recv().await,
        }
    }

    pub fn postpone(&mut self, commands: impl IntoIterator<Item = Command>) {
        self.postponed.extend(commands);
    }

    /// Keeps handling commands while `work` runs.
    pub async fn hearing<T>(&mut self, control: &Control, work: impl Future<Output = T> + Unpin) -> T {
        tokio::pin!(work);
        let mut open = true;
        loop {
            let is_full = self.postponed.len() >= MAX_POSTPONED;
            control.set_deaf(is_full);
            tokio::select! {
                biased;
                done = &mut work => {
                    control.set_deaf(false);
                    return done;
                }
                command = self.commands.recv(), if open && !is_full => match command {
                    Some(command) => self.postponed.extend(meanwhile(control, command)),
                    None => open = false,
                },
            }
        }
    }

    /// Takes the commands received so far, to be handled later. An abort among them is handled at once.
    pub fn put_off(&mut self, control: &Control) -> Vec<Command> {
        let mut since = Vec::new();
        while since.len() < MAX_POSTPONED
            && let Ok(command) = self.commands.try_recv()
        {
            match command {
                Command::Abort => control.abort(),
                other => since.push(other),
            }
        }
        since
    }
}

/// Handles a command while a prompt runs; returns it if it must wait for the end of the prompt.
pub(crate) fn meanwhile(control: &Control, command: Command) -> Option<Command> {
    match command {
        Command::Abort => control.abort(),
        Command::AbortRetry => control.abort_retry(),
        Command::Answer { id, answer } => control.desk.answer(id, answer),
        Command::SetSteeringMode(mode) => control.queues.set_steering_mode(mode),
        Command::SetFollowUpMode(mode) => control.queues.set_follow_up_mode(mode),
        Command::SetInterruptMode(mode) => control.queues.set_interrupt_mode(mode),
        Command::SetAutoRetry(on) => control.set_auto_retry(on),
        Command::SetAutoCompaction(on) => control.set_auto_compaction(on),
        Command::SetApprovalMode(mode) => control.choose_approval_mode(mode),
        Command::SetPlanMode(on) => control.set_plan_mode(on),
        Command::NextTurn(message) => control.wait_for_next_turn(message),
        Command::GoTo { reply, .. } => drop(reply.send(Err(GoToError::Busy))),
        Command::Handoff { reply, .. } => {
            drop(reply.send(Err("Cannot hand off while a response is in progress".to_owned())));
        }
        Command::Steer(prompt) => return control.queue(prompt, Queues::steer).map(Command::Prompt),
        Command::FollowUp(prompt) => return control.queue(prompt, Queues::follow_up).map(Command::Prompt),
        Command::Shake { reply, .. } => {
            drop(reply.send(Err("Cannot shake while a response is in progress".to_owned())));
        }
        Command::Compact { instructions, reply } => {
            // A compaction replaces running work, but hooks that run at the session's start are allowed to finish.
            let snapshot = control.snapshot();
            if snapshot.running || snapshot.compacting {
                if let Some(why) = control.nothing_to_compact() {
                    drop(reply.send(Err(why)));
                    return None;
                }
                control.abort();
            }
            return Some(Command::Compact { instructions, reply });
        }
        later @ (Command::Prompt(_)
        | Command::Settle(_)
        | Command::Wake
        | Command::Retry
        | Command::Append(_)
        | Command::AskToOverwrite(_)
        | Command::EditSummary { .. }
        | Command::SetModel(_)
        | Command::SetThinking(_)
        | Command::SetTools { .. }) => return Some(later),
    }
    control.change(|snapshot| snapshot.modes = control.queues.modes());
    None
}
