//! `omp sessions` and `--fork`, through the binary.

use std::path::{Path, PathBuf};

use omp_testkit::{Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Ran, Scene, messages_in, outline};

async fn scene() -> Scene {
    let turns = [Turn::text("Reading.").and_call("read", json!({"path": "a.txt"})), Turn::text("First.")];
    let more = ["Second.", "Third.", "Fourth."].map(Turn::text);
    Scene::new(Wire::Anthropic, Script::new(turns.into_iter().chain(more))).await
}

impl Scene {
    async fn sessions(&self, args: &[&str]) -> Ran {
        Omp::bare(&self.workspace).args(["sessions"]).args(args).run().await
    }

    async fn sessions_json(&self, args: &[&str]) -> Value {
        self.sessions(args).await.exits(0).json_lines().remove(0)
    }
}

fn id_of(file: &Path) -> String {
    file.file_stem().unwrap().to_str().unwrap().split_once('_').unwrap().1.to_owned()
}

#[tokio::test]
async fn a_fork_goes_on_and_leaves_the_session_alone() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let before = std::fs::read(&file).unwrap();
    let artifacts = file.with_extension("");
    std::fs::create_dir(&artifacts).unwrap();
    std::fs::write(artifacts.join("0.bash.log"), "whole").unwrap();
    scene.omp(&["--fork", &id_of(&file), "-p", "two"]).run().await.exits(0).prints("Second.\n");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let fork = scene.workspace.session_files().unwrap().into_iter().find(|found| *found != file).unwrap();
    assert_eq!(std::fs::read_to_string(fork.with_extension("").join("0.bash.log")).unwrap(), "whole");
    let said = outline(&messages_in(&fork, &scene.workspace.agent_dir()));
    assert_eq!((said[0].as_str(), said[4].as_str()), ("user: one", "user: two"));
    scene.omp(&["--fork", "x", "-c", "-p", "hi"]).run().await.exits(2);
    scene.omp(&["--fork", "zzz", "-p", "hi"]).run().await.exits(2).complains(&["no session id starts with `zzz`"]);
}

#[tokio::test]
async fn a_session_of_another_project_is_not_resumed_here_but_can_be_forked() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let id = id_of(&scene.session_file());
    let other = scene.workspace.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let there = other.to_str().unwrap();
    let refused = scene.omp(&["--cwd", there, "--resume", &id, "-p", "two"]).run().await.exits(2);
    refused.complains(&["belongs to another folder", "--cwd", &format!("--fork {id}")]);
    scene.omp(&["--cwd", there, "--fork", &id, "-p", "two"]).run().await.exits(0).prints("Second.\n");
    scene.omp(&["--cwd", there, "-c", "-p", "three"]).run().await.exits(0).prints("Third.\n");
}

#[tokio::test]
async fn sessions_are_listed_searched_shown_and_counted() {
    let scene = scene().await;
    scene.sessions(&["list"]).await.exits(0).prints("no sessions here; `--all` lists those of all folders\n");
    assert_eq!(scene.sessions_json(&["list", "--json"]).await, json!([]));
    scene.omp(&["-p", "the parser is broken"]).run().await.exits(0);
    let file = scene.session_file();
    let id = id_of(&file);
    assert!(scene.sessions(&["list", "--all"]).await.exits(0).stdout.contains("the parser is broken"));
    let listed = scene.sessions_json(&["list", "--json"]).await;
    assert_eq!((&listed[0]["id"], &listed[0]["firstMessage"]), (&json!(id), &json!("the parser is broken")));
    let found = scene.sessions_json(&["search", "--json", "PARSER", "first"]).await;
    assert_eq!((found.as_array().unwrap().len(), &found[0]["id"]), (1, &json!(id)));
    scene.sessions(&["search", "parser", "nowhere"]).await.exits(0).prints("nothing found\n");
    let stats = scene.sessions_json(&["stats", &id, "--json"]).await;
    assert_eq!((&stats["userMessages"], &stats["answers"]), (&json!(1), &json!(2)));
    assert_eq!(stats["toolCalls"], json!({"read": 1}));
    let shown = scene.sessions(&["show", &id]).await.exits(0).stdout;
    assert!(shown.contains("First.") && shown.contains(&id) && !shown.contains("damage"), "{shown}");
    scene.sessions(&["show", "zzz"]).await.exits(2).complains(&["no session id starts with `zzz`", "hint:"]);
    scene.sessions(&["stats", "no/such.jsonl"]).await.exits(2).complains(&["no such file"]);
}

