//! Questions in place of the editor: approvals, and questions of the model.

use omp_policy::ApprovalMode;
use omp_testkit::Turn;
use omp_types::{Message, text_of};
use serde_json::json;

use crate::stage::{Options, Stage, play, talk_plainly};

fn below(stage: &Stage) -> String {
    stage.text().rsplit_once("auto\n").or(stage.text().rsplit_once("· ask-all\n")).unwrap().1.to_owned()
}

/// Returns the result of the last call that the model received.
fn result(stage: &Stage) -> String {
    let requests = stage.llm.requests();
    let results = requests.last().unwrap().messages.iter().rev();
    let last = results.into_iter().find(|message| matches!(&***message, Message::ToolResult(_))).unwrap();
    text_of(last.content())
}

const ADDRESS: &str = "https://example.com/login?client=omp";

fn visit() -> Options {
    Options::new([Turn::call("visit", json!({"url": ADDRESS})), Turn::text("Fine.")])
}

#[tokio::test]
async fn an_address_is_opened_in_the_browser() {
    play(visit(), async |stage| {
        stage.say("go").await;
        stage.until_asked("1. Open in the browser").await;
        insta::assert_snapshot!(below(stage), @"
        ╭─ Open this link? ────────────────────────────────────────╮
        │ You have to log in.                                      │
        │ https://example.com/login?client=omp                     │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ 1. Open in the browser                                 │
        │   2. I opened it myself                                  │
        │   3. Cancel                                              │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc cancel                                │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("enter").await;
        stage.until("Fine.").await;
        assert_eq!(
            (result(stage), stage.world.opened.lock().unwrap().clone()),
            ("Ok(true)".into(), vec![ADDRESS.into()])
        );
    })
    .await;
}

#[tokio::test]
async fn without_a_browser_the_question_stays() {
    let mut options = visit();
    options.world.no_browser = true;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("1. Open in the browser").await;
        stage.press("enter").await;
        stage.until("there is no browser").await;
        stage.press("2").await;
        stage.until("Fine.").await;
        assert_eq!(result(stage), "Ok(true)");
    })
    .await;
    play(visit(), async |stage| {
        stage.say("go").await;
        stage.until_asked("1. Open in the browser").await;
        stage.press("escape").await;
        stage.until("Fine.").await;
        assert_eq!(result(stage), "Ok(false)");
        assert!(stage.world.opened.lock().unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_address_is_opened_from_plain_lines() {
    let asked = format!(
        "Question: open this link? You have to log in.\n{ADDRESS}\n1. Open in the browser\n2. I opened it myself\n3. Cancel\n"
    );
    let (said, world) = talk_plainly(visit(), &["go", "what?", "1"]).await;
    assert!(said.contains(&asked) && said.contains("Enter 1 to open it") && said.contains("Fine."), "{said}");
    assert_eq!(*world.opened.lock().unwrap(), [ADDRESS]);
    let mut options = visit();
    options.world.no_browser = true;
    let (said, world) = talk_plainly(options, &["go", "1", "3"]).await;
    assert!(said.contains("there is no browser") && said.contains("Fine."), "{said}");
    assert_eq!(world.opened.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_mode_changes_while_a_question_waits() {
    let command = json!({"command": "touch x"});
    let turns = [Turn::call("bash", command.clone()), Turn::call("bash", command), Turn::text("Fine.")];
    let mut options = Options::new(turns);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("y  Yes").await;
        assert!(stage.text().contains("● Waiting for your answer\n"), "{}", stage.text());
        stage.press("shift+tab").await;
        stage.until("approval: auto\n").await;
        stage.until("main · auto\n").await;
        assert!(stage.text().contains("Allow bash?"), "the call still waits: {}", stage.text());
        stage.press("y").await;
        // The second call does not ask.
        stage.until("Fine.").await;
        stage.until_gone("Waiting for your answer").await;
    })
    .await;
}

#[tokio::test]
async fn the_mode_changes_at_every_question_but_not_in_a_list() {
    let one = json!({"id": "x", "question": "Which?", "options": [{"label": "a"}, {"label": "b"}]});
    let asks = Turn::call("ask", json!({"questions": [one]}));
    play(Options::new([asks, Turn::text("Fine.")]), async |stage| {
        stage.say("/thinking").await;
        stage.until("❯ high ✓").await;
        stage.press("shift+tab escape").await;
        stage.until_gone("❯ high ✓").await;
        assert!(stage.text().contains("main · auto\n"), "{}", stage.text());
        stage.say("go").await;
        stage.until_asked("Which?").await;
        stage.press("shift+tab").await;
        stage.until("main · ask-writes\n").await;
        // Nor does it matter that the answer is being written.
        stage.press("3").await;
        stage.until("❯ your answer").await;
        stage.press("shift+tab").await;
        stage.until("main · ask-all\n").await;
        stage.say("c").await;
        stage.until("Fine.").await;
        assert!(result(stage).contains('c'), "{}", result(stage));
    })
    .await;
}

#[tokio::test]
async fn an_edit_is_approved_by_its_diff() {
    let edit = json!({"path": "a.txt", "edits": [{"old_text": "two", "new_text": "zwei"}]});
    let mut options = Options::new([Turn::call("edit", edit), Turn::text("Fine.")]);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("y  Yes").await;
        insta::assert_snapshot!(below(stage), @"
        ╭─ Allow edit? ────────────────────────────────────────────╮
        │ edit a.txt                                               │
        │ 1   one                                                  │
        │ 2 - two                                                  │
        │ 2 + zwei                                                 │
        │ 3   three                                                │
        │ writes: a.txt -> /project/a.txt      │
        │ ❯ y  Yes, once                                           │
        │   s  Yes, for this session                               │
        │   a  Yes, always in this project                         │
        │   u  Yes, always in every project                        │
        │      Rule: write(/project/a.txt)     │
        │   n  No                                                  │
        │   t  No, and say what to do instead                      │
        │ enter choose · esc refuse · w wider or narrower rule     │
        ╰─ e edit the rule · shift+tab mode ───────────────────────╯
        ");
        assert_eq!(stage.workspace.read("a.txt").unwrap(), "one\ntwo\nthree\n");
        stage.press("enter").await;
        stage.until("Fine.").await;
        assert_eq!(stage.workspace.read("a.txt").unwrap(), "one\nzwei\nthree\n");
    })
    .await;
}

#[tokio::test]
async fn a_call_is_refused_with_what_to_do_instead() {
    let mut options = Options::new([Turn::call("bash", json!({"command": "touch made"})), Turn::text("Fine.")]);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("y  Yes").await;
        stage.press("t").await;
        stage.until("Instead:").await;
        stage.type_text("use the todo list").await;
        stage.press("enter").await;
        stage.until("Fine.").await;
        assert!(result(stage).contains("The user refused this call and said: use the todo list"), "{}", result(stage));
        let text = stage.text();
        assert!(text.contains("✗ $ touch made  denied\n  use the todo list\n"), "{text}");
        assert!(!text.contains("refused"), "{text}");
        assert!(!stage.workspace.path("made").exists());
    })
    .await;
}

