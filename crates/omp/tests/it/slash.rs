//! Slash commands in print mode: the command replies, and the model is notified with the next message.

use omp_testkit::{PastEnd, Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Scene, outline};

#[tokio::test]
async fn todo_changes_the_list_and_the_model_hears_of_it() {
    let scene = Scene::new(Wire::Completions, [Turn::text("Fine.")]).await;
    scene.workspace.write_config_yml("todo: { reminders: false }\n").unwrap();
    let run = scene.omp(&["-p", "/todo append Build 'write tests'", "/todo done write", "go on"]).run().await;
    let shown = run.exits(0).stdout;
    assert!(shown.contains("added \"Build write tests\" to Todos"), "{shown}");
    assert!(shown.contains("- [x] Build write tests"), "{shown}");
    assert!(shown.ends_with("Fine.\n"), "{shown}");
    let request = scene.last_request().json().unwrap().to_string();
    assert!(request.contains("The user has changed the todo list by hand"), "{request}");
    assert_eq!(scene.server.model_requests().len(), 1, "a command asks no model");
    assert_eq!(outline(&scene.messages())[2..], ["user: go on", "assistant: Fine."]);
}

#[tokio::test]
async fn a_list_that_the_user_changed_goes_on_in_a_resumed_session() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    scene.workspace.write_config_yml("todo: { reminders: false }\n").unwrap();
    scene.omp(&["-p", "hello", "/todo append ship it"]).run().await.exits(0);
    let shown = scene.omp(&["-c", "-p", "/todo"]).run().await.exits(0).stdout;
    assert!(shown.contains("- [/] ship it"), "{shown}");
}

#[tokio::test]
async fn a_list_goes_to_a_file_and_comes_back() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    scene.omp(&["-p", "/todo append one", "/todo export", "/todo rm", "/todo import TODO.md"]).run().await.exits(0);
    assert_eq!(std::fs::read_to_string(scene.workspace.project().join("TODO.md")).unwrap(), "# Todos\n- [/] one\n");
    let refused = scene.omp(&["-p", "/todo append one", "/todo export"]).run().await.exits(2).stderr;
    assert!(refused.contains("cannot write") && refused.contains("hint:"), "{refused}");
    for (typed, complaint) in [
        ("/todo import", "no file given"),
        ("/todo import gone.md", "cannot import"),
        ("/todo frobnicate", "unknown argument `frobnicate`"),
        ("/todo start", "start needs a task"),
    ] {
        let told = scene.omp(&["-p", typed]).run().await.exits(2).stderr;
        assert!(told.contains(complaint), "{typed}: {told}");
    }
}

#[tokio::test]
async fn a_list_is_copied_and_replaced() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    let list = "# Todos\n- [/] one\n";
    let copied = scene.omp(&["-p", "/todo append one", "/todo copy"]).run().await.exits(0).stdout;
    assert!(copied.ends_with(list), "{copied}");
    let edited = scene.omp(&["-p", "/todo append one", "/todo edit"]).run().await.exits(0).stdout;
    assert!(edited.ends_with(&format!("{list}\n`/todo edit <list>` replaces it.\n")), "{edited}");
    let replaced = scene.omp(&["-p", "/todo append one", "/todo edit # New\n- [x] two"]).run().await.exits(0).stdout;
    assert!(replaced.ends_with("replaced the list\n\n# New\n- [x] two\n"), "{replaced}");
    for (typed, complaint) in [
        ("/todo copy", "there are no tasks to copy"),
        ("/todo edit - [?] one", "the list is unchanged: Line 1: unknown status marker"),
    ] {
        let told = scene.omp(&["-p", typed]).run().await.exits(2).stderr;
        assert!(told.contains(complaint), "{typed}: {told}");
    }
}

#[tokio::test]
async fn a_reply_stands_after_the_answer_before_it() {
    let scene = Scene::new(Wire::Completions, ["One.", "Two."].map(Turn::text)).await;
    let shown = scene.omp(&["-p", "/tools", "say hello", "/session"]).run().await.exits(0).stdout;
    let order = [shown.find("read"), shown.find("One."), shown.rfind("approval")];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{shown}");
    let shown = scene.omp(&["-p", "hello", "/session"]).run().await.exits(0).stdout;
    assert!(shown.starts_with("Two.\n") && shown.contains("approval"), "{shown}");
}

