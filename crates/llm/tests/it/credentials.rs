//! Tests of asynchronous credentials: they are requested and refreshed inside the future that opens a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_http::{Client, HttpConfig};
use omp_llm::{Auth, Credential, CredentialSource, Providers};
use omp_types::{Api, Env, ErrorKind, Llm, ModelError};
use tokio::sync::Semaphore;

use crate::server::{Reply, Server};
use crate::talk::{ask, model, request};

/// Returns a new token on each call, after the gate opens.
struct Refreshing {
    gate: Semaphore,
    asked: AtomicUsize,
    fails: bool,
}

impl Refreshing {
    fn new(open: usize, fails: bool) -> Arc<Self> {
        Arc::new(Self { gate: Semaphore::new(open), asked: AtomicUsize::new(0), fails })
    }
}

impl CredentialSource for Refreshing {
    fn credential<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, Option<Result<Credential, ModelError>>> {
        async move {
            if provider != "anthropic" {
                return None;
            }
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            self.gate.acquire().await.unwrap().forget();
            if self.fails {
                return Some(Err(ModelError::new(
                    ErrorKind::Auth,
                    "the refresh token was revoked\nhint: log in again",
                )));
            }
            Some(Ok(Credential::Bearer(format!("token-{number}"))))
        }
        .boxed()
    }

    fn known(&self, provider: &str) -> Option<Credential> {
        (provider == "anthropic").then(|| Credential::Bearer("token-old".into()))
    }

    fn secrets(&self) -> Vec<String> {
        vec!["token-old".into()]
    }
}

fn providers(source: &Arc<Refreshing>, env: &[(&str, &str)]) -> Providers {
    let env: Env = env.iter().copied().collect();
    let auth = Auth::new(env.clone()).with_source(source.clone());
    Providers::new(Client::new(&env, HttpConfig::default()), auth)
}

fn refused() -> Reply {
    Reply::status(401, "application/json", &[], br#"{"error":{"message":"token-0 and token-1 are no good"}}"#)
}

#[tokio::test]
async fn each_request_is_sent_with_what_the_source_has_then_and_no_message_repeats_it() {
    let server = Server::start(refused()).await;
    let source = Refreshing::new(9, false);
    let providers = providers(&source, &[("ANTHROPIC_API_KEY", "env-key")]);
    for number in 0..2 {
        let model = model(Api::AnthropicMessages, "anthropic", &server.base_url);
        let (_, answer) = ask(&providers, request(model)).await;
        let error = answer.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Auth);
        assert!(!error.message.contains(&format!("token-{number}")), "{error}");
        assert!(error.message.contains("the account that is logged in"), "{error}");
    }
    let heads: Vec<String> = server.requests().into_iter().map(|request| request.head.to_lowercase()).collect();
    assert_eq!(heads.len(), 2);
    for (number, head) in heads.iter().enumerate() {
        assert!(head.contains(&format!("authorization: bearer token-{number}\r\n")), "{head}");
        assert!(!head.contains("env-key") && !head.contains("x-api-key"), "{head}");
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_while_it_waits_for_a_token_sends_nothing() {
    let server = Server::start(refused()).await;
    let source = Refreshing::new(0, false);
    let providers = providers(&source, &[]);
    let mut stream = providers.stream(request(model(Api::AnthropicMessages, "anthropic", &server.base_url)));
    assert_eq!(source.asked.load(Ordering::Relaxed), 0, "nothing happens before the stream is polled");
    let start = futures_util::StreamExt::next(&mut stream).await;
    assert_eq!(start, Some(omp_types::StreamEvent::Start));
    assert!(futures_util::StreamExt::next(&mut stream).now_or_never().is_none(), "it waits");
    assert_eq!(source.asked.load(Ordering::Relaxed), 1);
    drop(stream);
    source.gate.add_permits(1);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_refresh_that_fails_is_the_answer_and_a_key_of_the_run_comes_first() {
    let server = Server::start(refused()).await;
    let source = Refreshing::new(9, true);
    let model = model(Api::AnthropicMessages, "anthropic", &server.base_url);
    let (_, answer) = ask(&providers(&source, &[]), request(model.clone())).await;
    let error = answer.error.unwrap();
    assert!(error.message.contains("the refresh token was revoked") && error.kind == ErrorKind::Auth, "{error}");
    assert!(server.requests().is_empty(), "nothing is sent without a credential");
    let env = Env::default();
    let mut auth = Auth::new(env.clone()).with_source(source.clone());
    auth.set_runtime_key("anthropic", "run-key");
    let providers = Providers::new(Client::new(&env, HttpConfig::default()), auth);
    ask(&providers, request(model)).await;
    assert!(server.requests()[0].head.contains("run-key"));
    assert_eq!(source.asked.load(Ordering::Relaxed), 1);
}
