//! Lists and dialogs in the running application: keys open them, a choice is executed, esc returns to the editor.

use omp_testkit::Turn;

use crate::stage::{Options, play};

#[tokio::test]
async fn each_list_opens_and_gives_the_editor_back() {
    play(Options::new([Turn::text("One.\n\n```sh\nls\n```")]), async |stage| {
        stage.say("hello").await;
        stage.until("ls").await;
        stage.until_gone("interrupt").await;
        for (typed, seen) in
            [("/model", "all providers"), ("/thinking", "no thinking"), ("/hotkeys", "Keys"), ("/copy", "last answer:")]
        {
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
        stage.until(" medium ·").await;
        stage.press("alt+t").await;
        stage.until(" high ·").await;
    })
    .await;
}

#[tokio::test]
async fn a_model_is_chosen_with_a_role_and_a_level() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        stage.press("ctrl+l").await;
        stage.until("for default").await;
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        mock/mock-model high · 0%/200k · main · auto
        ╭─ Model  2 of 2 · all providers ──────────────────────────╮
        │ > type to filter                                         │
        ├──────────────────────────────────────────────────────────┤
        │                                  context  $/M in $/M out │
        │ ❯ mock/mock-model ✓                 200k       ?       ? │
        │   mock/plain-model                  200k       ?       ? │
        ├──────────────────────────────────────────────────────────┤
        │ for default · thinking high                              │
        ├──────────────────────────────────────────────────────────┤
        │ enter choose · tab role · ←→ thinking                    │
        │ ctrl+f favourite · ctrl+g by model · ctrl+←→ provider    │
        │ esc close                                                │
        ╰──────────────────────────────────────────────────────────╯
        ");
        // Another role is stored, and the current model stays.
        stage.press("tab left").await;
        stage.until("for smol · thinking medium").await;
        stage.press("enter").await;
        stage.until("saved; takes effect").await;
        assert_eq!(stage.world.setting("modelRoles.smol").unwrap(), "mock/mock-model:medium");
        assert!(stage.text().contains("mock/mock-model high ·"), "{}", stage.text());
        // Applies to this session only: nothing is stored.
        stage.press("alt+p").await;
        stage.until("for this session only").await;
        assert!(stage.text().contains("mock-model ✓ [smol]"), "{}", stage.text());
        stage.type_text("plain").await;
        stage.until("1 of 2").await;
        stage.press("enter").await;
        stage.until("model: mock/plain-model").await;
        stage.until("mock/plain-model · 0%").await;
        assert_eq!(stage.world.setting("modelRoles.default"), None);
        // Stored for later sessions.
        stage.press("ctrl+l").await;
        stage.until("for default").await;
        stage.press("enter").await;
        stage.until_gone("for default").await;
        assert_eq!(stage.world.setting("modelRoles.default").unwrap(), "mock/plain-model");
        stage.press("alt+t").await;
        stage.until("this model does not support thinking").await;
        stage.press("ctrl+p").await;
        stage.until("mock/mock-model high").await;
        stage.press("ctrl+shift+p").await;
        stage.until("mock/plain-model · 0%").await;
    })
    .await;
}

