//! Tests of discovery against small loopback servers that return canned JSON.

use std::collections::HashMap;

use omp_http::HttpConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::*;
use crate::registry::LoadOptions;

/// A server that answers `METHOD path` with JSON and everything else with 404 until it is dropped.
struct Fake {
    url: String,
    _tasks: JoinSet<()>,
}

impl Fake {
    async fn start(routes: &[(&str, &str)]) -> Self {
        let routes: HashMap<String, String> =
            routes.iter().map(|(path, body)| ((*path).to_owned(), (*body).to_owned())).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let request = read_request(&mut socket).await;
                let line: Vec<&str> = request.split_whitespace().take(2).collect();
                let (status, body) = match routes.get(&line.join(" ")) {
                    Some(body) => ("200 OK", body.as_str()),
                    None => ("404 Not Found", "{}"),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                socket.write_all(answer.as_bytes()).await.ok();
            }
        });
        Self { url, _tasks: tasks }
    }
}

/// Reads head and body; trusts the content length.
async fn read_request(socket: &mut tokio::net::TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let read = socket.read(&mut buffer).await.unwrap_or(0);
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        let Some((head, body)) = text.split_once("\r\n\r\n") else { if read == 0 { return text } else { continue } };
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if read == 0 || body.len() >= length.unwrap_or(0) {
            return text;
        }
    }
}

/// Returns an address without a listener.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

async fn ask(env: &[(&str, &str)], file: &str) -> Discovered {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.yml");
    std::fs::write(&path, file).unwrap();
    let nobody = nobody().await;
    let unset = ["OLLAMA_BASE_URL", "LLAMA_CPP_BASE_URL", "LM_STUDIO_BASE_URL"].map(|name| (name, nobody.as_str()));
    let env: Env = unset.into_iter().chain(env.iter().copied()).collect();
    let registry = Registry::load(LoadOptions { env: env.clone(), models_file: Some(path), ..LoadOptions::default() });
    assert_eq!(registry.problems(), []);
    discover(&Client::new(&env, HttpConfig::default()), &registry).await
}

fn told(model: &Model) -> String {
    let images = if model.accepts(InputKind::Image) { " images" } else { "" };
    let thinks = if model.reasoning { " thinks" } else { "" };
    format!("{} {} {}{images}{thinks}", model.selector(), model.api.as_str(), model.context_window)
}

