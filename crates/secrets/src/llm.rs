//! Wraps the access to models: neither requests nor answers contain a secret, however they are split.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use omp_types::{AssistantMessage, Content, Llm, Message, ModelStream, Request, Shortening, StreamEvent};
use serde_json::Value;

use crate::sieve::Sieve;
use crate::veil::Veil;

/// A model whose requests and answers are redacted.
pub struct Veiled {
    llm: Arc<dyn Llm>,
    veil: Arc<Veil>,
    /// The messages of the longest conversation, original and redacted: they are not scanned again with every request.
    sent: Mutex<SentMessages>,
}

#[derive(Default)]
struct SentMessages {
    messages: Vec<(Arc<Message>, Arc<Message>)>,
    /// The number of secrets at that time: if there are new ones, everything is scanned again.
    secrets: usize,
}

impl Veiled {
    pub fn new(llm: Arc<dyn Llm>, veil: Arc<Veil>) -> Self {
        Self { llm, veil, sent: Mutex::default() }
    }

    fn hidden(&self, mut request: Request) -> Request {
        // The system prompt contains project files.
        if let Cow::Owned(clean) = self.veil.take_in(&request.system) {
            request.system = clean.into();
        }
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = self.veil.count();
        if std::mem::replace(&mut sent.secrets, secrets) != secrets {
            sent.messages.clear();
        }
        let sent = &mut sent.messages;
        let known = sent.iter().zip(&request.messages).take_while(|((was, _), is)| Arc::ptr_eq(was, is)).count();
        let mut hidden: Vec<Arc<Message>> = sent.iter().take(known).map(|(_, hidden)| hidden.clone()).collect();
        hidden.extend(request.messages.iter().skip(known).map(|message| self.veil.hide_message(message)));
        // The model's own text does not count: it must have received a secret's placeholder before it may use it.
        let told = hidden.iter().skip(known).filter(|message| message.as_assistant().is_none());
        told.flat_map(|message| message.content())
            .filter_map(Content::as_text)
            .for_each(|text| self.veil.note_shown(text));
        // A request for a title or an aside does not evict the cached conversation.
        if known > 0 || request.messages.len() >= sent.len() {
            sent.truncate(known);
            let fresh = request.messages.iter().zip(&hidden).skip(known);
            sent.extend(fresh.map(|(was, hidden)| (was.clone(), hidden.clone())));
        }
        request.messages = hidden;
        request
    }
}

impl Llm for Veiled {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        if self.veil.is_empty() {
            return self.llm.stream(request);
        }
        let inner = self.llm.stream(self.hidden(request));
        Box::new(VeiledStream { inner, sieve: Sieve::new(self.veil.clone()), veil: self.veil.clone(), last: None })
    }

    fn written(&self, request: &Request) -> Option<Value> {
        self.llm.written(&self.hidden(request.clone()))
    }

    fn shorten(&self, request: &Request) -> Option<Shortening> {
        self.llm.shorten(&self.hidden(request.clone()))
    }
}

struct VeiledStream {
    inner: Box<dyn ModelStream>,
    sieve: Sieve,
    veil: Arc<Veil>,
    /// The complete answer, if something in it had to be hidden.
    last: Option<AssistantMessage>,
}

impl VeiledStream {
    fn finish(&mut self) {
        let whole = Arc::new(Message::Assistant(self.inner.message().clone()));
        let clean = self.veil.hide_message(&whole);
        if !Arc::ptr_eq(&whole, &clean) {
            self.last = clean.as_assistant().cloned();
            if let Some(told) = &self.last {
                self.veil.remember_calls(self.inner.message(), told);
            }
        }
    }
}

impl Stream for VeiledStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        loop {
            if let Some(event) = self.sieve.next() {
                return Poll::Ready(Some(event));
            }
            match Pin::new(&mut self.inner).poll_next(cx) {
                Poll::Ready(Some(event)) => {
                    if event.is_terminal() {
                        self.finish();
                    }
                    self.sieve.push(event);
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl ModelStream for VeiledStream {
    /// Before the end it may contain unreleased text; a caller that keeps it must redact it.
    fn message(&self) -> &AssistantMessage {
        self.last.as_ref().unwrap_or_else(|| self.inner.message())
    }
}
