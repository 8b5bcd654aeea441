//! Requests a summary: from a remote endpoint first, if there is one, then from models, each with retries.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use omp_types::{
    AssistantMessage, CacheRetention, Message, Model, ModelError, Request, Terms, ThinkingLevel, UserMessage,
    estimate_tokens,
};

use crate::outcome::CompactionFailure;
use crate::prompts;
use crate::remote::RemoteSummary;
use crate::session::CompactionSession;

/// If a model asks for a longer delay, the next one is used, if there is one.
const LONG_WAIT: Duration = Duration::from_secs(30);
/// Lower bound of bytes per token, for cutting text.
const BYTES_PER_TOKEN: u64 = 3;

pub(crate) struct Summarizer<'a> {
    pub session: &'a dyn CompactionSession,
    /// In the order of use.
    pub models: Vec<Arc<Model>>,
    pub remote: Option<&'a dyn RemoteSummary>,
    pub reserve_tokens: u64,
    /// Answers to the requests, for cost accounting.
    pub spent: Vec<AssistantMessage>,
    /// Notices for the user.
    pub notes: Vec<String>,
}

/// Input of the summarizing model.
#[derive(Default)]
pub(crate) struct Material<'a> {
    pub conversation: String,
    pub previous_summary: Option<&'a str>,
    /// Additional context from hooks.
    pub context: Vec<String>,
    pub task: &'a str,
    /// The user's instructions.
    pub instructions: Option<&'a str>,
}

impl Material<'_> {
    /// Builds the prompt; a conversation that is too long is cut to the remaining room.
    fn prompt(&self, room: u64) -> String {
        let mut rest = String::new();
        if let Some(previous) = self.previous_summary {
            rest.push_str(&format!("<previous-summary>\n{previous}\n</previous-summary>\n\n"));
        }
        if !self.context.is_empty() {
            rest.push_str(&format!("<additional-context>\n{}\n</additional-context>\n\n", self.context.join("\n")));
        }
        rest.push_str(self.task.trim_end());
        if let Some(instructions) = self.instructions.map(str::trim).filter(|text| !text.is_empty()) {
            rest.push_str(&format!("\n\nThe user wants this kept in mind for the summary: {instructions}"));
        }
        let room = room.saturating_sub(estimate_tokens(&rest));
        format!("<conversation>\n{}\n</conversation>\n\n{rest}", cut_to(&self.conversation, room))
    }
}

/// Returns the end of a text that is too long, with a note on what is missing.
fn cut_to(text: &str, tokens: u64) -> std::borrow::Cow<'_, str> {
    if estimate_tokens(text) <= tokens {
        return text.into();
    }
    let bytes = usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    format!("[the first {from} bytes of it are left out: there is no room for them]\n{}", &text[from..]).into()
}