#[tokio::test]
async fn keys_that_were_meant_for_the_editor_answer_nothing() {
    let gate = omp_testkit::Gate::new();
    let turns = [Turn::call("bash", json!({"command": "touch made"})), Turn::text("Fine.")];
    let mut options = Options::new(turns.clone());
    options.llm = omp_testkit::ScriptedLlm::new(turns).gated(&gate);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until("interrupt").await;
        stage.type_text("wh").await;
        gate.open();
        stage.until("y  Yes").await;
        stage.type_text("y").await;
        stage.press("escape").await;
        stage.until("Fine.").await;
        stage.until("> why").await;
        assert!(!stage.workspace.path("made").exists());
    })
    .await;
}

/// Even if the question is visible for long: `wait` contains the letter of "always".
#[tokio::test]
async fn a_word_that_is_typed_at_a_question_goes_to_the_editor() {
    let mut options = Options::new([Turn::call("bash", json!({"command": "touch made"})), Turn::text("Fine.")]);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("y  Yes").await;
        // All at once, as if typed faster than a busy machine handles keys.
        stage.paste("yes, but wait").await;
        stage.until("Typing goes to the editor").await;
        stage.press("a").await;
        stage.until("enter save this rule for this project").await;
        stage.press("escape").await;
        stage.until("Fine.").await;
        stage.until("> yes, but wait").await;
        assert!(!stage.workspace.path("made").exists());
    })
    .await;
}

