//! Work that was shown and waits for a yes or a no: `ast_edit` puts it here, `resolve` takes the newest away.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use omp_agent::{Approval, ToolError, ToolOutput};

/// The previews of one session, the newest on top.
#[derive(Default)]
pub struct PendingActions {
    stack: Mutex<Vec<PendingAction>>,
}

/// One preview.
pub struct PendingAction {
    /// What it would do, in a few words.
    pub label: String,
    /// The tool that showed it.
    pub source: String,
    /// What carrying it out would touch.
    pub approval: Approval,
    pub apply: PendingStep,
    /// What to do when it is not wanted; without it nothing is.
    pub reject: Option<PendingStep>,
}

/// Runs with the reason that was given, for the call that wants it done.
pub type PendingStep = Box<dyn FnOnce(String, &str) -> StepResult + Send>;
pub type StepResult = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// Each holds the old and the new content of its files.
const MAX_PENDING: usize = 8;

impl PendingActions {
    pub fn push(&self, action: PendingAction) -> Result<(), ToolError> {
        self.with(|stack| {
            if stack.len() >= MAX_PENDING {
                let problem = format!("{MAX_PENDING} previews wait already\nhint: `resolve` them first, newest first");
                return Err(ToolError::Reply(problem));
            }
            stack.push(action);
            Ok(())
        })
    }

    pub fn pop(&self) -> Option<PendingAction> {
        self.with(Vec::pop)
    }

    pub fn len(&self) -> usize {
        self.with(|stack| stack.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What carrying out the newest would touch.
    pub fn approval(&self) -> Option<Approval> {
        self.with(|stack| stack.last().map(|action| action.approval.clone()))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<PendingAction>) -> T) -> T {
        // The stack is whole after every step, so a panic elsewhere does not spoil it.
        work(&mut self.stack.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