#[tokio::test]
async fn a_session_is_renamed_archived_deleted_and_brought_back() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let id = id_of(&file);
    scene.sessions(&["rename", &id, "A  better\nname"]).await.exits(0);
    assert_eq!(scene.sessions_json(&["list", "--json"]).await[0]["title"], "A better name");
    scene.sessions(&["rename", &id, " "]).await.exits(2).complains(&["title is empty"]);
    let bytes = std::fs::read(&file).unwrap();
    scene.sessions(&["archive", &id]).await.exits(0);
    assert!(!file.exists());
    assert_eq!(scene.sessions_json(&["list", "--json", "--archived"]).await[0]["id"], json!(id));
    scene.sessions(&["unarchive", &id]).await.exits(0);
    scene.sessions(&["unarchive", &id]).await.exits(2).complains(&["is not archived"]);
    scene.sessions(&["delete", &id]).await.exits(2).complains(&["nothing was deleted", "--yes"]);
    assert!(file.exists());
    let trashed = scene.sessions_json(&["delete", &id, "--yes", "--json"]).await;
    assert!(PathBuf::from(trashed["path"].as_str().unwrap()).exists() && !file.exists());
    scene.sessions(&["unarchive", &id]).await.exits(0);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
    Omp::bare(&scene.workspace).args(["-c", "-p", "two"]).run().await.exits(0).prints("Second.\n");
}

#[tokio::test]
async fn a_session_moves_to_another_project_and_goes_on_there() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let id = id_of(&scene.session_file());
    let other = scene.workspace.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let there = other.to_str().unwrap();
    scene.sessions(&["move", &id, "no/such/folder"]).await.exits(2).complains(&["cannot move the session", "hint:"]);
    scene.sessions(&["move", &id, there]).await.exits(0);
    assert_eq!(scene.sessions_json(&["list", "--json"]).await, json!([]));
    scene.omp(&["--cwd", there, "-c", "-p", "two"]).run().await.exits(0).prints("Second.\n");
    assert_eq!(outline(&scene.messages())[0], "user: one");
}

#[tokio::test]
async fn damage_is_told_line_by_line_and_repaired_in_a_copy() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    let mut content = std::fs::read_to_string(&file).unwrap();
    content.insert_str(content.find("{\"type\":\"message\"").unwrap(), "garbage\n");
    content.push_str("{\"type\":\"mess");
    std::fs::write(&file, &content).unwrap();
    let id = id_of(&file);
    let shown = scene.sessions(&["show", &id]).await.exits(0).stdout;
    assert_eq!(shown.lines().filter(|line| line.starts_with("damage")).count(), 2, "{shown}");
    let repaired = scene.sessions_json(&["repair", &id, "--json"]).await;
    assert_eq!((&repaired["lost"], repaired["damage"].as_array().unwrap().len()), (&json!(0), 2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    let copy = PathBuf::from(repaired["path"].as_str().unwrap());
    assert_eq!(outline(&messages_in(&copy, &scene.workspace.agent_dir())).len(), 4);
}

#[tokio::test]
async fn cleaning_up_follows_a_quota() {
    let scene = scene().await;
    scene.omp(&["-p", "one"]).run().await.exits(0);
    let file = scene.session_file();
    scene.sessions(&["gc"]).await.exits(0);
    scene.sessions(&["gc", "--max-age", "5"]).await.exits(2).complains(&["a time such as 90d"]);
    let dry = scene.sessions_json(&["gc", "--max-size", "1B", "--dry-run", "--json"]).await;
    assert_eq!((dry["sessions"].as_array().unwrap().len(), file.exists()), (1, true));
    scene.sessions(&["gc", "--max-size", "1B"]).await.exits(0);
    assert!(!file.exists());
    assert_eq!(scene.sessions_json(&["list", "--json", "--all"]).await, json!([]));
}

#[tokio::test]
async fn a_terminal_goes_on_with_its_own_session() {
    let scene = scene().await;
    let in_pane = |pane: &'static str, args: &[&str]| scene.omp(args).env("TMUX_PANE", pane);
    in_pane("%1", &["-p", "one"]).run().await.exits(0);
    in_pane("%2", &["-p", "two"]).run().await.exits(0);
    in_pane("%1", &["-c", "-p", "three"]).run().await.exits(0);
    let said: Vec<_> = scene
        .workspace
        .session_files()
        .unwrap()
        .iter()
        .map(|file| outline(&messages_in(file, &scene.workspace.agent_dir())))
        .collect();
    let first = said.iter().find(|lines| lines[0] == "user: one").unwrap();
    assert!(first.contains(&"user: three".to_owned()), "{said:?}");
}

#[tokio::test]
async fn a_terminal_goes_on_with_the_session_it_had_last() {
    let scene = scene().await;
    let in_pane = |args: &[&str]| scene.omp(args).env("TMUX_PANE", "%1");
    in_pane(&["--mode", "rpc"]).input("{\"type\":\"get_state\"}\n").run().await.exits(0);
    assert!(!scene.workspace.agent_dir().join("terminal-sessions").exists(), "a program has no terminal");
    in_pane(&["-p", "one", "/new", "two"]).run().await.exits(0);
    scene.omp(&["-p", "elsewhere"]).run().await.exits(0);
    in_pane(&["-c", "-p", "three"]).run().await.exits(0);
    let files = scene.workspace.session_files().unwrap();
    let said: Vec<_> = files.iter().map(|file| outline(&messages_in(file, &scene.workspace.agent_dir()))).collect();
    let second = said.iter().find(|lines| lines[0] == "user: two").unwrap();
    assert!(second.contains(&"user: three".to_owned()), "{said:?}");
}
