//! Hands every event to every subscriber, in order, waiting for slow ones.

use std::sync::{Arc, Mutex, PoisonError};

use omp_agent::AgentEvent;
use omp_secrets::Veil;
use tokio::sync::mpsc;

use crate::event::SessionEvent;
use crate::secrets;

/// Events a subscriber may lag behind before the session waits for it.
const MAX_LAG: usize = 256;

#[derive(Default)]
pub(crate) struct Outlet {
    subscribers: Mutex<Vec<mpsc::Sender<SessionEvent>>>,
    /// Nobody is told a secret.
    veil: Arc<Veil>,
    run: Mutex<RunTold>,
}

/// What subscribers have been told of the current prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunTold {
    /// An `AgentStart` without its `AgentEnd`.
    pub open: bool,
    /// The last `AgentEnd` was the terminal one.
    pub over: bool,
}

impl Outlet {
    pub fn new(veil: Arc<Veil>) -> Self {
        Self { subscribers: Mutex::default(), veil, run: Mutex::default() }
    }

    pub fn subscribe(&self) -> mpsc::Receiver<SessionEvent> {
        let (sender, receiver) = mpsc::channel(MAX_LAG);
        self.lock().push(sender);
        receiver
    }

    /// A prompt begins, of which nothing has been told.
    pub fn begin_run(&self) {
        self.note_run(RunTold::default());
    }

    pub fn run_told(&self) -> RunTold {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_run(&self, told: RunTold) {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }

    pub async fn send(&self, event: SessionEvent) {
        match &event {
            SessionEvent::Agent(AgentEvent::AgentStart) => self.note_run(RunTold { open: true, over: false }),
            SessionEvent::AgentEnd { is_terminal, .. } => self.note_run(RunTold { open: false, over: *is_terminal }),
            _ => {}
        }
        let event = secrets::hide_event(&self.veil, event);
        let subscribers = self.lock().clone();
        let mut gone = false;
        if let Some((last, others)) = subscribers.split_last() {
            for subscriber in others {
                gone |= subscriber.send(event.clone()).await.is_err();
            }
            gone |= last.send(event).await.is_err();
        }
        if gone {
            self.lock().retain(|subscriber| !subscriber.is_closed());
        }
    }

    /// Tells those who have room for it, without waiting: for news that can also be read from the snapshot.
    pub fn offer(&self, event: SessionEvent) {
        let event = secrets::hide_event(&self.veil, event);
        for subscriber in &*self.lock() {
            let _ = subscriber.try_send(event.clone());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<mpsc::Sender<SessionEvent>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
