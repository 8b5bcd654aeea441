//! Screens on which a front end shows commands that run in a terminal of their own.

use std::future::Future;
use std::pin::Pin;

pub type ScreenFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Shows commands to the user and takes the user's keys for them, one command at a time.
pub trait CommandScreens: Send + Sync {
    /// Opens a screen for a command, after the one before it was closed. Dropping the future gives up.
    fn open<'a>(&'a self, command: &'a str) -> ScreenFuture<'a, Box<dyn CommandScreen>>;
}

/// The screen of one command. Dropping it closes it.
pub trait CommandScreen: Send {
    fn size(&self) -> ScreenSize;

    /// Shows output. Returns the text of the lines that have scrolled off and cannot change any more.
    fn show(&mut self, output: &[u8]) -> String;

    /// Waits for the user. Dropping the future loses nothing.
    fn next(&mut self) -> ScreenFuture<'_, ScreenEvent>;

    /// Closes the screen. Returns the text that was still on it.
    fn close(self: Box<Self>) -> String;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenEvent {
    /// Bytes for the command, as its terminal sends them.
    Input(Vec<u8>),
    Resized(ScreenSize),
    /// The user returns to omp: the command is to end.
    HandedBack,
}

/// In characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    pub rows: u16,
    pub columns: u16,
}
