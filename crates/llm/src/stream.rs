//! Streams one answer: connects, splits the body into events and passes them to the decoder of the wire API.
//!
//! No task is spawned: polling the stream drives the connection, and dropping it cancels the request. Every failure becomes
//! part of the answer, so the stream always ends in exactly one terminal event.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_core::Stream;
use futures_util::StreamExt;
use omp_http::{BodyStream, Client, SseDecoder, StreamingResponse};
use omp_types::{AssistantMessage, MessageBuilder, Model, ModelError, ModelStream, StreamEvent};

use crate::errors;
use crate::recording::secrets::{is_secret_header, secret_in};
use crate::wire::{Decoder, WireCall};

/// Maximum number of bytes read before the consumer gets events. Pending deltas are merged.
const BATCH: usize = 64 << 10;

/// Size limit of one answer: far more than any model writes, and still harmless.
const ANSWER_LIMIT: usize = 256 << 20;

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Number of bytes kept from the start of a body, for quoting if it holds no events.
const QUOTE_LIMIT: usize = 512;

/// Time limit for reading an error response.
const EXPLANATION_TIMEOUT: Duration = Duration::from_secs(10);

type OpeningStream = Pin<Box<dyn Future<Output = OpenedStream> + Send>>;

/// A request that is ready to be sent.
pub(crate) struct ReadyCall {
    pub client: Client,
    pub call: WireCall,
    /// Source of the key, for errors about keys.
    pub key_source: Option<String>,
}

/// Result of sending a request.
struct OpenedStream {
    body: Result<BodyStream, ModelError>,
    secrets: Vec<String>,
    key_source: Option<String>,
    sent: Instant,
}

pub(crate) struct WireStream {
    model: Arc<Model>,
    answer: MessageBuilder,
    decoder: Option<Box<dyn Decoder>>,
    state: StreamStage,
    events: SseDecoder,
    /// Parts of the request that must not be repeated in an error message.
    secrets: Vec<String>,
    started: Instant,
    ttft: Option<f64>,
    received: Received,
    /// Source of the key, for errors about keys.
    key_source: Option<String>,
}

enum StreamStage {
    Opening(OpeningStream),
    Reading(BodyStream),
    Over,
}

/// Data received so far.
#[derive(Default)]
struct Received {
    bytes: usize,
    any_event: bool,
    /// The start of the body, kept until the first event.
    head: Vec<u8>,
    /// The body so far, if it is one JSON document instead of a stream.
    whole: Option<Vec<u8>>,
}

impl WireStream {
    /// `ready` builds the request when the stream is polled for the first time.
    pub fn new(
        ready: impl Future<Output = Result<ReadyCall, ModelError>> + Send + 'static,
        decoder: Box<dyn Decoder>,
        model: Arc<Model>,
    ) -> Self {
        Self {
            answer: MessageBuilder::new(&model),
            decoder: Some(decoder),
            state: StreamStage::Opening(Box::pin(open(ready, model.clone()))),
            events: SseDecoder::new(),
            secrets: Vec::new(),
            started: Instant::now(),
            ttft: None,
            received: Received::default(),
            key_source: None,
            model,
        }
    }

    /// Returns a stream that contains only an error.
    pub fn failed(model: &Arc<Model>, error: ModelError) -> Self {
        let mut answer = MessageBuilder::new(model);
        answer.fail(error);
        Self {
            model: model.clone(),
            answer,
            decoder: None,
            state: StreamStage::Over,
            events: SseDecoder::new(),
            secrets: Vec::new(),
            started: Instant::now(),
            ttft: None,
            received: Received::default(),
            key_source: None,
        }
    }

