//! `omp doctor` through the binary: what works, what fails, and that it reports only what it has tested.

use omp_testkit::{TempWorkspace, Turn, Wire};
use serde_json::Value;

use crate::harness::{Omp, Scene};

async fn scene() -> Scene {
    Scene::new(Wire::Completions, [Turn::text("never asked")]).await
}

#[tokio::test]
async fn a_machine_that_works_is_told_so_without_a_request() {
    let scene = scene().await;
    let ran = Omp::bare(&scene.workspace).args(["doctor"]).run().await.exits(0);
    for words in [
        "ok    settings",
        "ok    containment",
        "ran in",
        "mock/mock-model",
        "ok    shell",
        "ok    sessions",
        "terminal",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {ran}");
    }
    assert!(scene.server.requests().is_empty());
    let left: Vec<_> =
        std::fs::read_dir(scene.workspace.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.txt"]);
    let probes = std::fs::read_dir(scene.workspace.agent_dir()).unwrap();
    assert!(probes.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with(".doctor")));
}

#[tokio::test]
async fn programs_read_the_same_as_json() {
    let scene = scene().await;
    let ran = Omp::bare(&scene.workspace).args(["doctor", "--json"]).run().await.exits(0);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["ok"], true);
    let findings = told["findings"].as_array().unwrap();
    let areas: Vec<&str> = findings.iter().map(|finding| finding["area"].as_str().unwrap()).collect();
    for area in ["containment", "command", "model", "shell", "git", "terminal", "home", "sessions"] {
        assert!(areas.contains(&area), "{area}: {areas:?}");
    }
}

#[tokio::test]
async fn settings_that_nobody_knows_are_told_and_run_all_the_same() {
    let scene = scene().await;
    scene.workspace.write_config_yml("aproval: x\ncompany: { endpoint: x }\nadvisor: { enabled: true }\n").unwrap();
    let told = Omp::bare(&scene.workspace).args(["doctor"]).run().await.exits(0);
    assert!(told.stdout.contains("warn  settings") && told.stdout.contains("did you mean `tools.approval`?"), "{told}");
    let ran = scene.omp(&["-p", "go"]).run().await.exits(0);
    assert_eq!(ran.stderr.matches("unknown setting `aproval`").count(), 1, "{ran}");
    assert!(ran.stderr.contains("unknown setting `company`") && !ran.stderr.contains("advisor"), "{ran}");
}

#[tokio::test]
async fn without_a_key_there_is_a_way_out() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let ran = Omp::bare(&workspace).env("SHELL", "/usr/bin/fish").args(["doctor"]).run().await.exits(1);
    assert!(ran.stdout.contains("(not your /usr/bin/fish; set `shellPath` to use it)"), "{ran}");
    assert!(ran.stdout.contains("FAIL  model") && ran.stdout.contains("hint: "), "{ran}");
    assert!(ran.stdout.contains("omp doctor --local") && ran.stdout.contains("1 problem"), "{ran}");
}

/// A command that would be refused is never reported as working.
#[cfg(unix)]
#[tokio::test]
async fn a_command_that_does_not_run_is_a_failure() {
    let scene = scene().await;
    scene.workspace.write_config_yml("shellPath: /nowhere/bash\n").unwrap();
    let ran = Omp::bare(&scene.workspace).args(["doctor"]).run().await.exits(1);
    assert!(ran.stdout.contains("FAIL  command") && ran.stdout.contains("FAIL  shell"), "{ran}");
    assert!(!ran.stdout.contains("ran in"), "{ran}");
}

#[cfg(unix)]
#[tokio::test]
async fn complaints_of_start_up_files_and_folders_are_told() {
    let scene = scene().await;
    std::fs::write(scene.workspace.home().join(".bashrc"), "no-such-program-of-mine\n").unwrap();
    std::fs::write(scene.workspace.agent_dir().join("sessions"), "a file").unwrap();
    let ran = Omp::bare(&scene.workspace).env("SHELL", "/bin/bash").args(["doctor"]).run().await.exits(1);
    assert!(ran.stdout.contains("warn  start-up") && ran.stdout.contains("no-such-program-of-mine"), "{ran}");
    assert!(ran.stdout.contains("FAIL  sessions") && ran.stdout.contains("hint: check that it is yours"), "{ran}");
}

#[tokio::test]
async fn an_unkept_mode_is_not_praised() {
    let scene = scene().await;
    scene.workspace.write_config_yml("containment: { mode: 'off' }\n").unwrap();
    let ran = Omp::bare(&scene.workspace).args(["doctor"]).run().await.exits(0);
    assert!(
        ran.stdout.contains("warn  containment") && ran.stdout.contains("commands can do everything you can"),
        "{ran}"
    );
    assert!(!ran.stdout.contains("a sandboxed command"), "{ran}");
}
