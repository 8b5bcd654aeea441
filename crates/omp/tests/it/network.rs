//! Commands that may access only named hosts, through the binary: from the setting to the stored record.

use std::io::{Read, Write};
use std::net::TcpListener;

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::{QUICK_RETRIES, Scene};

/// A server of the machine that greets each client.
fn greeter() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.read(&mut [0; 4096]);
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n");
        }
    });
    port
}

#[tokio::test]
async fn a_named_host_is_reached_another_is_told_of_and_both_are_written_down() {
    let (named, other) = (greeter(), greeter());
    let ask = |port: u16| format!("curl -s --proxytunnel http://localhost:{port}/");
    let command = format!("{}; {} || echo kept", ask(named), ask(other));
    let turns = [Turn::call("bash", json!({"command": command})), Turn::text("done")];
    let scene = Scene::new(Wire::Completions, turns).await;
    let hosts = format!("hosts: ['localhost:{named}', 'https://no.example']");
    let config = format!("{QUICK_RETRIES}containment: {{ network: allowlist, {hosts} }}\n");
    scene.workspace.write_config_yml(&config).unwrap();
    let problem = "`https://no.example` in containment.hosts is ignored";
    scene.omp(&["-p", "go"]).run().await.exits(0).complains(&[problem, "hint:"]);
    let session = std::fs::read_to_string(scene.session_file()).unwrap();
    let why = format!("localhost:{other} is blocked: it is not an allowed host");
    for part in [
        "hello\\nkept\\n".to_owned(),
        format!("Sandbox: {why}."),
        format!("\"host\":\"localhost\",\"port\":{named},\"by\":\"connect\""),
        format!("\"refused\":\"{why}\""),
    ] {
        assert!(session.contains(&part), "{part} is missing\n{session}");
    }
}
