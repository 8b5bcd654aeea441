//! Tests with shell scripts as well-behaved and misbehaving hooks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use omp_config::{Declared, ItemSource, Level, Provider};
use omp_contain::Containment;
use omp_hooks::{Hook, HookSetup, HookTrust, Hooks, read};
use omp_policy::ApprovalMode;
use omp_session::{HookPermission, HookPoint, HookReply, HookScene, SessionHooks, StartSource};
use omp_types::{Env, ToolCall};
use serde_json::{Value, json};

/// Longer than anything here takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Trusts the project's hooks as long as this is true.
#[derive(Debug)]
struct Said(Arc<AtomicBool>);

impl HookTrust for Said {
    fn may_run(&self, _hook: &Hook) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn hooks(&self, entries: &[Value]) -> Hooks {
        let declared: Vec<Declared> = entries.iter().map(|value| self.declared(Level::User, value)).collect();
        self.of(&declared)
    }

    fn declared(&self, level: Level, value: &Value) -> Declared {
        let path = self.path().join(".claude/settings.json");
        Declared {
            name: "x".into(),
            value: value.clone(),
            source: ItemSource { provider: Provider::Claude, level, path },
        }
    }

    fn of(&self, declared: &[Declared]) -> Hooks {
        self.trusting(declared, Arc::new(AtomicBool::new(false)))
    }

    /// The project's hooks run as long as `trusted` is true.
    fn trusting(&self, declared: &[Declared], trusted: Arc<AtomicBool>) -> Hooks {
        let found = read(declared);
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SHELL", "/bin/false")].into_iter().collect();
        Hooks::new(
            found.hooks,
            HookSetup { env, containment: Containment::of_user(), trust: Arc::new(Said(trusted)), disabled: false },
        )
    }

    fn scene(&self) -> HookScene {
        HookScene {
            session_id: "s1".into(),
            transcript: None,
            cwd: self.path().display().to_string(),
            mode: ApprovalMode::Write,
            plans: false,
            model: "mock/one".into(),
        }
    }

    async fn fire(&self, hooks: &Hooks, point: HookPoint<'_>) -> HookReply {
        let scene = self.scene();
        tokio::time::timeout(LIMIT, hooks.fire(&scene, point)).await.expect("the hooks do not end")
    }

    async fn call(&self, hooks: &Hooks, tool: &str, arguments: Value) -> HookReply {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let call = ToolCall { id: "c1".into(), name: tool.into(), arguments, ..ToolCall::default() };
        self.fire(hooks, HookPoint::BeforeCall { call: &call }).await
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).unwrap_or_default()
    }
}

fn entry(event: &str, matcher: &str, commands: &[&str]) -> Value {
    let hooks: Vec<Value> = commands.iter().map(|command| json!({"type": "command", "command": command})).collect();
    json!({"event": event, "matcher": matcher, "hooks": hooks})
}

#[tokio::test]
async fn hooks_of_an_event_run_side_by_side_and_answer_in_their_order() {
    let stage = Stage::new();
    // Each waits for the other, so they would never end if run one after the other.
    let meet = |own: &str, other: &str| {
        format!("mkfifo {own} {other} 2>/dev/null; (echo x > {own}) & cat {other}; wait; echo {own} first")
    };
    let (one, two) = (meet("a", "b"), meet("b", "a"));
    let hooks = stage.hooks(&[entry("SessionStart", "", &[&one, &two])]);
    let reply = stage.fire(&hooks, HookPoint::Start(StartSource::Startup)).await;
    assert_eq!(reply.context, ["x\na first", "x\nb first"], "{reply:?}");
}

