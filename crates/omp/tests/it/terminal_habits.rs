//! Keys, flags and settings of the terminal that people use all day, through the binary.

use omp_testkit::{PastEnd, Script, Turn, Wire};
use serde_json::json;

use crate::file_commands::with_other_model;
use crate::harness::Scene;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

const SHIFT_TAB: &str = "\x1b[Z";
const ALT_T: &str = "\x1bt";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_F: &str = "\x06";
const CTRL_O: &str = "\x0f";

async fn scene(turns: impl Into<Vec<Turn>>) -> Scene {
    Scene::new(Wire::Completions, Script::new(turns.into()).past_end(PastEnd::RepeatLast)).await
}

fn status(seat: &Seat) -> String {
    seat.text().lines().rfind(|row| row.contains(READY)).unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_change_the_approval_mode_and_the_thinking_level() {
    let scene = scene([Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        for mode in ["· ask-writes", "· ask-all", "· auto"] {
            seat.keys(SHIFT_TAB);
            seat.until(mode);
        }
        let before = status(&seat);
        seat.keys(ALT_T);
        seat.wait("another level", |glass| {
            glass.text().lines().any(|row| row.contains(READY) && *row != before && row.contains("· auto"))
        });
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_stops_a_command_and_words_of_a_shell_leave() {
    let scene = scene([Turn::call("bash", json!({"command": "echo begun; sleep 300"})), Turn::text("Fine.")]).await;
    at_a_seat(|| {
        let mut seat = Seat::ready(&scene, &[]);
        seat.keys("go\r");
        seat.until("begun");
        seat.keys(CTRL_D);
        seat.until("a turn is running; press esc to stop it");
        seat.keys(CTRL_C);
        seat.until("interrupted");
        seat.until_gone(RUNS);
        seat.keys("! sleep 300\r");
        seat.until("sleep 300 · ");
        seat.keys(CTRL_C);
        seat.until_gone(RUNS);
        seat.keys(":q\r");
        assert_eq!(seat.end(), 0, "{}", seat.text());
        seat.is_sane();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_models_to_choose_from_can_be_limited_and_favoured() {
    let scene = scene([Turn::text("Fine.")]).await;
    with_other_model(&scene);
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/model\r");
        seat.until("mock/other-model");
        seat.keys(CTRL_F);
        seat.until("★");
        seat.keys("\x1b");
        seat.until_gone("other-model");
        seat.leaves();
        let config = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
        assert!(config.contains("favoriteModels") && config.contains("mock/mock-model"), "{config}");
        let seat = Seat::ready(&scene, &["--models", "mock/mock-*"]);
        seat.keys("/model\r");
        seat.until("1 of 1");
        assert!(!seat.text().contains("other-model"), "{}", seat.text());
        seat.keys("\x1b");
        seat.until_gone("1 of 1");
        seat.leaves();
    })
    .await;
    scene.workspace.write_config_yml("enabledModels: [mock/mock-*]\n").unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("/model\r");
        seat.until("1 of 1");
        seat.keys("\x1b");
        seat.until_gone("1 of 1");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn diagrams_are_drawn_unless_a_setting_says_otherwise() {
    let scene = scene([Turn::text("```mermaid\ngraph LR\n  Start --> Finish\n```\n")]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.keys("draw\r");
        seat.until("Finish");
        seat.until_gone(RUNS);
        assert!(!seat.text().contains("-->"), "{}", seat.text());
        seat.leaves();
    })
    .await;
    scene.workspace.write_config_yml("tui: { renderMermaid: false }\n").unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("draw", "Start --> Finish");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_command_keeps_its_exit_code_and_a_long_diff_unfolds() {
    let long: String = (1..=60).map(|line| format!("line {line}\n")).collect();
    let failing = format!("ls {}", "missing/folder ".repeat(12));
    let turns = [
        Turn::call("bash", json!({"command": failing})),
        Turn::call("write", json!({"path": "a.txt", "content": long})),
        Turn::text("Fine."),
    ];
    let scene = scene(turns).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("go", "Fine.");
        assert!(seat.all().lines().any(|row| row.contains("✗") && row.contains("exit 2")), "{}", seat.all());
        seat.says("/changes diff", "more lines");
        seat.keys(CTRL_O);
        seat.wait("all of it", |glass| glass.all().contains("line 60"));
        seat.leaves();
    })
    .await;
}
