//! Sends the session's questions to the client's user: the UI part of the protocol.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use omp_agent::{ArrivingCall, Choice, Outcome};
use omp_session::{Answer, CallDetails, Question, QuestionKind, Session};
use omp_wire::{DialogFrame, DialogMethod, DialogResponse};
use serde_json::Value;

use super::output::Output;
use crate::text::{Palette, write_card};

const APPROVE: &str = "Approve";
const DENY: &str = "Deny";
const DENY_WITH_WORDS: &str = "Deny, and say what to do instead";
const OPENED: &str = "I have opened it";
const CANCEL: &str = "Cancel";
const OTHER: &str = "Other (type your own)";
const FINISHED: &str = "Done selecting";
const RECOMMENDED: &str = " (Recommended)";
/// Prefixes of options if several may be chosen.
const CHOSEN: &str = "[x] ";
const NOT_CHOSEN: &str = "[ ] ";

/// The open dialogs.
pub struct Dialogs {
    output: Output,
    next: AtomicU64,
    open: Mutex<HashMap<String, Dialog>>,
}

/// A question that waits for its answer.
struct Dialog {
    question: u64,
    stage: Stage,
}

enum Stage {
    Approval {
        /// Additional answers by label.
        always: Vec<(String, Answer)>,
    },
    Choice {
        choice: Choice,
        chosen: Vec<String>,
    },
    /// An address that the client opens.
    Address,
    /// The user wants to type an answer.
    Typing {
        chosen: Vec<String>,
    },
}

/// The result of a response.
enum Next {
    Answered(Answer),
    Further(Stage),
}

impl Dialogs {
    pub fn new(output: Output) -> Self {
        Self { output, next: AtomicU64::new(1), open: Mutex::default() }
    }

    pub fn put(&self, question: &Question, session: &Session) {
        match &question.kind {
            QuestionKind::Approve { call_id, tool, arguments, reason, details } => {
                let title = approval_title(session, call_id, tool, arguments, reason.as_deref(), details);
                let always = details.answers_with_rules();
                let options = [APPROVE, DENY].map(str::to_owned).into_iter();
                let options = options.chain(always.iter().map(|(label, _)| label.clone()));
                let options = options.chain([DENY_WITH_WORDS.to_owned()]).collect();
                self.ask(
                    question.id,
                    Stage::Approval { always },
                    DialogMethod::Select { title: title.as_str().into(), options },
                );
            }
            QuestionKind::Choose(choice) => self.ask_choice(question.id, choice.clone(), Vec::new()),
            QuestionKind::OpenUrl { url, reason } => {
                let title = format!("Open this address?\n{reason}\n{url}");
                let options = [OPENED, CANCEL].map(str::to_owned).to_vec();
                let method = DialogMethod::Select { title: title.as_str().into(), options };
                self.ask(question.id, Stage::Address, method);
            }
        }
    }

    /// Returns the answer to a question once a response completes it. Responses to unknown dialogs are ignored.
    pub fn respond(&self, response: &DialogResponse) -> Option<(u64, Answer)> {
        let Dialog { question, stage } = self.lock().remove(&response.id)?;
        match next(stage, response) {
            Next::Answered(answer) => return Some((question, answer)),
            Next::Further(Stage::Choice { choice, chosen }) => self.ask_choice(question, choice, chosen),
            Next::Further(stage) => self.ask(question, stage, DialogMethod::Input { title: OTHER.into() }),
        }
        None
    }

    /// Drops a question whose answer is no longer needed.
    pub fn dismiss(&self, question: u64) {
        self.dismiss_where(|dialog| dialog.question == question);
    }

    pub fn dismiss_all(&self) {
        self.dismiss_where(|_| true);
    }

    fn dismiss_where(&self, gone: impl Fn(&Dialog) -> bool) {
        let ids: Vec<String> = self.lock().extract_if(|_, dialog| gone(dialog)).map(|(id, _)| id).collect();
        for target_id in &ids {
            self.send(&self.new_id(), DialogMethod::Cancel { target_id: target_id.into() });
        }
    }

