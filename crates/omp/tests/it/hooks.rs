//! Hooks through the binary: their input, what they deny, change and add, and which of them run.

use omp_testkit::{Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Scene, outline};
use crate::rpc::Client;

/// A scene whose user has these hooks in Claude Code's settings: event, matcher, script.
async fn scene(turns: impl IntoIterator<Item = Turn>, hooks: &[(&str, &str, &str)]) -> Scene {
    let scene = Scene::new(Wire::Completions, Script::new(turns)).await;
    put(&scene, &scene.workspace.home().join(".claude/settings.json"), hooks);
    scene
}

fn put(scene: &Scene, file: &std::path::Path, hooks: &[(&str, &str, &str)]) {
    let mut events = json!({});
    for (index, (event, matcher, script)) in hooks.iter().enumerate() {
        let path = scene.workspace.home().join(format!("hook{index}.sh"));
        std::fs::write(&path, script).unwrap();
        let entry =
            json!({"matcher": matcher, "hooks": [{"type": "command", "command": format!("sh {}", path.display())}]});
        match &mut events[*event] {
            Value::Array(entries) => entries.push(entry),
            other => *other = json!([entry]),
        }
    }
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, json!({"hooks": events}).to_string()).unwrap();
}

fn bash(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

/// Returns the first lines of the results.
fn results(scene: &Scene) -> Vec<String> {
    let lines = outline(&scene.messages());
    lines.iter().filter_map(|line| line.strip_prefix("result: ")).map(str::to_owned).collect()
}

fn sent(scene: &Scene) -> String {
    scene.last_request().json().unwrap()["messages"].to_string()
}

#[tokio::test]
async fn a_hook_is_told_in_claudes_words_and_its_refusal_is_what_the_model_reads() {
    let script =
        "cat > told.json; echo \"$CLAUDE_PROJECT_DIR|$OMP_PROJECT_DIR\" > dirs; echo no bash today >&2; exit 2";
    let scene = scene([bash("touch ran"), Turn::text("Fine.")], &[("PreToolUse", "Bash", script)]).await;
    scene.omp(&["-p", "go"]).run().await.exits(0).prints("Fine.\n");
    assert_eq!(results(&scene), ["`bash` was not run: a hook of the user refused it: no bash today"]);
    assert!(!scene.workspace.project().join("ran").exists());
    let told: Value = serde_json::from_str(&scene.workspace.read("told.json").unwrap()).unwrap();
    let cwd = scene.workspace.project().canonicalize().unwrap();
    assert_eq!(told["hook_event_name"], "PreToolUse");
    assert_eq!((&told["tool_name"], &told["omp_tool"]), (&json!("Bash"), &json!("bash")));
    assert_eq!(
        (&told["tool_input"]["command"], &told["omp_input"]["command"]),
        (&json!("touch ran"), &json!("touch ran"))
    );
    assert_eq!(told["cwd"], cwd.display().to_string());
    assert_eq!(told["permission_mode"], "bypassPermissions");
    assert_eq!(told["transcript_path"], scene.session_file().display().to_string());
    assert!(told["session_id"].as_str().is_some_and(|id| !id.is_empty()) && told["tool_use_id"].is_string(), "{told}");
    let dirs = scene.workspace.read("dirs").unwrap();
    assert_eq!(dirs.trim(), format!("{0}|{0}", cwd.display()));
}

#[tokio::test]
async fn changed_arguments_are_run_and_judged_instead_of_the_models() {
    let amend = |command: &str| {
        let said = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
            "updatedInput": {"command": command}}});
        format!("cat >/dev/null; cat <<'X'\n{said}\nX\n")
    };
    for (config, command, expect) in [
        ("", "echo other", "other"),
        (
            "tools: {approval: {bash: deny}}\n",
            "echo other",
            "`bash` was not run: the setting `tools.approval.bash` is `deny`.",
        ),
        ("tools: {approval: {bash: prompt}}\n", "echo other", "`bash` was not run: it needs the user's approval"),
        // A call that only the approval mode would ask about is not asked.
        ("tools: {approvalMode: always-ask}\n", "echo other", "other"),
        ("tools: {approvalMode: always-ask}\n", "curl x | sh", "`bash` was not run: it needs the user's approval"),
        ("tools: {deny: ['bash(touch *)']}\n", "touch denied", "the user rule `bash(touch *)` denies it"),
        ("tools: {approvalMode: always-ask}\n", "rm -rf /", "`bash` was not run: it would write to / (outside the"),
    ] {
        let scene = scene([bash("echo first"), Turn::text("Fine.")], &[("PreToolUse", "bash", &amend(command))]).await;
        scene.workspace.write_config_yml(config).unwrap();
        scene.omp(&["-p", "go"]).run().await.exits(0);
        let results = results(&scene);
        assert!(results[0].contains(expect), "{config} {results:?}");
    }
    let wrong = r#"cat >/dev/null; echo '{"hookSpecificOutput": {"updatedInput": {"command": 7}}}'"#;
    let scene = scene([bash("echo first"), Turn::text("Fine.")], &[("PreToolUse", "bash", wrong)]).await;
    scene.omp(&["-p", "go"]).run().await.exits(0);
    assert!(results(&scene)[0].contains("changed its arguments to ones that are not valid"), "{:?}", results(&scene));
}

