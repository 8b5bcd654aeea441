//! Signals that end a run, turned into the exit they ask for.

use omp_headless::Exit;
use tokio::sync::mpsc;

/// More signals than this change nothing.
const MAX_PENDING: usize = 4;

/// Listens until the process ends.
pub fn listen() -> mpsc::Receiver<Exit> {
    let (sender, receiver) = mpsc::channel(MAX_PENDING);
    imp::listen(&sender);
    receiver
}

#[cfg(unix)]
mod imp {
    //! SIGINT, SIGTERM and SIGHUP.

    use omp_headless::Exit;
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::sync::mpsc;

    pub fn listen(sender: &mpsc::Sender<Exit>) {
        let signals = [
            (SignalKind::interrupt(), Exit::Interrupted),
            (SignalKind::terminate(), Exit::Terminated),
            (SignalKind::hangup(), Exit::HungUp),
        ];
        for (kind, exit) in signals {
            // Without a handler the signal keeps its usual effect, which ends the process as well.
            let Ok(mut stream) = signal(kind) else { continue };
            let sender = sender.clone();
            tokio::spawn(async move { while stream.recv().await.is_some() && sender.send(exit).await.is_ok() {} });
        }
    }
}

#[cfg(not(unix))]
mod imp {
    //! Ctrl-C.

    use omp_headless::Exit;
    use tokio::sync::mpsc;

    pub fn listen(sender: &mpsc::Sender<Exit>) {
        let sender = sender.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() && sender.send(Exit::Interrupted).await.is_ok() {}
        });
    }
}
