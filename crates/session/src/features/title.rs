//! Generates a title for an unnamed session from its first exchange.
//!
//! This takes one small request in the background with bounded time and tokens, and it is never made twice. Errors are
//! recorded in the session file and not shown. A title set by the user is never replaced.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use omp_agent::RunEnd;
use omp_store::{Custom, TitleSource};
use omp_types::{CacheRetention, Llm, Message, Model, Request, Terms, ThinkingLevel, UserMessage, text_of};
use serde_json::json;

use super::{SessionCx, SessionFeature};
use crate::control::Control;

/// The default prompt, used if the user has not set one.
const PROMPT: &str = include_str!("../prompt/title.md");
const PATIENCE: Duration = Duration::from_secs(30);
const MAX_TOKENS: u64 = 256;
/// Maximum characters taken from the first message of each side.
const EXCERPT: usize = 2000;
const LONGEST_TITLE: usize = 80;

/// How a session's title is generated.
#[derive(Clone, Debug)]
pub struct Titling {
    /// A small model is enough.
    pub model: Arc<Model>,
    pub prompt: Arc<str>,
}

impl Titling {
    /// `prompt` replaces the default prompt.
    pub fn new(model: Arc<Model>, prompt: Option<String>) -> Self {
        let own = prompt.filter(|text| !text.trim().is_empty());
        Self { model, prompt: own.unwrap_or_else(|| PROMPT.to_owned()).into() }
    }
}

/// Generates the title once, after the first exchange.
pub(super) struct Titles(Mutex<Option<Titling>>);

impl Titles {
    pub fn new(titling: Titling) -> Self {
        Self(Mutex::new(Some(titling)))
    }

    /// Takes the configuration, if the session is saved and has no title yet.
    fn take(&self, control: &Control) -> Option<Titling> {
        let recorder = control.recorder();
        let is_wanted = recorder.path().is_some() && recorder.title().is_none();
        drop(recorder);
        is_wanted.then(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).take()).flatten()
    }
}

impl SessionFeature for Titles {
    fn idle(&self, cx: &SessionCx, end: &RunEnd) {
        if *end != RunEnd::Finished {
            return;
        }
        let Some(beginning) = beginning(&cx.control.messages()) else { return };
        let Some(titling) = self.take(&cx.control) else { return };
        cx.spawn(give(cx.control.llm.clone(), titling, beginning, cx.control.clone()));
    }
}

/// Generates the title and sets it, unless the session has been given one meanwhile.
async fn give(llm: Arc<dyn Llm>, titling: Titling, beginning: String, control: Arc<Control>) {
    let asked = tokio::time::timeout(PATIENCE, ask(&*llm, titling, beginning, &control)).await;
    let given = match asked.unwrap_or_else(|_| Err("the model took too long".to_owned())) {
        Ok(title) => control.rename_unnamed(&title, TitleSource::Auto).map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    if let Err(why) = given {
        let entry = Custom { custom_type: "title_failed".to_owned(), data: Some(json!({"reason": why})) };
        // If the title could not be written, the note cannot be written either.
        let _ = control.recorder().note(entry);
    }
}

async fn ask(llm: &dyn Llm, titling: Titling, beginning: String, control: &Control) -> Result<String, String> {
    if control.spending().refusal().is_some() {
        return Err("the budget is used up".to_owned());
    }
    let mut answer = llm.stream(Request {
        model: titling.model,
        system: titling.prompt,
        tools: Arc::new([]),
        messages: vec![Arc::new(Message::User(UserMessage::text(beginning)))],
        thinking: ThinkingLevel::Off,
        max_tokens: Some(MAX_TOKENS),
        session_id: None,
        cache: CacheRetention::Short,
        terms: Terms::default(),
    });
    while answer.next().await.is_some() {}
    let answer = answer.message();
    control.spent_beside("title", answer);
    match &answer.error {
        Some(error) => Err(error.message.clone()),
        None => cleaned(&answer.text()).ok_or_else(|| "the model gave no title".to_owned()),
    }
}

/// The beginning of the conversation as text for the model. `None` before the first answer.
fn beginning(messages: &[Arc<Message>]) -> Option<String> {
    let excerpt = |text: String| text.chars().take(EXCERPT).collect::<String>();
    let asked = messages.iter().find_map(|message| match &**message {
        Message::User(user) => Some(text_of(&user.content)).filter(|text| !text.trim().is_empty()),
        _ => None,
    })?;
    let answers = messages.iter().filter_map(|message| message.as_assistant()).filter(|answer| !answer.failed());
    let answered = answers.map(|answer| answer.text()).find(|text| !text.trim().is_empty())?;
    Some(format!("<user>\n{}\n</user>\n<assistant>\n{}\n</assistant>", excerpt(asked), excerpt(answered)))
}

/// Extracts the title from the text that the model wrapped around it.
fn cleaned(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("<title>").unwrap_or(line);
    let line = line.strip_suffix("</title>").unwrap_or(line);
    let is_wrapping = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '#' | '_' | '“' | '”');
    let line = line.trim_matches(is_wrapping);
    let line = line.strip_prefix("Title:").unwrap_or(line).trim_matches(is_wrapping).trim_end_matches('.');
    let plain: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = words.chars().take(LONGEST_TITLE).collect();
    (!title.is_empty()).then(|| title.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_taken_out_of_what_is_around_it() {
        for (answer, expect) in [
            ("Fix the login test", Some("Fix the login test")),
            ("\n\n\"Fix the  login\ttest.\"\nThis title …", Some("Fix the login test")),
            ("**Title: Fix it**", Some("Fix it")),
            ("<title>Fix it</title>", Some("Fix it")),
            ("# Fix \u{1b}[31mit", Some("Fix [31mit")),
            ("  \n ", None),
            ("\"\"", None),
        ] {
            assert_eq!(cleaned(answer).as_deref(), expect, "{answer:?}");
        }
        assert_eq!(cleaned(&"ä".repeat(500)).unwrap().chars().count(), LONGEST_TITLE);
    }

    #[test]
    fn the_prompt() {
        insta::assert_snapshot!(PROMPT, @"
        You name coding sessions. Read how the session below began and answer with its title and nothing else: 3 to 7 words that
        say what the user wants done, in the user's language, without quotes and without a full stop.
        ");
    }
}
