//! `--model replay/FILE`: answers requests from a recording instead of a provider, offline and reproducibly.
//!
//! The recorded model is used through its own wire API, so that requests are encoded and answers are decoded by the same
//! code as live ones; only the bytes come from the file. Requests get the recorded answers in order. An answer that was
//! recorded later, for example for one of two concurrent requests, is found by its content.

mod conversation;
mod index;
mod player;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use omp_http::{Client, Patience};
use omp_types::{ErrorKind, Llm, Model, ModelError, ModelStream, Request, ThinkingLevel};

use crate::auth::Credential;
use crate::providers::unsupported;
use crate::stream::{ReadyCall, WireStream};
use crate::wire::{WireApi, WireCall, wire_for};
use conversation::Conversation;
use index::{IndexedExchange, RecordingIndex};
use player::ExchangePlayer;

/// Number of exchanges ahead that are searched for a matching request.
const LOOK_AHEAD: usize = 64;
/// Maximum number of differences reported; after that the two runs have nothing in common.
const MOST_TOLD: usize = 20;

pub struct ReplayOptions {
    /// Working folder of this run.
    pub cwd: PathBuf,
    /// Whether a request that differs from the recorded one is refused; otherwise the difference is reported and the request
    /// answered.
    pub strict: bool,
    pub timing: ReplayTiming,
    /// Called for every difference.
    pub warn: Arc<dyn Fn(&str) + Send + Sync>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayTiming {
    #[default]
    Instant,
    /// Keeps the pauses of the recorded run.
    Real,
}

/// Why a recording cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError(String);

impl ReplayError {
    fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReplayError {}

/// A recording that answers requests.
pub struct Replay {
    client: Client,
    index: RecordingIndex,
    options: ReplayOptions,
    progress: Mutex<ReplayProgress>,
}

#[derive(Default)]
struct ReplayProgress {
    played: Vec<bool>,
    told: usize,
}

impl Replay {
    /// Indexes the file. The client only carries the recorded bytes and connects to nothing.
    pub fn open(path: &Path, client: Client, options: ReplayOptions) -> Result<Self, ReplayError> {
        let index = RecordingIndex::read(path, &options.cwd)?;
        let played = vec![false; index.exchanges.len()];
        // Timeouts are recorded as failures, so no timeouts are needed here.
        let client = client.with_patience(Patience::new(None, None));
        Ok(Self { client, index, options, progress: Mutex::new(ReplayProgress { played, told: 0 }) })
    }

    /// Returns the first recorded model.
    pub fn model(&self) -> Arc<Model> {
        self.first().model.clone()
    }

    /// Returns its thinking level.
    pub fn thinking(&self) -> ThinkingLevel {
        self.first().thinking
    }

    /// Returns a remark about irregularities of the recording.
    pub fn remark(&self) -> Option<String> {
        let shown = self.index.path.display();
        self.index.cut_off.then(|| format!("the recording {shown} is incomplete; it is played up to its end"))
    }

    fn first(&self) -> &IndexedExchange {
        // A recording without exchanges cannot be opened.
        &self.index.exchanges[0]
    }

    fn progress(&self) -> MutexGuard<'_, ReplayProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_stream(&self, request: &Request) -> Result<WireStream, ModelError> {
        let (exchange, Encoded { wire, call, .. }) = self.pick(request)?;
        let player = ExchangePlayer {
            path: self.index.path.clone(),
            offset: exchange.offset,
            id: exchange.id,
            timing: self.options.timing,
        };
        let mut client = self.client.clone().answered_by(Arc::new(player));
        if client.is_heard() {
            let request = Request { model: exchange.model.clone(), ..request.clone() };
            client = client.about(crate::recording::about(&request));
        }
        let ready = std::future::ready(Ok(ReadyCall { client, call, key_source: None }));
        Ok(WireStream::new(ready, wire.decoder(exchange.model.clone()), exchange.model.clone()))
    }

    /// Returns the exchange that answers this request: the next one, or the next with the same content.
    fn pick(&self, request: &Request) -> Result<(&IndexedExchange, Encoded), ModelError> {
        let mut progress = self.progress();
        let waiting = self.index.exchanges.iter().enumerate().filter(|(at, _)| !progress.played[*at]);
        let waiting: Vec<_> = waiting.take(LOOK_AHEAD).collect();
        let Some((next, exchange)) = waiting.first().copied() else { return Err(self.exhausted()) };
        let expected = Encoded::new(request, &exchange.model, &self.index.folders)?;
        if expected.conversation.print() == exchange.print {
            progress.played[next] = true;
            return Ok((exchange, expected));
        }
        for (at, exchange) in &waiting[1..] {
            let encoded = Encoded::new(request, &exchange.model, &self.index.folders)?;
            if encoded.conversation.print() == exchange.print {
                progress.played[*at] = true;
                return Ok((exchange, encoded));
            }
        }
        let difference = self.difference(exchange, &expected.conversation);
        if self.options.strict {
            return Err(refusal(format!(
                "this run differs from the recording in exchange {}: {difference}",
                exchange.id
            )));
        }
        progress.played[next] = true;
        progress.told += 1;
        let told = progress.told;
        drop(progress);
        self.tell(told, exchange.id, &difference);
        Ok((exchange, expected))
    }

    fn difference(&self, exchange: &IndexedExchange, now: &Conversation) -> String {
        let recorded = self.index.request(exchange).ok().flatten().and_then(|request| request.body.into_bytes().ok());
        let recorded = recorded.map(|body| Conversation::of(&body, &self.index.folders));
        let place = recorded.and_then(|recorded| recorded.difference(now));
        place.unwrap_or_else(|| "the recording was changed while it was played".to_owned())
    }

    fn tell(&self, told: usize, exchange: u64, difference: &str) {
        match told {
            ..=MOST_TOLD => (self.options.warn)(&format!(
                "this run differs from the recording in exchange {exchange}: {difference}; the recorded answer is used \
                 anyway"
            )),
            told if told == MOST_TOLD + 1 => {
                (self.options.warn)("this run differs again; further differences are not reported")
            }
            _ => {}
        }
    }

    fn exhausted(&self) -> ModelError {
        let count = self.index.exchanges.len();
        refusal(format!(
            "the recording {} has no more answers: all {count} were played\nhint: this run makes more requests than the recorded one; record it again, or continue with a real model",
            self.index.path.display()
        ))
    }
}

impl Llm for Replay {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let stream = self.open_stream(&request);
        Box::new(stream.unwrap_or_else(|error| WireStream::failed(&request.model, error)))
    }
}

/// A request as it would be sent to a recorded model.
struct Encoded {
    wire: &'static dyn WireApi,
    call: WireCall,
    conversation: Conversation,
}

impl Encoded {
    fn new(request: &Request, model: &Arc<Model>, folders: &[String]) -> Result<Self, ModelError> {
        let wire = wire_for(&model.api).ok_or_else(|| unsupported(model))?;
        let request = Request { model: model.clone(), ..request.clone() };
        let call = wire.encode(&request, &Credential::None)?;
        let conversation = Conversation::of(&call.body, folders);
        Ok(Self { wire, call, conversation })
    }
}

/// Returns an error that is not retried.
fn refusal(message: String) -> ModelError {
    ModelError::new(ErrorKind::BadRequest, message)
}
