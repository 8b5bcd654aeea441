//! An approval applies to exactly one call: that call can access the path, and a denied call says why.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use omp_testkit::Turn;
use serde_json::{Value, json};

use crate::harness::Scene;
use crate::reach::{bash, git, scene, told};
use crate::rpc::Client;
use crate::seat::{Seat, at_a_seat};

/// Runs the script of a scene. Each question must contain the expected text and gets the next answer.
async fn answered(scene: &Scene, answers: &[(&str, &str)]) {
    let mut client = Client::start(scene, &["--yolo"]).await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    for (expected, answer) in answers {
        let asked = until_asked(&mut client, expected).await;
        assert!(asked["title"].as_str().unwrap().contains(expected), "{expected}: {asked}");
        client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": answer})).await;
    }
    client.until("agent_end").await;
    assert_eq!(client.finish().await, Some(0));
}

async fn until_asked(client: &mut Client, expected: &str) -> Value {
    loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("extension_ui_request") if frame["method"] == "select" => return frame,
            Some("agent_end") => panic!("nobody asked about {expected}: {frame}"),
            _ => {}
        }
    }
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
}

fn set_aside(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|it| it.file_name().to_string_lossy().into_owned()).filter(|name| name.contains("set-aside")).collect()
}

#[tokio::test]
async fn an_approved_command_writes_what_is_guarded_and_the_next_does_not() {
    let with = |command: &str, write: &[&str]| Turn::call("bash", json!({"command": command, "write": write}));
    let replace = "import os; open('.git/hooks/x.lock', 'w').write('new'); os.rename('.git/hooks/x.lock', '.git/hooks/post-merge')";
    let scene = scene(
        "",
        [
            bash("echo '#!/bin/sh' > .git/hooks/pre-commit && chmod 755 .git/hooks/pre-commit"),
            // The same file, which exists by now.
            bash("echo true >> .git/hooks/pre-commit"),
            bash("echo evil >> .git/hooks/pre-commit"),
            bash("f=.git/hooks/pre-commit; echo evil >> $f"),
            // As git does: writes another file first, then renames it.
            with(&format!("python3 -c \"{replace}\""), &[".git/hooks/post-merge"]),
            with("echo 1 > .mcp.tmp && mv .mcp.tmp .mcp.json", &[]),
            with("d=.husky; mkdir $d && echo 1 > $d/pre-push", &[".husky/"]),
            bash("true"),
        ],
    )
    .await;
    let project = scene.workspace.project();
    git(&project, &["init", "-q"]);
    answered(
        &scene,
        &[
            (".git/hooks/pre-commit (guarded", "Approve"),
            (".git/hooks/pre-commit (guarded", "Approve"),
            (".git/hooks/pre-commit (guarded", "Deny"),
            (".git/hooks/post-merge (guarded", "Approve"),
            (".mcp.json (guarded", "Approve"),
            (".husky (guarded", "Approve"),
        ],
    )
    .await;
    let said = told(&scene);
    let hook = project.join(".git/hooks/pre-commit");
    assert_eq!(std::fs::read_to_string(&hook).unwrap_or_default(), "#!/bin/sh\ntrue\n", "{said}");
    assert_eq!(hook.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(read(&project, ".git/hooks/post-merge"), "new", "{said}");
    assert_eq!([".mcp.json", ".husky/pre-push"].map(|name| read(&project, name)), ["1\n", "1\n"], "{said}");
    assert_eq!(set_aside(&project), [""; 0]);
    assert_eq!(set_aside(&project.join(".git")), [""; 0]);
    // The write that was not approved was blocked, and the error says so.
    assert!(said.contains("pre-commit may not be written: it decides what runs or is allowed"), "{said}");
    assert!(said.contains("hint: if that is needed, run it again with `write: ["), "{said}");
}

#[tokio::test]
async fn an_approved_command_writes_a_guarded_file_that_git_tracks_and_the_next_does_not() {
    let with = |command: &str, write: &[&str]| Turn::call("bash", json!({"command": command, "write": write}));
    let write = |path: &str, text: &str| format!("python3 -c \"open('{path}', 'w').write('{text}')\"");
    let settings = ".vscode/settings.json";
    let scene = scene(
        "",
        [
            with(&write(settings, "allowed"), &[settings]),
            bash(&format!("git --version; {}; {}", write(settings, "evil"), write(".envrc", "evil"))),
            bash("git stash -q && cat .vscode/settings.json && git stash pop -q"),
            bash("true"),
        ],
    )
    .await;
    let project = scene.workspace.project();
    std::fs::create_dir(project.join(".vscode")).unwrap();
    [settings, ".envrc"].iter().for_each(|name| std::fs::write(project.join(name), "mine").unwrap());
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "one"]);
    answered(&scene, &[(".vscode/settings.json (guarded", "Approve")]).await;
    let said = told(&scene);
    assert_eq!([settings, ".envrc"].map(|name| read(&project, name)), ["allowed", "mine"], "{said}");
    for name in [settings, ".envrc"] {
        let note = format!("{name} may not be changed: it decides what runs or is allowed, and no commit was found");
        assert_eq!(said.matches(&note).count(), 1, "{said}");
    }
    assert!(said.contains("hint: if that is needed, run it again with `write: ["), "{said}");
}

