//! omp's ends of a child's pipes: its output, or that of its terminal, and its input.

use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

/// Read on demand: a child that prints faster than it is read blocks on the pipe, and nothing is buffered here.
#[derive(Debug, Default)]
pub(crate) struct OutputPipe {
    /// `None` reads as the end of the output.
    receiver: Option<Receiver>,
}

impl OutputPipe {
    pub(crate) fn new(reader: io::PipeReader) -> io::Result<Self> {
        Ok(Self { receiver: Some(Receiver::from_owned_fd(reader.into())?) })
    }

    /// `side` must be non-blocking.
    pub(crate) fn of_terminal(side: OwnedFd) -> io::Result<Self> {
        Ok(Self { receiver: Some(Receiver::from_owned_fd_unchecked(side)?) })
    }

    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.receiver {
            Some(receiver) => end_of_terminal(receiver.read(buffer).await),
            None => Ok(0),
        }
    }
}

/// The writing end of a child's standard input.
#[derive(Debug)]
pub struct InputPipe {
    sender: Sender,
}

impl InputPipe {
    pub(crate) fn new(writer: io::PipeWriter) -> io::Result<Self> {
        Ok(Self { sender: Sender::from_owned_fd(writer.into())? })
    }

    /// Waits while the child does not read.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sender.write_all(bytes).await
    }
}

/// Linux reports an error when all other ends of a terminal are closed; this turns it into an end of file as for a pipe.
fn end_of_terminal(read: io::Result<usize>) -> io::Result<usize> {
    match read {
        Err(error) if error.raw_os_error() == Some(Errno::EIO as i32) => Ok(0),
        read => read,
    }
}
