//! The current text that a session sends to its model apart from the conversation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omp_types::{Message, Model};

use super::{Opening, Section, SystemPrompt, opening};

/// How long the first request waits for the project state.
const LONGEST: Duration = Duration::from_millis(400);

/// Reads the project state. It may read files, so it is called on a blocking thread.
pub type LookAround = Arc<dyn Fn() -> Opening + Send + Sync>;

pub(crate) struct Told {
    prompt: SystemPrompt,
    /// The system prompt for the current model.
    system: Mutex<Arc<str>>,
    look_around: Option<LookAround>,
}

impl Told {
    pub fn new(prompt: SystemPrompt, model: &Model, look_around: Option<LookAround>) -> Self {
        let system = Mutex::new(prompt.text(model));
        Self { prompt, system, look_around }
    }

    pub fn system(&self) -> Arc<str> {
        lock(&self.system).clone()
    }

    /// Another model answers from now on.
    pub fn switch_to(&self, model: &Model) {
        *lock(&self.system) = self.prompt.text(model);
    }

    pub fn sections(&self, model: &Model) -> Vec<Section> {
        self.prompt.sections(model)
    }

    /// The opening message for the next prompt; `None` if the conversation already has one.
    pub async fn next_opening(&self, messages: &[Arc<Message>]) -> Option<String> {
        if opening::is_told(messages) {
            return None;
        }
        let look_around = self.look_around.clone()?;
        let seen = tokio::task::spawn_blocking(move || look_around());
        // If the file system does not answer, the opening is left out rather than delaying the first request.
        let seen = tokio::time::timeout(LONGEST, seen).await.ok()?.ok()?;
        // A template error is a bug that tests find; the user is better off without this text.
        seen.text().ok().flatten()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
