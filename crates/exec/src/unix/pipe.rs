//! The reading end of a child's output pipe.

use std::io;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// Read on demand: a child that prints faster than it is read blocks on the pipe, nothing piles up here.
#[derive(Debug, Default)]
pub(crate) struct OutputPipe {
    /// `None` reads as the end.
    receiver: Option<Receiver>,
}

impl OutputPipe {
    pub(crate) fn new(reader: io::PipeReader) -> io::Result<Self> {
        Ok(Self { receiver: Some(Receiver::from_owned_fd(reader.into())?) })
    }

    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.receiver {
            Some(receiver) => receiver.read(buffer).await,
            None => Ok(0),
        }
    }
}
