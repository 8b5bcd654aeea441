//! Tests the vendors' own SDKs with the fake server: it accepts their requests, and they parse its answers.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use omp_testkit::{Server, Thinking, Turn, Wire};
use serde_json::{Value, json};

/// The folder of the SDKs that `scripts/test` installs.
const SDK: &str = "vendor-sdks-1";

#[tokio::test]
async fn the_official_clients_are_taken_and_understand() {
    let turn = Turn {
        thinking: Some(Thinking { text: "I look.".into(), signature: None }),
        ..Turn::text("Hello wörld").and_call("read", json!({"path": "ä.txt"}))
    };
    let server = Server::start([turn.clone(), turn.clone(), turn.clone(), turn]).await.unwrap();
    let output = python("talk.py", &[&server.base_url()]).await;
    let told: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(server.take_refused(), Vec::<String>::new());
    assert_eq!(validated(&server).await, (true, String::new()), "the validator takes what the SDKs send");
    let wires: Vec<_> = told.iter().map(|line| line["wire"].as_str().unwrap().to_owned()).collect();
    let all = [Wire::Anthropic, Wire::Completions, Wire::Responses, Wire::Google];
    assert_eq!(wires, all.map(|wire| wire.api().as_str().to_owned()));
    for line in told {
        assert_eq!(line["text"], "Hello wörld", "{line}");
        assert_eq!(line["thinking"], "I look.", "{line}");
        assert_eq!(line["calls"], json!([["read", {"path": "ä.txt"}]]), "{line}");
    }
}

/// Whether the vendors' types accept all requests of the server.
async fn validated(server: &Server) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let lines = server.model_requests().into_iter().map(|request| {
        let wire = request.wire().unwrap().api();
        json!({"head": {"wire": wire.as_str(), "path": request.path}, "body": request.json().unwrap()}).to_string()
    });
    std::fs::write(folder.path().join("sdks.jsonl"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    let (fine, _, errors) = validate(folder.path()).await;
    (fine, errors)
}

#[tokio::test]
async fn a_request_that_is_not_what_the_types_say_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let line = |wire: &str, body: Value| json!({"head": {"wire": wire, "path": "/x"}, "body": body}).to_string() + "\n";
    let good = line(
        "openai-completions",
        json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}),
    );
    std::fs::write(folder.path().join("1.jsonl"), &good).unwrap();
    let checked = validate(folder.path()).await;
    assert_eq!((checked.0, checked.1.trim()), (true, "1 openai-completions"), "{}", checked.2);
    let bad = [
        line(
            "openai-completions",
            json!({"model": "m", "stream": true, "messages": [{"role": "user", "contents": "hi"}]}),
        ),
        line("openai-responses", json!({"model": "m", "stream": true, "input": "hi", "inputs": 1})),
        line(
            "anthropic-messages",
            json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}),
        ),
        line(
            "anthropic-messages",
            json!({"model": "m", "max_tokens": 1, "stream": true, "messages": [
            {"role": "user", "content": [{"type": "text", "txt": "hi"}]}]}),
        ),
        line("google-generative-ai", json!({"contents": [{"role": "user", "parts": [{"txt": "hi"}]}]})),
    ];
    std::fs::write(folder.path().join("1.jsonl"), bad.concat()).unwrap();
    let (fine, _, errors) = validate(folder.path()).await;
    assert!(!fine && errors.contains("error: 5 requests"), "{errors}");
}

async fn validate(folder: &Path) -> (bool, String, String) {
    let output = command("validate.py", &[&folder.to_string_lossy()]).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

async fn python(script: &str, args: &[&str]) -> String {
    let output = command(script, args).output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test of the kit runs the vendors' clients")]
fn command(script: &str, args: &[&str]) -> tokio::process::Command {
    let python = cache().join(SDK).join("bin/python");
    assert!(python.is_file(), "{} is missing\nhint: scripts/test installs it", python.display());
    let mut command = tokio::process::Command::new(python);
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sdk").join(script);
    command.arg("-B").arg(script).args(args).stdin(Stdio::null()).kill_on_drop(true);
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(proxy);
    }
    command
}

/// The folder in which `scripts/test` stores installed packages.
#[expect(clippy::disallowed_methods, reason = "a test asks where the machine's user keeps caches")]
fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.unwrap_or_default().join("omp-tests")
}
