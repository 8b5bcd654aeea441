//! `ask`: asks the user questions during a turn.

use std::sync::Arc;
use std::time::Duration;

use omp_agent::{
    Choice, ChoiceOption, Concurrency, Outcome, Output, Planned, Questions, Tier, Tool, ToolCx, ToolError,
};
use omp_view::{Block, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MAX_QUESTIONS: usize = 20;
const MAX_OPTIONS: usize = 50;

pub struct Ask {
    /// Time after which the recommended answer is used; `None` waits forever.
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    #[schemars(length(min = 1))]
    pub questions: Vec<Question>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Question {
    /// Names the question in the answer.
    pub id: String,
    pub question: String,
    pub options: Vec<AskOption>,
    #[serde(default)]
    pub multi: bool,
    /// Index of the option, from 0.
    #[serde(default)]
    pub recommended: Option<usize>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct AskOption {
    pub label: String,
    #[serde(default)]
    pub description: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    pub results: Vec<Answered>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    pub id: String,
    pub question: String,
    pub options: Vec<String>,
    pub multi: bool,
    pub selected_options: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_input: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// No user was present, so the recommended option was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_policy: bool,
}

impl Tool for Ask {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "ask";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    /// A user cannot answer two questions at once, so calls run one at a time.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        check(&params.questions).map_err(ToolError::Reply)?;
        let Some(questions) = &cx.questions else { return from_policy(&params.questions) };
        let mut results = Vec::with_capacity(params.questions.len());
        for question in &params.questions {
            results.push(self.put(question, questions).await?);
        }
        Ok(Output::text(told(&results), Details { results }))
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let title = match params.questions.as_slice() {
            [only] => format!("ask {}", only.question),
            all => format!("ask {} questions", all.len()),
        };
        match outcome {
            Outcome::Running => View::new(title, Status::Running),
            Outcome::Failed => View::new(title, Status::Failed),
            Outcome::Done { details, .. } => {
                let lines = details.results.iter().map(|it| format!("{}: {}", it.question, answer_of(it))).collect();
                View::new(title, Status::Done).block(Block::Lines { lines, hidden: 0 })
            }
        }
    }
}

impl Ask {
    async fn put(&self, question: &Question, questions: &Arc<dyn Questions>) -> Result<Answered, ToolError> {
        let option = |it: &AskOption| ChoiceOption { label: it.label.clone(), description: it.description.clone() };
        let choice = Choice {
            question: question.question.clone(),
            options: question.options.iter().map(option).collect(),
            multi: question.multi,
            recommended: question.recommended,
            is_closed: false,
        };
        let answer = questions.choose(choice);
        let answers = match self.timeout {
            None => answer.await,
            Some(timeout) => match tokio::time::timeout(timeout, answer).await {
                Ok(answers) => answers,
                Err(_) => return Ok(by_itself(question)),
            },
        };
        let Some(answers) = answers.filter(|answers| !answers.is_empty()) else {
            return Err(ToolError::Reply("Ask tool was cancelled by the user".to_owned()));
        };
        let is_option = |answer: &String| question.options.iter().any(|option| option.label == *answer);
        let (selected, typed): (Vec<String>, Vec<String>) = answers.into_iter().partition(is_option);
        let custom_input = (!typed.is_empty()).then(|| typed.join("\n"));
        Ok(Answered { selected_options: selected, custom_input, ..unanswered(question) })
    }
}

/// Answers questions when no user is present: uses the model's recommended options and leaves the other questions to the
/// model.
fn from_policy(questions: &[Question]) -> Result<Output<Details>, ToolError> {
    const CAREFUL: &str = "Take the safest common choice, continue, and say what you chose.";
    if questions.iter().all(|question| question.recommended.is_none()) {
        return Err(ToolError::Reply(format!("Nobody can be asked in this mode. {CAREFUL}")));
    }
    let answered = |question: &Question| {
        let label = question.recommended.and_then(|index| question.options.get(index));
        let selected_options = label.map(|option| option.label.clone()).into_iter().collect();
        Answered { selected_options, by_policy: true, ..unanswered(question) }
    };
    let results: Vec<Answered> = questions.iter().map(answered).collect();
    let lines: Vec<String> = results.iter().map(|result| format!("{}: {}", result.id, answer_of(result))).collect();
    let rest = if results.iter().any(|result| result.selected_options.is_empty()) { CAREFUL } else { "" };
    let text = format!(
        "Nobody can be asked in this mode, so the recommended options apply:\n{}\nSay so in your answer. {rest}",
        lines.join("\n")
    );
    Ok(Output::text(text.trim_end(), Details { results }))
}

/// Returns the answer used when the user does not answer in time.
fn by_itself(question: &Question) -> Answered {
    let label = question.options.get(question.recommended.unwrap_or(0)).map(|option| option.label.clone());
    Answered { selected_options: label.into_iter().collect(), timed_out: true, ..unanswered(question) }
}

fn unanswered(question: &Question) -> Answered {
    Answered {
        id: question.id.clone(),
        question: question.question.clone(),
        options: question.options.iter().map(|option| option.label.clone()).collect(),
        multi: question.multi,
        selected_options: Vec::new(),
        custom_input: None,
        timed_out: false,
        by_policy: false,
    }
}

fn check(questions: &[Question]) -> Result<(), String> {
    if questions.is_empty() || questions.len() > MAX_QUESTIONS {
        return Err(format!("give 1 to {MAX_QUESTIONS} questions, not {}", questions.len()));
    }
    for (at, question) in questions.iter().enumerate() {
        let (id, count) = (&question.id, question.options.len());
        if questions[..at].iter().any(|earlier| earlier.id == *id) {
            return Err(format!("two questions have the id \"{id}\""));
        }
        if count > MAX_OPTIONS {
            return Err(format!("question \"{id}\" has {count} options; the maximum is {MAX_OPTIONS}"));
        }
        if let Some(recommended) = question.recommended.filter(|index| *index >= count) {
            return Err(format!("question \"{id}\" recommends option {recommended}, but has {count}, counted from 0"));
        }
    }
    Ok(())
}

fn told(results: &[Answered]) -> String {
    if let [only] = results {
        let mut parts = Vec::new();
        if !only.selected_options.is_empty() {
            parts.push(format!("User selected: {}{}", only.selected_options.join(", "), hint_of(only)));
        }
        if let Some(typed) = &only.custom_input {
            let gap = if typed.contains('\n') { "\n" } else { " " };
            parts.push(format!("User provided custom input:{gap}{typed}"));
        }
        if parts.is_empty() {
            parts.push(format!("The user gave no answer{}", hint_of(only)));
        }
        return parts.join("\n");
    }
    let lines = results.iter().map(|result| format!("{}: {}", result.id, answer_of(result)));
    format!("User answers:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn answer_of(result: &Answered) -> String {
    let chosen = result.selected_options.join(", ");
    let answer = match (&result.custom_input, chosen.is_empty()) {
        (Some(typed), true) => format!("\"{typed}\""),
        (Some(typed), false) => format!("{chosen}, and \"{typed}\""),
        (None, true) => "(no answer)".to_owned(),
        (None, false) => chosen,
    };
    answer + hint_of(result)
}

fn hint_of(result: &Answered) -> &'static str {
    match result {
        Answered { timed_out: true, .. } => " (auto-selected after timeout)",
        Answered { by_policy: true, selected_options, .. } if !selected_options.is_empty() => " (recommended)",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