#[tokio::test]
async fn a_command_that_stands_there_twice_runs_once() {
    let stage = Stage::new();
    let hooks = stage.hooks(&[
        entry("PreToolUse", "Bash", &["echo x >> ran", "echo x >> ran"]),
        entry("PreToolUse", "*", &["echo x >> ran"]),
        entry("PreToolUse", "Write", &["echo never >> ran"]),
    ]);
    stage.call(&hooks, "bash", json!({"command": "ls"})).await;
    assert_eq!(stage.text("ran"), "x\n");
    // Except if one of them has less time, a narrower condition, or decides nothing: it cannot replace a guard.
    let guard = json!({"command": "exit 2"});
    for other in [("timeout", json!(0.001)), ("if", json!("Bash(git *)")), ("async", json!(true))] {
        let mut weak = guard.clone();
        weak[other.0] = other.1;
        let hooks = stage.hooks(&[json!({"event": "PreToolUse", "hooks": [weak, guard]})]);
        let reply = stage.call(&hooks, "bash", json!({"command": "ls"})).await;
        assert_eq!(reply.blocked.as_deref(), Some("it gave no reason"), "{}", other.0);
    }
}

#[tokio::test]
async fn time_limits_end_a_hook_with_all_it_started() {
    let stage = Stage::new();
    let line =
        "(setsid sh -c 'echo $$ > pid; mkfifo hold; cat hold; touch late') & while ! [ -s pid ]; do :; done; wait";
    let hooks = stage.hooks(&[json!({"event": "PreToolUse", "hooks": [{"command": line, "timeout": 3}]})]);
    let reply = stage.call(&hooks, "bash", json!({"command": "ls"})).await;
    assert!(reply.notices[0].contains("timed out after 3 s"), "{reply:?}");
    assert_eq!((reply.blocked, reply.permission), (None, None));
    let pid = stage.text("pid").trim().to_owned();
    assert!(!pid.is_empty());
    let began = Instant::now();
    while is_alive(&pid) {
        assert!(began.elapsed() < LIMIT, "{pid} goes on");
        tokio::task::yield_now().await;
    }
    assert!(!stage.path().join("late").exists());
}

