//! Signs commits and tags for contained commands, which can access neither keys nor agents.
//!
//! If the user's own git settings ask for signatures, git in the sandbox is configured with another signing program
//! ([`mod@stand_in`]): it asks omp over a socket, and omp runs the user's real program outside. omp signs only commits and
//! tags, with a key that the user's own settings name (`request`). It runs only programs that these settings name and that
//! no command can write to.

mod public;
mod request;
mod settings;
mod stand_in;
#[cfg(test)]
mod tests;
mod wire;
mod work;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use omp_contain::{Rung, Signing, SigningDesk};
use omp_egress::serve_each;
use omp_types::{Access, Env, Touch};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::private_folder::PrivateFolder;
use crate::reaper::Reaper;
use request::{Object, SigningRefusal, is_to_sign, judge};
use settings::{SignatureFormat, UserSettings};
use wire::{SigningAnswer, SigningQuestion, SigningRun};

pub use stand_in::stand_in;

/// In the private folder; short, because the length of socket paths is limited.
const SOCKET: &str = "s";
/// Maximum simultaneous connections; further ones wait.
const MOST_CONNECTIONS: usize = 16;
/// Maximum simultaneous signing programs; further ones wait.
const MOST_AT_ONCE: usize = 2;
/// Time limit for receiving a request.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for signing, in which the user may have to type a passphrase or touch a key.
const PATIENCE: Duration = Duration::from_secs(60);
/// After this many failures in a row signing is suspended for a while, because each attempt may open a window.
const MOST_FAILURES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(60);

/// Signs for the commands of a session.
#[derive(Debug)]
pub struct Signer {
    access: Access,
    home: PathBuf,
    env: Env,
    /// The binary of omp, which git starts by another name.
    program: PathBuf,
    patience: Duration,
    state: Mutex<SignerState>,
}

#[derive(Debug, Default)]
enum SignerState {
    /// No command has started yet.
    #[default]
    Unknown,
    /// The settings require no signatures.
    Idle,
    Open(Box<OpenOffice>),
    /// Holds a message that is reported once.
    Failed(Option<String>),
}

#[derive(Debug)]
struct OpenOffice {
    desk: Arc<SigningDesk>,
    office: Arc<Office>,
    _serving: AbortOnDropHandle<()>,
}

/// Answers signing requests.
#[derive(Debug)]
struct Office {
    settings: UserSettings,
    access: Access,
    rung: Rung,
    env: Env,
    home: PathBuf,
    folder: PrivateFolder,
    connections: Arc<Semaphore>,
    programs: Semaphore,
    patience: Duration,
    ledger: Mutex<SignatureLedger>,
    /// Agents that were started for a signature live as long as the session.
    reaper: Reaper,
}

#[derive(Debug, Default)]
struct SignatureLedger {
    signed: BTreeMap<(Object, String), usize>,
    failures: u32,
    paused_since: Option<Instant>,
}

impl Signer {
    /// Reads no settings yet. `access` is what commands may touch, `program` the binary of omp.
    pub fn new(access: Access, home: PathBuf, env: Env, program: PathBuf) -> Self {
        Self { access, home, env, program, patience: PATIENCE, state: Mutex::default() }
    }

    fn open(&self, rung: Rung, runtime: &Handle) -> io::Result<SignerState> {
        let is_trusted = |path: &Path| is_out_of_reach(path, &self.access, rung);
        let settings = UserSettings::read(&self.home, &self.env, &is_trusted);
        if !settings.ask_for_signatures() {
            return Ok(SignerState::Idle);
        }
        if !self.program.is_file() {
            return Err(io::Error::other(format!("{} is gone", self.program.display())));
        }
        let folder = PrivateFolder::create(&self.env)?;
        let (listener, links) = lay_out(folder.path(), &self.program, &settings.formats())?;
        let desk =
            SigningDesk { folder: folder.path().to_owned(), socket: folder.path().join(SOCKET), settings: links };
        let office = Office {
            settings,
            access: self.access.clone(),
            rung,
            env: self.env.clone(),
            home: self.home.clone(),
            folder,
            connections: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            programs: Semaphore::new(MOST_AT_ONCE),
            patience: self.patience,
            ledger: Mutex::default(),
            reaper: Reaper::default(),
        };
        let office = Arc::new(office);
        let listener = {
            let _guard = runtime.enter();
            tokio::net::UnixListener::from_std(listener)?
        };
        let serving = AbortOnDropHandle::new(runtime.spawn(office.clone().serve(listener)));
        Ok(SignerState::Open(Box::new(OpenOffice { desk: Arc::new(desk), office, _serving: serving })))
    }
}

impl Signing for Signer {
    fn desk(&self, rung: Rung) -> Option<Arc<SigningDesk>> {
        let mut state = lock(&self.state);
        if matches!(*state, SignerState::Unknown) {
            let runtime = Handle::try_current().ok()?;
            *state = self.open(rung, &runtime).unwrap_or_else(|error| SignerState::Failed(Some(unsigned(&error))));
        }
        match &*state {
            SignerState::Open(opened) => Some(opened.desk.clone()),
            _ => None,
        }
    }