#[tokio::test]
async fn a_question_that_a_hook_wants_is_asked_or_refused_where_nobody_is() {
    let ask = r#"cat >/dev/null; echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look twice"}}'"#;
    let scene = scene([bash("touch ran"), Turn::text("Fine.")], &[("PreToolUse", "", ask)]).await;
    scene.omp(&["-p", "go"]).run().await.exits(0);
    assert!(
        results(&scene)[0].starts_with("`bash` was not run: it needs the user's approval"),
        "{:?}",
        results(&scene)
    );
    assert!(!scene.workspace.project().join("ran").exists());
}

#[tokio::test]
async fn what_hooks_add_reaches_the_model() {
    let scene = scene(
        [bash("echo one"), Turn::text("Fine.")],
        &[
            ("SessionStart", "startup", "cat > start.json; echo the build is broken"),
            ("SessionStart", "resume", "touch never"),
            ("UserPromptSubmit", "", "cat > prompt.json; echo it is Monday"),
            ("PostToolUse", "Bash", "cat > post.json; echo format it >&2; exit 2"),
            ("SessionEnd", "", "cat > end.json"),
        ],
    )
    .await;
    scene.omp(&["-p", "go"]).run().await.exits(0).prints("Fine.\n");
    let sent = sent(&scene);
    for expect in ["the build is broken", "it is Monday", "format it"] {
        assert!(sent.contains(expect), "{expect}: {sent}");
    }
    let told = |file: &str| serde_json::from_str::<Value>(&scene.workspace.read(file).unwrap()).unwrap();
    assert_eq!(told("start.json")["source"], "startup");
    assert_eq!(told("prompt.json")["prompt"], "go");
    assert_eq!(told("end.json")["reason"], "other");
    let response = &told("post.json")["tool_response"];
    assert!(response["stdout"].as_str().unwrap().contains("one"), "{response}");
    assert!(!scene.workspace.project().join("never").exists());
}

#[tokio::test]
async fn a_prompt_that_a_hook_stops_is_not_sent() {
    for script in [
        "cat >/dev/null; echo no secrets please >&2; exit 2",
        r#"cat >/dev/null; echo '{"decision": "block", "reason": "no secrets please"}'"#,
        r#"cat >/dev/null; echo '{"continue": false, "stopReason": "no secrets please"}'"#,
    ] {
        let scene = scene([Turn::text("Never.")], &[("UserPromptSubmit", "", script)]).await;
        let ran = scene.omp(&["-p", "my password"]).run().await;
        assert!(!ran.status.success() && ran.stderr.contains("no secrets please"), "{ran}");
        assert!(scene.server.model_requests().is_empty());
    }
}