    fn ask_choice(&self, question: u64, choice: Choice, chosen: Vec<String>) {
        let title = title_of(&choice);
        if choice.options.is_empty() {
            return self.ask(question, Stage::Typing { chosen }, DialogMethod::Input { title: title.as_str().into() });
        }
        let options = shown_options(&choice, &chosen);
        self.ask(
            question,
            Stage::Choice { choice, chosen },
            DialogMethod::Select { title: title.as_str().into(), options },
        );
    }

    fn ask(&self, question: u64, stage: Stage, method: DialogMethod<'_>) {
        let id = self.new_id();
        self.lock().insert(id.clone(), Dialog { question, stage });
        self.send(&id, method);
    }

    fn send(&self, id: &str, method: DialogMethod<'_>) {
        self.output.frame(&DialogFrame { id: id.into(), method });
    }

    fn new_id(&self) -> String {
        format!("ui_{}", self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Dialog>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn next(stage: Stage, response: &DialogResponse) -> Next {
    let value = response.value.as_ref().and_then(Value::as_str);
    match stage {
        Stage::Approval { .. } if response.cancelled => Next::Answered(Answer::No),
        Stage::Approval { .. } if value == Some(DENY_WITH_WORDS) => Next::Further(Stage::Typing { chosen: Vec::new() }),
        Stage::Approval { always } => {
            let yes = response.confirmed == Some(true) || value == Some(APPROVE);
            let chosen = always.into_iter().find(|(label, _)| value == Some(label.as_str()));
            let once = if yes { Answer::Yes } else { Answer::No };
            Next::Answered(chosen.map_or(once, |(_, answer)| answer))
        }
        Stage::Address => {
            let yes = response.confirmed == Some(true) || value == Some(OPENED);
            Next::Answered(if yes && !response.cancelled { Answer::Yes } else { Answer::No })
        }
        Stage::Choice { choice, .. } if response.timed_out => {
            let taken = choice.options.get(choice.recommended.unwrap_or(0));
            Next::Answered(taken.map_or(Answer::No, |option| Answer::Text(option.label.clone())))
        }
        Stage::Choice { .. } | Stage::Typing { .. } if response.cancelled => Next::Answered(Answer::No),
        Stage::Typing { mut chosen } => {
            let Some(value) = value else { return Next::Answered(Answer::No) };
            chosen.push(value.to_owned());
            Next::Answered(Answer::Choices(chosen))
        }
        Stage::Choice { choice, chosen } => match value {
            None => Next::Answered(Answer::No),
            Some(OTHER) if !choice.is_closed => Next::Further(Stage::Typing { chosen }),
            Some(FINISHED) if choice.multi => Next::Answered(Answer::Choices(chosen)),
            Some(value) => choose(choice, chosen, value),
        },
    }
}

fn choose(choice: Choice, mut chosen: Vec<String>, value: &str) -> Next {
    let value = value.strip_prefix(CHOSEN).or_else(|| value.strip_prefix(NOT_CHOSEN)).unwrap_or(value);
    let known = |label: &str| choice.options.iter().any(|option| option.label == label);
    let label = if known(value) { value } else { value.strip_suffix(RECOMMENDED).unwrap_or(value) };
    if !choice.multi || !known(label) {
        // Text that matches no option is a typed answer.
        chosen.push(label.to_owned());
        return Next::Answered(Answer::Choices(chosen));
    }
    match chosen.iter().position(|taken| taken == label) {
        Some(at) => drop(chosen.remove(at)),
        None => chosen.push(label.to_owned()),
    }
    Next::Further(Stage::Choice { choice, chosen })
}

/// Returns the question with the descriptions of its options.
fn title_of(choice: &Choice) -> String {
    let told = choice.options.iter().filter_map(|option| {
        let description = option.description.as_deref()?;
        Some(format!("\n- {}: {description}", option.label))
    });
    std::iter::once(choice.question.clone()).chain(told).collect()
}

fn shown_options(choice: &Choice, chosen: &[String]) -> Vec<String> {
    let shown = choice.options.iter().enumerate().map(|(index, option)| {
        let mark = match choice.multi {
            true if chosen.contains(&option.label) => CHOSEN,
            true => NOT_CHOSEN,
            false => "",
        };
        let suffix = if choice.recommended == Some(index) { RECOMMENDED } else { "" };
        format!("{mark}{}{suffix}", option.label)
    });
    let finished = choice.multi.then(|| FINISHED.to_owned());
    shown.chain(finished).chain((!choice.is_closed).then(|| OTHER.to_owned())).collect()
}

/// Describes the call: its effects, its preview, or its arguments.
fn approval_title(
    session: &Session,
    call_id: &str,
    tool: &str,
    arguments: &Value,
    reason: Option<&str>,
    details: &CallDetails,
) -> String {
    let mut title = format!("Allow tool: {tool}");
    if let Some(origin) = details.origin {
        title.push_str(&format!("\nOrigin: {origin}"));
    }
    if let Some(reason) = reason {
        title.push_str(&format!("\nReason: {reason}"));
    }
    for line in &details.lines {
        title.push_str(&format!("\n{line}"));
    }
    let command = session.view(tool, arguments, Outcome::Running).and_then(|view| view.command);
    let shown = match session.preview(tool, ArrivingCall { id: call_id, arguments, is_whole: true }) {
        Some(view) if !view.blocks.is_empty() => {
            let mut card = Vec::new();
            // Writing to memory cannot fail.
            let _ = write_card(&mut card, &view, Palette::new(false));
            String::from_utf8_lossy(&card).trim_end().to_owned()
        }
        _ => command.unwrap_or_else(|| arguments.to_string()),
    };
    title.push('\n');
    title.extend(shown.chars().take(MAX_SHOWN));
    title
}

/// Caps the characters of a call shown to the user.
const MAX_SHOWN: usize = 8000;

#[cfg(test)]
mod tests {
    use omp_agent::ChoiceOption;
    use omp_policy::{RuleLevel, RuleOffer, RuleScope};
    use serde::Deserialize;

    use super::*;

    fn choice(multi: bool) -> Stage {
        let option = |label: &str| ChoiceOption { label: label.to_owned(), description: None };
        let options = vec![option("red"), option("blue")];
        let choice = Choice { question: "Which?".to_owned(), options, multi, recommended: Some(1), is_closed: false };
        Stage::Choice { choice, chosen: Vec::new() }
    }

    fn approval() -> Stage {
        let offers = ["bash(ls)", "bash(ls *)"].map(|rule| RuleOffer { rules: vec![rule.to_owned()] }).to_vec();
        Stage::Approval { always: CallDetails { offers, ..CallDetails::default() }.answers_with_rules() }
    }

    #[track_caller]
    fn check(mut stage: Stage, responses: &[&str], expect: Option<Answer>) {
        for response in responses {
            let mut response: Value = serde_json::from_str(response).unwrap();
            response["id"] = "x".into();
            match next(stage, &DialogResponse::deserialize(&response).unwrap()) {
                Next::Answered(answer) => return assert_eq!(Some(answer), expect, "{responses:?}"),
                Next::Further(further) => stage = further,
            }
        }
        assert_eq!(None, expect, "{responses:?}");
    }

    fn choices(labels: &[&str]) -> Option<Answer> {
        Some(Answer::Choices(labels.iter().map(|label| (*label).to_owned()).collect()))
    }

    #[test]
    fn approval_is_given_by_word_or_by_flag_and_by_nothing_else() {
        check(approval(), &[r#"{"value":"Approve"}"#], Some(Answer::Yes));
        check(approval(), &[r#"{"confirmed":true}"#], Some(Answer::Yes));
        for no in
            [r#"{"value":"Deny"}"#, r#"{"value":"approve "}"#, r#"{"confirmed":false}"#, r#"{"cancelled":true}"#, "{}"]
        {
            check(approval(), &[no], Some(Answer::No));
        }
        check(approval(), &[r#"{"value":"Approve","cancelled":true}"#], Some(Answer::No));
    }

    #[test]
    fn always_writes_the_rule_that_was_shown() {
        let scoped = |level: RuleLevel, scope: RuleScope, rule: &str| {
            Some(Answer::Always { level, rules: vec![rule.to_owned()], scope })
        };
        let always = |level: RuleLevel, rule: &str| scoped(level, RuleScope::User, rule);
        let session = scoped(RuleLevel::Allow, RuleScope::Session, "bash(ls *)");
        check(approval(), &[r#"{"value":"Allow for this session: bash(ls *)"}"#], session);
        let words = [r#"{"value":"Deny, and say what to do instead"}"#, r#"{"value":"use make"}"#];
        check(approval(), &words, Some(Answer::Choices(vec!["use make".to_owned()])));
        check(approval(), &[r#"{"value":"Always allow: bash(ls)"}"#], always(RuleLevel::Allow, "bash(ls)"));
        check(approval(), &[r#"{"value":"Always allow: bash(ls *)"}"#], always(RuleLevel::Allow, "bash(ls *)"));
        check(approval(), &[r#"{"value":"Always deny: bash(ls)"}"#], always(RuleLevel::Deny, "bash(ls)"));
        check(approval(), &[r#"{"value":"Always allow: bash"}"#], Some(Answer::No));
        check(approval(), &[r#"{"value":"Always allow: bash(ls)","cancelled":true}"#], Some(Answer::No));
    }

    #[test]
    fn an_address_is_opened_when_somebody_says_so() {
        check(Stage::Address, &[r#"{"value":"I have opened it"}"#], Some(Answer::Yes));
        check(Stage::Address, &[r#"{"confirmed":true}"#], Some(Answer::Yes));
        for no in [r#"{"value":"Cancel"}"#, r#"{"cancelled":true}"#, r#"{"confirmed":true,"cancelled":true}"#, "{}"] {
            check(Stage::Address, &[no], Some(Answer::No));
        }
    }

    #[test]
    fn one_of_several() {
        check(choice(false), &[r#"{"value":"red"}"#], choices(&["red"]));
        check(choice(false), &[r#"{"value":"blue (Recommended)"}"#], choices(&["blue"]));
        check(choice(false), &[r#"{"value":"green"}"#], choices(&["green"]));
        check(choice(false), &[r#"{"value":"Other (type your own)"}"#, r#"{"value":"pink"}"#], choices(&["pink"]));
        check(choice(false), &[r#"{"value":"Other (type your own)"}"#, r#"{"cancelled":true}"#], Some(Answer::No));
        check(choice(false), &[r#"{"cancelled":true}"#], Some(Answer::No));
        check(choice(false), &[r#"{"value":7}"#], Some(Answer::No));
    }

    #[test]
    fn a_closed_choice_has_no_room_for_other_words() {
        let Stage::Choice { choice, .. } = choice(false) else { panic!("no choice") };
        let open = shown_options(&choice, &[]);
        let closed = shown_options(&Choice { is_closed: true, ..choice }, &[]);
        assert!(open.contains(&OTHER.to_owned()) && !closed.contains(&OTHER.to_owned()), "{closed:?}");
    }

    #[test]
    fn time_that_ran_out_takes_what_is_recommended() {
        check(choice(false), &[r#"{"cancelled":true,"timedOut":true}"#], Some(Answer::Text("blue".to_owned())));
        check(approval(), &[r#"{"cancelled":true,"timedOut":true}"#], Some(Answer::No));
    }

    #[test]
    fn several_of_several() {
        let done = r#"{"value":"Done selecting"}"#;
        let (red, blue) = (r#"{"value":"[ ] red"}"#, r#"{"value":"[ ] blue (Recommended)"}"#);
        check(choice(true), &[red, blue, done], choices(&["red", "blue"]));
        check(choice(true), &[red, blue, r#"{"value":"[x] red"}"#, done], choices(&["blue"]));
        check(
            choice(true),
            &[red, r#"{"value":"Other (type your own)"}"#, r#"{"value":"pink"}"#],
            choices(&["red", "pink"]),
        );
        check(choice(true), &[red], None);
    }
}
