//! Serving whoever connects to a local listener.

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

/// Serves each connection in a task of its own, as many at once as there are places, until the future is dropped.
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
                // Not before: a listener that nobody connects to takes no place.
                let Ok(place) = places.clone().acquire_owned().await else { return };
                let served = serve(client);
                connections.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            // Out of descriptors, or the client has gone.
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}
