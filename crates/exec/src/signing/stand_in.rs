//! The program that git starts in the sandbox instead of gpg and ssh-keygen: the binary of omp under another name.
//!
//! It asks omp for the signature. Requests that are not for a signature of the user (verification, or a key or program that
//! a repository or a test suite has configured for itself) are passed to the program that git would have started, inside
//! the sandbox.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use omp_types::Env;

use super::public::KEYRING;
use super::request::{LARGEST_PAYLOAD, NOT_SIGNED, is_to_sign};
use super::settings::SignatureFormat;
use super::wire::{SigningAnswer, SigningQuestion, SigningRun, ask};
use super::{SOCKET, link_name};

/// The exit code of gpg and ssh-keygen when they could not sign.
const FAILED: u8 = 2;
/// Maximum bytes of a public key.
const LARGEST_KEY: u64 = 64 * 1024;

struct StandIn {
    format: SignatureFormat,
    /// The folder with the socket and the links by which this program is started.
    folder: PathBuf,
    args: Vec<String>,
    /// The arguments as raw bytes.
    raw: Vec<OsString>,
    /// The environment as it would be without omp.
    env: Vec<(String, String)>,
}

/// Runs as the stand-in and returns the exit code if the first of `args` is the name of a stand-in.
pub fn stand_in(args: impl IntoIterator<Item = OsString>, env: impl FnOnce() -> Env) -> Option<u8> {
    let mut args = args.into_iter();
    let name = PathBuf::from(args.next()?);
    let called = name.file_name()?.to_str()?;
    let format = SignatureFormat::ALL.into_iter().find(|format| called == link_name(*format))?;
    let folder = name.parent().filter(|folder| folder.is_absolute())?.to_owned();
    let raw: Vec<OsString> = args.collect();
    // Git's own arguments are valid text; others need no exact match.
    let args = raw.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let stand_in = StandIn { format, env: without_own(&env(), &folder), folder, args, raw };
    Some(stand_in.work().unwrap_or_else(|error| {
        complain(&error.to_string());
        FAILED
    }))
}

impl StandIn {
    fn work(&self) -> io::Result<u8> {
        let payload = self.payload()?;
        let asked = SigningQuestion {
            format: self.format,
            configured: self.configured(),
            keyring: keyring(|name| self.get(name)),
            literal: self.literal(),
            payload: payload.clone().unwrap_or_default(),
            args: self.args.clone(),
        };
        let answer = match UnixStream::connect(self.folder.join(SOCKET)) {
            Ok(mut stream) => ask(&mut stream, &asked).map_err(unheard)?,
            // The omp that it belongs to has exited.
            Err(error) if payload.is_some() => return Err(unheard(error)),
            Err(_) => SigningAnswer::Run(SigningRun::default()),
        };
        match answer {
            SigningAnswer::Ran { code, output, errors } => self.hand_over(code, &output, &errors),
            SigningAnswer::Refused(why) => {
                complain(&why);
                Ok(FAILED)
            }
            SigningAnswer::Run(run) => self.run(&run, asked.configured.as_deref(), payload.as_deref()),
        }
    }

    /// The data to be signed, if this is a signing request.
    fn payload(&self) -> io::Result<Option<Vec<u8>>> {
        if !is_to_sign(self.format, &self.args) {
            return Ok(None);
        }
        let mut payload = Vec::new();
        let most = LARGEST_PAYLOAD as u64 + 1;
        match (self.format, self.args.last()) {
            (SignatureFormat::Ssh, Some(file)) => File::open(file)?.take(most).read_to_end(&mut payload)?,
            _ => io::stdin().lock().take(most).read_to_end(&mut payload)?,
        };
        Ok(Some(payload))
    }

    /// Reads the file to which git has written a key from its settings.
    fn literal(&self) -> String {
        let file = self.key_file().filter(|_| self.args.iter().any(|arg| arg == "-U"));
        let text = file.and_then(|file| omp_stdx::plain_file::read_text(Path::new(file), LARGEST_KEY).ok());
        text.unwrap_or_default()
    }

    fn key_file(&self) -> Option<&String> {
        self.args.iter().skip_while(|arg| *arg != "-f").nth(1)
    }

    /// The program that git would start without omp.
    fn configured(&self) -> Option<String> {
        let keys: Vec<String> = self.format.keys().iter().map(|key| key.replace('.', "\\.")).collect();
        let pattern = format!("^({})$", keys.join("|"));
        let asked = self.command("git").args(["config", "-z", "--get-regexp", &pattern]).stdin(Stdio::null()).output();
        let said = String::from_utf8(asked.ok()?.stdout).ok()?;
        // Entries have the form `key\nvalue\0`, and the last one counts.
        let last = said.split('\0').rfind(|entry| !entry.is_empty())?;
        last.split_once('\n').map(|(_, value)| value.to_owned())
    }

    fn hand_over(&self, code: u8, output: &[u8], errors: &[u8]) -> io::Result<u8> {
        io::stderr().write_all(errors)?;
        match (self.format, self.args.last()) {
            (SignatureFormat::Ssh, Some(file)) if code == 0 => std::fs::write(format!("{file}.sig"), output)?,
            _ => io::stdout().write_all(output)?,
        }
        Ok(code)
    }

