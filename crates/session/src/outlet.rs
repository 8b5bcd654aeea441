//! Hands every event to every subscriber, in order, waiting for slow ones.

use std::sync::{Arc, Mutex, PoisonError};

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
}

impl Outlet {
    pub fn new(veil: Arc<Veil>) -> Self {
        Self { subscribers: Mutex::default(), veil }
    }

    pub fn subscribe(&self) -> mpsc::Receiver<SessionEvent> {
        let (sender, receiver) = mpsc::channel(MAX_LAG);
        self.lock().push(sender);
        receiver
    }

    pub async fn send(&self, event: SessionEvent) {
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
