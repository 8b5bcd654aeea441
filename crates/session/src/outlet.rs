//! Hands every event to every subscriber, in order, waiting for slow ones.

use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc;

use crate::event::SessionEvent;

/// Events a subscriber may lag behind before the session waits for it.
const MAX_LAG: usize = 256;

#[derive(Default)]
pub(crate) struct Outlet {
    subscribers: Mutex<Vec<mpsc::Sender<SessionEvent>>>,
}

impl Outlet {
    pub fn subscribe(&self) -> mpsc::Receiver<SessionEvent> {
        let (sender, receiver) = mpsc::channel(MAX_LAG);
        self.lock().push(sender);
        receiver
    }

    pub async fn send(&self, event: SessionEvent) {
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
        for subscriber in &*self.lock() {
            let _ = subscriber.try_send(event.clone());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<mpsc::Sender<SessionEvent>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
