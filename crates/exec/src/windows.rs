//! Children on Windows: a process group without a window; trees are ended with `taskkill`.

mod terminal;

use std::io::{self, Read};
use std::process::ExitStatus;

use omp_contain::Cage;
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::spawn::Given;

pub(crate) use terminal::{Process, Terminal, start_in_terminal};

const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Starts `command` in a group of its own. Windows has no resource limits of this kind.
pub(crate) fn start(mut command: Command, given: Given) -> io::Result<Process> {
    if given.cage.is_some() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW;
    command.creation_flags(flags).kill_on_drop(true).spawn().map(Process::Plain)
}

/// Descriptors cannot be inherited here, so texts are passed as arguments.
pub(crate) type TextFile = std::convert::Infallible;

pub(crate) fn text_slot() -> Option<i32> {
    None
}

pub(crate) fn text_file(_text: &str) -> io::Result<TextFile> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Arguments cannot be hidden here.
pub fn hide_arguments() {}

pub(crate) fn process_limit() -> Option<u64> {
    None
}

pub(crate) fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

/// The processes of a tree cannot be counted here.
#[derive(Debug)]
pub(crate) struct Crowd;

impl Crowd {
    pub(crate) fn of_new_tree() -> Self {
        Self
    }

    pub(crate) fn exceeds(&mut self, _tree: &Tree, _limit: usize) -> bool {
        false
    }
}

/// The memory of a tree cannot be measured here.
#[derive(Debug, Default)]
pub(crate) struct Weight;

impl Weight {
    pub(crate) fn exceeds(&mut self, _tree: &Tree, _limit: u64) -> bool {
        false
    }
}

pub(crate) fn memory_of_machine() -> Option<u64> {
    None
}

/// No process outlives omp to remove it here.
pub(crate) fn remove_later(_folder: &std::path::Path) {}

pub(crate) fn remove_if_empty(_folder: &std::path::Path) {}

pub(crate) fn leave(_folder: &std::path::Path) {}

pub(crate) type Herald = ();

pub(crate) fn tag(_cage: &mut Cage) -> Herald {}

/// Whether the child's process id certainly still belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    Ours,
    Reaped,
}

/// A child and its descendants. The default is an empty tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    leader: Option<u32>,
}

impl Tree {
    pub(crate) fn new(child: &Process, _mark: String, _herald: Option<Herald>) -> Self {
        Self { leader: child.id() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.leader.unwrap_or_default()
    }

    /// Windows forgets the tree with its root, so the remaining processes cannot be identified.
    pub(crate) fn has_members(&self) -> bool {
        false
    }

    pub(crate) fn has_ended(&self) {}

    pub(crate) fn terminate_descendants(&self) -> usize {
        0
    }

    /// A child in a group of its own cannot be interrupted from a console.
    pub(crate) fn interrupt(&self) {}

    pub(crate) fn terminate(&self, leader: Leader) {
        self.kill(leader);
    }

    #[expect(clippy::disallowed_methods, reason = "the only place that starts processes")]
    pub(crate) fn kill(&self, leader: Leader) {
        if let (Some(pid), Leader::Ours) = (self.leader, leader) {
            let pid = pid.to_string();
            let mut taskkill = std::process::Command::new("taskkill");
            let _ = taskkill.args(["/T", "/F", "/PID", &pid]).stdout(std::process::Stdio::null()).status();
        }
    }
}

/// The writing end of a child's standard input. Pipes are blocking on Windows, so a thread writes.
#[derive(Debug)]
pub struct InputPipe {
    writer: std::sync::Arc<std::sync::Mutex<io::PipeWriter>>,
}

impl InputPipe {
    pub(crate) fn new(writer: io::PipeWriter) -> io::Result<Self> {
        Ok(Self { writer: std::sync::Arc::new(std::sync::Mutex::new(writer)) })
    }

    /// Waits while the child does not read.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (writer, bytes) = (self.writer.clone(), bytes.to_vec());
        let write = move || {
            use std::io::Write;
            writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner).write_all(&bytes)
        };
        tokio::task::spawn_blocking(write).await.map_err(io::Error::other)?
    }
}

/// The reading end of a child's output pipe. Pipes are blocking on Windows, so a thread reads; at most two pieces are
/// buffered.
#[derive(Debug, Default)]
pub(crate) struct OutputPipe {
    pieces: Option<mpsc::Receiver<io::Result<Vec<u8>>>>,
    rest: Vec<u8>,
}

impl OutputPipe {
    pub(crate) fn new(mut reader: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, pieces) = mpsc::channel(2);
        let read = move || loop {
            let mut buffer = vec![0; 16 * 1024];
            let piece = reader.read(&mut buffer).map(|read| buffer[..read].to_vec());
            let ended = !matches!(&piece, Ok(piece) if !piece.is_empty());
            if sender.blocking_send(piece).is_err() || ended {
                break;
            }
        };
        std::thread::Builder::new().name("omp-pipe".into()).spawn(read)?;
        Ok(Self { pieces: Some(pieces), rest: Vec::new() })
    }

    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            let Some(pieces) = &mut self.pieces else { return Ok(0) };
            self.rest = pieces.recv().await.transpose()?.unwrap_or_default();
        }
        let read = self.rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&self.rest[..read]);
        self.rest.drain(..read);
        Ok(read)
    }
}
