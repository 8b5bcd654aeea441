//! Sends every event to every subscriber, in order. The session waits for front ends; observers lose events that they do
//! not read in time.

use std::sync::{Arc, Mutex, PoisonError};

use omp_agent::AgentEvent;
use omp_secrets::Veil;
use tokio::sync::{broadcast, mpsc};

use crate::event::SessionEvent;
use crate::secrets;

/// Events a subscriber may lag behind before the session waits for it.
const MAX_LAG: usize = 256;

/// Events an observer may lag behind before it loses the oldest.
const MAX_KEPT: usize = 1024;

#[derive(Default)]
pub(crate) struct Outlet {
    subscribers: Mutex<Vec<mpsc::Sender<SessionEvent>>>,
    /// Created for the first observer.
    observers: Mutex<Option<broadcast::Sender<SessionEvent>>>,
    /// Removes secrets from all events.
    veil: Arc<Veil>,
    run: Mutex<RunTold>,
}

/// A subscription for which the session never waits, such as a viewer on a slow connection.
pub struct Observer {
    events: broadcast::Receiver<SessionEvent>,
}

/// An item that an observer receives.
#[derive(Clone, Debug)]
pub enum Observed {
    Event(Box<SessionEvent>),
    /// This many events were lost here because the observer read too slowly. The snapshot and the messages of the session
    /// have the current state.
    Lost(u64),
}

impl Observer {
    /// `None` when the session has ended.
    pub async fn next(&mut self) -> Option<Observed> {
        match self.events.recv().await {
            Ok(event) => Some(Observed::Event(Box::new(event))),
            Err(broadcast::error::RecvError::Lagged(lost)) => Some(Observed::Lost(lost)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// What subscribers have been sent about the current prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunTold {
    /// An `AgentStart` was sent without its `AgentEnd`.
    pub open: bool,
    /// The last `AgentEnd` was the terminal one.
    pub over: bool,
}

impl Outlet {
    pub fn new(veil: Arc<Veil>) -> Self {
        Self { veil, ..Self::default() }
    }

    pub fn subscribe(&self) -> mpsc::Receiver<SessionEvent> {
        let (sender, receiver) = mpsc::channel(MAX_LAG);
        self.lock().push(sender);
        receiver
    }

    pub fn observe(&self) -> Observer {
        let mut observers = self.observers.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = observers.get_or_insert_with(|| broadcast::channel(MAX_KEPT).0);
        Observer { events: sender.subscribe() }
    }

    fn show_observers(&self, event: &SessionEvent) {
        let mut observers = self.observers.lock().unwrap_or_else(PoisonError::into_inner);
        // The channel is dropped with its last observer.
        observers.take_if(|sender| sender.send(event.clone()).is_err());
    }

    /// A prompt starts; nothing about it was sent yet.
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
        self.show_observers(&event);
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

    /// Sends an event to subscribers that have room for it, without waiting: for changes that can also be read from the
    /// snapshot.
    pub fn offer(&self, event: SessionEvent) {
        let event = secrets::hide_event(&self.veil, event);
        self.show_observers(&event);
        for subscriber in &*self.lock() {
            let _ = subscriber.try_send(event.clone());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<mpsc::Sender<SessionEvent>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
