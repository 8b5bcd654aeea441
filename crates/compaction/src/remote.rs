//! Summaries that are made elsewhere. The session knows no HTTP, so whoever makes it hands in a way to ask.

use futures_util::future::BoxFuture;

/// Asks for a summary; a problem is a sentence.
pub trait RemoteSummary: Send + Sync {
    fn summarize<'a>(&'a self, system_prompt: &'a str, prompt: &'a str) -> BoxFuture<'a, Result<String, String>>;
}
