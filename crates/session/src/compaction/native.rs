//! Native compaction: a provider that can shorten a conversation itself does so, beside the summary that people and other
//! models read. What it answers only it can read; the wire sends it again as long as the same model goes on.

use std::sync::Arc;

use omp_types::{Message, Request, SHORTENED_BY_PROVIDER, Terms, Transcript};
use serde_json::{Map, Value};

use super::outcome::Failure;
use super::trigger::as_summary;
use super::upkeep::{Scene, Upkeep, tell};
use super::{Survivors, compose};

impl Upkeep {
    /// What the provider makes of the messages that leave. `None` where it offers nothing or fails.
    pub(super) async fn by_provider(
        &mut self,
        scene: &Scene<'_>,
        transcript: &Transcript,
        leaving: &[Arc<Message>],
        survivors: &Survivors,
    ) -> Result<Option<Value>, Failure> {
        if !self.options.settings.remote {
            return Ok(None);
        }
        // What stood for still earlier messages leaves with these.
        let before = transcript.messages().first().filter(|first| as_summary(first).is_some());
        let messages = before.into_iter().chain(leaving).map(|message| Message::clone(message)).collect();
        let request = Request {
            model: scene.model.clone(),
            system: scene.control.told.system(),
            tools: Arc::new([]),
            messages: self.rebuilt(scene.control, messages).for_model(),
            thinking: scene.thinking,
            max_tokens: None,
            session_id: Some(scene.control.recorder().session_id().to_owned()),
            cache: scene.control.cache,
            terms: Terms::default(),
        };
        let Some(shortening) = scene.control.llm.shorten(&request) else { return Ok(None) };
        let done = tokio::select! {
            biased;
            () = scene.cancel.cancelled() => return Err(Failure::Aborted),
            done = shortening => done,
        };
        match done {
            Ok(shortened) => {
                let kept = shortened.to_preserve(scene.model, &compose("", None, survivors));
                self.spent.push(shortened.answer);
                Ok(Some(kept))
            }
            Err(error) => {
                let why = error.message;
                tell(scene.control, &format!("the provider has not shortened the conversation itself ({why})")).await;
                Ok(None)
            }
        }
    }
}

/// What is kept in the entry, with what the provider has made or without what it made before.
pub(super) fn with_native(kept: Option<Value>, native: Option<Value>) -> Option<Value> {
    let mut fields = match kept {
        Some(Value::Object(fields)) => fields,
        None => Map::new(),
        // Of a hook; nothing can be put beside it.
        other => return other,
    };
    fields.shift_remove(SHORTENED_BY_PROVIDER);
    fields.extend(native.map(|native| (SHORTENED_BY_PROVIDER.to_owned(), native)));
    (!fields.is_empty()).then_some(Value::Object(fields))
}