    /// Performs one step; ready if there may be new events.
    fn advance(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.state {
            StreamStage::Opening(opening) => {
                let opened = ready!(opening.as_mut().poll(cx));
                (self.secrets, self.key_source, self.started) = (opened.secrets, opened.key_source, opened.sent);
                match opened.body {
                    Ok(mut body) => {
                        body.watch_progress();
                        self.state = StreamStage::Reading(body);
                    }
                    Err(error) => self.fail(error),
                }
            }
            StreamStage::Reading(_) => return self.read(cx),
            StreamStage::Over => self.fail(errors::protocol(&self.model, "it ended before the answer was complete")),
        }
        Poll::Ready(())
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut batch = 0;
        while let StreamStage::Reading(body) = &mut self.state {
            match body.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(chunk))) => {
                    batch += chunk.len();
                    self.feed(&chunk);
                    self.note_progress();
                }
                Poll::Ready(Some(Err(error))) => self.fail(errors::transport(&self.model, &error)),
                Poll::Ready(None) => self.end(),
                Poll::Pending if batch == 0 => return Poll::Pending,
                Poll::Pending => break,
            }
            if batch >= BATCH {
                break;
            }
        }
        Poll::Ready(())
    }

    /// Records progress. Only data that adds to the answer counts: comments and pings just keep a connection open.
    fn note_progress(&mut self) {
        if let StreamStage::Reading(body) = &mut self.state
            && (self.answer.has_events() || self.received.whole.is_some())
        {
            body.progressed();
        }
    }

    fn feed(&mut self, chunk: &[u8]) {
        self.received.bytes += chunk.len();
        if self.received.bytes > ANSWER_LIMIT {
            return self.fail(errors::protocol(&self.model, format!("it is larger than {} MiB", ANSWER_LIMIT >> 20)));
        }
        if self.is_whole(chunk) {
            self.received.whole.get_or_insert_default().extend_from_slice(chunk);
            return;
        }
        if !self.received.any_event && self.received.head.len() < QUOTE_LIMIT {
            let room = QUOTE_LIMIT - self.received.head.len();
            self.received.head.extend_from_slice(&chunk[..chunk.len().min(room)]);
        }
        self.decode(|events, on_event| events.push(chunk, on_event));
    }

    /// Returns whether the body is one JSON document, which some gateways send although a stream was requested. No event
    /// starts with a bracket.
    fn is_whole(&mut self, chunk: &[u8]) -> bool {
        if self.received.any_event || self.received.whole.is_some() {
            return self.received.whole.is_some();
        }
        let Received { head, whole, .. } = &mut self.received;
        let begin = |bytes: &[u8]| bytes.trim_ascii_start().first().copied();
        let first = match head.iter().all(|byte| byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(byte)) {
            true => begin(chunk.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(chunk)),
            false => None,
        };
        if !matches!(first, Some(b'{' | b'[')) {
            return false;
        }
        head.clear();
        *whole = Some(Vec::new());
        true
    }

    /// Decodes a body that is one JSON document.
    fn take_whole(&mut self, body: &[u8]) {
        let body = body.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(body);
        let Some(decoder) = &mut self.decoder else { return };
        let outcome = match (errors::disguised(&self.model, body), std::str::from_utf8(body)) {
            (Some(error), _) => Err(error),
            (None, Err(_)) => Err(errors::protocol(&self.model, "it is not UTF-8")),
            (None, Ok(text)) => decoder.whole(text, &mut self.answer),
        };
        if self.ttft.is_none() && self.answer.has_content() {
            self.ttft = Some(milliseconds(self.started));
        }
        match outcome {
            Err(error) => self.fail(error),
            Ok(()) => self.settle(),
        }
    }

    /// Handles the end of the body.
    fn end(&mut self) {
        if let Some(body) = self.received.whole.take() {
            return self.take_whole(&body);
        }
        self.decode(|events, on_event| events.finish(on_event));
        if self.answer.is_finished() {
            return;
        }
        let outcome = match &mut self.decoder {
            Some(decoder) if self.received.any_event => decoder.end(&mut self.answer),
            _ => Err(self.no_events()),
        };
        match outcome {
            Err(error) => self.fail(error),
            Ok(()) if self.answer.is_finished() => self.settle(),
            Ok(()) => self.fail(errors::protocol(&self.model, "it ended too early")),
        }
    }

    /// Passes the events that `source` completes to the decoder.
    fn decode(
        &mut self,
        source: impl FnOnce(&mut SseDecoder, &mut dyn FnMut(&str, &str)) -> Result<(), omp_http::SseError>,
    ) {
        let Self { events, decoder, answer, received, .. } = self;
        let Some(decoder) = decoder else { return };
        let mut failure = None;
        let outcome = source(events, &mut |name, data| {
            received.any_event = true;
            if failure.is_none() && !answer.is_finished() {
                failure = decoder.event(name, data, answer).err();
            }
        });
        if self.ttft.is_none() && self.answer.has_content() {
            self.ttft = Some(milliseconds(self.started));
        }
        match (failure, outcome) {
            (Some(error), _) => self.fail(error),
            (None, _) if self.answer.is_finished() => self.settle(),
            (None, Err(error)) => self.fail(errors::protocol(&self.model, error)),
            (None, Ok(())) => {}
        }
    }

    fn no_events(&self) -> ModelError {
        let start = errors::quote(&String::from_utf8_lossy(&self.received.head));
        if start.is_empty() {
            return errors::protocol(&self.model, "the stream is empty");
        }
        errors::disguised(&self.model, &self.received.head)
            .unwrap_or_else(|| errors::protocol(&self.model, format!("it contains no event; it starts with: {start}")))
    }

    fn fail(&mut self, mut error: ModelError) {
        errors::name_model(&self.model, &mut error);
        errors::name_key(&mut error, self.key_source.as_deref());
        for secret in &self.secrets {
            error.message = error.message.replace(secret, "[key]");
        }
        self.answer.fail(error);
        self.settle();
    }

    /// Completes the answer, successfully or with an error.
    fn settle(&mut self) {
        self.answer.set_timing(self.ttft, Some(milliseconds(self.started)));
        self.state = StreamStage::Over;
    }
}

