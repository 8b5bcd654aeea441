//! Credentials of the environment: hidden by default from the model and from everything written, but available to the
//! commands that need them.

use omp_testkit::{Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, QUICK_RETRIES, Scene};
use crate::rpc::Client;

/// Detected by name, by format, by a password in a URL, by randomness.
const SECRETS: [(&str, &str, &str); 4] = [
    ("DEPLOY_TOKEN", "opensesame-0123-4567", "opensesame-0123-4567"),
    ("SOMETHING", "ghp_0123456789abcdefABCDEF0123456789", "ghp_0123456789abcdefABCDEF0123456789"),
    ("DATABASE_URL", "postgres://app:s3cr3t-pass-1@db.example/x", "s3cr3t-pass-1"),
    ("NOISE", "q7Zr9T2vKx4Wn8Lb3Yp6Hd1Sf5Gj0Mc", "q7Zr9T2vKx4Wn8Lb3Yp6Hd1Sf5Gj0Mc"),
];

const WRITE_DOWN: &str =
    "printf '%s\\n' \"$DEPLOY_TOKEN\" \"$SOMETHING\" \"$DATABASE_URL\" \"$NOISE\" \"$PGPASSWORD\" > got";

fn turns() -> [Turn; 3] {
    [
        Turn::call("bash", json!({"command": "env; export -p; echo postgres is a database; echo KEYBOARD=$KEYBOARD"})),
        Turn::call("bash", json!({"command": WRITE_DOWN})),
        Turn::text("Done."),
    ]
}

async fn scene(config: &str) -> Scene {
    let scene = Scene::new(Wire::Completions, turns()).await;
    scene.workspace.write_config_yml(&format!("{QUICK_RETRIES}{config}")).unwrap();
    scene
}

fn with_secrets(omp: Omp) -> Omp {
    let omp = SECRETS.iter().fold(omp, |omp, (name, value, _)| omp.env(name, value));
    omp.env("PGPASSWORD", "postgres").env("KEYBOARD", "pc105-de-nodeadkeys")
}

/// Returns every text below a folder, except the file that the command should write.
fn written(folder: &std::path::Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            // Undo copies of the user's own files.
            let is_undo =
                ["objects", "packs"].iter().any(|name| entry.file_name() == *name) && folder.ends_with("undo");
            all.push_str(&if is_undo { String::new() } else { written(&entry.path()) });
        } else if entry.file_name() != "got" {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default()));
        }
    }
    all
}

/// Checks that only the command has a secret.
#[track_caller]
fn hidden(scene: &Scene, output: &str) {
    let sent: String = scene
        .server
        .model_requests()
        .iter()
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect();
    let kept =
        written(&scene.workspace.home()) + &written(&scene.workspace.project()) + &written(&scene.workspace.tmp());
    for (place, text) in [("the model", &sent), ("the output", &output.to_owned()), ("a file", &kept)] {
        for (name, _, secret) in SECRETS {
            assert!(!text.contains(secret), "{name} reached {place}:\n{text}");
        }
        assert!(!text.contains("PGPASSWORD=postgres") && !text.contains("PGPASSWORD=\\\"postgres"), "{place}: {text}");
    }
    assert!(sent.contains("postgres is a database"), "an ordinary word is hidden everywhere: {sent}");
    assert!(sent.contains("KEYBOARD=pc105-de-nodeadkeys"), "{sent}");
    assert!(sent.contains("PGPASSWORD=<<$env:S"), "{sent}");
    let got = scene.workspace.read("got").unwrap();
    let expect: String = SECRETS.iter().map(|(_, value, _)| format!("{value}\n")).collect();
    assert_eq!(got, format!("{expect}postgres\n"));
}

#[tokio::test]
async fn commands_have_them_and_nobody_else_does() {
    for mode in [&[][..], &["--mode", "json"]] {
        let scene = scene("").await;
        let args = [&["--record", "r.jsonl"], mode, &["-p", "go", "/export page.html", "/dump"]].concat();
        let ran = with_secrets(scene.omp(&args)).run().await.exits(0);
        hidden(&scene, &format!("{}{}", ran.stdout, ran.stderr));
    }
}

#[tokio::test]
async fn programs_do_not_get_them_either() {
    let scene = scene("").await;
    let mut client = Client::of(with_secrets(scene.omp(&["--mode", "rpc"])));
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let mut told = String::new();
    loop {
        let frame = client.next().await;
        told.push_str(&frame.to_string());
        if frame["type"] == "agent_end" {
            break;
        }
    }
    assert_eq!(client.finish().await, Some(0));
    hidden(&scene, &told);
}

#[tokio::test]
async fn a_setting_turns_it_off() {
    let scene = scene("secrets: { environment: false }\n").await;
    with_secrets(scene.omp(&["-p", "go"])).run().await.exits(0);
    let sent = String::from_utf8_lossy(&scene.last_request().body).into_owned();
    for (name, value, _) in SECRETS {
        assert!(sent.contains(value), "{name}: {sent}");
    }
}

/// A repository's settings cannot disable it.
#[tokio::test]
async fn a_repository_does_not_turn_it_off() {
    let scene = scene("").await;
    scene.workspace.write(".omp/config.yml", "secrets: { environment: false }\n").unwrap();
    let ran = with_secrets(scene.omp(&["--trust", "-p", "go"])).run().await.exits(0);
    hidden(&scene, &format!("{}{}", ran.stdout, ran.stderr));
}
