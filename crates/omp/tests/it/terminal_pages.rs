//! The pages of slash commands at two sizes of the terminal, and as plain text elsewhere.

use std::time::Duration;

use omp_testkit::{PastEnd, Script, TokenCounts, Turn, Wire};
use portable_pty::CommandBuilder;

use crate::harness::Scene;
use crate::seat::{READY, Seat, at_a_seat};

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];
/// The sizes of the prompt do not depend on the tools of omp.
const SMALL: [&str; 5] = ["--no-tools", "--system-prompt", "Be brief.", "--thinking", "off"];

async fn scene() -> Scene {
    let counts = TokenCounts { input: 4_100, output: 250, cache_read: 12_300, cache_write: 0, reasoning: 0 };
    let script = Script::new(vec![Turn::text("Fine.").usage(counts)]).past_end(PastEnd::RepeatLast);
    Scene::new(Wire::Completions, script).await
}

fn seat_of(scene: &Scene, size: (u16, u16)) -> Seat {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_omp"));
    command.args(scene.workspace.args(&SMALL));
    let seat = Seat::of(scene, command, size);
    seat.until(READY);
    seat
}

/// Types a command and returns the rows of its page.
#[track_caller]
fn page(seat: &Seat, typed: &str, last: &str) -> Vec<String> {
    let is_shown = |all: &str| all.rsplit_once(&format!("\n{typed}\n")).is_some_and(|(_, page)| page.contains(last));
    seat.keys(format!("{typed}\r"));
    seat.wait(typed, |glass| is_shown(&glass.all()));
    // The rest of the frame may still be on its way.
    seat.until_quiet(Duration::from_millis(200));
    let all = seat.all();
    let (_, page) = all.rsplit_once(&format!("\n{typed}\n")).unwrap();
    let rows = page.lines().take_while(|row| !row.contains(READY)).map(|row| row.trim_end().to_owned());
    let rows: Vec<String> = rows.collect();
    let end = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |at| at + 1);
    rows[..end].to_vec()
}

/// Replaces what differs from run to run by signs of the same width.
fn steady(rows: &[String], scene: &Scene) -> String {
    let name = scene.workspace.project().parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    let text = rows.join("\n").replace(&name, &"N".repeat(name.len()));
    text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn usage_and_context_have_columns_and_a_bar() {
    let scene = scene().await;
    at_a_seat(|| {
        for (cols, rows) in SIZES {
            let seat = seat_of(&scene, (cols, rows));
            seat.says("hello", "Fine.");
            let usage = page(&seat, "/usage", "Turn ");
            insta::assert_snapshot!(format!("usage_{cols}x{rows}"), steady(&usage, &scene));
            let context = page(&seat, "/context", "model messages");
            insta::assert_snapshot!(format!("context_{cols}x{rows}"), steady(&context, &scene));
            assert!(context.iter().any(|row| row.matches('░').count() > 40), "{context:#?}");
            seat.leaves();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_help_and_changes_fit_into_the_window() {
    let scene = scene().await;
    at_a_seat(|| {
        for (cols, rows) in SIZES {
            let seat = seat_of(&scene, (cols, rows));
            let status = page(&seat, "/status", "tokens ");
            for name in ["id", "title", "folder", "model", "approval", "messages"] {
                assert!(status.iter().any(|row| row.starts_with(&format!("{name:8} │ "))), "{name}: {status:#?}");
            }
            let help = page(&seat, "/help", "/usage [show]");
            let column = |row: &String| row.split_once('│').map(|(before, _)| before.chars().count());
            let mut columns: Vec<usize> = help.iter().filter_map(column).collect();
            columns.dedup();
            assert_eq!(columns.len(), 1, "one column of descriptions: {help:#?}");
            assert!(columns[0] <= 30 && help.iter().any(|row| row.contains("(also /cost)")), "{help:#?}");
            let changes = page(&seat, "/changelog", "shows all");
            for rows in [&status, &help, &changes] {
                let marks = |row: &&String| row.starts_with("## ") || row.starts_with('|') || row.contains('`');
                assert_eq!(rows.iter().find(marks), None);
                assert!(rows.iter().all(|row| row.chars().count() <= usize::from(cols)), "{rows:#?}");
            }
            seat.leaves();
        }
    })
    .await;
}

#[tokio::test]
async fn elsewhere_they_are_plain_text() {
    let scene = scene().await;
    for (typed, expect) in [
        ("/help", "\n/usage [show]  "),
        ("/usage", "\nModel            Answers   Input  Cached  Written  Output     Cost\n"),
        ("/context", "\nKind            Tokens  Share\n"),
        ("/status", "\nfolder    /"),
        ("/tools", "\nread  "),
    ] {
        let shown = scene.omp(&["-p", "hi", typed]).run().await.exits(0).stdout;
        assert!(shown.contains(expect), "{typed}: {shown}");
        let marks = |row: &&str| row.starts_with(['#', '|']) || row.contains('`') || row.contains('░');
        assert_eq!(shown.lines().find(marks), None, "{typed}");
        let plain = scene.omp(&["--plain"]).input(format!("hi\n{typed}\n")).run().await.exits(0).stdout;
        assert!(plain.contains(expect.trim_start()), "{typed}: {plain}");
    }
}
