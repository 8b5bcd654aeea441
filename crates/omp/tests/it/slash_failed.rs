//! Slash commands that fail at the terminal: the editor is empty afterwards, and the up key recalls the line.

use omp_testkit::{Script, Turn, Wire};

use crate::harness::Scene;
use crate::seat::{Seat, at_a_seat};

/// For every command a line that fails, with its message.
const FAILS: &[(&str, &str)] = &[
    ("/branch zz", "no entry `zz`"),
    ("/btw", "no question given"),
    ("/budget abc", "`abc` is not a valid budget"),
    ("/changelog x", "unknown argument `x`"),
    ("/compact", "Nothing to compact"),
    ("/context x", "unknown argument `x`"),
    ("/copy 99", "unknown argument `99`"),
    ("/debug zz", "unknown argument `zz`"),
    ("/doctor zz", "unknown argument `zz`"),
    ("/drop x", "/drop takes no arguments"),
    ("/dump x", "/dump takes no arguments"),
    ("/export /nowhere/at/all.html", "cannot write /nowhere/at/all.html"),
    ("/fast zz", "unknown argument `zz`"),
    ("/force nope", "unknown tool `nope`"),
    ("/fork zz", "/fork takes no arguments"),
    ("/help x", "/help takes no arguments"),
    ("/hooks x", "/hooks takes no arguments"),
    ("/jobs x", "/jobs takes no arguments"),
    ("/label", "no entry given"),
    ("/logout nope", "unknown provider `nope`"),
    ("/loop 0", "the count must be from 1 to"),
    ("/memory zz", "unknown argument `zz`"),
    ("/model nope", "unknown model `nope`"),
    ("/move", "no folder given"),
    ("/new x", "/new takes no arguments"),
    ("/permissions foo", "unknown argument `foo`"),
    ("/queue x", "/queue takes no arguments"),
    ("/redo 99", "unknown argument `99`"),
    ("/rename", "no title given"),
    ("/resume zzzz", "no session id starts with `zzzz`"),
    ("/retry x", "/retry takes no arguments"),
    ("/session zz", "unknown argument `zz`"),
    ("/settings zz", "unknown setting `zz`"),
    ("/shake zz", "unknown argument `zz`"),
    ("/stripped x", "`x` is not a number of calls"),
    ("/switch nope", "unknown model `nope`"),
    ("/terminal-setup zz", "unknown argument `zz`"),
    ("/todo foo", "unknown argument `foo`"),
    ("/tools x", "/tools takes no arguments"),
    ("/tree zz", "no entry `zz`"),
    ("/trust zz", "unknown argument `zz`"),
    ("/undo 99", "nothing to undo"),
    ("/usage x", "unknown argument `x`"),
    ("/hotkeys x", "/hotkeys takes no arguments"),
    ("/exit x", "/exit takes no arguments"),
    ("/plan-review x", "/plan-review takes no arguments"),
    ("/quit x", "/quit takes no arguments"),
    ("/theme zz", "usage: /theme [name]"),
    ("/vim x", "/vim takes no arguments"),
    ("/thinking hard", "unknown level `hard`"),
    ("/nope", "unknown command /nope"),
    ("/mcp", "omp has no command /mcp"),
];
/// Commands that accept any words, or open a dialog.
const TAKE_ANYTHING: &[&str] = &["changes", "handoff", "init", "login", "plan"];

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
