//! The functions of the machine that the prompt needs. The composition root implements them; tests fake them.

use futures_util::future::BoxFuture;
use omp_session::WebAddress;
use omp_tui::PaneText;
use omp_types::ImageContent;

/// Errors are messages for the user; nothing was changed.
pub trait Outside: Send + Sync {
    /// Opens a text in the user's own editor, which has the terminal meanwhile. Returns `None` if the text is unchanged.
    fn edit_text<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Reads the clipboard. Returns `None` if it is empty or its content cannot be pasted.
    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>>;

    /// Reads an image file in a form that can be sent. The path may be relative to the working folder or begin with `~`.
    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>>;

    /// Copies text with a program of the system, else stores it elsewhere. `sent`: the terminal received it as well
    /// ([`crate::Tty::copy`]), with unknown success.
    fn copy<'a>(&'a self, text: &'a str, sent: bool) -> BoxFuture<'a, Result<Copied, String>>;

    /// Reads the text above the cursor from tmux. Returns `None` outside of tmux, or if it cannot be read.
    fn pane_text(&self) -> BoxFuture<'_, Option<PaneText>>;

    /// Opens an address in the user's browser.
    fn open_url<'a>(&'a self, url: &'a WebAddress) -> BoxFuture<'a, Result<(), String>>;
}

/// Where a copied text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// In the clipboard.
    Surely,
    /// Possibly in the clipboard, and certainly elsewhere; the message names both, with a hint.
    Elsewhere(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Clip {
    /// An image in a form that can be sent.
    Image(ImageContent),
    Text(String),
}

/// Fuzzy file search for `@`.
pub trait FileIndex: Send + Sync {
    /// Returns the best matches first. May block.
    fn complete(&self, query: &str) -> Vec<Candidate>;

    /// Lists the entries of a folder whose paths begin with what was typed. May block.
    fn starting_with(&self, typed: &str) -> Vec<Candidate>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The path as inserted into the text.
    pub path: String,
    pub is_folder: bool,
}

/// The stored history of prompts.
pub trait PromptHistory: Send + Sync {
    /// Returns the newest last, with those of this project after all others.
    fn entries(&self) -> Vec<String>;

    fn keep(&self, text: &str);
}
