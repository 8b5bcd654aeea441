//! The system prompt and its size, through the binary.

use omp_testkit::{Script, Turn, Wire};
use serde_json::Value;

use crate::harness::{Omp, Scene};
use crate::rpc::Client;

async fn scene() -> Scene {
    Scene::new(Wire::Completions, Script::new([Turn::text("Hello."), Turn::text("Again.")])).await
}

fn context(scene: &Scene, args: &[&str]) -> Omp {
    Omp::bare(&scene.workspace).args(["context", "--model", "mock/mock-model"]).args(args)
}

fn kinds(report: &Value) -> Vec<&str> {
    report["parts"].as_array().unwrap().iter().map(|part| part["kind"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn costs_of_a_new_session_are_told_and_nothing_is_left_behind() {
    let scene = scene().await;
    scene.workspace.write("AGENTS.md", "Use tabs.\n").unwrap();
    scene.workspace.write(".git/HEAD", "ref: refs/heads/main\n").unwrap();
    scene.workspace.write(".omp/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fill forms\n---\nx\n").unwrap();
    let table = context(&scene, &[]).run().await.exits(0).stdout;
    for row in ["of 200,000 tokens", "system prompt", "notes AGENTS.md", "skills", "tool read", "project state", "Free"]
    {
        assert!(table.contains(row), "{row}: {table}");
    }
    let json = context(&scene, &["--json", "--tools", "read,bash"]).run().await.exits(0).stdout;
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        kinds(&report),
        ["system", "environment", "contextFile", "skills", "tool", "tool", "projectState"],
        "{report:#}"
    );
    let sum: u64 = report["parts"].as_array().unwrap().iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!((report["totalTokens"].as_u64(), report["expectedCachedTokens"].as_u64()), (Some(sum), Some(0)));
    assert_eq!(scene.workspace.session_files().unwrap().len(), 0);
    assert_eq!(scene.server.model_requests().len(), 0);
}

#[tokio::test]
async fn a_session_is_measured_with_its_conversation_in_every_mode() {
    let scene = scene().await;
    scene.omp(&["-p", "hi there"]).run().await.exits(0);
    let json = context(&scene, &["-c", "--json"]).run().await.exits(0).stdout;
    let report: Value = serde_json::from_str(&json).unwrap();
    assert!(kinds(&report).ends_with(&["user", "assistant"]), "{report:#}");
    assert!(report["expectedCachedTokens"].as_u64().unwrap() > 1000, "{report:#}");
    let shown = scene.omp(&["-c", "-p", "/context"]).run().await.exits(0).stdout;
    assert!(shown.contains("user messages (1)"), "{shown}");
    let mut client = Client::start(&scene, &["-c"]).await;
    client.send(&serde_json::json!({"type": "prompt", "message": "/context"})).await;
    let told = client.until("command_output").await;
    assert!(told.to_string().contains("model messages (1)"), "{told}");
    client.finish().await;
    for args in [&["--tools", "nosuch"][..], &["-c", "--resume", "x"], &["--resume", "nosuch"], &["words"]] {
        context(&scene, args).run().await.exits(2);
    }
    assert!(scene.omp(&["-p", "/context now"]).run().await.stderr.contains("hint: usage: /context [json]"));
}

/// Returns the system prompt of the first request, with `omp` started in a project that has these files.
async fn told(files: &[(&str, &str)], home: &[(&str, &str)], args: &[&str]) -> String {
    let scene = scene().await;
    for (path, text) in files {
        scene.workspace.write(path, text).unwrap();
    }
    for (path, text) in home {
        std::fs::create_dir_all(scene.workspace.agent_dir()).unwrap();
        std::fs::write(scene.workspace.agent_dir().join(path), text).unwrap();
    }
    scene.omp(&[&["-p", "hi"], args].concat()).run().await.exits(0);
    let body = scene.last_request().json().unwrap();
    body["messages"][0]["content"].as_str().map_or_else(|| body["messages"][0]["content"].to_string(), str::to_owned)
}

#[tokio::test]
async fn prompts_of_files_and_flags_take_the_place_they_should() {
    let project = [(".omp/SYSTEM.md", "Theirs.\n"), (".omp/APPEND_SYSTEM.md", "Theirs too.\n")];
    let user = [("SYSTEM.md", "Mine.\n"), ("APPEND_SYSTEM.md", "Mine too.\n")];
    let system = told(&[], &user, &[]).await;
    assert!(system.starts_with("Mine.\n\n# Environment\n") && system.ends_with("\nMine too.\n"), "{system}");
    let system = told(&project, &user, &[]).await;
    assert!(system.starts_with("Theirs.\n\n# Boundaries\n") && system.ends_with("\nTheirs too.\n"), "{system}");
    let system = told(&project, &user, &["--system-prompt", "Flag.", "--append-system-prompt", "End."]).await;
    assert!(system.starts_with("Flag.\n\n# Environment\n") && system.ends_with("\nEnd.\n"), "{system}");
}

#[tokio::test]
async fn the_day_a_session_began_stays_when_it_goes_on() {
    let scene = scene().await;
    scene.omp(&["-p", "hi"]).run().await.exits(0);
    let file = scene.session_file();
    let text = std::fs::read_to_string(&file).unwrap();
    let header = text.lines().find(|line| line.contains("\"type\":\"session\"")).unwrap();
    let began = serde_json::from_str::<Value>(header).unwrap()["timestamp"].as_str().unwrap().to_owned();
    std::fs::write(&file, text.replace(&began, &format!("2020-02-03{}", &began[10..]))).unwrap();
    scene.omp(&["-c", "-p", "go on"]).run().await.exits(0);
    assert!(scene.last_request().json().unwrap().to_string().contains("Session began: 2020-02-03"));
}

#[tokio::test]
async fn the_files_of_the_project_are_told_where_the_user_wants_it() {
    let scene = scene().await;
    scene.workspace.write_config_yml("includeWorkspaceTree: true\n").unwrap();
    scene.workspace.write("src/main.rs", "").unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(0);
    let body = scene.last_request().json().unwrap().to_string();
    assert!(body.contains("src/\\n  main.rs\\na.txt"), "{body}");
}
