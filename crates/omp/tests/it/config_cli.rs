//! `omp config` and the files behind it, through the binary.

use omp_testkit::{Script, TempWorkspace, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Ran, Scene};

fn world(user: &str, project: &str) -> TempWorkspace {
    let files: &[(&str, &str)] = if project.is_empty() { &[] } else { &[(".omp/config.yml", project)] };
    let workspace = TempWorkspace::new(files).unwrap();
    if !user.is_empty() {
        workspace.write_config_yml(user).unwrap();
    }
    workspace
}

async fn config(workspace: &TempWorkspace, args: &[&str]) -> Ran {
    Omp::bare(workspace).args(["config"]).args(args).run().await
}

async fn as_json(workspace: &TempWorkspace, args: &[&str]) -> Value {
    config(workspace, args).await.exits(0).json_lines().remove(0)
}

fn text(workspace: &TempWorkspace) -> String {
    std::fs::read_to_string(workspace.agent_dir().join("config.yml")).unwrap()
}

#[tokio::test]
async fn a_value_comes_from_the_strongest_layer() {
    let workspace = world("retry: { maxRetries: 5 }\n", "retry:\n  baseDelayMs: 7\n");
    let overlay = workspace.project().join("over.yml");
    std::fs::write(&overlay, "retry.maxDelayMs: 9\n").unwrap();
    let over = overlay.to_str().unwrap();
    for (key, value, from, file) in [
        ("retry.enabled", json!(true), "default", None),
        ("retry.maxRetries", json!(5), "user", Some("agent/config.yml")),
        ("retry.baseDelayMs", json!(7), "project", Some(".omp/config.yml")),
        ("retry.maxDelayMs", json!(9), "--config", Some("over.yml")),
    ] {
        let told = as_json(&workspace, &["get", key, "--json", "--config", over]).await;
        assert_eq!((&told["value"], &told["from"]), (&value, &json!(from)), "{told}");
        let path = told["file"].as_str();
        assert_eq!(path.is_some(), file.is_some(), "{told}");
        assert!(path.is_none_or(|path| path.ends_with(file.unwrap())), "{told}");
    }
    config(&workspace, &["get", "retry.maxRetries"]).await.exits(0).prints("5\n");
    let list = config(&workspace, &["list", "--changed"]).await.exits(0);
    assert!(list.stdout.contains("retry.maxRetries") && list.stdout.contains("user (~/"), "{}", list.stdout);
    assert!(!list.stdout.contains("retry.enabled"), "{}", list.stdout);
    let all = as_json(&workspace, &["list", "--json"]).await;
    assert!(all["settings"].as_array().unwrap().len() > 50);
    let paths = as_json(&workspace, &["path", "--json"]).await;
    assert_eq!(paths[0]["exists"], true);
    assert_eq!(paths[2]["from"], "project");
}

#[tokio::test]
async fn a_change_keeps_the_rest_of_the_file() {
    let old = "# mine\nown: {x: 1}   # not yours\ntools:\n  approvalMode: write # why\n";
    let workspace = world(old, "");
    config(&workspace, &["set", "tools.approvalMode", "always-ask"]).await.exits(0);
    assert_eq!(text(&workspace), old.replace("write", "always-ask"));
    config(&workspace, &["set", "tools.approval.bash", "deny"]).await.exits(0);
    config(&workspace, &["set", "disabledProviders", "[a, b]"]).await.exits(0);
    config(&workspace, &["set", "edit.fuzzyThreshold", "0.5"]).await.exits(0);
    config(&workspace, &["set", "providers.streamIdleTimeoutSeconds", "-1"]).await.exits(0);
    config(&workspace, &["get", "disabledProviders"]).await.exits(0).prints("[\"a\",\"b\"]\n");
    config(&workspace, &["get", "tools.approval.bash"]).await.exits(0).prints("deny\n");
    for key in ["tools.approval.bash", "disabledProviders", "edit.fuzzyThreshold", "own.x"] {
        config(&workspace, &["reset", key]).await.exits(0);
    }
    config(&workspace, &["get", "edit.fuzzyThreshold"]).await.exits(0).prints("0.95\n");
    assert!(text(&workspace).starts_with("# mine\n"), "{}", text(&workspace));
    // An old name is an alias of the current one.
    config(&workspace, &["set", "grep.enabled", "false"]).await.exits(0);
    config(&workspace, &["get", "search.enabled"]).await.exits(0).prints("false\n");
}

