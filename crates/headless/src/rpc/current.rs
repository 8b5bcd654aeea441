//! The session that commands apply to, until another one replaces it.

use std::sync::{Arc, Mutex, PoisonError};

use omp_session::{OpenSession, Safeguards, Session, SessionHeader, TodoBoard, UserShell};
use omp_wire::AvailableCommand;
use tokio::task::JoinHandle;

use super::activity::Activity;
use super::dialogs::Dialogs;
use super::events::Teller;
use super::frame;
use super::output::Output;

pub struct Current {
    pub session: Session,
    pub header: SessionHeader,
    pub shell: Arc<dyn UserShell>,
    pub todos: Option<Arc<dyn TodoBoard>>,
    pub safeguards: Safeguards,
    pub activity: Activity,
    /// Tasks that must end before the session is closed: its actor and the event writer.
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Current {
    pub fn new(opened: OpenSession, output: &Output, dialogs: &Arc<Dialogs>) -> Arc<Self> {
        let OpenSession { session, actor, header, shell, todos, safeguards, .. } = opened;
        let events = session.events();
        let activity = Activity::default();
        activity.reread(&session.messages());
        let tasks = Mutex::new(vec![actor]);
        let current = Arc::new(Self { session, header, shell, todos, safeguards, activity, tasks });
        let teller = Teller {
            output: output.clone(),
            dialogs: dialogs.clone(),
            current: Arc::downgrade(&current),
            told: Vec::new(),
            end_told: false,
        };
        let telling = tokio::spawn(teller.follow(events));
        current.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(telling);
        current
    }

    pub fn available_commands(&self) -> Vec<AvailableCommand> {
        self.session.commands().iter().map(|command| frame::available(&**command)).collect()
    }

    /// Aborts the running work and waits until it has ended.
    pub async fn abort(&self) {
        if self.session.abort_all().await.is_ok() {
            // Also waits until the client has received the end.
            self.activity.until_idle().await;
        }
    }

    /// Closes the session and waits until everything it owns has ended.
    pub async fn retire(self: Arc<Self>) {
        self.abort().await;
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        drop(self);
        for task in tasks {
            // A failed task has ended as well.
            let _ = task.await;
        }
    }
}