    /// Runs the real program here, in the sandbox.
    fn run(&self, run: &SigningRun, configured: Option<&str>, payload: Option<&[u8]>) -> io::Result<u8> {
        if !run.note.is_empty() {
            complain(&run.note);
        }
        if payload.is_some() && !run.note.is_empty() && !self.sees_keys() {
            return Ok(FAILED);
        }
        let usual = configured.unwrap_or(self.format.usual_program());
        let mut command = self.command(if run.program.is_empty() { usual } else { &run.program });
        if !run.keyring.is_empty() {
            // The copy is read-only and needs no locks.
            command.env("GNUPGHOME", &run.keyring).args(["--lock-never", "--no-auto-check-trustdb"]);
        }
        let copy = OsString::from(&run.copy);
        let is_hidden = |arg: &OsString| !run.hidden.is_empty() && *arg == *run.hidden && File::open(arg).is_err();
        command.args(self.raw.iter().map(|arg| if is_hidden(arg) { &copy } else { arg }));
        let Some(payload) = payload.filter(|_| self.format != SignatureFormat::Ssh) else { return Err(command.exec()) };
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A program that does not read its input closes the pipe and reports why.
            let _ = input.write_all(payload);
        }
        child.wait().map(code_of)
    }

    /// Whether the program could find a key here: the user's keys are hidden, those of a test suite are not.
    fn sees_keys(&self) -> bool {
        let can_be_read = |path: PathBuf| File::open(path).is_ok();
        let keyring = PathBuf::from(keyring(|name| self.get(name)));
        match self.format {
            SignatureFormat::Ssh => self.key_file().is_some_and(|file| can_be_read(file.into())),
            SignatureFormat::OpenPgp | SignatureFormat::X509 => {
                KEYRING.iter().any(|name| can_be_read(keyring.join(name)))
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this process is already in the sandbox, and so is what it starts")]
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// The folder in which gpg keeps keys.
pub(super) fn keyring<'a>(get: impl Fn(&str) -> Option<&'a str>) -> String {
    let set = get("GNUPGHOME").map(str::to_owned);
    set.unwrap_or_else(|| format!("{}/.gnupg", get("HOME").unwrap_or_default()))
}

/// The environment without the git settings that refer to `folder`.
fn without_own(env: &Env, folder: &Path) -> Vec<(String, String)> {
    let get = |name: String| env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
    let count = get("GIT_CONFIG_COUNT".to_owned()).and_then(|count| count.parse::<usize>().ok()).unwrap_or_default();
    let all = (0..count.min(env.iter().count()))
        .filter_map(|at| Some((get(format!("GIT_CONFIG_KEY_{at}"))?, get(format!("GIT_CONFIG_VALUE_{at}"))?)));
    let kept: Vec<(String, String)> = all.filter(|(_, value)| !Path::new(value).starts_with(folder)).collect();
    let others = env.iter().filter(|(name, _)| !name.starts_with("GIT_CONFIG_KEY_"));
    let others = others.filter(|(name, _)| !name.starts_with("GIT_CONFIG_VALUE_") && *name != "GIT_CONFIG_COUNT");
    let mut variables: Vec<_> = others.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    if !kept.is_empty() {
        variables.push(("GIT_CONFIG_COUNT".to_owned(), kept.len().to_string()));
    }
    for (at, (key, value)) in kept.into_iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{at}"), key));
        variables.push((format!("GIT_CONFIG_VALUE_{at}"), value));
    }
    variables
}

fn unheard(error: io::Error) -> io::Error {
    io::Error::other(format!(
        "{NOT_SIGNED}: it could not be asked: {error}\nhint: the omp that started this command may have ended; \
         `--no-gpg-sign` commits without a signature"
    ))
}

fn code_of(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

fn complain(what: &str) {
    // If standard error is closed, only the exit code reports the failure.
    let _ = writeln!(io::stderr(), "{what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_names_are_a_stand_in() {
        for name in ["omp", "/usr/bin/omp", "omp-sign-ssh", "/x/omp-sign-", "/x/ssh", "/x/omp-sign-ssh.exe"] {
            assert_eq!(stand_in([OsString::from(name)], Env::default), None, "{name}");
        }
        assert_eq!(stand_in([], Env::default), None);
    }

    #[test]
    fn git_is_asked_as_if_omp_were_not_there() {
        let own = "/tmp/omp-1/x";
        let env: Env = [
            ("A", "1"),
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "gpg.program"),
            ("GIT_CONFIG_VALUE_0", "/tmp/omp-1/x/omp-sign-openpgp"),
            ("GIT_CONFIG_KEY_1", "user.name"),
            ("GIT_CONFIG_VALUE_1", "a"),
            ("GIT_CONFIG_KEY_2", "gpg.ssh.program"),
            ("GIT_CONFIG_VALUE_2", "/tmp/omp-1/x/omp-sign-ssh"),
        ]
        .into_iter()
        .collect();
        let mut left: Vec<String> =
            without_own(&env, Path::new(own)).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        left.sort();
        let expect = ["A=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=a"];
        assert_eq!(left, expect);
    }
}
