//! Maps signals that end a run to exit codes.

use omp_headless::Exit;
use tokio::sync::mpsc;

/// Further signals are dropped.
const MAX_PENDING: usize = 4;

/// Listens for signals until the process ends.
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
            // If no handler can be installed, the signal keeps its default action, which also ends the process.
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
