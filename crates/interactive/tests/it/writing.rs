//! The editor in the application: the user's own editor, history, images, long pastes, completion.

use omp_interactive::Clip;
use omp_testkit::{Gate, ScriptedLlm, Turn};
use omp_types::{Content, Message};

use crate::stage::{Options, Stage, picture, play};

/// Returns the text of the last message that the model received, and its number of images.
fn sent(stage: &Stage) -> (String, usize) {
    let requests = stage.llm.requests();
    let last = requests.last().unwrap().messages.iter().rev().find(|message| matches!(&***message, Message::User(_)));
    let content = last.unwrap().content();
    let pictures = content.iter().filter(|block| matches!(block, Content::Image(_))).count();
    (omp_types::text_of(content), pictures)
}

#[tokio::test]
async fn the_message_is_written_in_the_users_own_editor() {
    let mut options = Options::new([Turn::text("Yes.")]);
    options.world.editor = Some(|text| match text {
        "break" => Err("the editor `vi` failed with 1; the text was not changed".to_owned()),
        "same" => Ok(None),
        text => Ok(Some(format!("{text} edited\nand more\n"))),
    });
    play(options, async |stage| {
        stage.until("main").await;
        stage.type_text("break").await;
        stage.press("ctrl+g").await;
        stage.until("✗ the editor `vi` failed with 1").await;
        stage.until("> break").await;
        stage.press("ctrl+u").await;
        stage.type_text("same").await;
        stage.press("ctrl+g").await;
        stage.press("!").await;
        stage.until("> same!").await;
        stage.press("ctrl+g").await;
        stage.until("> same! edited").await;
        stage.press("enter").await;
        stage.until("Yes.").await;
        assert_eq!(sent(stage).0, "same! edited\nand more");
    })
    .await;
}

