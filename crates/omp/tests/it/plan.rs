//! Plan mode from the command line: notes of the session can be written, the project cannot.

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::Scene;

#[tokio::test]
async fn a_plan_is_written_and_then_carried_out() {
    let write = |path: &str| Turn::call("write", json!({"path": path, "content": "text\n"}));
    let turns = [
        write("made.txt"),
        write("local://PLAN.md"),
        Turn::call("bash", json!({"command": "touch ran.txt"})),
        Turn::text("Planned."),
        write("made.txt"),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.omp(&["-p", "/plan make it"]).run().await.exits(0).prints("Planned.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(
        told.contains("Plan mode is on") && told.contains("plan mode is on, so the project is not changed"),
        "{told}"
    );
    assert!(told.contains("Successfully wrote 5 bytes to local://PLAN.md"), "{told}");
    assert!(told.contains("`bash` was not run: it needs the user's approval"), "{told}");
    assert!(
        !scene.workspace.project().join("made.txt").exists() && !scene.workspace.project().join("ran.txt").exists()
    );

    // The resumed session is still in plan mode until `/plan go`.
    scene.omp(&["-c", "-p", "/plan go"]).run().await.exits(0).prints("Done.\n");
    assert!(scene.workspace.project().join("made.txt").exists());
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("Plan mode is off") && told.contains("I approve the plan"), "{told}");
    scene.omp(&["-c", "-p", "/plan go"]).run().await.exits(2);
}
