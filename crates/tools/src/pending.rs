//! Previews that wait for approval or rejection: `ast_edit` adds them, `resolve` takes the newest.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use omp_agent::{Approval, ToolError, ToolOutput};

/// The stack of previews of one session, the newest on top.
#[derive(Default)]
pub struct PendingActions {
    stack: Mutex<Vec<PendingAction>>,
}

/// One preview.
pub struct PendingAction {
    /// A short description of the action.
    pub label: String,
    /// The tool that created the preview.
    pub source: String,
    /// The approval needed to apply it.
    pub approval: Approval,
    pub apply: PendingStep,
    /// Runs when the preview is rejected, if set.
    pub reject: Option<PendingStep>,
}

/// Runs with the given reason and the id of the call that applies or rejects it.
pub type PendingStep = Box<dyn FnOnce(String, &str) -> StepResult + Send>;
pub type StepResult = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// Limits the pending previews, because each holds the old and new content of its files.
const MAX_PENDING: usize = 8;

impl PendingActions {
    pub fn push(&self, action: PendingAction) -> Result<(), ToolError> {
        self.with(|stack| {
            if stack.len() >= MAX_PENDING {
                let problem =
                    format!("{MAX_PENDING} previews are already pending\nhint: `resolve` them first, newest first");
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

    /// Returns the approval needed to apply the newest preview.
    pub fn approval(&self) -> Option<Approval> {
        self.with(|stack| stack.last().map(|action| action.approval.clone()))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<PendingAction>) -> T) -> T {
        // Every operation leaves the stack consistent, so a poisoned lock can be used.
        work(&mut self.stack.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
