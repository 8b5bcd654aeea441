//! Hooks that nothing waits for (`async`): they decide nothing, and what they say is told with the next prompt.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;

use crate::answer::HookAnswer;

/// Hooks of a session that run in the background at the same time.
pub(crate) const MOST: usize = 16;
/// Answers that wait to be told.
const MOST_ANSWERS: usize = 64;

/// Whatever still runs is ended with it.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<JoinSet<()>>,
    answers: Arc<Mutex<Vec<HookAnswer>>>,
}

impl Background {
    /// Whether there was room for one more.
    pub fn start(&self, work: impl Future<Output = HookAnswer> + Send + 'static) -> bool {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        if tasks.len() >= MOST {
            return false;
        }
        // Not the whole: a task that held it would keep itself from being ended.
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

    /// What was said since it was asked last.
    pub fn take(&self) -> Vec<HookAnswer> {
        std::mem::take(&mut *lock(&self.answers))
    }
}

/// It is too late to stop anything.
fn told_late(answer: HookAnswer) -> HookAnswer {
    let context = answer.context.or(answer.blocked);
    HookAnswer { notices: answer.notices, context, ..HookAnswer::default() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