    fn take_signed(&self) -> Vec<String> {
        let mut state = lock(&self.state);
        let signed = match &mut *state {
            SignerState::Open(opened) => std::mem::take(&mut lock(&opened.office.ledger).signed),
            SignerState::Failed(told) => return told.take().into_iter().collect(),
            SignerState::Unknown | SignerState::Idle => return Vec::new(),
        };
        let sentence = |((object, key), count): ((Object, String), usize)| {
            let what = match (object, count) {
                (Object::Commit, 1) => "a commit".to_owned(),
                (Object::Tag, 1) => "a tag".to_owned(),
                (Object::Commit, count) => format!("{count} commits"),
                (Object::Tag, count) => format!("{count} tags"),
            };
            format!("omp signed {what} with the user's key {key}.")
        };
        signed.into_iter().map(sentence).collect()
    }
}

fn unsigned(error: &io::Error) -> String {
    format!(
        "omp cannot sign commits and tags in this session: {error}\nhint: restart omp, with a shorter TMPDIR if its path is long; `--no-gpg-sign` commits without a signature"
    )
}

/// Creates the socket and the links by which git starts omp, and returns the settings that refer to them.
fn lay_out(
    folder: &Path,
    program: &Path,
    formats: &[SignatureFormat],
) -> io::Result<(UnixListener, Vec<(String, String)>)> {
    let listener = UnixListener::bind(folder.join(SOCKET))?;
    listener.set_nonblocking(true)?;
    let mut settings = Vec::new();
    for format in formats {
        let link = folder.join(link_name(*format));
        // A link is used instead of a script because the temp folder may be mounted without permission to execute.
        std::os::unix::fs::symlink(program, &link)?;
        let link = link.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        settings.push((format.keys()[0].to_owned(), link.to_owned()));
    }
    Ok((listener, settings))
}

fn link_name(format: SignatureFormat) -> String {
    format!("omp-sign-{}", format.name())
}

/// Whether commands can neither write to the path nor replace it: this includes the target and every link on the way.
fn is_out_of_reach(path: &Path, access: &Access, rung: Rung) -> bool {
    /// The number of links that the system follows.
    const MOST_LINKS: usize = 40;
    let map = access.map();
    let is_kept = |path: &Path| {
        let is_inside = map.writable.iter().chain([&map.workspace]).any(|root| path.starts_with(root));
        // Without mounts, guarded or hidden paths are only restored afterwards.
        !is_inside || (rung > Rung::Landlock && map.allows(Touch::Write, path).is_err())
    };
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    let mut left: Vec<OsString> = path.iter().rev().map(OsString::from).collect();
    while let Some(name) = left.pop() {
        match name.to_str() {
            Some("..") => drop(at.pop()),
            Some(".") => {}
            _ => at.push(&name),
        }
        let Ok(target) = std::fs::read_link(&at) else { continue };
        links += 1;
        if links > MOST_LINKS || !is_kept(&at) {
            return false;
        }
        at.pop();
        left.extend(target.iter().rev().map(OsString::from));
    }
    path.is_absolute() && is_kept(&at)
}

impl Office {
    async fn serve(self: Arc<Self>, listener: tokio::net::UnixListener) {
        let places = self.connections.clone();
        serve_each(listener, places, |client| {
            let office = self.clone();
            async move { office.serve_one(client).await }
        })
        .await;
    }

    async fn serve_one(&self, mut client: UnixStream) {
        let Ok(Some(heard)) = timeout(HEAD_PATIENCE, read_request(&mut client)).await else { return };
        let answer = match heard {
            Ok(asked) => {
                let (mut reader, _) = client.split();
                tokio::select! {
                    answer = self.answer(&asked) => answer,
                    // The client has gone, or has sent extra data.
                    _ = reader.read_u8() => return,
                }
            }
            Err(refusal) => SigningAnswer::Refused(refusal.to_string()),
        };
        // A client that has gone gets no answer.
        let _ = timeout(HEAD_PATIENCE, client.write_all(&answer.encode())).await;
    }

    async fn answer(&self, asked: &SigningQuestion) -> SigningAnswer {
        let is_own = self.settings.is_own_program(asked.format, asked.configured.as_deref());
        let is_same_keyring = asked.format == SignatureFormat::Ssh || asked.keyring == self.keyring();
        if !is_own || !is_same_keyring {
            return SigningAnswer::Run(SigningRun::default());
        }
        if !is_to_sign(asked.format, &asked.args) {
            return SigningAnswer::Run(self.where_public(asked).await);
        }
        match judge(asked.format, &asked.args, &asked.payload, &asked.literal, &self.settings) {
            Ok(order) => self.sign(asked.format, &order, &asked.payload).await,
            // A test suite may have its own keys, in a path that commands can read.
            Err(refusal @ SigningRefusal::ForeignKey(_)) => {
                SigningAnswer::Run(SigningRun { note: refusal.to_string(), ..SigningRun::default() })
            }
            Err(refusal) => SigningAnswer::Refused(refusal.to_string()),
        }
    }

    fn keyring(&self) -> String {
        stand_in::keyring(|name| self.env.iter().find(|(key, _)| *key == name).map(|(_, value)| value))
    }
}

/// `None` if the client sent nothing.
async fn read_request(client: &mut UnixStream) -> Option<Result<SigningQuestion, SigningRefusal>> {
    let length = client.read_u32_le().await.ok()? as usize;
    if length > wire::LARGEST {
        return Some(Err(SigningRefusal::TooLarge));
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body).await.ok()?;
    Some(SigningQuestion::decode(&body).ok_or_else(|| SigningRefusal::Arguments("no request at all".to_owned())))
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