#[tokio::test]
async fn what_is_no_setting_or_no_value_is_refused_with_a_way_out() {
    let workspace = world("", "");
    for (args, said) in [
        (&["get", "tools.aprovalMode"][..], "did you mean `tools.approvalMode`?"),
        (&["set", "tool.approvalMode", "write"], "did you mean `tools.approvalMode`?"),
        (&["get", "retry"], "it is a group"),
        (&["get", "zzzzzz"], "`omp config list` shows"),
        (&["set", "advisor.enabled", "true"], "this version of omp does not use"),
        (&["set", "tools.approvalMode", "ask"], "one of auto, ask-writes, ask-all"),
        (&["set", "tools.approval.bash", "dney"], "one of allow, prompt, deny"),
        (&["set", "retry.maxRetries", "many"], "a number from 0 to 100"),
        (&["set", "retry.maxRetries", "101"], "a number from 0 to 100"),
        (&["set", "retry.enabled", "perhaps"], "true or false"),
        (&["set", "retry.enabled", "[1"], "values are YAML"),
        (&["reset", "nosuchthing"], "unknown setting"),
    ] {
        config(&workspace, args).await.exits(2).complains(&[said, "hint:"]);
    }
    assert!(!workspace.agent_dir().join("config.yml").exists());
    workspace.write_config_yml("{retry: {maxRetries: 1}}\n").unwrap();
    config(&workspace, &["set", "retry.maxRetries", "2"]).await.exits(1).complains(&["written in braces", "hint:"]);
}

#[tokio::test]
async fn the_schema_knows_every_setting() {
    let workspace = world("", "");
    let ran = config(&workspace, &["schema"]).await.exits(0);
    let schema: Value = serde_json::from_str(&ran.stdout).unwrap();
    let mode = &schema["properties"]["tools"]["properties"]["approvalMode"];
    assert_eq!(mode["enum"], json!(["auto", "ask-writes", "ask-all", "yolo", "write", "always-ask"]));
    assert_eq!(mode["default"], "auto");
    let path = config(&workspace, &["path"]).await.exits(0).stdout;
    assert!(path.trim_end().ends_with("config.yml") && path.lines().count() == 1, "{path}");
}

#[tokio::test]
async fn slips_in_files_are_told_once_and_what_is_wrong_does_not_count() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Hello.")])).await;
    let user =
        "retry: { baseDelayMs: 1, maxRetrys: 2, maxRetries: many }\nadvisor: { enabled: true }\ncompany: { x: 1 }\n";
    scene.workspace.write_config_yml(user).unwrap();
    std::fs::create_dir_all(scene.workspace.project().join(".omp")).unwrap();
    std::fs::write(scene.workspace.project().join(".omp/config.yml"), "shellPath: ./evil.sh\n").unwrap();
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n");
    for said in [
        "unknown setting `retry.maxRetrys`",
        "did you mean `retry.maxRetries`?",
        "`retry.maxRetries` is ignored: it must be a number from 0 to 100",
        "`shellPath` is ignored: a project cannot set it",
        "unknown setting `company`",
    ] {
        assert_eq!(ran.stderr.matches(said).count(), 1, "{said}\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("advisor"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_policy_that_cannot_be_read_stops_the_run() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Hello.")])).await;
    scene.workspace.write_config_yml("tools: { approvalMode: ask }\n").unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(2).complains(&[
        "tools.approvalMode",
        "auto, ask-writes, ask-all",
        "hint:",
    ]);
    scene.workspace.write_config_yml("tools: { aprovalMode: write }\n").unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(2).complains(&["did you mean `tools.approvalMode`?"]);
    // The command that repairs the setting works.
    scene.workspace.write_config_yml("tools:\n  approvalMode: ask\n").unwrap();
    config(&scene.workspace, &["set", "tools.approvalMode", "write"]).await.exits(0);
    scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n");
}

