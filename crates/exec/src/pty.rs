//! The keyboard side of a terminal that a child runs in. What the child shows there is read from the child itself.

use std::io;

use crate::platform::Terminal;

/// Types into a child's terminal and changes its size. Keep it as long as the child: some systems end a program whose
/// terminal goes away.
pub struct Pty {
    terminal: Terminal,
}

/// In characters; brought within 5 to 200 rows and 20 to 400 columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub rows: u16,
    pub columns: u16,
}

impl Pty {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal }
    }

    /// Types `bytes`: `\r` is the enter key, `\x03` interrupts. Waits while the program reads none of what was typed.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.terminal.write(bytes).await
    }

    /// The program is told (`SIGWINCH`).
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
