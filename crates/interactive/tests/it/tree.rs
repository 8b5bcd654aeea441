//! Moving to earlier entries: the tree, and the list behind a double escape.

use omp_testkit::{Gate, Turn};

use crate::stage::{Options, Stage, play};

async fn talked(scene: impl AsyncFnOnce(&mut Stage)) {
    let options = Options::recorded((1..=4).map(|number| Turn::text(format!("answer {number}"))));
    talked_with(options, scene).await;
}

async fn talked_with(options: Options, scene: impl AsyncFnOnce(&mut Stage)) {
    play(Options { keys: "app.session.tree: f2", ..options }, async |stage| {
        for number in 1..=2 {
            stage.say(&format!("question {number}")).await;
            stage.until(&format!("answer {number}")).await;
            stage.until_gone("to interrupt").await;
        }
        scene(stage).await;
    })
    .await;
}

fn below(stage: &Stage) -> String {
    stage.text().rsplit_once("auto\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn two_escapes_go_back_to_an_earlier_message() {
    talked(async |stage| {
        stage.press("escape escape").await;
        stage.until("Go back to").await;
        insta::assert_snapshot!(below(stage), @"
        ╭─ Go back to  2 of 2 ─────────────────────────────────────╮
        │ > type to search                                         │
        ├──────────────────────────────────────────────────────────┤
        │   question 1                                             │
        │ ❯ question 2                                             │
        ├──────────────────────────────────────────────────────────┤
        │ enter edit and resend · esc close                        │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("enter").await;
        stage.until("> question 2").await;
        stage.until_gone("answer 2").await;
        assert!(stage.text().contains("answer 1"), "{}", stage.text());
        stage.press("backspace").await;
        stage.say("2b").await;
        stage.until("answer 3").await;
        assert_eq!(stage.llm.requests().last().unwrap().messages.len(), 3);
        // With text in the editor, escape does nothing.
        stage.type_text("draft").await;
        stage.press("escape escape").await;
        stage.type_text("!").await;
        stage.until("> draft!").await;
    })
    .await;
}

#[tokio::test]
async fn the_tree_leads_to_any_branch() {
    talked(async |stage| {
        stage.say("/branch").await;
        stage.until("Go back to").await;
        stage.press("enter").await;
        stage.until_gone("answer 2").await;
        stage.press("ctrl+u").await;
        stage.say("another way").await;
        stage.until("answer 3").await;
        stage.until_gone("to interrupt").await;
        stage.press("f2").await;
        stage.until("Session tree").await;
        insta::assert_snapshot!(below(stage), @"
        ╭─ Session tree  6 of 6 · default ─────────────────────────╮
        │ > type to search                                         │
        ├──────────────────────────────────────────────────────────┤
        │   ▾ • user: question 1                                   │
        │   ▾ • assistant: answer 1                                │
        │     ▾ user: question 2                                   │
        │       assistant: answer 2                                │
        │     ▾ • user: another way                                │
        │ ❯     • assistant: answer 3                              │
        ├──────────────────────────────────────────────────────────┤
        │ enter go here · esc close · shift+l label                │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.type_text("answer 2").await;
        stage.until("❯").await;
        stage.press("enter").await;
        stage.until("› question 2").await;
        stage.until("answer 2").await;
        assert!(!stage.text().contains("another way"), "{}", stage.text());
        stage.say("/tree").await;
        stage.until("Session tree").await;
        stage.press("shift+l").await;
        stage.until("Label").await;
        stage.type_text("here").await;
        stage.press("enter").await;
        stage.until("[here]").await;
        stage.press("escape").await;
        stage.until_gone("[here]").await;
        stage.press("f2").await;
        stage.until("[here]").await;
    })
    .await;
}

/// The question whether to summarize the branch.
const ASKED: &str = "Summarize this branch?";

fn summing_up(replies: impl IntoIterator<Item = Turn>) -> Options {
    let talk = (1..=2).map(|number| Turn::text(format!("answer {number}")));
    Options { sums_up_branches: true, ..Options::recorded(talk.chain(replies)) }
}

#[tokio::test]
async fn who_leaves_a_branch_is_asked_what_is_told_of_it() {
    talked_with(summing_up([Turn::text("THE BRANCH"), Turn::text("answer 3")]), async |stage| {
        stage.press("f2").await;
        stage.until("Session tree").await;
        stage.type_text("answer 1").await;
        stage.press("enter").await;
        stage.until(ASKED).await;
        insta::assert_snapshot!(below(stage), @"
        ╭─ Summarize this branch? ─────────────────────────────────╮
        │ ❯ No summary                   leave it as it is         │
        │   Summarize                    describe what was done    │
        │   Summarize with instructions  say what matters          │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc back                                  │
        ╰──────────────────────────────────────────────────────────╯
        ");
        // Returns to the tree, and opens the question again.
        stage.press("escape").await;
        stage.until("Session tree").await;
        stage.type_text("answer 1").await;
        stage.press("enter").await;
        stage.until(ASKED).await;
        stage.press("down down enter").await;
        stage.until("How: ").await;
        stage.type_text("Names only.").await;
        stage.press("enter").await;
        stage.until("THE BRANCH").await;
        assert!(!stage.text().contains("answer 2"), "{}", stage.text());
        let asked = format!("{:?}", stage.llm.requests()[2].messages);
        assert!(asked.contains("Names only.") && asked.contains("question 2"), "{asked}");
        stage.until_gone("to interrupt").await;
        stage.say("on").await;
        stage.until("answer 3").await;
        let told = format!("{:?}", stage.llm.requests()[3].messages);
        assert!(told.contains("THE BRANCH") && !told.contains("answer 2"), "{told}");
    })
    .await;
}

#[tokio::test]
async fn a_branch_may_be_left_without_a_word() {
    talked_with(summing_up([Turn::text("answer 3")]), async |stage| {
        stage.press("escape escape").await;
        stage.until("Go back to").await;
        stage.press("enter").await;
        stage.until(ASKED).await;
        stage.press("escape").await;
        stage.until("Go back to").await;
        stage.press("enter").await;
        stage.until(ASKED).await;
        stage.press("enter").await;
        stage.until("> question 2").await;
        stage.until_gone("answer 2").await;
        assert_eq!(stage.llm.requests().len(), 2);
        // Moving to the end of the other branch abandons nothing.
        stage.press("ctrl+u f2").await;
        stage.until("Session tree").await;
        stage.type_text("answer 2").await;
        stage.press("enter").await;
        stage.until("› question 2").await;
        assert!(!stage.text().contains(ASKED), "{}", stage.text());
    })
    .await;
}

#[tokio::test]
async fn a_summary_that_is_stopped_leaves_the_session_where_it_is() {
    let gate = Gate::new();
    gate.open();
    let mut options = summing_up([Turn::text("THE BRANCH")]);
    options.llm = options.llm.gated(&gate);
    talked_with(options, async |stage| {
        gate.close();
        stage.press("f2").await;
        stage.until("Session tree").await;
        stage.type_text("answer 1").await;
        stage.press("enter").await;
        stage.until(ASKED).await;
        stage.press("down enter").await;
        stage.until("Summarizing the branch…").await;
        stage.press("escape").await;
        stage.until("Session tree").await;
        stage.until("Branch summary cancelled").await;
        stage.press("escape").await;
        stage.until_gone("Session tree").await;
        assert!(stage.text().contains("answer 2"), "{}", stage.text());
        assert!(!stage.text().contains("Summing up"), "{}", stage.text());
    })
    .await;
}

#[tokio::test]
async fn there_is_nothing_to_go_back_to_at_first() {
    play(Options::recorded([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        stage.press("escape escape").await;
        stage.until("no earlier message to return to").await;
        stage.say("/tree").await;
        stage.until("this session has no messages yet").await;
        stage.say("/resume").await;
        stage.until("no sessions yet").await;
    })
    .await;
}
