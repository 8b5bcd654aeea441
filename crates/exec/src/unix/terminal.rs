//! Starts a child in a terminal of its own, in the same way as all other children.
//!
//! Only the terminal itself comes from `portable-pty`. Its code for starting processes supports neither limits nor the
//! watchdog, and reports a program that cannot be executed like one that has exited.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use portable_pty::{MasterPty, native_pty_system};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::process::Command;

use super::{OutputPipe, Process, Streams, start_with};
use crate::pty::TerminalSize;
use crate::spawn::Given;

/// omp's side of the terminal.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keys: Sender,
}

/// Starts `command` with a new terminal as its streams and its controlling terminal.
pub(crate) fn start_in_terminal(
    mut command: Command,
    given: Given,
    size: TerminalSize,
) -> io::Result<(Process, OutputPipe, Terminal)> {
    let pair = native_pty_system().openpty(size.into()).map_err(io::Error::other)?;
    let master = pair.master;
    let output = OutputPipe::of_terminal(side_of(&*master)?)?;
    let keys = Sender::from_owned_fd_unchecked(side_of(&*master)?)?;
    let device = open_device(&*master)?;
    command.stdin(device.try_clone()?).stdout(device.try_clone()?).stderr(device);
    // omp's copies of the program's side are closed when this returns, so that reading ends when the program closes its
    // own.
    let process = start_with(command, given, Streams::Terminal)?;
    Ok((process, output, Terminal { master, keys }))
}

/// Makes standard input the controlling terminal. Called between fork and exec.
pub(super) fn take_control() -> io::Result<()> {
    // SAFETY: an ioctl without a pointer, on an open descriptor.
    Errno::result(unsafe { libc::ioctl(0, libc::TIOCSCTTY as _, 0) })?;
    Ok(())
}

/// Duplicates omp's side as a non-blocking descriptor.
fn side_of(master: &dyn MasterPty) -> io::Result<OwnedFd> {
    let raw = master.as_raw_fd().ok_or(io::ErrorKind::Unsupported)?;
    // SAFETY: the descriptor belongs to `master`, which outlives this borrow.
    let side = unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned()?;
    let flags = OFlag::from_bits_retain(fcntl(&side, FcntlArg::F_GETFL)?);
    fcntl(&side, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(side)
}

/// The program's side. It must not become omp's own controlling terminal.
fn open_device(master: &dyn MasterPty) -> io::Result<File> {
    let name = master.tty_name().ok_or(io::ErrorKind::NotFound)?;
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(name)
}

impl Terminal {
    pub(crate) async fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.keys.write(bytes).await
    }

    pub(crate) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        self.master.resize(size.into()).map_err(io::Error::other)
    }
}
