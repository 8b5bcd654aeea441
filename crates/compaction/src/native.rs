//! Native compaction: a provider that can compact a conversation itself does so, in addition to the summary for people and
//! other models. Only the provider can read its result; the wire API sends it back as long as the same model is used.

use std::sync::Arc;

use omp_types::{Message, Request, SHORTENED_BY_PROVIDER, Terms, Transcript};
use serde_json::{Map, Value};

use crate::compactor::Compactor;
use crate::outcome::CompactionFailure;
use crate::session::{CompactionSession, tell};
use crate::trigger::as_summary;
use crate::{Survivors, compose};

impl Compactor {
    /// Lets the provider compact the messages that leave. Returns `None` if it does not support this or fails.
    pub(super) async fn by_provider(
        &mut self,
        session: &dyn CompactionSession,
        transcript: &Transcript,
        leaving: &[Arc<Message>],
        survivors: &Survivors,
    ) -> Result<Option<Value>, CompactionFailure> {
        if !self.options.settings.remote {
            return Ok(None);
        }
        // The previous summary leaves together with these messages.
        let before = transcript.messages().first().filter(|first| as_summary(first).is_some());
        let messages = before.into_iter().chain(leaving).map(|message| Message::clone(message)).collect();
        let request = Request {
            tools: Arc::new([]),
            messages: self.reblanked(session.as_sent(messages)).for_model(),
            terms: Terms::default(),
            ..session.request()
        };
        let Some(shortening) = session.llm().shorten(&request) else { return Ok(None) };
        let done = tokio::select! {
            biased;
            () = session.cancel().cancelled() => return Err(CompactionFailure::Aborted),
            done = shortening => done,
        };
        match done {
            Ok(shortened) => {
                let kept = shortened.to_preserve(session.model(), &compose("", None, survivors));
                self.spent.push(shortened.answer);
                Ok(Some(kept))
            }
            Err(error) => {
                let why = error.message;
                tell(session, &format!("the provider did not compact the conversation ({why})")).await;
                Ok(None)
            }
        }
    }
}

/// Returns the data to store in the entry, with the provider's new result or without its old one.
pub(super) fn with_native(kept: Option<Value>, native: Option<Value>) -> Option<Value> {
    let mut fields = match kept {
        Some(Value::Object(fields)) => fields,
        None => Map::new(),
        // Data of a hook that is not an object; nothing can be added to it.
        other => return other,
    };
    fields.shift_remove(SHORTENED_BY_PROVIDER);
    fields.extend(native.map(|native| (SHORTENED_BY_PROVIDER.to_owned(), native)));
    (!fields.is_empty()).then_some(Value::Object(fields))
}
