//! A child in a pseudo console of its own. Only the console's owner can start it, so it is not a `tokio` child.

use std::io::{self, Write};
use std::os::windows::process::ExitStatusExt;
use std::process::ExitStatus;

use portable_pty::{CommandBuilder, MasterPty, native_pty_system};
use tokio::process::Command;
use tokio::sync::{mpsc, watch};

use super::OutputPipe;
use crate::pty::TerminalSize;
use crate::spawn::Given;

/// A started child, with or without a console.
#[derive(Debug)]
pub(crate) enum Process {
    Plain(tokio::process::Child),
    InTerminal { id: Option<u32>, end: watch::Receiver<Option<ExitStatus>> },
}

impl Process {
    pub(crate) fn id(&self) -> Option<u32> {
        match self {
            Self::Plain(child) => child.id(),
            Self::InTerminal { id, .. } => *id,
        }
    }

    /// Dropping the future loses no data.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Plain(child) => child.wait().await,
            Self::InTerminal { end, .. } => {
                let ended = end.wait_for(Option::is_some).await.map_err(io::Error::other)?;
                ended.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }
}

/// omp's side of the console. The program ends when it is dropped.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keys: mpsc::Sender<Vec<u8>>,
}

/// Starts `command` in a new console. Windows has no resource limits of this kind.
pub(crate) fn start_in_terminal(
    command: Command,
    given: Given,
    size: TerminalSize,
) -> io::Result<(Process, OutputPipe, Terminal)> {
    if given.cage.is_some() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let pair = native_pty_system().openpty(size.into()).map_err(io::Error::other)?;
    let keys = type_with(pair.master.take_writer().map_err(io::Error::other)?)?;
    let output = OutputPipe::new(pair.master.try_clone_reader().map_err(io::Error::other)?)?;
    let mut child = pair.slave.spawn_command(builder(command.as_std())).map_err(io::Error::other)?;
    let (told, end) = watch::channel(None);
    let process = Process::InTerminal { id: child.process_id(), end };
    let wait = move || {
        // If there is no status the channel closes, which is reported as an error.
        if let Ok(status) = child.wait() {
            let _ = told.send(Some(ExitStatus::from_raw(status.exit_code())));
        }
    };
    std::thread::Builder::new().name("omp-console".into()).spawn(wait)?;
    Ok((process, output, Terminal { master: pair.master, keys }))
}

fn builder(command: &std::process::Command) -> CommandBuilder {
    let mut builder = CommandBuilder::new(command.get_program());
    builder.args(command.get_args());
    builder.env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            builder.env(name, value);
        }
    }
    if let Some(cwd) = command.get_current_dir() {
        builder.cwd(cwd);
    }
    builder
}

/// Writes keys in a thread, because a console can only be written to by blocking.
fn type_with(mut writer: Box<dyn Write + Send>) -> io::Result<mpsc::Sender<Vec<u8>>> {
    /// Maximum number of inputs that the program has not read yet.
    const WAITING: usize = 16;
    let (keys, mut typed) = mpsc::channel::<Vec<u8>>(WAITING);
    let write = move || {
        while let Some(bytes) = typed.blocking_recv() {
            if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("omp-keys".into()).spawn(write)?;
    Ok(keys)
}

impl Terminal {
    pub(crate) async fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.keys.send(bytes.to_vec()).await.map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    pub(crate) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        self.master.resize(size.into()).map_err(io::Error::other)
    }
}
