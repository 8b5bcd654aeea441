//! Variables that report startup timing and terminal output, and the sources of variables.

use omp_testkit::{Turn, Wire};

use crate::harness::Scene;

async fn scene() -> Scene {
    Scene::new(Wire::Anthropic, [Turn::text("Hello.")]).await
}

#[tokio::test]
async fn parts_of_the_start_are_told_on_standard_error_alone() {
    let rows: [(&str, &[&str]); 2] = [
        ("PI_TIMING", &["startup: ", "\n  settings: ", "\n  session: ", "\n    model: ", "\n  print:prompts: "]),
        ("PI_DEBUG_STARTUP", &["[startup] settings:start\n[startup] settings:done\n", "[startup] session:start\n"]),
    ];
    for (name, told) in rows {
        let scene = scene().await;
        let ran = scene.omp(&["-p", "hi"]).env(name, "1").run().await;
        ran.exits(0).prints("Hello.\n").complains(told);
    }
}

#[tokio::test]
async fn variables_are_taken_from_files_of_the_user_in_their_order() {
    let scene = scene().await;
    let write = |path: std::path::PathBuf, text: &str| std::fs::write(path, text).unwrap();
    // An empty variable overrides lower files, but counts as unset for readers.
    write(scene.workspace.home().join(".env"), "OMP_TIMING=1\nPI_DEBUG_STARTUP=1\n");
    write(scene.workspace.agent_dir().parent().unwrap().join(".env"), "PI_DEBUG_STARTUP=\n");
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(0).complains(&["startup: "]);
    assert!(!ran.stderr.contains("[startup]"), "{ran}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_goes_on_with_the_last_session_where_that_is_set() {
    use crate::seat::{Seat, at_a_seat};

    let scene = scene().await;
    scene.workspace.write_config_yml("autoResume: true\n").unwrap();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.says("are you there?", "Hello.");
        seat.leaves();
        let seat = Seat::ready(&scene, &[]);
        seat.until("are you there?");
        seat.leaves();
    })
    .await;
    assert_eq!(scene.workspace.session_files().unwrap().len(), 1);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_is_left_after_the_times_or_leaves_a_log() {
    use portable_pty::CommandBuilder;

    use crate::seat::{READY, Seat, at_a_seat};

    let scene = scene().await;
    let command = |variable: &str| {
        let mut command = CommandBuilder::new("env");
        command.args([variable, env!("CARGO_BIN_EXE_omp")]);
        command.args(scene.workspace.args(&[]));
        command
    };
    at_a_seat(|| {
        let mut seat = Seat::of(&scene, command("PI_TIMING=x"), (80, 24));
        assert_eq!(seat.end(), 0);
        assert!(seat.text().contains("startup: ") && seat.text().contains("look: "), "{}", seat.text());
        let seat = Seat::of(&scene, command("PI_TUI_WRITE_LOG=drawn.log"), (80, 24));
        seat.until(READY);
        seat.leaves();
        let drawn = std::fs::read(scene.workspace.path("drawn.log")).unwrap();
        assert!(String::from_utf8_lossy(&drawn).contains("mock-model"), "{}", drawn.len());
    })
    .await;
}