#[tokio::test]
async fn a_stop_hook_makes_the_model_go_on_and_never_for_ever() {
    let once = "grep -q '\"stop_hook_active\":true' && exit 0; echo run the tests >&2; exit 2";
    let scene = scene([Turn::text("Done."), Turn::text("Tested.")], &[("Stop", "", once)]).await;
    scene.omp(&["-p", "go"]).run().await.exits(0).prints("Tested.\n");
    assert!(sent(&scene).contains("run the tests"));
    let always = "cat >/dev/null; echo more >&2; exit 2";
    let turns: Vec<Turn> = (0..12).map(|number| Turn::text(format!("Answer {number}."))).collect();
    let scene = self::scene(turns, &[("Stop", "", always)]).await;
    let ran = scene.omp(&["-p", "go"]).run().await.exits(0).prints("Answer 8.\n");
    assert!(ran.stderr.contains("stopped after 8 times"), "{ran}");
}

#[tokio::test]
async fn a_hook_that_says_stop_ends_the_run() {
    let stop = r#"cat >/dev/null; echo '{"continue": false, "stopReason": "that is enough"}'"#;
    for event in ["PreToolUse", "PostToolUse"] {
        let scene = scene([bash("echo one"), Turn::text("Never.")], &[(event, "Bash", stop)]).await;
        let ran = scene.omp(&["-p", "go"]).run().await;
        assert!(!ran.status.success() && ran.stderr.contains("that is enough"), "{event} {ran}");
        assert_eq!(scene.server.model_requests().len(), 1, "{event}");
    }
}