/// A zombie counts as dead.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[tokio::test]
async fn dropping_the_wait_ends_the_hooks() {
    let stage = Stage::new();
    let hooks = stage.hooks(&[entry("Stop", "", &["echo $$ > pid; mkfifo hold; cat hold"])]);
    let scene = stage.scene();
    let wait = hooks.fire(&scene, HookPoint::Stop { held: false, said: "" });
    let begun = async {
        let began = Instant::now();
        while stage.text("pid").trim().is_empty() {
            assert!(began.elapsed() < LIMIT, "it never began");
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        reply = wait => panic!("{reply:?}"),
        () = begun => {}
    }
    let pid = stage.text("pid").trim().to_owned();
    let began = Instant::now();
    while is_alive(&pid) {
        assert!(began.elapsed() < LIMIT, "{pid} goes on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn hooks_that_print_without_end_or_read_nothing_do_no_harm() {
    let stage = Stage::new();
    let big = "x".repeat(3 << 20);
    let hooks = stage.hooks(&[entry(
        "PreToolUse",
        "",
        &["head -c 50000000 /dev/zero", "head -c 50000000 /dev/zero >&2; exit 2", "exec <&-; true"],
    )]);
    let reply = stage.call(&hooks, "write", json!({"path": "a", "content": big})).await;
    assert!(reply.blocked.is_some_and(|text| text.len() < 100_000));
    let json = stage.hooks(&[entry(
        "PreToolUse",
        "",
        &["printf '{\"a\": \"'; head -c 5000000 /dev/zero | tr '\\0' x; printf '\"}'"],
    )]);
    let reply = stage.call(&json, "bash", json!({"command": "ls"})).await;
    assert!(matches!(reply.permission, Some(HookPermission::Ask { .. })), "{reply:?}");
}

#[tokio::test]
async fn what_a_hook_leaves_in_the_background_is_not_waited_for() {
    let stage = Stage::new();
    let hooks =
        stage.hooks(&[entry("SessionStart", "", &["mkfifo hold; (cat hold; touch late) & echo $! > pid; echo said"])]);
    let reply = stage.fire(&hooks, HookPoint::Start(StartSource::Resume)).await;
    assert_eq!(reply.context, ["said"]);
}

#[tokio::test]
async fn changes_are_put_together_or_refused() {
    let stage = Stage::new();
    let change =
        |command: &str| format!("echo '{}'", json!({"hookSpecificOutput": {"updatedInput": {"command": command}}}));
    let arguments = || json!({"command": "ls", "cwd": "src"});
    let one = stage.hooks(&[entry("PreToolUse", "Bash", &[&change("pwd"), "true"])]);
    let reply = stage.call(&one, "bash", arguments()).await;
    assert_eq!(reply.amended, Some(json!({"command": "pwd", "cwd": "src"})));
    let two = stage.hooks(&[entry("PreToolUse", "Bash", &[&change("pwd"), &change("id")])]);
    let reply = stage.call(&two, "bash", arguments()).await;
    assert_eq!(reply.blocked.as_deref(), Some("two hooks changed its arguments in different ways"));
    let same = stage.hooks(&[entry("PreToolUse", "Bash", &[&change("ls")])]);
    assert_eq!(stage.call(&same, "bash", arguments()).await.amended, None);
}

#[tokio::test]
async fn every_file_of_an_edit_is_told_and_too_many_are_asked_about() {
    let stage = Stage::new();
    let hooks = stage.hooks(&[entry("PreToolUse", "Edit", &["grep -o '\"file_path\":\"[^\"]*\"' >> told"])]);
    let reply = stage.call(&hooks, "edit", json!({"input": "[a#1a2b]\n1:x\n[b#1a2b]\n1:y"})).await;
    assert_eq!(reply.permission, None);
    let mut told: Vec<String> = stage.text("told").lines().map(str::to_owned).collect();
    told.sort();
    let path = |name: &str| format!("\"file_path\":\"{}\"", stage.path().join(name).display());
    assert_eq!(told, [path("a"), path("b")]);
    let many: String = (0..40).map(|number| format!("[f{number}#1a2b]\n1:x\n")).collect();
    let reply = stage.call(&hooks, "edit", json!({"input": many})).await;
    assert!(
        matches!(&reply.permission, Some(HookPermission::Ask { reason }) if reason.contains("8 more")),
        "{reply:?}"
    );
}

#[tokio::test]
async fn hooks_that_are_not_trusted_are_named_and_do_not_run() {
    let stage = Stage::new();
    let hook = entry("Stop", "", &["touch ran"]);
    let hooks = stage.of(&[stage.declared(Level::Project, &hook)]);
    assert!(!hooks.run_any());
    stage.fire(&hooks, HookPoint::Stop { held: false, said: "" }).await;
    assert!(!stage.path().join("ran").exists());
    assert!(hooks.untrusted().unwrap().contains("Stop `touch ran`"));
    assert!(hooks.listing().contains("not trusted: does not run"), "{}", hooks.listing());
}

#[tokio::test]
async fn a_hook_that_is_changed_after_it_was_trusted_is_told_once_and_does_not_run() {
    let stage = Stage::new();
    let hook = entry("Stop", "", &["echo x >> ran"]);
    let trusted = Arc::new(AtomicBool::new(true));
    let hooks = stage.trusting(&[stage.declared(Level::Project, &hook)], trusted.clone());
    let told = stage.fire(&hooks, HookPoint::Stop { held: false, said: "" }).await.notices;
    assert!(told.is_empty(), "{told:?}");
    trusted.store(false, Ordering::Relaxed);
    let told = stage.fire(&hooks, HookPoint::Stop { held: false, said: "" }).await.notices;
    assert!(told.len() == 1 && told[0].contains("has changed since it was trusted"), "{told:?}");
    let told = stage.fire(&hooks, HookPoint::Stop { held: false, said: "" }).await.notices;
    assert!(told.is_empty(), "{told:?}");
    assert_eq!(std::fs::read_to_string(stage.path().join("ran")).unwrap(), "x\n");
}

#[tokio::test]
async fn a_folder_that_is_gone_is_told() {
    let stage = Stage::new();
    let hooks = stage.hooks(&[entry("Stop", "", &["true"])]);
    let scene = HookScene { cwd: "/no/such/folder".into(), ..stage.scene() };
    let reply = hooks.fire(&scene, HookPoint::Stop { held: false, said: "" }).await;
    assert!(reply.notices[0].contains("could not be run"), "{reply:?}");
}

#[tokio::test]
async fn arguments_are_words_and_a_plugin_knows_its_folder() {
    let stage = Stage::new();
    let path = stage.path().join("hooks/hooks.json");
    let args = json!(["-c", "printf '%s|' \"$@\" > told", "sh", "a b", "$HOME", "${CLAUDE_PLUGIN_ROOT}/x"]);
    let value = json!({"event": "Stop", "hooks": [{"type": "command", "command": "sh", "args": args},
        {"command": "echo \"$CLAUDE_PLUGIN_ROOT\" > root"}]});
    let source = ItemSource { provider: Provider::ClaudePlugins, level: Level::User, path };
    let hooks = stage.of(&[Declared { name: "x".into(), value, source }]);
    let reply = stage.fire(&hooks, HookPoint::Stop { held: false, said: "" }).await;
    assert_eq!(reply, HookReply::default());
    let root = stage.path().display();
    assert_eq!(stage.text("told"), format!("a b|$HOME|{root}/x|"));
    assert_eq!(stage.text("root"), format!("{root}\n"));
}

#[tokio::test]
async fn a_hook_with_a_condition_runs_for_the_files_that_it_means() {
    let stage = Stage::new();
    let told = "grep -o '\"file_path\":\"[^\"]*\"' >> told";
    let hook = json!({"event": "PreToolUse", "matcher": "Edit", "hooks": [{"command": told, "if": "Edit(*.ts)"}]});
    let hooks = stage.hooks(&[hook]);
    stage.call(&hooks, "edit", json!({"input": "[a.ts#1a2b]\n1:x\n[b.md#1a2b]\n1:y"})).await;
    let path = stage.path().join("a.ts");
    assert_eq!(stage.text("told"), format!("\"file_path\":\"{}\"\n", path.display()));
    assert!(hooks.listing().contains("PreToolUse Edit if Edit(*.ts): "), "{}", hooks.listing());
}

#[tokio::test]
async fn nothing_waits_for_a_hook_in_the_background_and_it_is_heard_with_the_next_prompt() {
    let stage = Stage::new();
    let line = "mkfifo go 2>/dev/null; cat go > /dev/null; echo it broke >&2; exit 2";
    let hook = json!({"event": "PreToolUse", "hooks": [{"command": line, "async": true}]});
    let hooks = stage.hooks(&[hook]);
    // The hook would hold the call forever, and then block it.
    let reply = stage.call(&hooks, "bash", json!({"command": "ls"})).await;
    assert_eq!(reply, HookReply::default());
    let began = Instant::now();
    let go = stage.path().join("go");
    while !go.exists() {
        assert!(began.elapsed() < LIMIT, "it never began");
        tokio::task::yield_now().await;
    }
    tokio::task::spawn_blocking(move || std::fs::write(go, "x")).await.unwrap().unwrap();
    let context = loop {
        let reply = stage.fire(&hooks, HookPoint::Prompt { text: "go" }).await;
        if !reply.context.is_empty() {
            assert_eq!(reply.blocked, None, "it is too late to stop anything");
            break reply.context;
        }
        assert!(began.elapsed() < LIMIT, "it is never heard of");
        tokio::task::yield_now().await;
    };
    assert_eq!(context, ["it broke"]);
    assert!(stage.fire(&hooks, HookPoint::Prompt { text: "go" }).await.context.is_empty());
}

#[tokio::test]
async fn hooks_in_the_background_are_few_and_end_with_the_session() {
    let stage = Stage::new();
    let line = "echo $$ >> pids; mkfifo hold 2>/dev/null; cat hold";
    let hooks = stage.hooks(&[json!({"event": "PreToolUse", "hooks": [{"command": line, "async": true}]})]);
    for _ in 0..16 {
        assert_eq!(stage.call(&hooks, "bash", json!({"command": "ls"})).await, HookReply::default());
    }
    let reply = stage.call(&hooks, "bash", json!({"command": "ls"})).await;
    assert!(reply.notices[0].contains("16 hooks already run in the background"), "{reply:?}");
    let began = Instant::now();
    while stage.text("pids").lines().count() < 16 {
        assert!(began.elapsed() < LIMIT, "they never began");
        tokio::task::yield_now().await;
    }
    drop(hooks);
    for pid in stage.text("pids").lines() {
        while is_alive(pid) {
            assert!(began.elapsed() < LIMIT, "{pid} goes on");
            tokio::task::yield_now().await;
        }
    }
}