/// With several calls at once, the key that answers one question does not answer the next one.
#[tokio::test]
async fn a_key_answers_one_question() {
    let touch = |name: &str| json!({"command": format!("touch {name}")});
    let calls = Turn::call("bash", touch("one")).and_call("bash", touch("two"));
    let mut options = Options::new([calls, Turn::text("Fine.")]);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.say("go").await;
        stage.until_asked("touch one").await;
        stage.press("y y y").await;
        stage.until("writes: /project/two").await;
        stage.press("escape").await;
        stage.until("Fine.").await;
        assert!(stage.workspace.path("one").exists() && !stage.workspace.path("two").exists());
    })
    .await;
}

#[tokio::test]
async fn the_model_asks_and_gets_what_was_chosen_or_written() {
    let option = |label: &str| json!({"label": label, "description": format!("about {label}")});
    let one = json!({"id": "color", "question": "Which colour?", "options": [option("red"), option("blue")], "recommended": 1});
    let many =
        json!({"id": "parts", "question": "Which parts?", "options": [option("head"), option("tail")], "multi": true});
    let asks = Turn::call("ask", json!({"questions": [one, many]}));
    play(Options::new([asks, Turn::text("Fine.")]), async |stage| {
        stage.say("go").await;
        stage.until_asked("Which colour?").await;
        insta::assert_snapshot!(below(stage), @"
        ╭─ Choose one ─────────────────────────────────────────────╮
        │ Which colour?                                            │
        ├──────────────────────────────────────────────────────────┤
        │   1. red                                                 │
        │      about red                                           │
        │ ❯ 2. blue                                    recommended │
        │      about blue                                          │
        │   3. Other (type your own)                               │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · esc skip                                  │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("up enter").await;
        stage.until_asked("Which parts?").await;
        stage.press("space down down").await;
        stage.type_text("feet").await;
        stage.until("❯ feet").await;
        stage.press("enter").await;
        stage.until("Fine.").await;
        let told = result(stage);
        assert!(
            told.contains("red") && told.contains("head") && told.contains("feet") && !told.contains("blue"),
            "{told}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_question_that_is_not_answered_says_so() {
    let one = json!({"id": "x", "question": "Which?", "options": [{"label": "a"}, {"label": "b"}]});
    let asks = Turn::call("ask", json!({"questions": [one]}));
    play(Options::new([asks, Turn::text("Fine.")]), async |stage| {
        stage.say("go").await;
        stage.until("Which?").await;
        stage.press("escape").await;
        stage.until_gone("skip").await;
        stage.until_gone("to interrupt").await;
    })
    .await;
}

#[tokio::test]
async fn a_list_that_is_open_is_not_covered_by_a_question() {
    let gate = omp_testkit::Gate::new();
    let turns = [Turn::call("bash", json!({"command": "touch made"})), Turn::text("Fine.")];
    let mut options = Options::new(turns.clone());
    options.llm = omp_testkit::ScriptedLlm::new(turns).gated(&gate);
    options.mode = ApprovalMode::AskAll;
    play(options, async |stage| {
        stage.send(omp_interactive::TtyEvent::Input(omp_tui::Input::Focus(false))).await;
        stage.say("go").await;
        stage.press("ctrl+r").await;
        stage.until("History").await;
        gate.open();
        // The question waits, although the list covers it.
        stage.until("● Waiting for your answer\n").await;
        stage.until_gone("to interrupt").await;
        assert!(stage.text().contains("History"), "{}", stage.text());
        stage.press("escape").await;
        stage.until_asked("y  Yes").await;
        stage.press("y").await;
        stage.until("Fine.").await;
        assert!(stage.workspace.path("made").exists());
    })
    .await;
}