#[tokio::test]
async fn an_approved_file_tool_writes_what_is_guarded_and_a_command_leaves_it() {
    let write = |path: &str, text: &str| Turn::call("write", json!({"path": path, "content": text}));
    let scene = scene(
        "",
        [
            write(".envrc", "export A=1\n"),
            // From here on a process runs in the background.
            bash("sleep 60 >/dev/null 2>&1 &"),
            write(".git/hooks/commit-msg", "one\n"),
            Turn::call("edit", json!({"input": "[.git/hooks/commit-msg]\nBOF↓zero"})),
            write(".git/hooks/update", "evil\n"),
            bash("true"),
        ],
    )
    .await;
    let project = scene.workspace.project();
    git(&project, &["init", "-q"]);
    answered(
        &scene,
        &[
            (".envrc (guarded", "Approve"),
            (".git/hooks/commit-msg (guarded", "Approve"),
            (".git/hooks/commit-msg (guarded", "Approve"),
            (".git/hooks/update (guarded", "Deny"),
        ],
    )
    .await;
    let files = [".git/hooks/commit-msg", ".envrc", ".git/hooks/update"].map(|name| read(&project, name));
    assert_eq!(files, ["zero\none\n", "export A=1\n", ""], "{}", told(&scene));
    assert_eq!((set_aside(&project), set_aside(&project.join(".git"))), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn where_nobody_answers_nothing_guarded_is_written() {
    let scene = scene(
        "",
        [
            bash("echo x > .git/hooks/pre-commit"),
            Turn::call("write", json!({"path": ".envrc", "content": "x"})),
            Turn::call("bash", json!({"command": "f=.mcp.json; echo x > $f", "write": [".mcp.json"]})),
        ],
    )
    .await;
    let project = scene.workspace.project();
    git(&project, &["init", "-q"]);
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    assert_eq!([".git/hooks/pre-commit", ".envrc", ".mcp.json"].map(|name| project.join(name).exists()), [false; 3]);
    let told = told(&scene);
    assert!(told.contains("hint: only the user can allow it: `containment.writable: ["), "{told}");
    assert!(!told.contains("the user is asked"), "{told}");
}

fn with_key(scene: &Scene) -> String {
    let folder = scene.workspace.home().join(".ssh");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config"), "Host box\n").unwrap();
    folder.canonicalize().unwrap().join("config").display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_path_is_told_to_the_model_and_on_the_card() {
    let multiline = "cat ~/.ssh/config\ntrue";
    let scene = scene("", [bash("cat ~/.ssh/config"), bash(multiline), bash("cat $HOME/.ssh/none")]).await;
    let config = with_key(&scene);
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &["--yolo"]);
        seat.says("go", "Done.");
        assert_eq!(seat.all().matches("Sandbox:").count(), 2, "{}", seat.all());
        seat.leaves();
    })
    .await;
    let said = told(&scene);
    let sentence = format!("Sandbox: {config} exists, but is hidden from commands");
    assert_eq!(said.matches(&sentence).count(), 2, "{said}");
    assert!(said.contains(&format!("hint: run it again with `read: [\\\"{config}\\\"]`")), "{said}");
    let page = scene.workspace.tmp().join("page.html");
    let file = scene.session_file();
    scene.omp(&["--export", file.to_str().unwrap(), page.to_str().unwrap()]).run().await.exits(0);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("exists, but is hidden from commands"), "the exported page");
}

