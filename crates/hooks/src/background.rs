//! Background hooks (`async`): they decide nothing, and their output is sent with the next prompt.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;

use crate::answer::HookAnswer;

/// Maximum background hooks of a session at the same time.
pub(crate) const MOST: usize = 16;
/// Maximum answers that wait to be delivered.
const MOST_ANSWERS: usize = 64;

/// Dropping this ends all hooks that still run.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<JoinSet<()>>,
    answers: Arc<Mutex<Vec<HookAnswer>>>,
}

impl Background {
    /// Returns whether there was room for one more.
    pub fn start(&self, work: impl Future<Output = HookAnswer> + Send + 'static) -> bool {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= MOST {
            return false;
        }
        // Only the answers are shared: a task that held the whole would keep itself from being ended.
        let answers = self.answers.clone();
        tasks.spawn(async move {
            let answer = told_late(work.await);
            let mut answers = lock(&answers);
            if answers.len() < MOST_ANSWERS && answer != HookAnswer::default() {
                answers.push(answer);
            }
        });
        true
    }

    /// The answers since the last call.
    pub fn take(&self) -> Vec<HookAnswer> {
        std::mem::take(&mut *lock(&self.answers))
    }
}

/// Drops all decisions of the answer, since it is too late to stop anything.
fn told_late(answer: HookAnswer) -> HookAnswer {
    let context = answer.context.or(answer.blocked);
    HookAnswer { notices: answer.notices, context, ..HookAnswer::default() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
