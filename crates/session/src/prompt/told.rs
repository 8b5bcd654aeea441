//! What a running session tells its model apart from the conversation, as it stands now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omp_types::{Message, Model};

use super::{Opening, Section, SystemPrompt, opening};

/// How long the first request waits for the look at the project.
const LONGEST: Duration = Duration::from_millis(400);

/// Looks at the project. May read files, so it is called where that hurts nobody.
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

    /// What is to be told of the project with the next prompt: nothing in a conversation that knows already.
    pub async fn next_opening(&self, messages: &[Arc<Message>]) -> Option<String> {
        if opening::is_told(messages) {
            return None;
        }
        let look_around = self.look_around.clone()?;
        let seen = tokio::task::spawn_blocking(move || look_around());
        // A file system that does not answer at all costs the model this text, and not the user the first request.
        let seen = tokio::time::timeout(LONGEST, seen).await.ok()?.ok()?;
        // A mistake in the template is one of ours; tests find it, and a user is better off without this text.
        seen.text().ok().flatten()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
