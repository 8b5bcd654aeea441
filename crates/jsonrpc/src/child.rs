//! A server as a child process: its standard streams are the connection, the tail of its stderr is kept, and its descendants
//! end with it.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omp_exec::{ErrorPipe, InputPipe, ProcessExit, Spawn, SpawnError};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::connection::Connection;
use crate::error::ConnectionEnd;
use crate::handler::Handler;
use crate::lock;
use crate::peer::{OutgoingCall, Peer};
use crate::protocol::Protocol;
use crate::tail::StderrTail;

const PIPE_BYTES: usize = 64 << 10;
/// How long to wait for the rest of stderr after the server has ended: another process may hold the pipe open forever.
const STDERR_REST: Duration = Duration::from_millis(150);
/// How long to wait for the exit of a server that has closed its output, before requests fail without an exit status.
const EXIT_SOON: Duration = Duration::from_millis(500);
/// How long a server may run after closing its output.
const EXIT_LATE: Duration = Duration::from_secs(2);
/// How long a server without a connection may take to end after it is asked to.
const EXIT_ASKED: Duration = Duration::from_secs(2);

/// A running server. Dropping it kills it and its descendants.
pub struct ServerProcess {
    name: String,
    connection: Connection,
    id: u32,
    stop: mpsc::Sender<Duration>,
    died: watch::Receiver<Option<Death>>,
    stderr: Arc<Mutex<StderrTail>>,
    _driver: AbortOnDropHandle<()>,
}

/// How a server ended.
#[derive(Clone, Debug)]
pub struct Death {
    /// The name given by its creator.
    pub name: String,
    /// `None` if the system did not report it.
    pub exit: Option<ProcessExit>,
    /// Whether it was stopped or killed by this side.
    pub was_stopped: bool,
    /// The last lines of its standard error.
    pub stderr_lines: Vec<String>,
}

/// The protocol messages that end a server; both are `None` if the protocol has none.
#[derive(Clone, Debug, Default)]
pub struct Polite {
    pub request: Option<(String, Value)>,
    pub notification: Option<(String, Value)>,
}

/// Time limits for the steps of [`ServerProcess::shutdown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownLimits {
    /// For the protocol messages.
    pub polite: Duration,
    /// Between closing its stdin and the termination signal.
    pub end_of_input: Duration,
    /// Between the termination signal and killing it.
    pub terminate: Duration,
}

impl Default for ShutdownLimits {
    fn default() -> Self {
        let two = Duration::from_secs(2);
        Self { polite: two, end_of_input: two, terminate: two }
    }
}

impl ServerProcess {
    /// Starts the server; `name` is used in errors. Needs a running tokio runtime.
    pub fn start(
        name: impl Into<String>,
        spawn: Spawn,
        protocol: Protocol,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, SpawnError> {
        let name = name.into();
        let (process, input, errors) = spawn.start_apart()?;
        let id = process.id();
        let (output, reader) = duplex(PIPE_BYTES);
        let (writer, to_input) = duplex(PIPE_BYTES);
        let (report, died) = watch::channel(None);
        let (stop, stopped) = mpsc::channel(1);
        let stderr = Arc::new(Mutex::new(StderrTail::default()));
        let keep = AbortOnDropHandle::new(tokio::spawn(keep_stderr(errors, stderr.clone())));
        let feed = AbortOnDropHandle::new(tokio::spawn(feed_stdin(to_input, input)));
        let known = died.clone();
        let explain = move |end| known.borrow().clone().map_or(end, ConnectionEnd::Died);
        let connection = Connection::open_with(reader, writer, protocol, handler, explain);
        let (peer, kept) = (connection.peer().clone(), stderr.clone());
        let driver = Driver { name: name.clone(), peer, stderr: kept, report, keep, _feed: feed };
        let driver = AbortOnDropHandle::new(tokio::spawn(driver.drive(process, output, stopped)));
        Ok(Self { name, connection, id, stop, died, stderr, _driver: driver })
    }

    pub fn peer(&self) -> &Peer {
        self.connection.peer()
    }

    /// Returns the process ID, which is also the process group ID.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the tail of its stderr, at most 64 KiB.
    pub fn stderr_tail(&self) -> String {
        lock(&self.stderr).text()
    }

    /// Waits until it dies for any reason. May be called repeatedly.
    pub fn died(&self) -> impl Future<Output = Death> + Send + 'static {
        let (mut died, name) = (self.died.clone(), self.name.clone());
        async move {
            match died.wait_for(Option::is_some).await.map(|death| death.clone()) {
                Ok(Some(death)) => death,
                // The driver was dropped without a report, and the server with it.
                _ => Death { name, exit: None, was_stopped: true, stderr_lines: Vec::new() },
            }
        }
    }

    /// Ends the server: with protocol messages, by closing its stdin, with a termination signal, by killing it. Each step is
    /// taken only if the server still runs. Its descendants end with it.
    pub async fn shutdown(self, polite: Polite, limits: ShutdownLimits) -> Death {
        let ended = self.died();
        tokio::pin!(ended);
        tokio::select! {
            biased;
            death = &mut ended => return death,
            _ = timeout(limits.polite, self.say(polite, limits.polite)) => {}
        }
        self.peer().finish_writing();
        if let Ok(death) = timeout(limits.end_of_input, ended.as_mut()).await {
            return death;
        }
        // The channel cannot be full, because this is the only message.
        let _ = self.stop.send(limits.terminate).await;
        ended.await
    }

