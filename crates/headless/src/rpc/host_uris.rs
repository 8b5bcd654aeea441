//! Addresses of the client: the model reads and writes them here, the client answers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use omp_types::{Editor, EditorAddresses, EditorFuture, EditorText, OWN_SCHEMES};
use omp_wire::{HostUriFrame, HostUriResult, HostUriScheme};
use tokio::sync::oneshot;

use super::output::Output;

/// Caps the schemes of a client.
const MAX_SCHEMES: usize = 256;
/// Timeout for an answer of the client.
const PATIENCE: Duration = Duration::from_secs(300);
/// Reserved schemes, besides those that omp reads itself.
const RESERVED: [&str; 5] = ["security", "conflict", "file", "http", "https"];

/// The client's schemes, and its unanswered requests. Created before the client is connected, so that the first session can
/// use it too.
pub struct HostUris {
    output: OnceLock<Output>,
    patience: Duration,
    next: AtomicU64,
    state: Mutex<State>,
}

impl Default for HostUris {
    fn default() -> Self {
        Self { output: OnceLock::new(), patience: PATIENCE, next: AtomicU64::default(), state: Mutex::default() }
    }
}

#[derive(Default)]
struct State {
    schemes: Vec<HostUriScheme>,
    asked: HashMap<String, oneshot::Sender<HostUriResult>>,
    /// The client has disconnected, so no request will be answered.
    closed: bool,
}

impl HostUris {
    /// Returns the editor to open a session with, so that its tools send requests to the client.
    pub fn editor(self: &Arc<Self>) -> Editor {
        Editor { addresses: Some(self.clone()), ..Editor::default() }
    }

    /// Sends requests to this client from now on.
    pub(super) fn connect(&self, output: Output) {
        // Only one client ever connects.
        let _ = self.output.set(output);
    }

    /// Replaces the client's schemes and returns their names.
    pub(super) fn set(&self, schemes: Vec<HostUriScheme>) -> Result<Vec<String>, String> {
        if schemes.len() > MAX_SCHEMES {
            return Err(format!("an RPC host can register at most {MAX_SCHEMES} URI schemes"));
        }
        let mut kept: Vec<HostUriScheme> = Vec::new();
        for scheme in schemes {
            let scheme = checked(scheme)?;
            // The last definition of a name wins and keeps the position of the first.
            match kept.iter_mut().find(|known| known.scheme == scheme.scheme) {
                Some(known) => *known = scheme,
                None => kept.push(scheme),
            }
        }
        let names = kept.iter().map(|scheme| scheme.scheme.clone()).collect();
        self.lock().schemes = kept;
        Ok(names)
    }

    /// Handles an answer. Answers to unknown requests are ignored, because those were cancelled.
    pub(super) fn answered(&self, answer: HostUriResult) {
        if let Some(waiting) = self.lock().asked.remove(&answer.id) {
            // The caller may have been cancelled just now.
            drop(waiting.send(answer));
        }
    }

    /// The client has disconnected.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.asked.clear();
    }

    async fn ask(&self, operation: &str, url: &str, content: Option<&str>) -> Result<HostUriResult, String> {
        let output = self.output.get().ok_or_else(gone)?;
        let id = self.name();
        let (sender, answer) = oneshot::channel();
        {
            let mut state = self.lock();
            if state.closed {
                return Err(gone());
            }
            state.asked.insert(id.clone(), sender);
        }
        let asked = Asked { host: self, output, id };
        output.frame(&HostUriFrame::HostUriRequest {
            id: asked.id.as_str().into(),
            operation: operation.into(),
            url: url.into(),
            content: content.map(Cow::Borrowed),
        });
        let answer = match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => answer.map_err(|_| gone())?,
            Err(_) => return Err(format!("the host did not answer for {url} within {:?}", self.patience)),
        };
        if !answer.is_error {
            return Ok(answer);
        }
        let reason = [answer.error, answer.content].into_iter().flatten().find(|text| !text.trim().is_empty());
        Err(reason.unwrap_or_else(|| format!("Host URI {operation} failed for {url}")))
    }

    fn name(&self) -> String {
        format!("uri_{}", self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EditorAddresses for HostUris {
    fn has(&self, scheme: &str) -> bool {
        self.lock().schemes.iter().any(|known| known.scheme == scheme)
    }

    fn writable(&self, scheme: &str) -> bool {
        self.lock().schemes.iter().any(|known| known.scheme == scheme && known.writable)
    }

    fn read<'a>(&'a self, url: &'a str) -> EditorFuture<'a, Result<EditorText, String>> {
        Box::pin(async move {
            let answer = self.ask("read", url, None).await?;
            Ok(EditorText { text: answer.content.unwrap_or_default(), notes: answer.notes })
        })
    }

    fn write<'a>(&'a self, url: &'a str, text: &'a str) -> EditorFuture<'a, Result<(), String>> {
        Box::pin(async move { self.ask("write", url, Some(text)).await.map(drop) })
    }
}

fn checked(mut given: HostUriScheme) -> Result<HostUriScheme, String> {
    let name = given.scheme.trim().to_ascii_lowercase();
    if name.is_empty() {
        return Err("Host URI scheme must be a non-empty string".to_owned());
    }
    let fits = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || "+.-".contains(char);
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.chars().all(fits) {
        return Err(format!("Host URI scheme contains invalid characters: {}", given.scheme));
    }
    if OWN_SCHEMES.contains(&name.as_str()) || RESERVED.contains(&name.as_str()) {
        return Err(format!("Host URI scheme is reserved by OMP: {name}://"));
    }
    given.scheme = name;
    Ok(given)
}

fn gone() -> String {
    "RPC client disconnected before host URI request completed".to_owned()
}

/// Notifies the client when its answer is no longer needed.
struct Asked<'a> {
    host: &'a HostUris,
    output: &'a Output,
    id: String,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.host.lock().asked.remove(&self.id).is_some() {
            self.output.frame(&HostUriFrame::HostUriCancel {
                id: self.host.name().into(),
                target_id: self.id.as_str().into(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[tokio::test]
    async fn a_host_that_never_answers_is_not_waited_for_for_ever() {
        let (mut written, sink) = std::io::pipe().unwrap();
        let uris = HostUris { patience: Duration::from_millis(5), ..HostUris::default() };
        assert_eq!(uris.read("db://a").await.unwrap_err(), gone(), "nobody is there yet");
        let output = Output::start(sink).unwrap();
        uris.connect(output.clone());
        uris.set(vec![HostUriScheme { scheme: "DB".to_owned(), writable: false }]).unwrap();
        assert!(uris.has("db") && !uris.writable("db"));
        let refused = uris.read("db://a").await.unwrap_err();
        assert_eq!(refused, "the host did not answer for db://a within 5ms");
        uris.close();
        assert_eq!(uris.read("db://a").await.unwrap_err(), gone());
        output.flush(Duration::from_secs(5)).await;
        drop(output);
        drop(uris);
        let mut frames = String::new();
        written.read_to_string(&mut frames).unwrap();
        let expect = concat!(
            r#"{"type":"host_uri_request","id":"uri_1","operation":"read","url":"db://a"}"#,
            "\n",
            r#"{"type":"host_uri_cancel","id":"uri_2","targetId":"uri_1"}"#,
            "\n",
        );
        assert_eq!(frames, expect);
    }
}
