//! A secret is in nothing that omp stores beside the session, exports or draws: full outputs, prompt history, pages of old
//! sessions, questions, logs. A project's list of secrets needs trust.

use omp_testkit::{Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene};
use crate::rpc::Client;
use crate::secrets::{ENABLED, SECRET, kept, placeholder, scene};

/// The secret is in line 9,000 of an output that is too long to be shown.
const LONG: &str = "seq 8999; cat notes.txt; seq 8999";

#[tokio::test]
async fn whole_output_is_kept_with_placeholders_and_read_back() {
    let scene = scene(ENABLED, |secret| {
        vec![
            Turn::call("bash", json!({"command": LONG})),
            Turn::call("read", json!({"path": "artifact://0:8999-9001"})),
            Turn::call("write", json!({"path": "out.txt", "content": secret})),
            Turn::text("Done."),
            // After a resume the placeholder still refers to the same secret.
            Turn::call("read", json!({"path": "artifact://0:8999-9001"})),
            Turn::call("write", json!({"path": "again.txt", "content": secret})),
            Turn::call("read", json!({"path": "history://"})),
            Turn::text("Done."),
        ]
    })
    .await;
    let ran = scene.omp(&["-p", "look"]).env("MY_TOKEN", SECRET).run().await.exits(0);
    kept(&scene, &ran.stdout, &["notes.txt", "out.txt"]);
    assert_eq!(scene.workspace.read("out.txt").unwrap(), SECRET);
    let told = |number: usize| String::from_utf8_lossy(&scene.server.model_requests()[number].body).into_owned();
    assert!(told(1).contains("artifact://0") && !told(1).contains("the token is"), "{}", told(1));
    let line = format!("the token is {0}, said {0}", placeholder(&scene));
    assert_eq!(told(2).matches(&line).count(), 1, "{}", told(2));
    scene.omp(&["-c", "-p", "again"]).env("MY_TOKEN", SECRET).run().await.exits(0);
    assert_eq!(scene.workspace.read("again.txt").unwrap(), SECRET);
    let last = String::from_utf8_lossy(&scene.last_request().body).into_owned();
    assert!(!last.contains("<<$env:S?>>"), "history is our own: {last}");
    kept(&scene, "", &["notes.txt", "out.txt", "again.txt"]);
}

#[tokio::test]
async fn what_an_old_session_holds_is_not_handed_out() {
    let scene = scene("", |_| vec![Turn::text(format!("It is {SECRET}, AKIA0123456789."))]).await;
    scene.omp(&["-p", &format!("use {SECRET}")]).run().await.exits(0);
    let file = scene.session_file();
    assert!(std::fs::read_to_string(&file).unwrap().contains(SECRET), "nobody knew of it then");
    let listed = format!("- {{type: plain, content: '{SECRET}'}}\n- {{type: regex, content: 'AKIA[0-9]+'}}\n");
    std::fs::write(scene.workspace.agent_dir().join("secrets.yml"), listed).unwrap();
    let file = file.display().to_string();
    for args in [
        &["--export", file.as_str(), "page.html"][..],
        &["sessions", "export", &file, "page2.html"],
        &["sessions", "show", &file],
        &["sessions", "show", &file, "--json"],
        &["sessions", "list"],
        &["sessions", "search", "use"],
    ] {
        let ran = Omp::bare(&scene.workspace).args(args).run().await.exits(0);
        let page = args.last().filter(|name| name.ends_with(".html")).map(|name| scene.workspace.read(name).unwrap());
        let all = format!("{ran}{}", page.unwrap_or_default());
        assert!(!all.contains(SECRET) && !all.contains("AKIA0"), "{args:?}: {all}");
        assert!(all.contains("[redacted]"), "{args:?}: {all}");
    }
}

#[tokio::test]
async fn pages_and_dumps_of_a_run_know_the_users_list() {
    let scene = scene("", |_| vec![Turn::text(format!("It is {SECRET}, AKIA0123456789."))]).await;
    let listed = format!("- {{type: plain, content: '{SECRET}'}}\n- {{type: regex, content: 'AKIA[0-9]+'}}\n");
    std::fs::write(scene.workspace.agent_dir().join("secrets.yml"), listed).unwrap();
    // Not enabled: the model and the file contain it, but exports do not.
    let args = ["--record", "r.jsonl", "-p", "hello", "/export page.html", "/dump"];
    let ran = scene.omp(&args).run().await.exits(0);
    assert!(std::fs::read_to_string(scene.session_file()).unwrap().contains(SECRET));
    let (_, dump) = ran.stdout.split_once("## System prompt").unwrap();
    for text in [dump, &scene.workspace.read("page.html").unwrap(), &scene.workspace.read("r.jsonl").unwrap()] {
        assert!(!text.contains(SECRET) && !text.contains("AKIA0") && text.contains("[redacted]"), "{text}");
    }
    assert!(String::from_utf8_lossy(&scene.last_request().body).contains("hello"));
}

