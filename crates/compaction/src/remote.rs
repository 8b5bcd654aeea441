//! Summaries made by a remote endpoint. The session does not use HTTP itself, so its creator supplies an implementation.

use futures_util::future::BoxFuture;

/// Requests a summary; errors are sentences.
pub trait RemoteSummary: Send + Sync {
    fn summarize<'a>(&'a self, system_prompt: &'a str, prompt: &'a str) -> BoxFuture<'a, Result<String, String>>;
}
