//! Runs the user's `!` and `$` commands, one at a time.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use omp_session::{Command, RanBy, ShellRun};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::screen::Dirty;
use super::{News, Running};
use crate::chrome::Working;
use crate::transcript::ShellBlock;

/// Caps the output kept while a command runs.
const TAIL: usize = 8 * 1024;

pub struct ShellTask {
    ran_by: RanBy,
    command: String,
    private: bool,
    block: Rc<RefCell<ShellBlock>>,
    tail: Arc<Mutex<String>>,
    cancel: CancellationToken,
    /// What the animated row shows while it runs.
    pub working: Working,
}

impl ShellTask {
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

impl Running {
    /// `private` commands are not sent to the model.
    pub(super) fn run_shell(&mut self, ran_by: RanBy, command: &str, private: bool) -> bool {
        let Some(live) = &self.live else { return false };
        let shell = match ran_by {
            RanBy::Shell => Some(live.shell.clone()),
            RanBy::Python => live.python.clone(),
        };
        let Some(shell) = shell else {
            self.work.hint = Some("Python is not available".to_owned());
            return false;
        };
        if self.work.shell.is_some() {
            self.hint_at_running("a command is running");
            return false;
        }
        let block = Rc::new(RefCell::new(ShellBlock::new(ran_by, command, private)));
        self.screen.log.push(block.clone());
        let (tail, cancel) = (Arc::new(Mutex::new(String::new())), CancellationToken::new());
        let command = command.to_owned();
        let working = Working { doing: Some(command.clone()), ..Working::new(Instant::now()) };
        let task = ShellTask { ran_by, command, private, block, tail: tail.clone(), cancel: cancel.clone(), working };
        let (pulse, command) = (self.around.pulse.clone(), task.command.clone());
        self.work.shell = Some(task);
        self.beside(async move {
            let progress = move |text: &str| {
                keep_tail(&mut tail.lock().unwrap_or_else(PoisonError::into_inner), text);
                pulse.notify_one();
            };
            News::ShellEnded(shell.run(&command, &progress, cancel).await)
        });
        true
    }

    /// Shows the output of a running command.
    pub(super) fn show_shell(&mut self) {
        if let Some(shell) = &self.work.shell {
            shell.block.borrow_mut().show(&shell.tail.lock().unwrap_or_else(PoisonError::into_inner));
            self.screen.mark(Dirty::Soon);
        }
    }

    pub(super) async fn shell_ended(&mut self, run: Result<ShellRun, String>) {
        let Some(shell) = self.work.shell.take() else { return };
        shell.block.borrow_mut().end(&run);
        self.look_at_git();
        self.screen.mark(Dirty::Now);
        if let Ok(run) = run {
            let message = run.message(shell.ran_by, &shell.command, shell.private);
            self.command(Command::Append(Arc::new(message))).await;
        }
    }
}

fn keep_tail(tail: &mut String, text: &str) {
    tail.push_str(text);
    if tail.len() > 2 * TAIL {
        let mut start = tail.len() - TAIL;
        while !tail.is_char_boundary(start) {
            start += 1;
        }
        tail.drain(..start);
    }
}