#[tokio::test]
async fn a_setting_is_kept_and_counts_at_once_where_it_can() {
    let thinks = || Turn::text("Said.").thinking("thought of it");
    play(Options::new([thinks(), thinks()]), async |stage| {
        stage.say("go").await;
        stage.until("Said.").await;
        stage.until("thought of it").await;
        stage.until_gone("interrupt").await;
        stage.say("/settings").await;
        stage.until("Settings").await;
        stage.type_text("hideThinking").await;
        stage.until("❯ Hide thinking").await;
        insta::assert_snapshot!(stage.text(), @"
        › go

        thought of it

        Said.

        mock/mock-model high · 0%/200k · main · auto
        ╭─ Settings  1 of 17 ──────────────────────────────────────╮
        │ [Approval] Messages Look Files                           │
        │ > hideThinking                                           │
        ├──────────────────────────────────────────────────────────┤
        │ ❯ Hide thinking          false                           │
        ├──────────────────────────────────────────────────────────┤
        │   Do not show the model's thinking.                      │
        │   hideThinkingBlock                                      │
        ├──────────────────────────────────────────────────────────┤
        │ enter change · tab group · del default · esc close       │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("enter").await;
        stage.until("true").await;
        assert_eq!(stage.world.setting("hideThinkingBlock").unwrap(), true);
        stage.press("escape escape").await;
        stage.until_gone("hideThinkingBlock").await;
        stage.until_gone("thought of it").await;
        stage.press("ctrl+t").await;
        stage.until("thought of it").await;
    })
    .await;
}

#[tokio::test]
async fn what_needs_approval_is_set_at_once() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main · auto").await;
        stage.say("/settings").await;
        stage.until("Settings").await;
        stage.type_text("approvalMode").await;
        stage.press("enter").await;
        stage.until("ask-writes? Enter sets it.").await;
        assert_eq!(stage.world.setting("tools.approvalMode"), None);
        stage.press("enter").await;
        stage.until("main · ask-writes").await;
        assert_eq!(stage.world.setting("tools.approvalMode").unwrap(), "ask-writes");
    })
    .await;
}

#[tokio::test]
async fn a_theme_that_does_not_exist_is_not_kept() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        stage.say("/settings").await;
        stage.until("Settings").await;
        stage.type_text("theme.dark").await;
        stage.press("enter").await;
        stage.type_text("pink").await;
        stage.press("enter").await;
        stage.until("✗ there is no theme pink").await;
        assert_eq!(stage.world.setting("theme.dark"), None);
    })
    .await;
}

#[tokio::test]
async fn a_setting_that_cannot_be_kept_says_so() {
    let mut options = Options::new([Turn::text("One.")]);
    options.world.read_only = true;
    play(options, async |stage| {
        stage.until("main").await;
        stage.say("/settings").await;
        stage.until("Settings").await;
        stage.type_text("hideThinking").await;
        stage.press("enter").await;
        stage.until("hideThinkingBlock cannot be kept").await;
    })
    .await;
}

#[tokio::test]
async fn a_theme_is_tried_while_it_is_pointed_at() {
    play(Options::new([Turn::text("One.")]), async |stage| {
        stage.until("main").await;
        let plain = stage.colors();
        stage.say("/theme dark").await;
        stage.until_colors_other_than(&plain).await;
        let dark = stage.colors();
        stage.say("/theme").await;
        stage.until("❯ dark ✓").await;
        stage.press("down").await;
        stage.until("❯ light").await;
        assert_ne!(stage.colors(), dark);
        stage.press("escape").await;
        stage.until_gone("type to filter").await;
        assert_eq!(stage.colors(), dark);
        assert_eq!(stage.world.setting("theme.dark").unwrap(), "dark");
        stage.say("/theme").await;
        stage.until("❯ dark ✓").await;
        stage.press("down enter").await;
        stage.until_gone("type to filter").await;
        assert_ne!(stage.colors(), dark);
        assert_eq!(stage.world.setting("theme.dark").unwrap(), "light");
        stage.say("/theme pink").await;
        stage.until("there is no theme pink").await;
    })
    .await;
}

#[tokio::test]
async fn the_keys_are_shown_as_they_are_bound() {
    let mut options = Options::new([Turn::text("One.")]);
    options.keys = "app.history.search: f5";
    play(options, async |stage| {
        stage.until("main").await;
        stage.say("/hotkeys").await;
        stage.until("Keys").await;
        stage.type_text("search").await;
        stage.until("│ > search ").await;
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        mock/mock-model high · 0%/200k · main · auto
        ╭─ Keys ───────────────────────────────────────────────────╮
        │ > search                                                 │
        ├──────────────────────────────────────────────────────────┤
        │ Application                                              │
        │   f5                      search earlier messages        │
        ├──────────────────────────────────────────────────────────┤
        │ esc close                                                │
        ╰──────────────────────────────────────────────────────────╯
        ");
        stage.press("escape").await;
        stage.until_gone("f5").await;
        stage.press("f5").await;
        stage.until("History").await;
    })
    .await;
}