#[tokio::test]
async fn a_question_shows_no_secret_and_offers_no_rule_with_one() {
    let config = format!("{ENABLED}tools: {{ approvalMode: always-ask }}\n");
    let scene = scene(&config, |secret| {
        vec![
            Turn::call("bash", json!({"command": format!("printf %s '{secret}' > shell.txt")})),
            Turn::call("write", json!({"path": "notes.txt", "content": "nothing\n"})),
            Turn::text("Done."),
        ]
    })
    .await;
    let mut client = Client::of(scene.omp(&["--mode", "rpc"]).env("MY_TOKEN", SECRET));
    client.send(&json!({"type": "prompt", "message": format!("use {SECRET}")})).await;
    let mut frames: Vec<Value> = Vec::new();
    loop {
        let frame = client.next().await;
        if frame["type"] == "extension_ui_request" && frame["method"] == "select" {
            let yes = frame["options"][0].clone();
            client.send(&json!({"type": "extension_ui_response", "id": frame["id"], "value": yes})).await;
        }
        frames.push(frame.clone());
        if frame["type"] == "agent_end" {
            break;
        }
    }
    assert_eq!(client.finish().await, Some(0));
    let all: String = frames.iter().map(|frame| format!("{frame}\n")).collect();
    assert!(all.contains("it receives the secret MY_TOKEN"), "{all}");
    kept(&scene, &all, &["notes.txt", "shell.txt"]);
    assert_eq!(scene.workspace.read("shell.txt").unwrap(), SECRET, "{all}");
}

#[tokio::test]
async fn a_projects_list_waits_for_trust() {
    let scene = scene(ENABLED, |_| (0..4).map(|_| Turn::text("Fine.")).collect()).await;
    let replaced = "- {type: plain, content: never run it, mode: replace, replacement: always run it}\n";
    std::fs::create_dir_all(scene.workspace.path(".omp")).unwrap();
    scene.workspace.write(".omp/secrets.yml", replaced).unwrap();
    let said = async || {
        let ran = scene.omp(&["-p", "never run it"]).run().await.exits(0);
        (String::from_utf8_lossy(&scene.last_request().body).into_owned(), ran.stderr)
    };
    let trust = async |what: &str| Omp::bare(&scene.workspace).args(["trust", what]).run().await.exits(0).stdout;
    let (body, told) = said().await;
    assert!(body.contains("never run it") && !body.contains("always run it"), "{body}");
    assert!(told.contains("because not trusted: secrets secrets.yml") && told.contains("omp trust add"), "{told}");
    let explained = trust("explain").await;
    assert!(explained.contains("secrets secrets.yml  (.omp/secrets.yml)"), "{explained}");
    assert!(explained.contains("hides 1 values from the model, 1 of them permanently"), "{explained}");
    trust("add").await;
    let (body, told) = said().await;
    assert!(body.contains("always run it") && !body.contains("never run it"), "{body}");
    assert!(!told.contains("left out"), "{told}");
    scene.workspace.write(".omp/secrets.yml", replaced.replace("always", "surely")).unwrap();
    let (body, told) = said().await;
    assert!(
        body.contains("never run it") && told.contains("new or changed since you trusted the folder"),
        "{body} {told}"
    );
    // If lists are disabled there is nothing to ask about.
    scene.workspace.write_config_yml("").unwrap();
    let (_, told) = said().await;
    assert!(!told.contains("left out"), "{told}");
}

#[tokio::test]
async fn what_was_stripped_is_told_on_request_in_every_mode() {
    let command = "printf '\\033[31mred\\033[0m\\007 zero\\342\\200\\213width\\n'";
    let turns = || [Turn::call("bash", json!({"command": command})), Turn::text("Fine.")];
    let scene = Scene::new(Wire::Completions, turns()).await;
    let ran = scene.omp(&["-p", "go", "/stripped", "/stripped x"]).run().await.exits(2);
    for part in ["10 control characters: \\e[0m, \\e[31m, \\x07", "1 invisible character: U+200B zero width space"] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    ran.complains(&["`x` is not a number of calls", "hint: usage: /stripped"]);
    let scene = Scene::new(Wire::Completions, turns()).await;
    let mut client = Client::start(&scene, &[]).await;
    client.prompt("go").await;
    client.send(&json!({"type": "prompt", "message": "/stripped"})).await;
    loop {
        if client.next().await.to_string().contains("U+200B zero width space") {
            break;
        }
    }
    assert_eq!(client.finish().await, Some(0));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_keeps_no_secret_in_its_history_and_log() {
    use portable_pty::CommandBuilder;

    use crate::seat::{READY, Seat, at_a_seat};

    let scene = scene(ENABLED, |_| {
        vec![Turn::call("bash", json!({"command": "cat notes.txt"})), Turn::text(format!("Seen: {SECRET}."))]
    })
    .await;
    let mut command = CommandBuilder::new("env");
    let token = format!("MY_TOKEN={SECRET}");
    command.args(["PI_TUI_WRITE_LOG=drawn.log", "PI_DEBUG_REDRAW=1", &token, env!("CARGO_BIN_EXE_omp")]);
    command.args(scene.workspace.args(&[]));
    at_a_seat(|| {
        let seat = Seat::of(&scene, command, (120, 30));
        seat.until(READY);
        seat.says(&format!("use {SECRET}"), "Seen: <<$env:S");
        seat.leaves();
    })
    .await;
    let history = std::fs::read_to_string(scene.workspace.agent_dir().join("prompt-history.jsonl")).unwrap();
    assert!(history.contains(&format!("use {}", placeholder(&scene))), "{history}");
    let drawn = scene.workspace.read("drawn.log").unwrap();
    assert!(drawn.contains("Seen: ") && drawn.contains("[redacted]"), "{drawn}");
    kept(&scene, "", &["notes.txt"]);
}
