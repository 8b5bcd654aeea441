//! A title for a session that nobody has named, made from its first exchange.
//!
//! One small request in the background: nobody waits for it, its time and its tokens are bounded, and it is never made
//! twice. What goes wrong is noted in the session file and told to nobody. A title that a person gave is never replaced.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use omp_agent::RunEnd;
use omp_store::{Custom, TitleSource};
use omp_types::{CacheRetention, Llm, Message, Model, Request, Terms, ThinkingLevel, UserMessage, text_of};
use serde_json::json;

use super::{SessionCx, SessionFeature};
use crate::control::Control;

/// What the model is told when the user has no words of their own for it.
const PROMPT: &str = include_str!("../prompt/title.md");
const PATIENCE: Duration = Duration::from_secs(30);
const MAX_TOKENS: u64 = 256;
/// Characters of what each side said first.
const EXCERPT: usize = 2000;
const LONGEST_TITLE: usize = 80;

/// How a session gets its title.
#[derive(Clone, Debug)]
pub struct Titling {
    /// A small model is enough.
    pub model: Arc<Model>,
    pub prompt: Arc<str>,
}

impl Titling {
    /// `prompt` takes the place of ours.
    pub fn new(model: Arc<Model>, prompt: Option<String>) -> Self {
        let own = prompt.filter(|text| !text.trim().is_empty());
        Self { model, prompt: own.unwrap_or_else(|| PROMPT.to_owned()).into() }
    }
}

/// Has the title made once, after the first exchange.
pub(super) struct Titles(Mutex<Option<Titling>>);

impl Titles {
    pub fn new(titling: Titling) -> Self {
        Self(Mutex::new(Some(titling)))
    }

    /// How to make it, if the session is kept and has none yet.
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

/// Makes the title and gives it to the session, unless somebody was faster.
async fn give(llm: Arc<dyn Llm>, titling: Titling, beginning: String, control: Arc<Control>) {
    let asked = tokio::time::timeout(PATIENCE, ask(&*llm, titling, beginning, &control)).await;
    let given = match asked.unwrap_or_else(|_| Err("the model took too long".to_owned())) {
        Ok(title) => control.rename_unnamed(&title, TitleSource::Auto).map_err(|error| error.to_string()),
        Err(why) => Err(why),
    };
    if let Err(why) = given {
        let entry = Custom { custom_type: "title_failed".to_owned(), data: Some(json!({"reason": why})) };
        // A file that takes no title takes no note either.
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

/// How a conversation began, as the model reads it. `None` before the first answer.
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

/// The title itself, whatever a model wraps around it.
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
