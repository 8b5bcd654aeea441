//! A file that the sandbox sets aside while nothing runs is reported at once, because it may be the user's own.

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::Scene;
use crate::rpc::Client;

#[tokio::test]
async fn a_file_of_the_users_own_that_goes_while_a_server_runs_is_told() {
    let server = Turn::call("bash", json!({"command": "sleep 60 >/dev/null 2>&1 &"}));
    let scene = Scene::new(Wire::Completions, [server, Turn::text("It runs.")]).await;
    let mut client = Client::start(&scene, &["--yolo"]).await;
    client.prompt("start the server").await;
    while client.ask(json!({"type": "get_state"})).await["data"]["isStreaming"] != false {}
    let project = scene.workspace.project().canonicalize().unwrap();
    std::fs::write(project.join(".envrc"), "export A=1\n").unwrap();
    let notice = client.until("notice").await;
    let told = notice["message"].as_str().unwrap();
    let path = project.join(".envrc");
    assert!(
        told.starts_with(&format!("{} was created while a command runs in the background", path.display())),
        "{told}"
    );
    let to = told.split("it is ").nth(1).and_then(|rest| rest.split(" now").next()).unwrap();
    assert_eq!((std::fs::read_to_string(to).unwrap().as_str(), path.exists()), ("export A=1\n", false));
    assert_eq!(client.finish().await, Some(0));
}