    async fn say(&self, polite: Polite, limit: Duration) {
        // A server that does not answer is ended nevertheless.
        if let Some((method, params)) = polite.request {
            let _ = self.peer().call(OutgoingCall::new(method, params).limit(limit)).await;
        }
        if let Some((method, params)) = polite.notification {
            let _ = self.peer().notify(method, params).await;
        }
    }
}

/// Forwards the output to the connection and reports the exit.
struct Driver {
    name: String,
    peer: Peer,
    stderr: Arc<Mutex<StderrTail>>,
    report: watch::Sender<Option<Death>>,
    keep: AbortOnDropHandle<()>,
    _feed: AbortOnDropHandle<()>,
}

impl Driver {
    /// `output` is closed last, so that the cause of death is known when the connection ends.
    async fn drive(self, mut process: omp_exec::Child, mut output: DuplexStream, mut stop: mpsc::Receiver<Duration>) {
        let asked = tokio::select! {
            () = forward_stdout(&mut process, &mut output) => None,
            Some(grace) = stop.recv() => Some(grace),
            // The connection was closed, so the server is unusable.
            _ = self.peer.ended() => Some(EXIT_ASKED),
        };
        let grace = match asked {
            Some(grace) => Some(grace),
            None if has_ended(&mut process, EXIT_SOON).await => None,
            None => {
                drop(output);
                return self.wait_without_output(process, stop).await;
            }
        };
        self.end_and_report(process, grace).await;
    }

    /// Waits for a server that has closed its output but still runs: it is unusable.
    async fn wait_without_output(self, mut process: omp_exec::Child, mut stop: mpsc::Receiver<Duration>) {
        let grace = tokio::select! {
            ended = has_ended(&mut process, EXIT_LATE) => (!ended).then_some(EXIT_ASKED),
            Some(grace) = stop.recv() => Some(grace),
        };
        self.end_and_report(process, grace).await;
    }

    /// Stops it if `grace` is given, kills its descendants, and reports its death.
    async fn end_and_report(self, mut process: omp_exec::Child, grace: Option<Duration>) {
        if let Some(grace) = grace {
            process.stop(grace, |_| ()).await;
        }
        let exit = timeout(EXIT_SOON, process.wait()).await.ok().and_then(Result::ok);
        drop(process);
        let _ = timeout(STDERR_REST, self.keep).await;
        let stderr_lines = lock(&self.stderr).last_lines();
        self.report.send_replace(Some(Death { name: self.name, exit, was_stopped: grace.is_some(), stderr_lines }));
    }
}

async fn has_ended(process: &mut omp_exec::Child, within: Duration) -> bool {
    timeout(within, process.wait()).await.is_ok()
}

/// Forwards until the output ends.
async fn forward_stdout(process: &mut omp_exec::Child, output: &mut DuplexStream) {
    let mut buffer = vec![0; PIPE_BYTES];
    while let Ok(read @ 1..) = process.read(&mut buffer).await {
        // Fails if the connection has ended, which the driver notices.
        let _ = output.write_all(&buffer[..read]).await;
    }
}

/// Forwards until the connection stops writing; then closes the server's stdin.
async fn feed_stdin(mut from: DuplexStream, mut input: InputPipe) {
    let mut buffer = vec![0; PIPE_BYTES];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if input.write(&buffer[..read]).await.is_err() {
            break;
        }
    }
}

async fn keep_stderr(mut errors: ErrorPipe, stderr: Arc<Mutex<StderrTail>>) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(read @ 1..) = errors.read(&mut buffer).await {
        lock(&stderr).add(&buffer[..read]);
    }
}

impl std::error::Error for Death {}

impl fmt::Display for Death {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} {}", self.name, self.how())?;
        if self.was_stopped {
            return Ok(());
        }
        if self.stderr_lines.is_empty() {
            return write!(to, "\nhint: it wrote nothing to stderr; run it by hand to see why it ends");
        }
        write!(to, "\nthe end of its stderr:")?;
        for line in &self.stderr_lines {
            write!(to, "\n  {line}")?;
        }
        write!(to, "\nhint: its stderr may say why; check how it is installed and started")
    }
}

impl Death {
    fn how(&self) -> String {
        match (self.was_stopped, self.exit) {
            (true, _) => "was ended".to_owned(),
            (false, Some(ProcessExit { signal: Some(signal), .. })) => format!("was killed by signal {signal}"),
            (false, Some(ProcessExit { code, .. })) => format!("ended with exit code {code}"),
            (false, None) => "ended".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exit: Option<ProcessExit>, was_stopped: bool, stderr_lines: &[&str], want: &str) {
        let stderr_lines = stderr_lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(Death { name: "the server".into(), exit, was_stopped, stderr_lines }.to_string(), want);
    }

    #[test]
    fn a_death_says_how_why_and_what_to_do() {
        let (code, signal) = (
            |code| Some(ProcessExit { code, signal: None }),
            |number| Some(ProcessExit { code: 128 + number, signal: Some(number) }),
        );
        let by_hand = "hint: it wrote nothing to stderr; run it by hand to see why it ends";
        check(code(3), false, &[], &format!("the server ended with exit code 3\n{by_hand}"));
        check(signal(9), false, &[], &format!("the server was killed by signal 9\n{by_hand}"));
        let told = "the server ended with exit code 1\nthe end of its stderr:\n  no module\n  bye\n\
                    hint: its stderr may say why; check how it is installed and started";
        check(code(1), false, &["no module", "bye"], told);
        check(signal(15), true, &["bye"], "the server was ended");
    }
}