#[tokio::test]
async fn settings_of_an_older_version_are_taken_over() {
    let workspace = world("", "");
    let agent = workspace.agent_dir();
    std::fs::create_dir_all(&agent).unwrap();
    std::fs::write(agent.join("settings.json"), r#"{"queueMode": "all", "ask": {"timeout": 30000}}"#).unwrap();
    config(&workspace, &["get", "steeringMode"]).await.exits(0).prints("all\n");
    config(&workspace, &["get", "ask.timeout"]).await.exits(0).prints("30\n");
    assert_eq!(text(&workspace), "ask:\n  timeout: 30\nsteeringMode: all\n");
    assert!(agent.join("settings.json.bak").exists() && !agent.join("settings.json").exists());
}

#[tokio::test]
async fn settings_in_a_database_of_an_older_version_are_taken_over_once() {
    let rows = "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at INTEGER);
        INSERT INTO settings VALUES ('queueMode', '\"all\"', 0), ('ask', '{\"timeout\": 30000}', 0), ('bad', '{', 0);";
    let one = "CREATE TABLE settings (id INTEGER PRIMARY KEY, data TEXT);
        INSERT INTO settings VALUES (1, '{\"queueMode\": \"all\", \"ask\": {\"timeout\": 30000}}');";
    let secrets = "CREATE TABLE auth_credentials (data TEXT); INSERT INTO auth_credentials VALUES ('sk-secret');";
    for (tables, log) in [(rows, "delete"), (one, "delete"), (rows, "wal")] {
        let workspace = world("", "");
        let agent = workspace.agent_dir();
        std::fs::create_dir_all(&agent).unwrap();
        let database = agent.join("agent.db");
        // Stays open during the test, as in the other program.
        let db = rusqlite::Connection::open(&database).unwrap();
        db.execute_batch(&format!("PRAGMA journal_mode = {log}; {tables} {secrets}")).unwrap();
        let before = std::fs::read(&database).unwrap();
        let ran = config(&workspace, &["get", "steeringMode"]).await.exits(0);
        ran.prints("all\n");
        assert_eq!(text(&workspace), "ask:\n  timeout: 30\nsteeringMode: all\n", "{log}");
        assert_eq!(std::fs::read(&database).unwrap(), before);
        db.execute("DELETE FROM settings", []).unwrap();
        config(&workspace, &["get", "ask.timeout"]).await.exits(0).prints("30\n");
    }
    let workspace = world("", "");
    std::fs::create_dir_all(workspace.agent_dir()).unwrap();
    std::fs::write(workspace.agent_dir().join("agent.db"), b"SQLite format 3\0 and then nothing of the kind").unwrap();
    config(&workspace, &["get", "steeringMode"]).await.exits(0).prints("one-at-a-time\n");
    config(&workspace, &["list"]).await.exits(0).complains(&["agent.db were not imported"]);
}

#[tokio::test]
async fn what_is_kept_but_not_read_is_said() {
    let workspace = world("advisor:\n  enabled: true\ncompany:\n  key: 1\n", "");
    let ran = config(&workspace, &["list", "--changed"]).await.exits(0);
    assert!(ran.stdout.contains("Used by other versions only: advisor.enabled\n"), "{ran}");
    assert!(ran.stdout.contains("Unknown: company.key\n"), "{ran}");
    config(&workspace, &["get", "advisor.enabled"]).await.exits(2).complains(&["does not use the setting"]);
}

#[tokio::test]
async fn two_processes_that_set_lose_nothing() {
    let workspace = world("# mine\n", "");
    let sets =
        [("retry.maxRetries", "7"), ("todo.remindersMax", "5"), ("async.maxJobs", "9"), ("read.defaultLimit", "70")];
    let set = async |(key, value): (&str, &str)| drop(config(&workspace, &["set", key, value]).await.exits(0));
    tokio::join!(set(sets[0]), set(sets[1]), set(sets[2]), set(sets[3]));
    for (key, value) in sets {
        config(&workspace, &["get", key]).await.exits(0).prints(&format!("{value}\n"));
    }
    assert!(text(&workspace).starts_with("# mine\n"));
}

#[tokio::test]
async fn a_projects_variables_do_no_harm() {
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Hello.")])).await;
    let evil =
        "HOME=/nowhere\nPI_CODING_AGENT_DIR=/nowhere\nMOCK_API_KEY=evil\nPI_SHELL_PREFIX=evil\nNULL_PROMPT=true\n";
    std::fs::write(scene.workspace.project().join(".env"), evil).unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n");
    assert!(!scene.last_request().json().unwrap()["system"].is_null());
}
