//! Commands in files and skills, through the binary: what is sent, what is refused, what is reported.

use omp_testkit::{Script, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::Scene;
use crate::rpc::Client;

async fn scene(turns: impl IntoIterator<Item = Turn>) -> Scene {
    let scene = Scene::new(Wire::Completions, Script::new(turns)).await;
    let write = |path: &str, text: &str| scene.workspace.write(path, text).unwrap();
    write(
        ".omp/commands/review.md",
        "---\ndescription: Review code\nargument-hint: '[path]'\n---\nReview $1 with @a.txt.\n",
    );
    write(".omp/commands/help.md", "Not the help you think\n");
    write(".omp/commands/status.md", "Status: !`touch ran`\n");
    write(".omp/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fills PDF forms\n---\nUse the form tool.\n");
    write(".omp/skills/pdf/forms/guide.md", "The guide says blue.\n");
    std::fs::create_dir_all(scene.workspace.agent_dir().join("commands")).unwrap();
    std::fs::create_dir_all(scene.workspace.agent_dir().join("prompts")).unwrap();
    let own = "Head: !`head -n 1 a.txt`\n";
    std::fs::write(scene.workspace.agent_dir().join("commands/first.md"), own).unwrap();
    std::fs::write(scene.workspace.agent_dir().join("prompts/ask.md"), "Ask about $ARGUMENTS").unwrap();
    scene
}

fn said(scene: &Scene) -> String {
    let request: Value = scene.last_request().json().unwrap();
    let messages = request["messages"].as_array().unwrap();
    let user = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
    match &user["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap().to_owned(),
    }
}

#[tokio::test]
async fn a_command_of_the_project_is_expanded_and_sent() {
    let scene = scene([Turn::text("Fine.")]).await;
    scene.omp(&["-p", "/review 'my src'"]).run().await.exits(0).prints("Fine.\n");
    let expect = "Review my src with @a.txt.\n\n<file name=\"a.txt\">\none\ntwo\nthree\n</file>";
    assert_eq!(said(&scene), expect);
    let lines = std::fs::read_to_string(scene.session_file()).unwrap();
    assert!(lines.contains(r#""typed":"/review 'my src'""#), "{lines}");
    assert!(lines.contains("Review my src with @a.txt."), "{lines}");
}

#[tokio::test]
async fn a_command_of_the_project_runs_nothing_and_says_so() {
    let scene = scene([Turn::text("Fine.")]).await;
    let ran = scene.omp(&["-p", "/status"]).run().await.exits(0);
    assert!(ran.stderr.contains("`touch ran` was not run") && ran.stderr.contains("not trusted"), "{ran}");
    assert_eq!(said(&scene), "Status: [not run: `touch ran`]");
    assert!(!scene.workspace.project().join("ran").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_of_the_users_own_runs_what_it_asks_for() {
    let scene = scene([Turn::text("Fine."), Turn::text("Fine.")]).await;
    scene.omp(&["-p", "/first", "/ask the 'weather today'"]).run().await.exits(0);
    assert_eq!(said(&scene), "Ask about the 'weather today'");
    let first: Value = scene.server.model_requests()[0].json().unwrap();
    assert!(first.to_string().contains("Head: one"), "{first}");
}

/// A second model beside the mock one.
pub fn with_other_model(scene: &Scene) {
    let models =
        omp_testkit::MockProvider::new(&scene.server.base_url(), Wire::Completions.api()).reasoning().models_yml();
    let first = models.find("      - id:").unwrap();
    let second = models[first..].replace("mock-model", "other-model");
    scene.workspace.write_models_yml(&format!("{models}{second}")).unwrap();
}

fn models(scene: &Scene) -> Vec<String> {
    let asked = scene.server.model_requests().into_iter().map(|request| request.json().unwrap());
    asked.map(|body| body["model"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_file_that_names_a_model_is_answered_by_it_and_the_session_goes_back() {
    let read = Turn::call("read", json!({"path": "a.txt"}));
    let scene = scene([read, Turn::text("Deep."), Turn::text("Back."), Turn::text("Again.")]).await;
    with_other_model(&scene);
    scene.workspace.write(".omp/commands/think.md", "---\nmodel: other-model\n---\nThink.").unwrap();
    scene.workspace.write(".omp/commands/same.md", "---\nmodel: inherit\n---\nGo on.").unwrap();
    let ran = scene.omp(&["-p", "/think", "/same"]).run().await.exits(0).prints("Back.\n");
    assert!(ran.stderr.contains("/think: mock/other-model answers this prompt"), "{ran}");
    scene.omp(&["-c", "-p", "again"]).run().await.exits(0).prints("Again.\n");
    assert_eq!(models(&scene), ["other-model", "other-model", "mock-model", "mock-model"]);
}

#[tokio::test]
async fn a_model_that_cannot_be_had_is_said_before_anything_is_sent() {
    let scene = scene([Turn::text("Never.")]).await;
    scene.workspace.write(".omp/commands/think.md", "---\nmodel: no-such-model\n---\nThink.").unwrap();
    let ran = scene.omp(&["-p", "/think"]).run().await.exits(2);
    ran.complains(&["/think asks for the model `no-such-model`, which is not available", "hint: change `model`"]);
    assert!(scene.server.model_requests().is_empty());
}

#[tokio::test]
async fn tools_that_a_file_does_not_allow_are_refused_and_the_model_is_told_why() {
    let write = || Turn::call("write", json!({"path": "made.txt", "content": "x"}));
    let bash = |command: &str| Turn::call("bash", json!({ "command": command }));
    let turns = [
        write(),
        bash("cat a.txt"),
        bash("cat a.txt; touch made.txt"),
        Turn::text("Read."),
        write(),
        Turn::text("Made."),
    ];
    let scene = scene(turns).await;
    let limited = "---\nname: look\ndescription: x\nallowed-tools: Read Bash(cat:*)\n---\nLook only.";
    scene.workspace.write(".omp/skills/look/SKILL.md", limited).unwrap();
    scene.omp(&["-p", "please /skill:look at it", "now write"]).run().await.exits(0).prints("Made.\n");
    let results: Vec<String> = crate::harness::outline(&scene.messages());
    let results: Vec<&str> = results.iter().filter_map(|line| line.strip_prefix("result: ")).collect();
    let why = "was not run: the user called /skill:look, whose `allowed-tools` lets run only Read, Bash(cat:*).";
    assert!(results[0].starts_with(&format!("`write` {why}")), "{results:?}");
    assert!(!results[1].contains("was not run"), "{results:?}");
    assert!(results[2].starts_with(&format!("`bash` {why}")), "{results:?}");
    assert!(!results[3].contains("was not run"), "the next prompt has every tool again: {results:?}");
    assert_eq!(scene.workspace.read("made.txt").unwrap(), "x");
    // The list of tools never changes, so the provider's cache stays valid.
    omp_testkit::prefix::assert_prefix_stable(&scene.server.model_requests());
    let first = scene.server.model_requests()[0].json().unwrap().to_string();
    assert!(first.contains("Look only.") && first.contains("please /skill:look at it"), "{first}");
    let lines = std::fs::read_to_string(scene.session_file()).unwrap();
    assert!(lines.contains(r#""typed":"please /skill:look at it""#), "{lines}");
}

#[tokio::test]
async fn piped_text_and_files_go_with_a_command() {
    let scene = scene([Turn::text("Fine."), Turn::text("Fine."), Turn::text("Fine.")]).await;
    scene.omp(&["-p", "/ask this"]).input("a log\n/skill:pdf\n").run().await.exits(0);
    let sent = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(sent.contains("a log") && sent.contains("Ask about this") && !sent.contains("form tool"), "{sent}");
    scene.omp(&["-p", "@a.txt", "see /skill:pdf"]).run().await.exits(0);
    let sent = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(sent.contains("one\\ntwo") && sent.contains("Use the form tool."), "{sent}");
    scene.omp(&["-p", "sum up"]).input("a /skill:pdf log").run().await.exits(0);
    let sent = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(!sent.contains("Use the form tool."), "a skill is called by what was typed alone: {sent}");
    let refused = scene.omp(&["-p", "/session"]).input("a log").run().await.exits(2);
    refused.complains(&["/session takes no attached files or piped text", "hint:"]);
}

#[tokio::test]
async fn a_picture_of_a_file_command_is_sent_as_one() {
    let scene = scene([Turn::text("Blue."), Turn::text("Blue.")]).await;
    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let png = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, PNG).unwrap();
    std::fs::write(scene.workspace.path("shot.png"), png).unwrap();
    scene.workspace.write(".omp/commands/look.md", "What is in @$1?").unwrap();
    for words in [&["-p", "/look shot.png"][..], &["-p", "@shot.png", "what is it?"]] {
        scene.omp(words).run().await.exits(0).prints("Blue.\n");
        let sent = scene.last_request().json().unwrap()["messages"].to_string();
        assert!(sent.contains(&format!("data:image/png;base64,{PNG}")), "{sent}");
    }
}

#[tokio::test]
async fn a_file_is_read_anew_whenever_it_is_used() {
    let scene = scene([Turn::text("One."), Turn::text("Two.")]).await;
    let mut client = Client::start(&scene, &[]).await;
    client.ask(json!({"id": "1", "type": "prompt", "message": "/review x"})).await;
    client.until("agent_end").await;
    scene.workspace.write(".omp/commands/review.md", "Look at $1 again").unwrap();
    client.ask(json!({"id": "2", "type": "prompt", "message": "/review x"})).await;
    client.until("agent_end").await;
    assert_eq!(said(&scene), "Look at x again");
    std::fs::remove_file(scene.workspace.path(".omp/commands/review.md")).unwrap();
    let refused = client.ask(json!({"id": "3", "type": "prompt", "message": "/review x"})).await;
    assert!(refused["error"].as_str().unwrap().contains("review.md no longer exists"), "{refused}");
    client.finish().await;
}

#[tokio::test]
async fn commands_are_listed_with_where_they_come_from() {
    let scene = scene([Turn::text("Fine.")]).await;
    let mut client = Client::start(&scene, &[]).await;
    let listed = client.ask(json!({"id": "1", "type": "get_available_commands"})).await;
    let commands = listed["data"]["commands"].as_array().unwrap();
    let find = |name: &str| commands.iter().filter(|command| command["name"] == name).collect::<Vec<_>>();
    let review = json!({"name": "review", "description": "Review code (project)", "input": {"hint": "[path]"}, "source": "file"});
    assert_eq!(find("review"), [&review]);
    assert_eq!(find("skill:pdf")[0]["source"], "skill");
    assert_eq!(find("ask")[0]["description"], "Ask about $ARGUMENTS (user)");
    assert_eq!(find("help").len(), 1);
    assert_eq!(find("help")[0]["source"], "builtin");
    client.finish().await;
    let help = scene.omp(&["-p", "/help"]).run().await.exits(0).stdout;
    for line in [
        "/review [path]",
        "Review code (project)",
        "the file command /help is not available: omp has a command with this name",
    ] {
        assert!(help.contains(line), "{help}");
    }
}

#[tokio::test]
async fn a_skill_is_read_by_the_model_and_named_by_the_user() {
    let read = |path: &str| Turn::call("read", json!({ "path": path }));
    let turns = [
        read("skill://pdf"),
        read("skill://pdf/forms/guide.md"),
        read("skill://pdf/../../commands/help.md"),
        Turn::text("Blue."),
    ];
    let scene = scene(turns).await;
    scene.omp(&["-p", "/skill:pdf fill in form 7"]).run().await.exits(0).prints("Blue.\n");
    let requests = scene.server.model_requests();
    let first = requests[0].json().unwrap().to_string();
    assert!(first.contains("Use the form tool.") && first.contains("fill in form 7"), "{first}");
    let last = requests[3].json().unwrap().to_string();
    assert!(last.contains("The guide says blue.") && last.contains("Path traversal (..) is not allowed"), "{last}");
}

#[tokio::test]
async fn flags_and_settings_leave_skills_out() {
    let scene = scene((0..4).map(|_| Turn::text("Fine."))).await;
    let knows = async |args: &[&str]| {
        let help = scene.omp(&[args, &["-p", "/help"]].concat()).run().await.exits(0).stdout;
        help.contains("/skill:pdf")
    };
    assert!(knows(&[]).await);
    assert!(!knows(&["--no-skills"]).await);
    assert!(knows(&["--skills", "p*,x"]).await);
    assert!(!knows(&["--skills", "x"]).await);
    scene.workspace.write_config_yml("skills: { enableSkillCommands: false }\n").unwrap();
    assert!(!knows(&[]).await);
    scene.workspace.write_config_yml("skills: { ignoredSkills: [pdf] }\n").unwrap();
    assert!(!knows(&[]).await);
    scene.omp(&["--skills", "a", "--no-skills", "-p", "x"]).run().await.exits(2);
}
