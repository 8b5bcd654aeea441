//! The input side of a terminal that a child runs in. The output is read from the child itself.

use std::io;

use crate::platform::Terminal;

/// Writes input to a child's terminal and resizes it. Keep it as long as the child: some systems end a program whose
/// terminal is closed.
pub struct Pty {
    terminal: Terminal,
}

/// In characters; clamped to 5 to 200 rows and 20 to 400 columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub rows: u16,
    pub columns: u16,
}

impl Pty {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal }
    }

    /// Writes `bytes` as keyboard input: `\r` is the enter key, `\x03` interrupts. Waits while the program does not read.
    pub async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.write_some(bytes).await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Writes as much of `bytes` as the terminal takes, and returns how much that was. If the future is dropped, nothing was
    /// written.
    pub async fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.terminal.write_some(bytes).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            written => Ok(written),
        }
    }

    /// Resizes the terminal and notifies the program (`SIGWINCH`).
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        self.terminal.resize(size)
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { rows: 40, columns: 120 }
    }
}

impl From<TerminalSize> for portable_pty::PtySize {
    fn from(size: TerminalSize) -> Self {
        Self { rows: size.rows.clamp(5, 200), cols: size.columns.clamp(20, 400), pixel_width: 0, pixel_height: 0 }
    }
}