#[tokio::test]
async fn ollama_tells_its_models() {
    let server = Fake::start(&[
        ("GET /api/tags", r#"{"models": [{"name": "qwen3:8b", "size": 1}, {"name": "nomic-embed"}, {"name": "old"}]}"#),
        (
            "POST /api/show",
            r#"{"capabilities": ["completion", "vision", "thinking"], "model_info": {"qwen3.context_length": 40960}}"#,
        ),
    ])
    .await;
    let found = ask(&[("OLLAMA_BASE_URL", &server.url)], "").await;
    assert_eq!(found.problems, [""; 0]);
    assert_eq!(told(&found.models[0]), "ollama/qwen3:8b openai-completions 40960 images thinks");
    assert_eq!(found.models[0].base_url, format!("{}/v1", server.url));
    let found = ask(&[("OLLAMA_BASE_URL", &server.url), ("OLLAMA_CONTEXT_LENGTH", "9000")], "").await;
    assert_eq!(found.models[0].context_window, 9000);
    assert_eq!(found.models.len(), 3);
}

#[tokio::test]
async fn ollama_without_details_and_models_that_cannot_chat() {
    let tags = ("GET /api/tags", r#"{"models": [{"name": "llama3"}]}"#);
    let bare = Fake::start(&[tags]).await;
    let found = ask(&[("OLLAMA_BASE_URL", &bare.url)], "").await;
    assert_eq!(told(&found.models[0]), "ollama/llama3 openai-completions 128000");
    let embedder = Fake::start(&[tags, ("POST /api/show", r#"{"capabilities": ["embedding"]}"#)]).await;
    assert!(ask(&[("OLLAMA_BASE_URL", &embedder.url)], "").await.models.is_empty());
}

#[tokio::test]
async fn llama_cpp_and_lm_studio_tell_theirs() {
    let llama = Fake::start(&[
        ("GET /v1/models", r#"{"object": "list", "data": [{"id": "gemma.gguf", "meta": {"n_ctx_train": 131072}}]}"#),
        ("GET /props", r#"{"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": true}}"#),
    ])
    .await;
    let studio = Fake::start(&[(
        "GET /api/v0/models",
        r#"{"data": [{"id": "qwen", "type": "vlm", "max_context_length": 32768}, {"id": "e", "type": "embeddings"}]}"#,
    )])
    .await;
    let studio_url = format!("{}/v1", studio.url);
    let found = ask(&[("LLAMA_CPP_BASE_URL", &llama.url), ("LM_STUDIO_BASE_URL", &studio_url)], "").await;
    let told: Vec<_> = found.models.iter().map(told).collect();
    assert_eq!(
        told,
        ["llama.cpp/gemma.gguf openai-responses 8192 images", "lm-studio/qwen openai-completions 32768 images"]
    );
    assert_eq!(found.models[0].base_url, format!("{}/v1", llama.url));
    assert_eq!(found.models[1].base_url, studio_url);
}

#[tokio::test]
async fn older_servers_have_the_openai_list_only() {
    let llama = Fake::start(&[("GET /v1/models", r#"{"data": [{"id": "m", "meta": {"n_ctx_train": 4096}}]}"#)]).await;
    let studio = Fake::start(&[("GET /v1/models", r#"{"data": [{"id": "s"}, {"id": "text-embedding-nomic"}]}"#)]).await;
    let found = ask(&[("LLAMA_CPP_BASE_URL", &llama.url), ("LM_STUDIO_BASE_URL", &studio.url)], "").await;
    let told: Vec<_> = found.models.iter().map(told).collect();
    assert_eq!(told, ["llama.cpp/m openai-responses 4096", "lm-studio/s openai-completions 128000"]);
}

#[tokio::test]
async fn only_configured_servers_may_complain() {
    let silent = ask(&[], "").await;
    assert!(silent.models.is_empty() && silent.problems.is_empty());
    let nonsense = Fake::start(&[("GET /api/tags", "<html>"), ("GET /v1/models", "[]")]).await;
    let found = ask(&[("OLLAMA_BASE_URL", &nonsense.url), ("LLAMA_CPP_BASE_URL", &nonsense.url)], "").await;
    assert!(found.models.is_empty() && found.problems.is_empty());
    let gone = nobody().await;
    let file = format!(
        "providers: {{far: {{baseUrl: '{gone}', api: openai-completions, auth: none, discovery: {{type: ollama}}}}}}"
    );
    let found = ask(&[], &file).await;
    assert_eq!(found.problems.len(), 1);
    assert!(found.problems[0].starts_with("cannot list the models of provider `far`"), "{}", found.problems[0]);
}

#[tokio::test]
async fn a_configured_server_replaces_the_guess_and_gets_its_key() {
    let server = Fake::start(&[("GET /api/tags", r#"{"models": [{"name": "m"}]}"#)]).await;
    let file = format!(
        "providers: {{ollama: {{baseUrl: '{}', api: openai-responses, auth: none, discovery: {{type: ollama}}}}}}",
        server.url
    );
    let found = ask(&[], &file).await;
    let told: Vec<_> = found.models.iter().map(told).collect();
    assert_eq!(told, ["ollama/m openai-responses 128000"]);
}

#[test]
fn keys_and_headers_go_along() {
    let registry =
        Registry::load(LoadOptions { env: [("OLLAMA_API_KEY", "k")].into_iter().collect(), ..Default::default() });
    let servers = servers(&registry);
    assert_eq!(servers[0].headers, [("authorization".to_owned(), "Bearer k".to_owned())]);
    assert!(servers[1].headers.is_empty());
    let options = LoadOptions { disabled_providers: vec!["ollama".into(), "lm-studio".into()], ..Default::default() };
    assert_eq!(super::servers(&Registry::load(options)).len(), 1);
}

#[test]
fn ollama_host_is_completed() {
    for (host, expect) in [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":9000", "http://127.0.0.1:9000"),
        ("http://host:1/ollama", "http://host:1/ollama"),
        ("https://host", "https://host:443"),
        ("[::1]:5", "http://[::1]:5"),
        ("[::]", "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
    ] {
        assert_eq!(ollama_host_url(host), expect, "{host}");
    }
}
