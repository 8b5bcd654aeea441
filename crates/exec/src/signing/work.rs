//! Runs the user's own signing program outside the sandbox.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use omp_contain::Containment;
use omp_types::vars;
use tokio::time::timeout;

use super::request::{NOT_SIGNED, SigningKey, SigningOrder};
use super::settings::SignatureFormat;
use super::wire::SigningAnswer;
use super::{MOST_FAILURES, Office, PAUSE, is_out_of_reach, lock};
use crate::{ChildEnv, Spawn, lookup};

/// Maximum bytes of a signature, and of the messages about it.
const LARGEST_OUTPUT: usize = 64 * 1024;
/// How long to read after the program has exited, since an agent that it started may hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(200);

const NO_TERMINAL: &str = "/no-terminal";
const UNLOCK: &str = "a key with a passphrase must be unlocked first: ask the user to sign something in a terminal, then try again; `--no-gpg-sign` commits without a signature";

/// The only variables passed to the program. Variables that a repository could use to redirect it, such as
/// `LD_LIBRARY_PATH`, are excluded.
const PASSED_ON: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TZ",
    "TMPDIR",
    "GNUPGHOME",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS_REQUIRE",
    "PINENTRY_USER_DATA",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
];

impl Office {
    /// `order` was already checked.
    pub(super) async fn sign(&self, format: SignatureFormat, order: &SigningOrder, payload: &[u8]) -> SigningAnswer {
        let Ok(_place) = self.programs.acquire().await else {
            return refused("omp is shutting down", "restart omp");
        };
        if lock(&self.ledger).is_paused() {
            let why = format!("signing failed too often; it is paused for {} seconds", PAUSE.as_secs());
            return refused(&why, UNLOCK);
        }
        let answer = match self.program(format) {
            Ok(program) => self.run(&program, format, order, payload).await,
            Err(refusal) => return refusal,
        };
        let mut ledger = lock(&self.ledger);
        match answer {
            SigningAnswer::Ran { code: 0, .. } => {
                ledger.failures = 0;
                *ledger.signed.entry((order.object, order.key.shown())).or_default() += 1;
            }
            _ => {
                ledger.failures += 1;
                ledger.paused_since = (ledger.failures >= MOST_FAILURES).then(Instant::now);
            }
        }
        answer
    }

    /// The user's program, if no command can have replaced it.
    pub(super) fn program(&self, format: SignatureFormat) -> Result<PathBuf, SigningAnswer> {
        let named = self.settings.expanded(self.settings.program(format));
        let found = PathBuf::from(lookup::resolved(named.as_os_str(), Some(&self.safe_path())));
        let shown = found.display();
        if !found.is_file() {
            let why = format!("the signing program `{}` was not found", named.display());
            return Err(refused(&why, "install it, or set its path with `git config --global`"));
        }
        if !is_out_of_reach(&found, &self.access, self.rung) {
            let why = format!("{shown} would sign, and commands can write there");
            return Err(refused(&why, "set a program of the system with `git config --global`, and restart omp"));
        }
        let keyring = self.keyring();
        if format != SignatureFormat::Ssh && !is_out_of_reach(Path::new(&keyring), &self.access, self.rung) {
            let why = format!("{keyring} decides what gpg runs, and commands can write there");
            return Err(refused(&why, "start omp in another folder"));
        }
        Ok(found)
    }