#[tokio::test]
async fn hooks_of_a_project_do_not_run_and_are_named() {
    let scene = scene([bash("echo one"), Turn::text("Fine.")], &[]).await;
    for (file, text) in [
        (".claude/settings.json", json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch owned1"}]}]}}).to_string()),
        (".claude/settings.local.json", json!({"disableAllHooks": true, "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "touch owned2"}]}]}}).to_string()),
        (".omp/hooks.json", json!({"Stop": [{"hooks": [{"command": "touch owned3"}]}]}).to_string()),
        (".omp/hooks.yml", "hooks:\n  UserPromptSubmit:\n    - hooks: [{command: touch owned4}]\n".to_owned()),
        (".omp/config.yml", "disabledProviders: [claude]\nhooks:\n  SessionEnd:\n    - hooks: [{command: touch owned5}]\n".to_owned()),
    ] {
        scene.workspace.write(file, text).unwrap();
    }
    // The user's own hook runs whatever the project sets.
    let guard = scene.workspace.home().join(".claude/settings.json");
    put(&scene, &guard, &[("PreToolUse", "*", "echo guarded >&2; exit 2")]);
    let ran = scene.omp(&["-p", "go"]).run().await.exits(0);
    assert!(ran.stderr.contains("hooks of this project were not run, because they are not trusted"), "{ran}");
    assert!(ran.stderr.contains("touch owned3"), "{ran}");
    for number in 1..=5 {
        assert!(!scene.workspace.project().join(format!("owned{number}")).exists(), "{number}");
    }
    assert!(results(&scene)[0].contains("guarded"), "{:?}", results(&scene));
}

#[tokio::test]
async fn hooks_that_fail_stop_nothing_and_are_told() {
    let scene = scene(
        [bash("echo one"), Turn::text("Fine.")],
        &[
            ("PreToolUse", "Bash", "cat >/dev/null; echo oh dear >&2; exit 1"),
            ("Bogus", "", "true"),
            ("PreToolUse", "B(", "true"),
        ],
    )
    .await;
    let ran = scene.omp(&["-p", "go"]).run().await.exits(0).prints("Fine.\n");
    for expect in ["failed with exit code 1: oh dear", "unknown event", "matcher `B(` cannot be read"] {
        assert!(ran.stderr.contains(expect), "{expect}: {ran}");
    }
    assert_eq!(results(&scene), ["one"]);
}

#[tokio::test]
async fn in_rpc_mode_hooks_guard_edits_of_every_file_and_are_listed() {
    let guard = "input=$(cat); case $input in *'\"file_path\":\"'*'/b.txt\"'*) echo b.txt is mine >&2; exit 2;; esac";
    let write = |path: &str| Turn::call("write", json!({"path": path, "content": "x"}));
    let scene =
        scene([write("./b.txt"), write("c.txt"), Turn::text("Fine.")], &[("PreToolUse", "Edit|Write", guard)]).await;
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("go").await;
    assert!(!scene.workspace.project().join("b.txt").exists());
    assert_eq!(scene.workspace.read("c.txt").unwrap(), "x");
    let failed = results(&scene);
    assert!(failed[0].contains("b.txt is mine"), "{failed:?}");
    client.finish().await;
    let listed = scene.omp(&["-p", "/hooks"]).run().await.exits(0);
    assert!(listed.stdout.contains("PreToolUse Edit|Write: sh ") && listed.stdout.contains("yours; 600 s"), "{listed}");
}

#[tokio::test]
async fn in_rpc_mode_a_question_of_a_hook_is_asked_and_told_to_notification_hooks() {
    let ask = r#"cat >/dev/null; echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look twice"}}'"#;
    let hooks = [
        ("PreToolUse", "Bash", ask),
        ("Notification", "permission_prompt", "cat > notified.json; mkfifo hold; cat hold"),
    ];
    let scene = scene([bash("echo one"), Turn::text("Fine.")], &hooks).await;
    let mut client = Client::start(&scene, &[]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    let question = client.until("extension_ui_request").await;
    assert!(question.to_string().contains("look twice"), "{question}");
    client.kill().await;
}

#[tokio::test]
async fn hooks_can_be_switched_off() {
    let scene = scene([bash("echo one"), Turn::text("Fine.")], &[("PreToolUse", "", "exit 2")]).await;
    scene.workspace.write_config_yml("disableAllHooks: true\n").unwrap();
    scene.omp(&["-p", "go"]).run().await.exits(0);
    assert_eq!(results(&scene), ["one"]);
}

#[tokio::test]
async fn hooks_of_a_file_that_is_named_on_the_command_line_run() {
    let scene = scene([bash("echo one"), Turn::text("Fine.")], &[]).await;
    scene.workspace.write("extra.yml", "hooks:\n  PreToolUse:\n    - {matcher: Bash, hooks: [{command: 'echo not today >&2; exit 2'}]}\n  Stop: 7\n").unwrap();
    let ran = scene.omp(&["--config", "extra.yml", "-p", "go"]).run().await.exits(0);
    assert!(results(&scene)[0].contains("not today"), "{:?}", results(&scene));
    assert!(ran.stderr.contains("a hook of `Stop` is ignored"), "{ran}");
    assert!(!ran.stderr.contains("unknown setting"), "{ran}");
}

#[tokio::test]
async fn a_session_that_gives_way_says_why() {
    let end = "cat >> ended.json";
    let scene = scene(
        [Turn::text("One."), Turn::text("Two.")],
        &[("SessionEnd", "", end), ("SessionEnd", "clear", "touch cleared")],
    )
    .await;
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("go").await;
    let first = scene.session_file();
    assert_eq!(client.ask(json!({"type": "new_session"})).await["success"], true);
    client.prompt("go").await;
    let back = client.ask(json!({"type": "switch_session", "sessionPath": first})).await;
    assert_eq!(back["success"], true, "{back}");
    client.finish().await;
    let told = scene.workspace.read("ended.json").unwrap();
    let reasons: Vec<Value> =
        told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["reason"].take()).collect();
    assert_eq!(reasons, ["clear", "resume", "other"]);
    assert!(scene.workspace.path("cleared").exists());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_who_leaves_the_terminal_is_told_as_such() {
    for leave in ["/exit\r", "\x04"] {
        let scene = scene([Turn::text("Hi.")], &[("SessionEnd", "", "cat > ended.json")]).await;
        crate::seat::at_a_seat(|| {
            let mut seat = crate::seat::Seat::ready(&scene, &[]);
            seat.says("hello", "Hi.");
            seat.keys(leave);
            assert_eq!(seat.end(), 0);
        })
        .await;
        let told: Value = serde_json::from_str(&scene.workspace.read("ended.json").unwrap()).unwrap();
        assert_eq!(told["reason"], "prompt_input_exit", "{leave}");
    }
}
