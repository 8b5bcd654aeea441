//! The egress proxy for commands that may reach only named hosts: it runs inside omp and speaks HTTP and SOCKS on one
//! socket.
//!
//! It is not a separate process: it ends with omp, together with every connection. The rules are read again for every
//! request, so a host that the user allows is reachable at once.

mod accept;
mod address;
mod body;
mod glance;
mod host;
mod http;
mod log;
mod refusal;
mod relay;
mod request;
mod resolve;
mod rules;
mod socks;
mod upstream;
mod variables;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use omp_types::Access;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use host::EgressHost;
use log::{OngoingPassage, PassageLog};
use refusal::EgressRefusal;
use request::{ProxyRequest, Way};
use resolve::Resolver;
use rules::HostRules;
use upstream::Proxy;

pub use accept::{Listener, serve_each};
pub use log::Passage;
pub use rules::problem_of_rule;
pub use upstream::Upstream;
pub use variables::variables;

/// Limits the concurrent connections of a session; further ones wait.
const MOST_CONNECTIONS: usize = 256;
/// Time limit for a complete request.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// Time limit for each address of a host.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// The proxy of a session.
#[derive(Debug)]
pub struct Egress {
    access: Access,
    log: Arc<PassageLog>,
    resolver: Resolver,
    upstream: Upstream,
    places: Arc<Semaphore>,
}

/// An open connection to a host.
struct OpenedRoute<'a> {
    server: TcpStream,
    /// Bytes that the host has already sent.
    said: Vec<u8>,
    /// The upstream proxy, which needs the absolute URL.
    proxy: Option<&'a Proxy>,
}

impl Egress {
    /// Applies the rules of `access` at the time of each request.
    pub fn new(access: Access) -> Self {
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let (resolver, upstream) = (Resolver::System, Upstream::default());
        Self { access, log: Arc::default(), resolver, upstream, places }
    }

    /// Connects through the proxy of this machine.
    #[must_use]
    pub fn through(self, upstream: Upstream) -> Self {
        Self { upstream, ..self }
    }

    /// Returns the newest ended connections, newest last.
    pub fn passages(&self) -> Vec<Passage> {
        self.log.newest()
    }

    /// Returns the total number of connections.
    pub fn seen(&self) -> u64 {
        self.log.seen()
    }

    /// Returns the newest and the ongoing connections that were not taken before.
    pub fn take_new(&self) -> Vec<Passage> {
        self.log.take_new()
    }

    /// Calls `listener` when a connection ends; only for the first ones of a flood. The first listener stays.
    pub fn tell(&self, listener: impl Fn(&Passage) + Send + Sync + 'static) {
        self.log.tell(Box::new(listener));
    }

