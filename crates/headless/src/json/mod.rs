//! `--mode json`: one JSON object per line, with the same frames as RPC.

pub(crate) mod wire;

use std::io::{self, Write};

use omp_session::{OpenSession, SessionEvent, SessionHeader};
use omp_wire::EventFrame;

use crate::presenter::Presenter;

pub struct JsonPresenter<W> {
    out: W,
    /// Written before everything else.
    header: Option<SessionHeader>,
    line: Vec<u8>,
}

impl<W: Write + Send> JsonPresenter<W> {
    pub fn new(out: W, header: SessionHeader) -> Self {
        Self { out, header: Some(header), line: Vec::new() }
    }

    fn frame(&mut self, frame: &EventFrame<'_>) -> io::Result<()> {
        if let Some(header) = self.header.take() {
            self.write(&wire::header(&header))?;
        }
        self.write(frame)
    }

    /// Writes every frame with one call, so that readers rarely see partial lines.
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
        match wire::event(event) {
            Some(frame) => self.frame(&frame),
            None => Ok(()),
        }
    }

    fn reply(&mut self, text: &str) -> io::Result<()> {
        self.frame(&EventFrame::CommandReply { text: text.into() })
    }

    fn switched(&mut self, to: &OpenSession) -> io::Result<()> {
        self.header = None;
        self.write(&wire::header(&to.header))?;
        for message in &to.warnings {
            self.write(&wire::warning(message.as_str(), "session"))?;
        }
        Ok(())
    }

    fn finish(&mut self, problem: Option<&str>) -> io::Result<()> {
        match problem {
            Some(problem) => self.frame(&EventFrame::Error { message: problem.into() }),
            None => Ok(()),
        }
    }
}
