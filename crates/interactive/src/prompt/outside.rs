//! What the prompt needs of the machine around it. The composition root implements it; tests play it.

use futures_util::future::BoxFuture;
use omp_session::WebAddress;
use omp_types::ImageContent;

/// A problem is a sentence for the user, and nothing was changed.
pub trait Outside: Send + Sync {
    /// Lets the user work on a text in an editor of their own, to which the terminal belongs meanwhile. `None` when the
    /// text came back as it was.
    fn edit_text<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// What is in the clipboard. `None` when that is nothing, or nothing that can be pasted.
    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>>;

    /// The picture in a file, as it can be sent. The path may be relative to the working folder or begin with `~`.
    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>>;

    /// Puts text into the clipboard by a program of the system, else where it can be found. `sent`: the terminal was given it
    /// as well ([`crate::Tty::copy`]), which nobody can see the outcome of.
    fn copy<'a>(&'a self, text: &'a str, sent: bool) -> BoxFuture<'a, Result<Copied, String>>;

    /// Gives an address to the user's browser.
    fn open_url<'a>(&'a self, url: &'a WebAddress) -> BoxFuture<'a, Result<(), String>>;
}

/// Where a copied text is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Copied {
    /// In the clipboard.
    Surely,
    /// Perhaps in the clipboard, and for certain in another place; both are named, with a hint.
    Elsewhere(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Clip {
    /// As it can be sent.
    Image(ImageContent),
    Text(String),
}

/// Finds files by a few letters, for `@`.
pub trait FileIndex: Send + Sync {
    /// The best matches, best first. May take its time: it is called where waiting is allowed.
    fn complete(&self, query: &str) -> Vec<Candidate>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// As it is put into the text.
    pub path: String,
    pub is_folder: bool,
}

/// What was sent before, kept from one run to the next.
pub trait PromptHistory: Send + Sync {
    /// The newest last, those of this project after all others.
    fn entries(&self) -> Vec<String>;

    fn keep(&self, text: &str);
}
