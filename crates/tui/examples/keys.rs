//! Prints the decoded input of the terminal: `cargo run -p omp-tui --example keys`. Ctrl+D ends it, ctrl+z suspends it.
#![allow(clippy::disallowed_methods, reason = "an example is its own composition root")]

use std::io;

use omp_tui::{Input, Key, Notification, Signal, TermEvent, Terminal, TerminalOptions};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mouse = std::env::args().any(|arg| arg == "--mouse");
    let mut terminal = Terminal::open(TerminalOptions { env: std::env::vars().collect(), mouse })?;
    terminal.set_title("keys")?;
    let text = format!("{:?}\r\n{:?}\r\n", terminal.size(), terminal.capabilities());
    terminal.write(text.as_bytes())?;
    loop {
        let event = terminal.next().await;
        let text = match &event {
            TermEvent::Input(Input::Key(key)) => format!("key {key}\r\n"),
            other => format!("{other:?}\r\n"),
        };
        terminal.write(text.as_bytes())?;
        match event {
            TermEvent::Input(Input::Key(key)) if key == Key::ctrl('d') => return Ok(()),
            TermEvent::Input(Input::Key(key)) if key == Key::ctrl('z') => terminal.suspend(),
            TermEvent::Input(Input::Key(key)) if key == Key::ctrl('n') => {
                terminal.notify(Notification { title: "keys", body: "a notification" })?;
            }
            TermEvent::Input(Input::Key(key)) if key == Key::ctrl('y') => {
                terminal.copy("copied by the example")?;
            }
            TermEvent::Signal(Signal::Stop) => terminal.suspend(),
            TermEvent::Signal(Signal::Term | Signal::Int | Signal::Hup) | TermEvent::Closed => return Ok(()),
            _ => {}
        }
    }
}
