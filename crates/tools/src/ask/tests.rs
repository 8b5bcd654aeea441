//! Tests `ask` with a scripted user.

use std::collections::VecDeque;
use std::sync::Mutex;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::AnyTool;
use serde_json::{Value, json};

use super::*;
use crate::scratch::Scratch;

/// Gives scripted answers in order, then never answers.
struct User {
    answers: Mutex<VecDeque<Option<Vec<String>>>>,
    asked: Mutex<Vec<Choice>>,
}

impl Questions for User {
    fn ask(&self, _question: String, _choices: Vec<String>) -> BoxFuture<'_, Option<String>> {
        std::future::pending().boxed()
    }

    fn choose(&self, choice: Choice) -> BoxFuture<'_, Option<Vec<String>>> {
        self.asked.lock().unwrap().push(choice);
        match self.answers.lock().unwrap().pop_front() {
            Some(answer) => std::future::ready(answer).boxed(),
            None => std::future::pending().boxed(),
        }
    }
}

fn ask(timeout: Option<Duration>, questions: Value, answers: &[Option<&[&str]>]) -> (String, Value, Vec<Choice>) {
    let answer = |it: &Option<&[&str]>| it.map(|labels| labels.iter().map(|label| (*label).to_owned()).collect());
    let user = Arc::new(User { answers: Mutex::new(answers.iter().map(answer).collect()), asked: Mutex::default() });
    let cx = ToolCx { questions: Some(user.clone()), ..ToolCx::detached("call") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (text, details) =
        match runtime.block_on(crate::scratch::run(&Ask { timeout }, json!({"questions": questions}), &cx)) {
            Ok(output) => (output.content[0].as_text().unwrap().to_owned(), output.details.unwrap()),
            Err(error) => (format!("error: {error}"), Value::Null),
        };
    let asked = user.asked.lock().unwrap().clone();
    (text, details, asked)
}

fn color(multi: bool, recommended: Option<usize>) -> Value {
    let options = json!([{"label": "red", "description": "warm"}, {"label": "blue"}]);
    json!({"id": "color", "question": "Which?", "options": options, "multi": multi, "recommended": recommended})
}

#[test]
fn answers() {
    let free = json!({"id": "name", "question": "Name?", "options": []});
    for (questions, answers, want) in [
        (json!([color(false, None)]), vec![Some(&["blue"][..])], "User selected: blue"),
        (json!([color(true, None)]), vec![Some(&["red", "blue"][..])], "User selected: red, blue"),
        (json!([color(false, None)]), vec![Some(&["green"][..])], "User provided custom input: green"),
        (
            json!([color(true, None)]),
            vec![Some(&["red", "and\ngreen"][..])],
            "User selected: red\nUser provided custom input:\nand\ngreen",
        ),
        (json!([free]), vec![Some(&["Ada"][..])], "User provided custom input: Ada"),
        (
            json!([color(false, None), free]),
            vec![Some(&["red"][..]), Some(&["Ada"][..])],
            "User answers:\ncolor: red\nname: \"Ada\"",
        ),
        (json!([color(false, None)]), vec![None], "error: Ask tool was cancelled by the user"),
        (json!([color(true, None)]), vec![Some(&[][..])], "error: Ask tool was cancelled by the user"),
    ] {
        assert_eq!(ask(None, questions, &answers).0, want);
    }
}

#[test]
fn what_is_asked_and_saved() {
    let (_, details, asked) = ask(None, json!([color(true, Some(1))]), &[Some(&["red"])]);
    assert_eq!(asked[0].options[0].description.as_deref(), Some("warm"));
    assert_eq!((asked[0].multi, asked[0].recommended), (true, Some(1)));
    assert_eq!(
        details,
        json!({"results": [{
            "id": "color", "question": "Which?", "options": ["red", "blue"], "multi": true, "selectedOptions": ["red"],
        }]})
    );
    let arguments = json!({"questions": [color(true, Some(1))]});
    let view =
        AnyTool::render(&Ask { timeout: None }, &arguments, Outcome::Done { details: &details, is_error: false });
    assert_eq!(view.title, "ask Which?");
    assert_eq!(view.blocks, [Block::Lines { lines: vec!["Which?: red".into()], hidden: 0 }]);
}

#[test]
fn without_an_answer_in_time_the_recommended_one_is_taken() {
    let timeout = Some(Duration::from_millis(1));
    for (recommended, want) in [(Some(1), "blue"), (None, "red")] {
        let (text, details, _) = ask(timeout, json!([color(false, recommended)]), &[]);
        assert_eq!(text, format!("User selected: {want} (auto-selected after timeout)"));
        assert_eq!(details["results"][0]["timedOut"], json!(true));
    }
    let free = json!([{"id": "name", "question": "Name?", "options": []}]);
    assert_eq!(ask(timeout, free, &[]).0, "The user gave no answer (auto-selected after timeout)");
}

#[test]
fn without_anybody_the_recommended_options_hold() {
    let free = json!({"id": "name", "question": "Name?", "options": []});
    let scratch = Scratch::new(&[]);
    let output = scratch.call(&Ask { timeout: None }, json!({"questions": [color(false, Some(1)), free]})).unwrap();
    assert_eq!(
        output.content[0].as_text().unwrap(),
        "Nobody can be asked in this mode, so the recommended options apply:\ncolor: blue (recommended)\n\
         name: (no answer)\nSay so in your answer. Take the safest common choice, continue, and say what you chose."
    );
    let results = &output.details.unwrap()["results"];
    assert_eq!((&results[0]["byPolicy"], &results[0]["selectedOptions"]), (&json!(true), &json!(["blue"])));
    assert!(!scratch.text(&Ask { timeout: None }, json!({"questions": [color(false, Some(0))]})).contains("careful"));
}

#[test]
fn what_cannot_be_asked() {
    let nobody = Scratch::new(&[]).text(&Ask { timeout: None }, json!({"questions": [color(false, None)]}));
    assert!(nobody.starts_with("error: Nobody can be asked in this mode."), "{nobody}");
    for (questions, want) in [
        (json!([]), "give 1 to 20 questions, not 0"),
        (json!([color(false, Some(2))]), "question \"color\" recommends option 2, but has 2, counted from 0"),
        (json!([color(false, None), color(false, None)]), "two questions have the id \"color\""),
    ] {
        assert_eq!(ask(None, questions, &[]).0, format!("error: {want}"));
    }
}