impl Stream for WireStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        loop {
            if let Some(event) = self.answer.next_event() {
                return Poll::Ready(Some(event));
            }
            if self.answer.is_finished() {
                return Poll::Ready(None);
            }
            ready!(self.advance(cx));
        }
    }
}

impl ModelStream for WireStream {
    fn message(&self) -> &AssistantMessage {
        self.answer.message()
    }
}

/// Builds the request and sends it.
async fn open(ready: impl Future<Output = Result<ReadyCall, ModelError>>, model: Arc<Model>) -> OpenedStream {
    match ready.await {
        Err(error) => OpenedStream { body: Err(error), secrets: Vec::new(), key_source: None, sent: Instant::now() },
        Ok(ReadyCall { client, call, key_source }) => {
            let (secrets, sent) = (secrets(&call.headers), Instant::now());
            OpenedStream { body: send(client, call, model).await, secrets, key_source, sent }
        }
    }
}

/// Sends the request and accepts only a success response that looks like a stream.
async fn send(client: Client, call: WireCall, model: Arc<Model>) -> Result<BodyStream, ModelError> {
    let sent = client.post_stream(&call.url, &call.headers, call.body).await;
    let response = sent.map_err(|error| errors::transport(&model, &error))?;
    let StreamingResponse { status, headers, body } = response;
    if !(200..300).contains(&status) {
        return Err(errors::status(&model, status, &headers, &start_of(body).await));
    }
    let kind = headers.get("content-type").unwrap_or_default().to_ascii_lowercase();
    // Some small servers send a stream as plain text, as JSON or without a type, and some gateways a whole answer; only
    // content types that are certainly wrong are refused.
    if !["html", "xml", "image/"].iter().any(|other| kind.contains(other)) {
        return Ok(body);
    }
    let start = start_of(body).await;
    Err(errors::disguised(&model, &start).unwrap_or_else(|| {
        let quoted = errors::quote(&String::from_utf8_lossy(&start));
        let hint = "hint: is the base URL right, and does the server stream?";
        errors::protocol(&model, format!("it came as `{kind}` instead of a stream: {quoted}\n{hint}"))
    }))
}

/// Reads the part of a body that is quoted in errors. A body that breaks off or takes too long is quoted as far as it was
/// received.
pub(crate) async fn start_of(mut body: BodyStream) -> Vec<u8> {
    let mut start = Vec::new();
    let reading = async {
        while let Some(Ok(chunk)) = body.next().await {
            let room = errors::BODY_LIMIT - start.len();
            start.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if start.len() == errors::BODY_LIMIT {
                break;
            }
        }
    };
    // On a timeout, the quote is only shorter.
    let _ = tokio::time::timeout(EXPLANATION_TIMEOUT, reading).await;
    start
}

/// Returns the values of headers that hold keys.
pub(crate) fn secrets(headers: &[(String, String)]) -> Vec<String> {
    let secret = headers.iter().filter(|(name, _)| is_secret_header(name));
    secret.filter_map(|(_, value)| secret_in(value)).map(str::to_owned).collect()
}

/// Returns the elapsed milliseconds, rounded to a tenth.
fn milliseconds(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
}