    /// Serves the clients of `listener` until the future is dropped.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        let places = self.places.clone();
        serve_each(listener, places, |client| {
            let proxy = self.clone();
            async move { proxy.serve_one(client).await }
        })
        .await;
    }

    async fn serve_one(&self, mut client: TcpStream) {
        // Sends small pieces at once; a failure only delays them.
        let _ = client.set_nodelay(true);
        let Ok(read) = timeout(HEAD_PATIENCE, read_request(&mut client)).await else { return };
        match read {
            Some(Ok(request)) => self.pass(client, request).await,
            Some(Err((way, refusal))) => answer(&mut client, &way.refused(&refusal)).await,
            None => {}
        }
    }

    async fn pass(&self, mut client: TcpStream, request: ProxyRequest) {
        let passing = OngoingPassage::new(&self.log, &request.host, request.port, request.way.name());
        let opened = match self.judge(&request, request.named.as_deref()) {
            Ok(()) => self.open(&request).await,
            Err(refusal) => Err(refusal),
        };
        let OpenedRoute { mut server, said, proxy } = match opened {
            Ok(opened) => opened,
            Err(refusal) => {
                passing.refuse(&refusal);
                // Logged before the client gets the refusal, so that the log already contains it.
                drop(passing);
                return answer(&mut client, &request.way.refused(&refusal)).await;
            }
        };
        if client.write_all(&[request.way.opened(), said].concat()).await.is_err() {
            return;
        }
        if let Way::Http { head, body } = request.way {
            let head = proxy.map_or(head.clone(), |proxy| proxy.addressed(&head, &request.host, request.port));
            // An error ends both connections; nothing else can be reported at this point.
            let _ = relay::exchange(&mut client, &mut server, &head, &request.rest, body, &passing).await;
            return;
        }
        let judge = |named: &str| self.judge(&request, Some(named));
        let rest = request.rest.clone();
        if let Ok(Err((refusal, last_words))) = relay::tunnel(&mut client, &mut server, rest, &passing, judge).await {
            passing.refuse(&refusal);
            drop(passing);
            answer(&mut client, &last_words).await;
        }
    }

    /// The target that a request names must be its host, or another host that is allowed as well.
    fn judge(&self, request: &ProxyRequest, named: Option<&str>) -> Result<(), EgressRefusal> {
        let Some(named) = named else { return Ok(()) };
        let (host, port) = (request.host.clone(), request.port);
        match EgressHost::with_port(named) {
            Some((asked, _)) if asked == host || self.rules().allow(&asked, port) => Ok(()),
            Some((asked, _)) => Err(EgressRefusal::AnotherName { host, named: asked.to_string() }),
            None => Err(EgressRefusal::Malformed("it has no host")),
        }
    }

    fn rules(&self) -> HostRules {
        HostRules::of(&self.access.map().hosts)
    }

    async fn open(&self, request: &ProxyRequest) -> Result<OpenedRoute<'_>, EgressRefusal> {
        let ProxyRequest { host, port, way, .. } = request;
        let is_plain = matches!(way, Way::Http { .. });
        let proxy = match is_plain {
            true => self.upstream.for_plain(host, *port),
            false => self.upstream.for_tunnel(host, *port),
        };
        // An upstream proxy that leads outside does not handle internal addresses.
        let is_inside = matches!(host, EgressHost::Address(address) if address::special(*address).is_some());
        let Some(proxy) = proxy.filter(|_| !is_inside) else {
            let server = self.connect(host, *port).await?;
            return Ok(OpenedRoute { server, said: Vec::new(), proxy: None });
        };
        if !self.rules().allow(host, *port) {
            return Err(EgressRefusal::NotListed { host: host.clone(), port: *port });
        }
        let opened = match is_plain {
            true => proxy.connect().await.map(|server| (server, Vec::new())),
            false => proxy.tunnel(host, *port).await,
        };
        let (server, said) = opened.map_err(|why| EgressRefusal::NoAnswer { host: host.clone(), port: *port, why })?;
        let _ = server.set_nodelay(true);
        Ok(OpenedRoute { server, said, proxy: is_plain.then_some(proxy) })
    }

    /// Connects to the checked address, not to a name that could resolve differently the next time.
    async fn connect(&self, host: &EgressHost, port: u16) -> Result<TcpStream, EgressRefusal> {
        let mut why = String::new();
        for address in self.addresses(host, port).await? {
            match timeout(CONNECT_PATIENCE, TcpStream::connect(SocketAddr::new(address, port))).await {
                Ok(Ok(server)) => {
                    let _ = server.set_nodelay(true);
                    return Ok(server);
                }
                Ok(Err(error)) => why = error.to_string(),
                Err(_) => why = "it did not answer in time".to_owned(),
            }
        }
        Err(EgressRefusal::NoAnswer { host: host.clone(), port, why })
    }

    /// Returns the permitted addresses of `host`, at least one.
    async fn addresses(&self, host: &EgressHost, port: u16) -> Result<Vec<IpAddr>, EgressRefusal> {
        let rules = self.rules();
        if !rules.allow(host, port) {
            return Err(EgressRefusal::NotListed { host: host.clone(), port });
        }
        let found = match host {
            EgressHost::Address(address) => vec![*address],
            EgressHost::Name(_) if host.is_localhost() => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            EgressHost::Name(name) => self.resolver.look_up(name).await.map_err(|error| no_address(host, &error))?,
        };
        let hindrance = |address: &IpAddr| {
            let meant = rules.name(*address, port) || (host.is_localhost() && address.is_loopback());
            address::special(*address).filter(|_| !meant)
        };
        match found.iter().find_map(|address| hindrance(address).map(|kind| (*address, kind))) {
            // Refused only if every address is internal; otherwise the public addresses are used.
            Some((address, kind)) if found.iter().all(|address| hindrance(address).is_some()) => {
                Err(EgressRefusal::Special { host: host.clone(), port, address, kind })
            }
            _ => Ok(found.into_iter().filter(|address| hindrance(address).is_none()).collect()),
        }
    }
}

fn no_address(host: &EgressHost, error: &io::Error) -> EgressRefusal {
    EgressRefusal::NoAddress { host: host.clone(), why: error.to_string() }
}

/// Returns `None` if the client sends no request. An error includes the protocol of the answer.
async fn read_request(client: &mut TcpStream) -> Option<Result<ProxyRequest, (Way, EgressRefusal)>> {
    let mut first = [0];
    client.read_exact(&mut first).await.ok()?;
    Some(match first[0] {
        5 => socks::read_five(client).await.map_err(|refusal| (Way::Socks5, refusal)),
        4 => socks::read_four(client).await.map_err(|refusal| (Way::Socks4, refusal)),
        _ => http::read(client, first.to_vec()).await.map_err(|refusal| (Way::Connect, refusal)),
    })
}

/// Sends the final answer and reads the rest of the input, because closing with unread input would lose the answer.
async fn answer(client: &mut TcpStream, answer: &[u8]) {
    const PATIENCE: Duration = Duration::from_secs(2);
    const MOST: usize = 1024 * 1024;
    if client.write_all(answer).await.is_err() || client.shutdown().await.is_err() {
        return;
    }
    let drain = async {
        let (mut buffer, mut read) = (vec![0; 16 * 1024], 0);
        while let Ok(more @ 1..) = client.read(&mut buffer).await {
            read += more;
            if read > MOST {
                return;
            }
        }
    };
    let _ = timeout(PATIENCE, drain).await;
}

#[cfg(test)]
mod tests;
