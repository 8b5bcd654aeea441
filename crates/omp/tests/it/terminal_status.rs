//! The status line through the binary: every `statusLine.*` setting, the user's own command, and the git branch.

use omp_testkit::{PastEnd, Script, Turn, Wire};
use portable_pty::CommandBuilder;

use crate::harness::Scene;
use crate::reach::git;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

const SHIFT_TAB: &str = "\x1b[Z";

/// A repository on the branch `main`, with these settings of the user.
async fn scene(settings: &str) -> Scene {
    let script = Script::new(vec![Turn::text("Fine.")]).past_end(PastEnd::RepeatLast);
    let scene = Scene::new(Wire::Completions, script).await;
    scene.workspace.write_config_yml(settings).unwrap();
    let project = scene.workspace.project();
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "one"]);
    scene
}

/// Types a change and waits for what the status line shows then.
#[track_caller]
fn set(seat: &Seat, key: &str, value: &str, expect: &str) {
    seat.keys(format!("/settings statusLine.{key} {value}\r"));
    seat.until(expect);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presets_and_separators_change_at_once() {
    let scene = scene("").await;
    at_a_seat(|| {
        let seat = Seat::omp(&scene, &["--thinking", "medium"]);
        seat.until("mock/mock-model medium · 0%/200k · main · auto");
        set(&seat, "compactThinkingLevel", "true", "mock/mock-model med · 0%/200k");
        for (preset, expect) in [
            ("minimal", "auto / 0%/200k"),
            ("compact", "mock/mock-model > auto > main"),
            ("ascii", "mock/mock-model med > auto > "),
            ("full", " ▶ mock/mock-model med ▶ auto"),
            ("nerd", "200k window"),
            ("custom", "auto > "),
            ("default", "mock/mock-model med · 0%/200k · main · auto"),
        ] {
            seat.resize(if preset == "nerd" { 160 } else { 120 }, 24);
            set(&seat, "preset", preset, expect);
        }
        for (separator, expect) in [
            ("pipe", "med │ 0%/200k │ main │ auto"),
            ("slash", "med / 0%/200k / main / auto"),
            ("block", "med ▌ 0%/200k ▌ main ▌ auto"),
            ("none", "med 0%/200k main auto"),
            ("ascii", "med > 0%/200k > main > auto"),
            ("powerline", "med ▶ 0%/200k ▶ main ▶ auto"),
            ("powerline-thin", "med > 0%/200k > main > auto"),
            ("dot", "med · 0%/200k · main · auto"),
        ] {
            set(&seat, "separator", separator, expect);
        }
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn segments_of_ones_own_with_options_and_colors() {
    let lists = "preset: custom, leftSegments: [mode, path, mode], rightSegments: [session_name, context_pct]";
    let options = "segmentOptions: { path: { maxLength: 6, color: red }, gti: { showStaged: true } }";
    let scene = scene(&format!("statusLine: {{ {lists}, {options} }}\n")).await;
    at_a_seat(|| {
        let mut command = CommandBuilder::new("env");
        command.args(["FORCE_COLOR=2", env!("CARGO_BIN_EXE_omp")]);
        command.args(scene.workspace.args(&[]));
        let seat = Seat::of(&scene, command, (80, 24));
        seat.until("statusLine.segmentOptions.path.color: unknown option");
        seat.until("statusLine.segmentOptions.gti is not a segment with options");
        seat.keys("/rename A title\r");
        seat.until("A title < 0%/200k");
        let row = seat.text().lines().rfind(|row| row.contains(READY)).unwrap_or_default().to_owned();
        let left: Vec<&str> = row.split_whitespace().take(4).collect();
        assert!(left[..2] == ["auto", ">"] && left[2].starts_with('…') && left[2].chars().count() == 6, "{row}");
        assert_eq!(left[3], "A", "a segment that is listed twice is shown once: {row}");
        let before = seat.look(|glass| glass.colors_of("A title < "));
        seat.keys("/settings statusLine.sessionAccent false\r");
        seat.wait("another color of the title", |glass| glass.colors_of("A title < ").0 != before.0);
        seat.keys("/settings statusLine.transparent true\r");
        seat.wait("no background", |glass| glass.colors_of("A title < ").1 == vt100::Color::Default);
        assert_ne!(before.1, vt100::Color::Default);
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_branch_is_that_of_the_last_checkout_in_another_shell() {
    let scene = scene("").await;
    let project = scene.workspace.project();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.until("· main · auto");
        git(&project, &["checkout", "-qb", "topic/one"]);
        seat.until("· topic/one · auto");
        std::fs::write(project.join("new.txt"), "new\n").unwrap();
        seat.until("· topic/one ?1 · auto");
        git(&project, &["add", "new.txt"]);
        std::fs::write(project.join("a.txt"), "other\n").unwrap();
        seat.until("· topic/one *1 +1 · auto");
        git(&project, &["commit", "-qam", "two"]);
        git(&project, &["checkout", "-q", "main"]);
        seat.until("· main · auto");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_gets_the_facts_and_shows_its_first_line_without_codes() {
    let command =
        r#"sed -n 's/.*"approval_mode":"\([a-z-]*\)".*/\x1b[2J\x1b[31m\n\x1b]0;evil\x07mode=\x1b[1m\1\nsecond line/p'"#;
    let config = serde_json::json!({"statusLine": {"command": command, "commandInterval": 0.2}});
    let scene = scene(&config.to_string()).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.until("mode=auto");
        seat.keys(SHIFT_TAB);
        seat.until("mode=ask-writes");
        let all = seat.all();
        assert!(!all.contains("second line"), "{all}");
        let raw = seat.look(|glass| String::from_utf8_lossy(&glass.raw).into_owned());
        assert!(!raw.contains("evil") && !raw.contains("\x1b[2J\x1b[31m"), "the codes reach the terminal");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_without_an_interval_runs_after_an_answer() {
    let scene = scene("statusLine: { command: 'echo x >>runs; echo run-$(wc -l <runs)-', commandInterval: 0 }\n").await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.until("run-1-");
        seat.says("hello", "Fine.");
        seat.until_gone("run-1-");
        seat.until("run-");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_fails_is_told_once_and_tried_again() {
    let command = "echo x >>runs; [ $(wc -l <runs) -gt 3 ] && echo works-again";
    let scene = scene(&format!("statusLine: {{ command: '{command}', commandInterval: 0.1 }}\n")).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.until("statusLine.command failed: it exited with code 1");
        seat.until("works-again");
        let all = seat.all();
        assert_eq!(all.matches("statusLine.command failed").count(), 1, "{all}");
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_command_is_stopped_and_holds_nothing_up() {
    let command = "echo x >>runs; [ $(wc -l <runs) -gt 1 ] && echo in-time && exit; sleep 73190";
    let slow = format!("statusLine: {{ command: '{command}', commandTimeout: 1, commandInterval: 0.1 }}\n");
    let scene = scene(&slow).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("hello", "Fine.");
        seat.until("statusLine.command took longer than 1 s and was stopped");
        seat.until("in-time");
        seat.until_gone(RUNS);
        let left = running("73190");
        assert_eq!(left, Vec::<String>::new(), "the command still runs");
        seat.leaves();
    })
    .await;
}

/// A cloned repository cannot run anything by its settings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_in_the_settings_of_a_project_is_ignored() {
    let scene = scene("").await;
    let own = "statusLine: { command: 'touch ran; echo from-the-project' }\n";
    scene.workspace.write(".omp/config.yml", own).unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &["--trust"]);
        seat.says("hello", "Fine.");
        seat.says("hello again", "hello again");
        assert!(!seat.all().contains("from-the-project"), "{}", seat.all());
        assert!(!scene.workspace.project().join("ran").exists());
        seat.leaves();
    })
    .await;
}

/// Returns the command lines of processes whose last argument ends with this.
fn running(end: &str) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = lines.filter_map(|process| std::fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.trim_end_matches('\0').ends_with(end)).collect()
}