#[tokio::test]
async fn a_hidden_path_is_read_by_the_call_that_was_allowed_to() {
    let with = |command: &str| Turn::call("bash", json!({"command": command, "read": ["~/.ssh/config"]}));
    let scene = scene("", [with("cat ~/.ssh/config"), bash("cat ~/.ssh/config"), with("cat ~/.ssh/config")]).await;
    with_key(&scene);
    let asked = "(hidden from the model)";
    answered(&scene, &[(asked, "Approve"), (asked, "Deny")]).await;
    assert_eq!(told(&scene).matches("Host box").count(), 1, "{}", told(&scene));
}

/// Creates a file and a folder outside, with links in the project. Returns the word that only the outside contains.
fn with_links(scene: &Scene) -> (String, &'static str) {
    let (outside, project) = (scene.workspace.home().join("outside"), scene.workspace.project());
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::fs::write(outside.join("notes.rs"), "fn outside_word() {}\n").unwrap();
    std::fs::write(outside.join("deep/more.rs"), "fn outside_word() {}\n").unwrap();
    std::fs::create_dir(project.join("src")).unwrap();
    std::fs::write(project.join("src/own.rs"), "fn inside_word() {}\n").unwrap();
    symlink(outside.join("notes.rs"), project.join("notes.rs")).unwrap();
    symlink(&outside, project.join("docs")).unwrap();
    symlink("src/own.rs", project.join("alias.rs")).unwrap();
    let real = outside.canonicalize().unwrap().display().to_string();
    (real, "outside_word")
}

#[tokio::test]
async fn a_link_that_leads_out_is_not_read_where_nobody_answers() {
    let scene = scene(
        "",
        [
            Turn::call("read", json!({"path": "notes.rs"})),
            Turn::call("search", json!({"pattern": "outside_word", "paths": ["docs"]})),
            Turn::call("find", json!({"paths": ["docs/**/*.rs"]})),
            Turn::call("ast_grep", json!({"pat": ["fn $A() {}"], "paths": ["docs"]})),
            Turn::call("read", json!({"path": "alias.rs"})),
            Turn::call("search", json!({"pattern": "_word"})),
        ],
    )
    .await;
    let (outside, word) = with_links(&scene);
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let said = told(&scene);
    for path in ["/notes.rs", ""] {
        let why = format!("was not run: it would read {outside}{path} (a link in the workspace leads there");
        assert!(said.contains(&why), "{why}\n{said}");
    }
    assert_eq!(said.matches("(a link in the workspace leads there").count(), 4, "{said}");
    assert!(said.contains("inside_word") && said.contains("containment.shown"), "{said}");
    // The word appears in the arguments of one call and nowhere else.
    assert_eq!(said.matches(word).count(), 1, "{said}");
    let named = scene.omp(&["-p", "@notes.rs", "go"]).run().await.exits(2);
    assert!(named.stderr.contains("cannot attach notes.rs: it is a link"), "{}", named.stderr);
}

#[tokio::test]
async fn a_link_that_leads_out_is_read_after_a_yes_and_always_is_written_down() {
    let read = |path: &str| Turn::call("read", json!({"path": path}));
    let scene = scene(
        "",
        [
            read("notes.rs"),
            read("notes.rs"),
            Turn::call("search", json!({"pattern": "outside_word", "paths": ["docs"]})),
            read("docs/deep/more.rs"),
            read("notes.rs"),
        ],
    )
    .await;
    let (outside, _) = with_links(&scene);
    let asked = format!("read {outside}");
    let always = format!("Always allow: read {outside}");
    answered(&scene, &[(&asked, "Approve"), (&asked, "Deny"), (&asked, &always)]).await;
    let said = told(&scene);
    assert_eq!(said.matches("fn outside_word").count(), 5, "{said}");
    let config = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    assert!(config.contains(&format!("shown:\n    - \"{outside}\"\n")), "{config}");
}