impl Summarizer<'_> {
    /// Requests one summary. It may use `share` of the reserve.
    pub async fn ask(&mut self, material: &Material<'_>, share: f64) -> Result<String, CompactionFailure> {
        let max_tokens = ((self.reserve_tokens as f64 * share) as u64).max(1024);
        if let Some(text) = self.ask_remote(material).await? {
            return Ok(text);
        }
        let mut last = CompactionFailure::Failed("no model to write a summary with".to_owned());
        let models = self.models.clone();
        for (number, model) in models.iter().enumerate() {
            let is_last = number + 1 == models.len();
            match self.ask_model(model, material, max_tokens, is_last).await {
                Ok(text) => return Ok(text),
                Err(CompactionFailure::Aborted) => return Err(CompactionFailure::Aborted),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    /// Returns `None` if no endpoint answers.
    async fn ask_remote(&mut self, material: &Material<'_>) -> Result<Option<String>, CompactionFailure> {
        let Some(remote) = self.remote else { return Ok(None) };
        let prompt = material.prompt(u64::MAX);
        let asked = tokio::select! {
            biased;
            () = self.session.cancel().cancelled() => return Err(CompactionFailure::Aborted),
            asked = remote.summarize(prompts::SYSTEM.trim_end(), &prompt) => asked,
        };
        match asked {
            Ok(text) if !text.trim().is_empty() => return Ok(Some(text.trim().to_owned())),
            Ok(_) => {
                self.notes.push("the remote endpoint returned an empty summary; a model writes it instead".to_owned())
            }
            Err(why) => {
                self.notes.push(format!("the remote endpoint returned no summary ({why}); a model writes it instead"))
            }
        }
        // After one failure the endpoint is not used again in this compaction.
        self.remote = None;
        Ok(None)
    }

    async fn ask_model(
        &mut self,
        model: &Arc<Model>,
        material: &Material<'_>,
        max_tokens: u64,
        is_last: bool,
    ) -> Result<String, CompactionFailure> {
        let max_tokens = if model.max_tokens > 0 { max_tokens.min(model.max_tokens) } else { max_tokens };
        let window = if model.context_window > 0 { model.context_window } else { u64::MAX };
        // Estimates may be a tenth too low.
        let room = (window.saturating_sub(max_tokens) / 10).saturating_mul(9).saturating_sub(1024);
        let prompt = material.prompt(room);
        let mut attempt = 0;
        loop {
            let error = match self.once(model, prompt.clone(), max_tokens).await? {
                Ok(text) => return Ok(text),
                Err(error) => error,
            };
            attempt += 1;
            match self.session.retry_delay(&error, attempt) {
                Some(delay) if is_last || delay <= LONG_WAIT => self.wait(delay).await?,
                _ => return Err(CompactionFailure::Failed(error.message)),
            }
        }
    }

    async fn wait(&self, delay: Duration) -> Result<(), CompactionFailure> {
        let delay = if self.session.waits() { delay } else { Duration::ZERO };
        tokio::select! {
            () = self.session.cancel().cancelled() => Err(CompactionFailure::Aborted),
            () = tokio::time::sleep(delay) => Ok(()),
        }
    }

    async fn once(
        &mut self,
        model: &Arc<Model>,
        prompt: String,
        max_tokens: u64,
    ) -> Result<Result<String, ModelError>, CompactionFailure> {
        let mut stream = self.session.llm().stream(Request {
            model: model.clone(),
            system: prompts::SYSTEM.trim_end().into(),
            tools: Arc::new([]),
            messages: vec![Arc::new(Message::User(UserMessage::text(prompt)))],
            thinking: ThinkingLevel::Off,
            max_tokens: Some(max_tokens),
            session_id: None,
            cache: CacheRetention::Short,
            terms: Terms::default(),
        });
        loop {
            tokio::select! {
                biased;
                () = self.session.cancel().cancelled() => return Err(CompactionFailure::Aborted),
                event = stream.next() => if event.is_none() { break },
            }
        }
        let answer = stream.message();
        self.spent.push(answer.clone());
        let text = answer.text();
        Ok(match &answer.error {
            Some(error) => Err(error.clone()),
            None if text.trim().is_empty() => {
                let silent = "the model returned an empty summary".to_owned();
                Err(ModelError::new(omp_types::ErrorKind::Protocol, silent))
            }
            None => Ok(text.trim().to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_that_is_too_long_gives_way_and_says_so() {
        let material = Material {
            conversation: format!("{}END", "ä".repeat(1000)),
            previous_summary: Some("before"),
            context: vec!["one".to_owned(), "two".to_owned()],
            task: "Summarize.\n",
            instructions: Some(" keep the names "),
        };
        let whole = material.prompt(u64::MAX);
        assert!(whole.starts_with("<conversation>\nä") && whole.contains("<previous-summary>\nbefore\n"));
        assert!(
            whole.contains("<additional-context>\none\ntwo\n") && whole.ends_with("for the summary: keep the names")
        );
        let short = material.prompt(120);
        assert!(short.contains("END\n</conversation>") && short.contains("left out"), "{short}");
        assert!(short.len() < 700, "{}", short.len());
        assert!(material.prompt(0).contains("left out"));
    }
}
