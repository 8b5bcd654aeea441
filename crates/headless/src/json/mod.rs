//! `--mode json`: one JSON object a line, the same frames RPC clients read.

pub(crate) mod wire;

use std::io::{self, Write};

use omp_session::{OpenSession, SessionEvent, SessionHeader};

use crate::drive::Presenter;

pub struct JsonPresenter<W> {
    out: W,
    /// Written before anything else.
    header: Option<SessionHeader>,
    line: Vec<u8>,
}

impl<W: Write + Send> JsonPresenter<W> {
    pub fn new(out: W, header: SessionHeader) -> Self {
        Self { out, header: Some(header), line: Vec::new() }
    }

    fn frame(&mut self, frame: &wire::Frame<'_>) -> io::Result<()> {
        if let Some(header) = self.header.take() {
            self.write(&wire::Header::from(&header))?;
        }
        self.write(frame)
    }

    /// Every frame is one write, so that a reader never sees half a line for long.
    fn write(&mut self, frame: &impl serde::Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, frame)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.out.flush()
    }
}

impl<W: Write + Send> Presenter for JsonPresenter<W> {
    fn event(&mut self, event: &SessionEvent) -> io::Result<()> {
        match wire::Frame::from_event(event) {
            Some(frame) => self.frame(&frame),
            None => Ok(()),
        }
    }

    fn reply(&mut self, text: &str) -> io::Result<()> {
        self.frame(&wire::Frame::CommandReply { text })
    }

    fn switched(&mut self, to: &OpenSession) -> io::Result<()> {
        self.header = None;
        self.write(&wire::Header::from(&to.header))?;
        for message in &to.warnings {
            let message = message.clone();
            self.write(&wire::Frame::Notice { level: "warning", message, source: "session" })?;
        }
        Ok(())
    }

    fn finish(&mut self, problem: Option<&str>) -> io::Result<()> {
        match problem {
            Some(problem) => self.frame(&wire::Frame::Error { message: problem }),
            None => Ok(()),
        }
    }
}
