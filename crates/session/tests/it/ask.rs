//! Tests of the `ask` tool with a user who answers.

use std::sync::Arc;

use omp_session::{Answer, Command, QuestionKind, SessionEvent};
use omp_testkit::{ScriptedLlm, Turn};
use omp_tools::Ask;
use omp_types::Content;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn several_options_are_chosen_by_one_answer() {
    let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
    for (answer, expect) in [
        (Answer::Choices(labels(&["red", "blue"])), "result: User selected: red, blue"),
        (Answer::Text("green".into()), "result: User provided custom input: green"),
        (Answer::No, "result (error): Ask tool was cancelled by the user"),
    ] {
        let options = json!([{"label": "red"}, {"label": "blue"}]);
        let question =
            json!({"id": "color", "question": "Which?", "options": options, "multi": true, "recommended": 1});
        let script = ScriptedLlm::new([Turn::call("ask", json!({"questions": [question]})), Turn::text("done")]);
        let mut stage = Stage::with(script, |options| {
            options.tools = vec![Arc::new(Ask { timeout: None })];
            options.attended = true;
        });
        stage.send(Command::Prompt(vec![Content::text("go")].into())).await;
        let session = stage.session.clone();
        let (lines, _) = stage
            .until_idle(move |event| {
                if let SessionEvent::Question(question) = event {
                    let QuestionKind::Choose(choice) = &question.kind else { panic!("{question:?}") };
                    assert!(choice.multi && choice.recommended == Some(1) && choice.options.len() == 2);
                    let (session, id, answer) = (session.clone(), question.id, answer.clone());
                    tokio::spawn(async move { session.send(Command::Answer { id, answer }).await.unwrap() });
                }
            })
            .await;
        assert!(lines.contains(&expect.to_owned()), "{lines:?}");
    }
}
