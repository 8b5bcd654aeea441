//! Copying through the terminal, and through a program if there is one.

use omp_testkit::Turn;
use serde_json::json;

use crate::stage::{Options, play};

fn answers() -> [Turn; 2] {
    [
        Turn::call("bash", json!({"command": "echo ran"})),
        Turn::text("Do this:\n\n```sh\nls\n```\n\nor\n\n```sh\npwd\n```"),
    ]
}

#[tokio::test]
async fn each_piece_of_the_conversation_can_be_copied() {
    let whole = "Do this:\n\n```sh\nls\n```\n\nor\n\n```sh\npwd\n```";
    play(Options::new(answers()), async |stage| {
        stage.say("/copy last").await;
        stage.until("nothing to copy yet").await;
        stage.say("how?").await;
        stage.until("pwd").await;
        stage.until_gone("interrupt").await;
        for (typed, copied) in [
            ("/copy last", whole.to_owned()),
            ("/copy code", "pwd\n".to_owned()),
            ("/copy cmd", "echo ran".to_owned()),
            ("/copy all", format!("## user\nhow?\n\n## assistant\n{whole}")),
        ] {
            stage.say(typed).await;
            stage.until("copied").await;
            assert_eq!(stage.copied().last(), Some(&copied), "{typed}");
            assert_eq!(stage.world.copied.lock().unwrap().last(), Some(&copied), "{typed}");
            stage.press("left").await;
            stage.until_gone("copied").await;
        }
        stage.say("/echo copy all of it").await;
        stage.until("copied").await;
        assert_eq!(stage.copied().last().unwrap(), "all of it");
        assert_eq!(stage.world.copied.lock().unwrap().last().unwrap(), "all of it");
        stage.press("left").await;
        stage.until_gone("copied").await;
        stage.say("/copy").await;
        stage.until("Copy").await;
        insta::assert_snapshot!(stage.text().split_once("auto\n").unwrap().1, @"
        ╭─ Copy ───────────────────────────────────────────────────╮
        │ ❯ last answer: Do this:  ```sh ls ```  or  ``…  11 lines │
        │   all code: ls  pwd                              3 lines │
        │   code 1 (sh): ls                                 1 line │
        │   code 2 (sh): pwd                                1 line │
        │   last command: echo ran                          1 line │
        ├──────────────────────────────────────────────────────────┤
        │ enter copy · esc close                                   │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("down enter").await;
        stage.until("copied").await;
        assert_eq!(stage.copied().last().unwrap(), "ls\n\npwd\n");
    })
    .await;
}

#[tokio::test]
async fn what_is_being_written_can_be_copied() {
    play(Options::new(answers()), async |stage| {
        stage.until("main").await;
        stage.press("alt+shift+c").await;
        stage.until("nothing to copy yet").await;
        stage.type_text("one").await;
        stage.press("shift+enter").await;
        stage.type_text("two").await;
        stage.press("alt+shift+l").await;
        stage.until("copied").await;
        stage.press("left").await;
        stage.until_gone("copied").await;
        stage.press("alt+shift+c").await;
        stage.until("copied").await;
        assert_eq!(stage.copied(), ["two", "one\ntwo"]);
    })
    .await;
}

#[tokio::test]
async fn without_a_program_it_is_told_where_the_text_is() {
    let mut options = Options::new(answers());
    options.world.no_clipboard = true;
    play(options, async |stage| {
        stage.until("main").await;
        stage.type_text("one").await;
        stage.press("alt+shift+c").await;
        stage.until("it is in a file, sent: true").await;
        assert!(stage.text().contains("hint: install a program"), "{}", stage.text());
        assert_eq!(stage.copied(), ["one"]);
        // The long message is shown once; then a line that the next key removes.
        stage.press("alt+shift+c").await;
        stage.until_count("it is in a file", 2).await;
        assert_eq!(stage.text().matches("hint: install a program").count(), 1, "{}", stage.text());
        stage.press("left").await;
        stage.until_count("it is in a file", 1).await;
    })
    .await;
}
