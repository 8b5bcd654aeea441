//! Slash commands that fail at the terminal: the editor is empty afterwards, and the up key recalls the line.

use omp_testkit::{Script, Turn, Wire};

use crate::harness::Scene;
use crate::seat::{Seat, at_a_seat};

/// For every command a line that fails, with its message.
const FAILS: &[(&str, &str)] = &[
    ("/branch zz", "there is no entry `zz`"),
    ("/btw", "which question?"),
    ("/budget abc", "`abc` is no budget"),
    ("/changelog x", "there is no `x`"),
    ("/compact", "Nothing to compact"),
    ("/context x", "there is no `x`"),
    ("/copy 99", "there is no `99`"),
    ("/debug zz", "/debug takes no arguments"),
    ("/drop x", "/drop takes no arguments"),
    ("/dump x", "/dump takes no arguments"),
    ("/export /nowhere/at/all.html", "cannot write /nowhere/at/all.html"),
    ("/fast zz", "there is no `zz`"),
    ("/force nope", "there is no tool `nope`"),
    ("/fork zz", "/fork takes no arguments"),
    ("/help x", "/help takes no arguments"),
    ("/hooks x", "/hooks takes no arguments"),
    ("/jobs x", "/jobs takes no arguments"),
    ("/label", "which entry?"),
    ("/logout nope", "there is no provider `nope`"),
    ("/loop 0", "the count goes from 1 to"),
    ("/model nope", "unknown model `nope`"),
    ("/move", "to which folder?"),
    ("/new x", "/new takes no arguments"),
    ("/permissions foo", "what should be done?"),
    ("/queue x", "/queue takes no arguments"),
    ("/redo 99", "`99` means nothing here"),
    ("/rename", "which title?"),
    ("/resume zzzz", "no session's id starts with `zzzz`"),
    ("/retry x", "/retry takes no arguments"),
    ("/session zz", "there is no `zz`"),
    ("/settings zz", "there is no setting `zz`"),
    ("/stripped x", "`x` is no number of calls"),
    ("/todo foo", "there is no `foo`"),
    ("/tools x", "/tools takes no arguments"),
    ("/tree zz", "there is no entry `zz`"),
    ("/trust zz", "`zz` means nothing here"),
    ("/undo 99", "there is nothing to take back"),
    ("/usage x", "there is no `x`"),
    ("/hotkeys x", "/hotkeys takes no arguments"),
    ("/thinking hard", "there is no level `hard`"),
    ("/nope", "there is no command /nope"),
    ("/mcp", "omp has no command /mcp"),
];
/// Commands that accept any words, or open a dialog.
const TAKE_ANYTHING: &[&str] = &["changes", "handoff", "login", "plan"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_that_fails_leaves_the_editor_empty() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Hi.")])).await;
    let help = scene.omp(&["-p", "/help"]).run().await.exits(0).stdout;
    for name in help.lines().filter_map(|line| line.strip_prefix('/')?.split_whitespace().next()) {
        let fails = FAILS.iter().any(|(line, _)| line[1..].split(' ').next() == Some(name));
        assert!(fails || TAKE_ANYTHING.contains(&name), "/{name} is not in the table");
    }
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Hi.");
        for (line, told) in FAILS {
            let before = seat.shown();
            seat.keys(format!("{line}\r"));
            seat.until_after(before, told);
            // The next typed text is not appended to the old one.
            seat.keys("zq");
            seat.wait(line, |glass| glass.text().lines().any(|row| row.trim() == "> zq"));
            seat.keys("\x15\x1b[A");
            seat.wait(line, |glass| glass.text().lines().any(|row| row.trim() == format!("> {line}")));
            seat.keys("\x15");
            seat.wait(line, |glass| !glass.text().lines().any(|row| row.trim() == format!("> {line}")));
        }
        seat.leaves();
    })
    .await;
    assert_eq!(scene.server.model_requests().len(), 1);
}