#[tokio::test]
async fn shake_leaves_out_old_output_without_a_model() {
    let read = Turn::call("bash", json!({"command": "seq 20000"}));
    let scene = Scene::new(Wire::Completions, [read, Turn::text("One."), Turn::text("Two.")]).await;
    scene.workspace.write_config_yml("compaction: { keepRecentTokens: 1 }\n").unwrap();
    let shown = scene.omp(&["-p", "hello", "/shake", "again"]).run().await.exits(0).stdout;
    assert!(shown.starts_with("Old tool results and thinking left out: about "), "{shown}");
    let sent = scene.last_request().json().unwrap().to_string();
    assert!(sent.contains("characters left out"), "{sent}");
    assert_eq!(scene.server.model_requests().len(), 3);
    for (typed, told) in [("/shake", "Nothing to shake."), ("/shake x", "unknown argument `x`")] {
        let refused = scene.omp(&["-p", typed]).run().await.exits(2).stderr;
        assert!(refused.contains(told), "{typed}: {refused}");
    }
}

#[tokio::test]
async fn json_mode_tells_a_reply_as_a_frame() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    let shown = scene.omp(&["--mode", "json", "-p", "/todo append one"]).run().await.exits(0).stdout;
    let frame: serde_json::Value = serde_json::from_str(shown.lines().last().unwrap()).unwrap();
    assert_eq!(frame["type"], "command_reply");
    assert!(frame["text"].as_str().unwrap().contains("- [/] one"), "{frame}");
}

#[tokio::test]
async fn two_commands_in_one_word_are_no_message() {
    let scene = Scene::new(Wire::Completions, [Turn::text("never")]).await;
    let told = scene.omp(&["-p", "/undo/redo"]).run().await.exits(2).stderr;
    assert!(told.contains("unknown command /undo/redo") && told.contains("did you mean /undo, /redo?"), "{told}");
    assert!(scene.server.model_requests().is_empty());
}

#[tokio::test]
async fn a_path_is_a_message_for_the_model() {
    let scene = Scene::new(Wire::Completions, [Turn::text("What?")]).await;
    scene.omp(&["-p", "/usr/bin/env is missing"]).run().await.exits(0).prints("What?\n");
    assert_eq!(outline(&scene.messages())[0], "user: /usr/bin/env is missing");
}

#[tokio::test]
async fn a_model_that_stops_with_open_tasks_is_reminded() {
    let plan = json!({"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["one"]}]}]});
    let done = json!({"ops": [{"op": "done", "task": "one"}]});
    let turns = [Turn::call("todo", plan), Turn::text("Bye."), Turn::call("todo", done), Turn::text("Done.")];
    let scene = Scene::new(Wire::Completions, turns).await;
    let shown = scene.omp(&["--mode", "json", "-p", "go"]).run().await.exits(0).stdout;
    let reminder = shown.lines().find(|line| line.contains("\"todo_reminder\"")).expect("no reminder was told");
    let reminder: serde_json::Value = serde_json::from_str(reminder).unwrap();
    assert_eq!((reminder["attempt"].as_u64(), reminder["maxAttempts"].as_u64()), (Some(1), Some(1)));
    assert_eq!(reminder["todos"][0]["content"], "one");
    let heard = scene.server.model_requests()[2].json().unwrap().to_string();
    assert!(heard.contains("You stopped with 1 task of the todo list open"), "{heard}");
}

/// One extra request per message, not three.
#[tokio::test]
async fn open_tasks_are_reminded_of_once_per_run() {
    let plan = json!({"ops": [{"op": "init", "list": [{"phase": "Build", "items": ["one"]}]}]});
    let turns = [Turn::call("todo", plan), Turn::text("Bye."), Turn::text("Bye again.")];
    let scene = Scene::new(Wire::Completions, Script::new(turns).past_end(PastEnd::RepeatLast)).await;
    scene.omp(&["-p", "go", "and now?"]).run().await.exits(0);
    let reminders = scene.messages().iter().filter(|message| message.role() == "custom").count();
    assert_eq!((scene.server.model_requests().len(), reminders), (5, 2));
}

#[tokio::test]
async fn the_end_of_a_background_job_is_told_to_the_model() {
    let turns = [
        Turn::call("bash", json!({"command": "echo built", "async": true})),
        Turn::call("bash", json!({"command": "sleep 1; echo later"})),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.workspace.write_config_yml("async: { enabled: true }\n").unwrap();
    scene.omp(&["-p", "go"]).run().await.exits(0).prints("Done.\n");
    let heard = scene.last_request().json().unwrap().to_string();
    assert!(heard.contains("Background jobs have ended") && heard.contains("bash-1 completed"), "{heard}");
}

#[tokio::test]
async fn names_that_people_know_from_elsewhere_work_as_well() {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    let says = async |line: &str| scene.omp(&["-p", line]).run().await.exits(0).stdout;
    for (name, other) in [("/usage", "/cost"), ("/settings theme.dark", "/config theme.dark"), ("/changes", "/diff")] {
        assert_eq!(says(name).await, says(other).await, "{other}");
    }
    assert!(says("/status").await.contains("session"));
    assert!(says("/bug").await.contains("report"));
    says("/clear").await;
    assert!(scene.server.model_requests().is_empty());
}
