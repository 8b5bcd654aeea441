//! Serves the clients of a local listener.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub trait Listener {
    type Client;

    fn next_client(&self) -> impl Future<Output = io::Result<Self::Client>> + Send;
}

impl Listener for TcpListener {
    type Client = TcpStream;

    async fn next_client(&self) -> io::Result<TcpStream> {
        self.accept().await.map(|(client, _)| client)
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Client = UnixStream;

    async fn next_client(&self) -> io::Result<UnixStream> {
        self.accept().await.map(|(client, _)| client)
    }
}

/// Serves each connection in its own task, limited by the number of permits, until the future is dropped.
pub async fn serve_each<L, S>(listener: L, places: Arc<Semaphore>, serve: impl Fn(L::Client) -> S)
where
    L: Listener,
    S: Future<Output = ()> + Send + 'static,
{
    const RETRY: Duration = Duration::from_millis(100);
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.next_client().await {
            Ok(client) => {
                // Acquired only now, so that a listener without clients holds no permit.
                let Ok(place) = places.clone().acquire_owned().await else { return };
                let served = serve(client);
                connections.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            // Out of file descriptors, or the client has disconnected.
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}
