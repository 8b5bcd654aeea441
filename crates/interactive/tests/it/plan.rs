//! Plan mode: shown in the status row, with a question when a plan is written.

use omp_session::PLAN_FILE;
use omp_testkit::Turn;
use serde_json::json;

use crate::stage::{Options, play};

fn plans() -> [Turn; 3] {
    let write = json!({"path": format!("local://{PLAN_FILE}"), "content": "# Plan\n"});
    [Turn::call("write", write), Turn::text("There it is."), Turn::text("Carried out.")]
}

#[tokio::test]
async fn a_plan_is_made_and_carried_out() {
    play(Options::new(plans()), async |stage| {
        stage.until("main").await;
        stage.press("alt+shift+p").await;
        stage.until("plan mode is on").await;
        stage.until("plan, auto").await;
        stage.say("plan it").await;
        stage.until_asked("1. Approve and run").await;
        insta::assert_snapshot!(stage.text().rsplit_once("auto\n").unwrap().1, @"
        ╭─ The plan  local://PLAN.md ──────────────────────────────╮
        │ The plan is empty, or not saved to a file.               │
        ├──────────────────────────────────────────────────────────┤
        │   1. Approve and run     the project may be changed      │
        │   2. Approve with edits  change the plan, then run it    │
        │ ❯ 3. Keep planning       say what is missing             │
        │   4. Leave plan mode     the plan is not run             │
        │ 1 sends: I approve the plan in local://PLAN.md. Read it  │
        │ again if you no longer have it before you, carry it out  │
        │ step by step, and tell me where you deviated from it.    │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc close · /plan-review shows it again   │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("shift+tab").await;
        stage.until("plan, ask-writes").await;
        stage.press("up up enter").await;
        stage.until("Carried out.").await;
        stage.until_gone("plan, ask-writes").await;
    })
    .await;
}

#[tokio::test]
async fn planning_goes_on_or_ends() {
    play(Options::new(plans()), async |stage| {
        stage.until("main").await;
        stage.say("/plan").await;
        stage.until("plan, auto").await;
        stage.say("plan it").await;
        stage.until("The plan").await;
        stage.press("escape").await;
        stage.until_gone("The plan").await;
        assert!(stage.text().contains("plan, auto"), "{}", stage.text());
        stage.press("alt+shift+p").await;
        stage.until_gone("plan, auto").await;
        assert_eq!(stage.llm.requests().len(), 2);
    })
    .await;
}