#[tokio::test]
async fn earlier_messages_are_found_by_a_few_letters() {
    let options = Options::new([Turn::text("Yes.")]);
    *options.world.said.lock().unwrap() =
        ["fix the parser", "write a test", "explain the loop"].map(str::to_owned).into();
    play(options, async |stage| {
        stage.until("main").await;
        stage.press("up").await;
        stage.until("> explain the loop").await;
        stage.press("ctrl+r").await;
        stage.until("History").await;
        stage.type_text("pars").await;
        stage.until("│ > pars ").await;
        insta::assert_snapshot!(stage.text().split_once("auto\n").unwrap().1, @"
        ╭─ History  1 of 3 ────────────────────────────────────────╮
        │ > pars                                                   │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ fix the parser                                         │
        ├──────────────────────────────────────────────────────────┤
        │ enter to the editor · esc close                          │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("enter").await;
        stage.until("> fix the parser").await;
        stage.press("enter").await;
        stage.until("Yes.").await;
        assert_eq!(sent(stage).0, "fix the parser");
        stage.press("ctrl+r ctrl+r escape").await;
        stage.until_gone("History").await;
    })
    .await;
}

#[tokio::test]
async fn a_long_paste_is_a_marker_and_is_sent_whole() {
    play(Options::new([Turn::text("Yes.")]), async |stage| {
        stage.until("main").await;
        let long: String = (0..200).map(|at| format!("line {at}\n")).collect();
        stage.type_text("look: ").await;
        stage.paste(&long).await;
        stage.until("> look: [paste #1 +20").await;
        stage.press("enter").await;
        stage.until("Yes.").await;
        assert_eq!(sent(stage).0, format!("look: {}", long.trim_end()));
    })
    .await;
}

#[tokio::test]
async fn pictures_stay_with_their_markers_wherever_the_text_goes() {
    let gate = Gate::new();
    let mut options = Options::new([Turn::text("x")]);
    options.llm = ScriptedLlm::new([Turn::text("One."), Turn::text("Two.")]).gated(&gate);
    *options.world.clipboard.lock().unwrap() = Some(Clip::Image(picture()));
    options.world.editor = Some(|text| Ok(Some(format!("first {text}"))));
    play(options, async |stage| {
        stage.say("begin").await;
        stage.until("interrupt").await;
        stage.press("ctrl+v").await;
        stage.until("> [image #1]").await;
        stage.paste("/tmp/shot.png").await;
        stage.until("> [image #1][image #2]").await;
        stage.press("ctrl+g").await;
        stage.until("> first [image #1][image #2]").await;
        stage.press("enter").await;
        stage.until("next: first [image #1][image #2]").await;
        stage.press("alt+up").await;
        stage.until("> first [image #3][image #4]").await;
        // A marker is deleted as a unit, with its image.
        stage.press("backspace enter").await;
        stage.until("next: first [image #3]").await;
        gate.open();
        stage.until("Two.").await;
        assert_eq!(sent(stage), ("first [image #3]".to_owned(), 1));
    })
    .await;
}

#[tokio::test]
async fn a_picture_that_cannot_be_read_stays_a_path() {
    play(Options::new([Turn::text("Yes.")]), async |stage| {
        stage.until("main").await;
        stage.paste("/tmp/missing.png").await;
        stage.until("> /tmp/missing.png").await;
        stage.press("ctrl+u ctrl+v").await;
        stage.until("the clipboard contains no text or image").await;
        stage.say("see @missing.png and @shot.png").await;
        stage.until("there is no missing.png").await;
        stage.until("Yes.").await;
        assert_eq!(sent(stage), ("see @missing.png and @shot.png".to_owned(), 1));
    })
    .await;
}

#[tokio::test]
async fn files_are_offered_after_an_at_sign() {
    let mut options = Options::new([Turn::text("Yes.")]);
    options.world.files = vec!["src/main.rs", "src/walk.rs", "docs/a page.md"];
    play(options, async |stage| {
        stage.until("main").await;
        stage.type_text("see @").await;
        stage.until("docs/a page.md").await;
        stage.type_text("src").await;
        stage.until("─\n❯").await;
        stage.until_gone("docs/a page.md").await;
        insta::assert_snapshot!(stage.text().split_once("auto\n").unwrap().1, @"
        ────────────────────────────────────────────────────────────
        > see @src
        ────────────────────────────────────────────────────────────
        ❯ src/main.rs
          src/walk.rs
        ");
        stage.press("down enter").await;
        stage.until("> see @src/walk.rs").await;
        stage.type_text("and @page").await;
        stage.until("docs/a page.md").await;
        stage.press("tab").await;
        stage.until("and @\"docs/a page.md\"").await;
        stage.type_text("@w").await;
        stage.until("❯ src/walk.rs").await;
        stage.press("escape").await;
        stage.press("backspace backspace enter").await;
        stage.until("Yes.").await;
        assert_eq!(sent(stage).0, "see @src/walk.rs and @\"docs/a page.md\"");
    })
    .await;
}

#[tokio::test]
async fn commands_are_offered_after_a_slash() {
    play(Options::new([Turn::text("Yes.")]), async |stage| {
        stage.until("main").await;
        stage.type_text("/e").await;
        stage.until("─\n❯ /exit").await;
        insta::assert_snapshot!(stage.text().split_once("auto\n").unwrap().1, @"
        ────────────────────────────────────────────────────────────
        > /e
        ────────────────────────────────────────────────────────────
        ❯ /exit         Exit omp (also /quit)
          /echo         Says it again
          /earlier      Goes on with an earlier session
          /plan-review  Show the plan again
          /theme        Choose a theme
          /hotkeys      List the key bindings
        ");
        stage.type_text("c").await;
        stage.press("tab").await;
        stage.until("> /echo").await;
        stage.type_text(" that").await;
        stage.press("enter").await;
        stage.until("it says that").await;
    })
    .await;
}

#[tokio::test]
async fn what_the_user_runs_is_told_to_the_model_or_not() {
    play(Options::new([Turn::text("Yes.")]), async |stage| {
        stage.until("main").await;
        stage.type_text("!").await;
        stage.until("\n! !").await;
        stage.say("ls").await;
        stage.until("ran ls").await;
        stage.say("!!secret").await;
        stage.until("ran secret").await;
        stage.say("$1 + 1").await;
        stage.until("ran 1 + 1").await;
        stage.say("!wait").await;
        stage.until("ran wait").await;
        stage.say("!ls again").await;
        stage.until("a command is running; press esc to stop it").await;
        stage.until("!ls again").await;
        stage.press("escape").await;
        stage.until("⏹ interrupted").await;
        stage.press("ctrl+u").await;
        stage.say("and?").await;
        stage.until("Yes.").await;
        // Excluded output is in the conversation, but is not sent to providers.
        let requests = stage.llm.requests();
        let told = requests[0].messages.iter().filter(|message| !matches!(&***message, Message::Other(_)));
        let request = format!("{:?}", told.collect::<Vec<_>>());
        assert!(request.contains("ran ls") && request.contains("ran 1 + 1"), "{request}");
        assert!(request.contains("ran wait"), "what an interrupted command printed is told too: {request}");
        assert!(!request.contains("secret"), "{request}");
    })
    .await;
}
