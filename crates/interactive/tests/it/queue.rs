//! Messages that are sent while the model works.

use omp_testkit::{Gate, ScriptedLlm, Turn};
use omp_types::text_of;
use serde_json::json;

use crate::stage::{Options, Stage, play};

fn gated(turns: impl IntoIterator<Item = Turn> + Clone, gate: &Gate) -> Options {
    let mut options = Options::new(turns.clone());
    options.llm = ScriptedLlm::new(turns).gated(gate);
    options
}

/// Returns the texts of the user and of tools in the last request, in order.
fn told(stage: &Stage) -> Vec<String> {
    let requests = stage.llm.requests();
    let messages = requests.last().unwrap().messages.iter();
    let said = messages.filter(|message| message.as_assistant().is_none());
    said.map(|message| text_of(message.content()).lines().next().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn one_message_goes_in_after_the_call_and_one_after_the_work() {
    let command = "echo ran; while [ ! -e go ]; do sleep 0.02; done";
    let turns = [Turn::call("bash", json!({"command": command})), Turn::text("Steered."), Turn::text("Followed.")];
    play(Options::new(turns), async |stage| {
        stage.say("go").await;
        stage.until("  ran").await;
        stage.type_text("after it").await;
        stage.press("ctrl+q").await;
        stage.until("after: after it").await;
        stage.say("sooner").await;
        stage.until("next: sooner").await;
        let text = stage.text();
        let waiting = text.find("next: sooner  (alt+up to edit)").unwrap()..text.find("after: after it").unwrap();
        assert!(!waiting.is_empty(), "{text}");
        stage.workspace.write("go", "").unwrap();
        stage.until("Followed.").await;
        assert_eq!(told(stage), ["go", "ran", "sooner", "after it"]);
        let all = stage.all();
        let order = ["› go", "› sooner", "Steered.", "› after it", "Followed."].map(|text| all.find(text).unwrap());
        assert!(order.is_sorted(), "{all}");
    })
    .await;
}

#[tokio::test]
async fn what_waits_comes_back_before_what_is_being_written() {
    let gate = Gate::new();
    play(gated([Turn::text("One.")], &gate), async |stage| {
        stage.press("alt+up").await;
        stage.until("no queued messages").await;
        stage.say("go").await;
        stage.until("interrupt").await;
        for number in 1..=5 {
            stage.say(&format!("message {number}")).await;
        }
        stage.until("… 2 more").await;
        stage.type_text("draft").await;
        stage.press("alt+up").await;
        stage.until("draft").await;
        stage.until_gone("next:").await;
        stage.press("enter").await;
        stage.until("next: message 1 message 2 message 3 message 4").await;
        stage.press("alt+up").await;
        stage.until_gone("next:").await;
        gate.open();
        stage.until("One.").await;
        stage.until_gone("to interrupt").await;
        assert_eq!(stage.llm.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_command_that_becomes_a_prompt_waits_in_sight_and_comes_back() {
    let gate = Gate::new();
    play(gated([Turn::text("One.")], &gate), async |stage| {
        stage.say("go").await;
        stage.until("interrupt").await;
        stage.say("/plan go").await;
        stage.until("after: carry it out").await;
        stage.press("esc").await;
        stage.until("⏹ interrupted").await;
        stage.until_gone("after:").await;
        stage.until("carry it out").await;
        stage.until_gone("to interrupt").await;
        assert_eq!(stage.llm.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn messages_that_wait_are_not_lost_with_their_session() {
    let gate = Gate::new();
    let options = Options { keys: "app.session.new: f2", ..gated([Turn::text("One.")], &gate) };
    play(options, async |stage| {
        stage.say("go").await;
        stage.until("interrupt").await;
        stage.say("not yet sent").await;
        stage.until("next: not yet sent").await;
        stage.press("f2").await;
        stage.until_gone("next:").await;
        stage.until("not yet sent").await;
        stage.until_gone("› go").await;
        assert_eq!(stage.llm.requests().len(), 1);
    })
    .await;
}
