//! Lists and dialogs in the running application: keys open them, choosing does what was chosen, esc gives the editor back.

use omp_testkit::Turn;

use crate::stage::{Options, play};

#[tokio::test]
async fn each_list_opens_and_gives_the_editor_back() {
    play(Options::new([Turn::text("One.\n\n```sh\nls\n```")]), async |stage| {
        stage.say("hello").await;
        stage.until("ls").await;
        stage.until_gone("interrupt").await;
        for (typed, seen) in [
            ("/model", "all providers"),
            ("/thinking", "answers at once"),
            ("/hotkeys", "Keys"),
            ("/copy", "last answer:"),
        ] {
            stage.say(typed).await;
            stage.until(seen).await;
            stage.press("escape").await;
            stage.until_gone(seen).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_level_of_thinking_is_chosen() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        stage.say("/thinking").await;
        stage.until("enter choose").await;
        stage.press("up enter").await;
        stage.until("· medium ·").await;
        stage.press("shift+tab").await;
        stage.until("· high ·").await;
    })
    .await;
}

#[tokio::test]
async fn the_code_of_the_last_answer_is_copied() {
    play(Options::new([Turn::text("Do this:\n\n```sh\nls\n```")]), async |stage| {
        stage.say("how?").await;
        stage.until("ls").await;
        stage.until_gone("interrupt").await;
        stage.say("/copy code").await;
        stage.until("copied").await;
        stage.say("/copy cmd").await;
        stage.until("nothing to copy").await;
    })
    .await;
}