    async fn run(
        &self,
        program: &Path,
        format: SignatureFormat,
        order: &SigningOrder,
        payload: &[u8],
    ) -> SigningAnswer {
        match timeout(self.patience, self.outcome(program, format, order, payload)).await {
            Ok(Ok(SigningAnswer::Ran { code: code @ 1.., output, mut errors })) => {
                let why = format!("\n{NOT_SIGNED}: {} ended with code {code}\nhint: {UNLOCK}\n", program.display());
                errors.extend(why.into_bytes());
                SigningAnswer::Ran { code, output, errors }
            }
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                refused(&format!("{} could not sign: {error}", program.display()), "try it in a terminal")
            }
            Err(_) => {
                let why = format!(
                    "{} did not sign within {} seconds; it may wait for a passphrase, or for a key to be touched",
                    program.display(),
                    self.patience.as_secs()
                );
                refused(&why, UNLOCK)
            }
        }
    }

    async fn outcome(
        &self,
        program: &Path,
        format: SignatureFormat,
        order: &SigningOrder,
        payload: &[u8],
    ) -> io::Result<SigningAnswer> {
        let spawn = Spawn::new(program, self.variables(), &Containment::of_user()).cwd(&self.home);
        if format != SignatureFormat::Ssh {
            let SigningKey::Named(key) = &order.key else { return Err(io::ErrorKind::InvalidInput.into()) };
            return self.carry_out(spawn.args(["--status-fd=2", "-bsau", key]), payload).await;
        }
        let files = SigningFolder::create(self.folder.path())?;
        let buffer = files.write("object", payload)?;
        let mut args: Vec<OsString> = ["-Y", "sign", "-n", "git", "-f"].map(OsString::from).to_vec();
        match &order.key {
            SigningKey::File(file) => args.push(file.into()),
            SigningKey::Literal(key) => args.extend([files.write("key", key.as_bytes())?.into(), "-U".into()]),
            SigningKey::Named(_) => return Err(io::ErrorKind::InvalidInput.into()),
        }
        args.push(buffer.into());
        match self.carry_out(spawn.args(args), b"").await? {
            SigningAnswer::Ran { code: 0, errors, .. } => {
                let output = omp_stdx::plain_file::read_itself(&files.0.join("object.sig"), LARGEST_OUTPUT as u64)?;
                Ok(SigningAnswer::Ran { code: 0, output, errors })
            }
            answer => Ok(answer),
        }
    }

    /// Runs the program to its end. Dropping the future kills it.
    async fn carry_out(&self, spawn: Spawn, input: &[u8]) -> io::Result<SigningAnswer> {
        let (mut child, mut pipe, mut complaints) = spawn.start_apart().map_err(io::Error::other)?;
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let finished = {
            let hear = async {
                let mut buffer = vec![0; 4096];
                while let Ok(read @ 1..) = complaints.read(&mut buffer).await {
                    keep(&mut errors, &buffer[..read]);
                }
            };
            let write = async move {
                // A program that does not read its input reports why.
                let _ = pipe.write(input).await;
            };
            let read = async {
                let mut buffer = vec![0; 4096];
                while let Ok(read @ 1..) = child.read(&mut buffer).await {
                    keep(&mut output, &buffer[..read]);
                }
                child.finish().await
            };
            let both = async { tokio::join!(write, read).1 };
            tokio::pin!(hear, both);
            tokio::select! {
                finished = &mut both => {
                    let _ = timeout(LAST_WORDS, &mut hear).await;
                    finished?
                }
                () = &mut hear => both.await?,
            }
        };
        if let Some(leftover) = finished.leftover {
            self.reaper.adopt(leftover);
        }
        let code = u8::try_from(finished.exit.code).unwrap_or(u8::MAX);
        Ok(SigningAnswer::Ran { code, output, errors })
    }

    fn variables(&self) -> ChildEnv {
        let get = |name: &str| self.env.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        let passed = PASSED_ON.iter().filter_map(|name| get(name).map(|value| (*name, value)));
        let env = passed.fold(ChildEnv::default(), |env, (name, value)| env.set(name, value));
        let askpass = get("SSH_ASKPASS").filter(|program| is_out_of_reach(Path::new(program), &self.access, self.rung));
        let env = askpass.into_iter().fold(env, |env, program| env.set("SSH_ASKPASS", program));
        // The program may open a window for a passphrase but must not use omp's terminal: without a display gpg fails at
        // once.
        env.set("PATH", self.safe_path()).set("GPG_TTY", NO_TERMINAL).set("TERM", "dumb")
    }

    /// `PATH` without folders that commands can write to, such as those of a project's tools.
    fn safe_path(&self) -> String {
        let path = self.env.get(vars::PATH).unwrap_or("/usr/local/bin:/usr/bin:/bin");
        let folders = path.split(':').filter(|folder| is_out_of_reach(Path::new(folder), &self.access, self.rung));
        folders.collect::<Vec<_>>().join(":")
    }
}

impl super::SignatureLedger {
    fn is_paused(&mut self) -> bool {
        let is_paused = self.paused_since.is_some_and(|since| since.elapsed() < PAUSE);
        if self.paused_since.is_some() && !is_paused {
            (self.paused_since, self.failures) = (None, 0);
        }
        is_paused
    }
}

impl SigningKey {
    fn shown(&self) -> String {
        match self {
            Self::Named(key) => key.clone(),
            Self::File(file) => file.display().to_string(),
            Self::Literal(key) => key.chars().take(40).collect(),
        }
    }
}

/// A temporary folder for one signature, removed on drop.
struct SigningFolder(PathBuf);

impl SigningFolder {
    fn create(within: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = within.join(COUNT.fetch_add(1, Ordering::Relaxed).to_string());
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self(folder))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).map(|()| path)
    }
}

impl Drop for SigningFolder {
    fn drop(&mut self) {
        // Remaining files are removed with the private folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let free = LARGEST_OUTPUT.saturating_sub(kept.len());
    kept.extend_from_slice(&bytes[..bytes.len().min(free)]);
}

fn refused(why: &str, hint: &str) -> SigningAnswer {
    SigningAnswer::Refused(format!("{NOT_SIGNED}: {why}\nhint: {hint}"))
}
