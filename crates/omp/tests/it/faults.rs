//! Every fault of the fake provider on every wire: a successful retry or a clear error, and a transcript in both cases.

use std::future::Future;

use omp_testkit::{After, Call, Fault, FaultKind, FaultStatus, Framing, Moment, Script, Split, Turn, Wire};
use omp_types::Message;
use serde_json::json;
use tokio::task::JoinSet;

use crate::harness::{Omp, Ran, Scene, outline};

/// The timeout for a silent provider in milliseconds. Long enough for a busy machine to answer.
const PATIENCE_MS: &str = "4000";

/// Transient faults, for which a retry may succeed, with the message for the user.
fn passing_faults() -> Vec<(Fault, &'static str)> {
    let moments = [Moment::BeforeHeaders, Moment::AfterHeaders, Moment::MidStream, Moment::AfterEvents(1)];
    let mut rows = Vec::new();
    for at in moments {
        let early = at == Moment::BeforeHeaders;
        rows.push((Fault::reset(at), if early { "before it answered" } else { "in the middle of its answer" }));
        rows.push((
            FaultKind::Close { at }.into(),
            if early { "before it answered" } else { "in the middle of its answer" },
        ));
    }
    rows.push((Fault::status(500), "(500)"));
    rows.push((Fault::status(503), "(503)"));
    rows.push((Fault::status(529), "(529)"));
    rows.push((Fault::status(429), "(429)"));
    rows.push((FaultKind::ErrorEvent { code: 529 }.into(), "right now"));
    rows.push((FaultKind::MalformedEvent.into(), "is not usable"));
    rows.push((FaultKind::Html.into(), "text/html"));
    rows.push((FaultKind::EmptyStream.into(), "the stream is empty"));
    rows.push((FaultKind::NoTerminal.into(), "is not usable"));
    rows
}

fn stalls() -> Vec<(Fault, &'static str)> {
    let row = |at, words| (Fault::stall(at), words);
    let alive = |at, words| (FaultKind::KeepAlive { at, ms: 50 }.into(), words);
    vec![
        row(Moment::BeforeHeaders, "waiting for the first token: http://127.0.0.1"),
        row(
            Moment::AfterHeaders,
            "sent nothing within 4 s\nhint: if it is only slow, raise `providers.streamFirstEvent",
        ),
        row(Moment::MidStream, "for 4 s in the middle of its answer"),
        alive(Moment::AfterHeaders, "sent only keep-alives ("),
        alive(Moment::AfterEvents(3), "between tokens: http://127.0.0.1"),
    ]
}

/// A turn whose call appends a line each time it runs, and the answer after it.
fn work(fault: Option<Fault>) -> Script {
    let mut first =
        Turn::text(["I l", "ook."]).thinking("hm").and_call("bash", json!({"command": "echo ran >> marker"}));
    first.fault = fault;
    Script::new([first, Turn::text(["All ", "done."])])
}

fn times_run(scene: &Scene) -> usize {
    scene.workspace.read("marker").unwrap_or_default().lines().count()
}

fn patient(scene: &Scene) -> Omp {
    scene.omp(&["-p", "do it"])
}

fn impatient(scene: &Scene) -> Omp {
    patient(scene).env("PI_STREAM_FIRST_EVENT_TIMEOUT_MS", PATIENCE_MS).env("PI_STREAM_IDLE_TIMEOUT_MS", PATIENCE_MS)
}

/// Runs a few rows concurrently, because most of them only wait.
async fn each<F: Future<Output = ()> + Send + 'static>(rows: impl IntoIterator<Item = F>, at_once: usize) {
    let mut running = JoinSet::new();
    for row in rows {
        if running.len() == at_once {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(row);
    }
    while let Some(row) = running.join_next().await {
        row.unwrap();
    }
}

async fn passes(omp: fn(&Scene) -> Omp, wire: Wire, fault: Fault, words: &'static str) {
    let scene = Scene::new(wire, work(Some(fault.clone().times(1)))).await;
    let ran = omp(&scene).run().await;
    let context = format!("{wire:?} {fault:?}\n{ran}");
    assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(0), "All done.\n"), "{context}");
    // A retry is reported in one line; the hint is printed only with a failure.
    let reason = words.lines().next().unwrap_or_default();
    assert!(ran.stderr.contains(reason) && ran.stderr.contains("trying again"), "{words}: {context}");
    assert_eq!(scene.server.model_requests().len(), 3, "{context}");
    assert_eq!(times_run(&scene), 1, "{context}");
    let held = outline(&scene.messages());
    assert_eq!((held[0].as_str(), held.last().unwrap().as_str()), ("user: do it", "assistant: All done."), "{context}");
    // The failed attempt is recorded, but not sent to the model.
    let sent = scene.last_request().json().unwrap()[wire.conversation()].to_string();
    assert_eq!(sent.matches("I look.").count(), 1, "{context}\n{sent}");
}

async fn stays(omp: fn(&Scene) -> Omp, wire: Wire, fault: Fault, words: &'static str) {
    let scene = Scene::new(wire, work(Some(fault.clone()))).await;
    scene.workspace.write_config_yml("retry: { baseDelayMs: 1, maxRetries: 1 }\n").unwrap();
    let ran = omp(&scene).run().await;
    let context = format!("{wire:?} {fault:?}\n{ran}");
    assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(1), ""), "{context}");
    let last = ran.stderr.rsplit("trying again").next().unwrap();
    assert!(last.contains(words) && last.contains("hint: "), "{words}: {context}");
    assert_eq!(scene.server.model_requests().len(), 2, "{context}");
    assert_eq!(times_run(&scene), 0, "{context}");
    assert_eq!(outline(&scene.messages())[0], "user: do it", "{context}");
}

async fn check_passing(wire: Wire) {
    each(passing_faults().into_iter().map(|(fault, words)| passes(patient, wire, fault, words)), 2).await;
    each(passing_faults().into_iter().map(|(fault, words)| stays(patient, wire, fault, words)), 2).await;
}

#[tokio::test]
async fn passing_faults_on_anthropic_messages() {
    check_passing(Wire::Anthropic).await;
}

#[tokio::test]
async fn passing_faults_on_openai_completions() {
    check_passing(Wire::Completions).await;
}

#[tokio::test]
async fn passing_faults_on_openai_responses() {
    check_passing(Wire::Responses).await;
}

#[tokio::test]
async fn passing_faults_on_google_generative_ai() {
    check_passing(Wire::Google).await;
}

#[tokio::test]
async fn stalls_on_every_wire() {
    let rows =
        Wire::ALL.into_iter().flat_map(|wire| stalls().into_iter().map(move |(fault, words)| (wire, fault, words)));
    let rows: Vec<_> = rows.collect();
    // These rows only wait, so they run concurrently.
    each(rows.clone().into_iter().map(|(wire, fault, words)| passes(impatient, wire, fault, words)), 10).await;
    each(rows.into_iter().map(|(wire, fault, words)| stays(impatient, wire, fault, words)), 10).await;
}

#[tokio::test]
async fn the_settings_say_how_long_a_silent_provider_is_waited_for() {
    // Only the tested timeout is short; a busy machine needs more for the other.
    for (at, first, idle, words) in [
        (Moment::AfterHeaders, 0.3, 60.0, "within 0.3 s"),
        (Moment::AfterEvents(5), 60.0, 0.4, "for 0.4 s in the middle of its answer"),
    ] {
        let scene = Scene::new(Wire::Anthropic, work(Some(Fault::stall(at)))).await;
        let settings = format!(
            "retry: {{ enabled: false }}\nproviders: {{ streamFirstEventTimeoutSeconds: {first}, \
             streamIdleTimeoutSeconds: {idle} }}\n"
        );
        scene.workspace.write_config_yml(&settings).unwrap();
        impatient(&scene).run().await.exits(1).complains(&[words]);
    }
}

#[tokio::test]
async fn a_model_may_have_limits_of_its_own() {
    let scene = Scene::new(Wire::Completions, work(Some(Fault::stall(Moment::AfterHeaders)))).await;
    scene.workspace.write_config_yml("retry: { enabled: false }\n").unwrap();
    let models = std::fs::read_to_string(scene.workspace.agent_dir().join("models.yml")).unwrap();
    let compat = "        compat: { streamFirstEventTimeoutMs: 300 }\n";
    scene.workspace.write_models_yml(&format!("{models}{compat}")).unwrap();
    scene.omp(&["-p", "do it"]).run().await.exits(1).complains(&["sent nothing within 0.3 s"]);
}

/// While a tool runs, the timeouts for the model do not apply.
#[tokio::test]
async fn a_tool_that_takes_its_time_is_no_silence_of_the_model() {
    let row = |wire| async move {
        let turns = [Turn::call("bash", json!({"command": "sleep 5; echo ran >> marker"})), Turn::text("All done.")];
        let scene = Scene::new(wire, Script::new(turns)).await;
        let ran = impatient(&scene).run().await.exits(0).prints("All done.\n");
        assert_eq!((ran.stderr.as_str(), times_run(&scene)), ("", 1), "{wire:?}");
    };
    each(Wire::ALL.into_iter().map(row), 4).await;
}

#[tokio::test]
async fn a_connection_that_is_not_made_has_a_limit_of_its_own() {
    let scene = Scene::new(Wire::Anthropic, work(None)).await;
    // Accepts connections and sends nothing, so that no handshake completes.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", mute.local_addr().unwrap());
    scene.workspace.write_provider(&omp_testkit::MockProvider::new(&url, Wire::Anthropic.api())).unwrap();
    scene.workspace.write_config_yml("retry: { baseDelayMs: 1, maxRetries: 1 }\n").unwrap();
    let ran = scene.omp(&["-p", "do it"]).env("PI_CONNECT_TIMEOUT_MS", "300").run().await.exits(1);
    ran.complains(&[
        "connecting: no connection to https://127.0.0.1",
        "within 0.3 s",
        "trying again",
        "PI_CONNECT_TIMEOUT",
    ]);
}

#[tokio::test]
async fn a_short_pause_is_waited_for() {
    for wire in Wire::ALL {
        let pause = FaultKind::Stall { at: Moment::MidStream, ms: Some(300) };
        let scene = Scene::new(wire, work(Some(pause.into()))).await;
        impatient(&scene).run().await.exits(0).prints("All done.\n");
        assert_eq!(scene.server.model_requests().len(), 2, "{wire:?}");
    }
}

/// Whether the last event is required: chat completions send everything before `[DONE]`, which many servers omit.
#[tokio::test]
async fn the_last_event_is_missed_where_it_says_something() {
    for wire in Wire::ALL {
        let needed = wire != Wire::Completions;
        let after = if needed { After::Same } else { After::Next };
        let scene = Scene::new(wire, work(Some(Fault::new(FaultKind::NoLastEvent).times(1).after(after)))).await;
        scene.omp(&["-p", "do it"]).run().await.exits(0).prints("All done.\n");
        assert_eq!(times_run(&scene), 1, "{wire:?}");
        assert_eq!(scene.server.model_requests().len(), if needed { 3 } else { 2 }, "{wire:?}");
    }
}

#[tokio::test]
async fn refusals_are_told_at_once() {
    let rows = [
        (Fault::status(400), &["(400)", "refused the request"][..]),
        (Fault::status(401), &["(401)", "hint: check the key in use: models.yml (providers.mock.apiKey)"]),
        (Fault::status(403), &["(403)", "hint: "]),
        (Fault::status(404), &["(404)", "hint: ", "base URL"]),
        (FaultKind::ContextOverflow.into(), &["too long", "hint: start a new session"]),
        (FaultStatus::new(429).retry_after("3600").into(), &["(429)"]),
    ];
    for wire in Wire::ALL {
        for (fault, words) in &rows {
            let scene = Scene::new(wire, work(Some(fault.clone()))).await;
            scene.omp(&["-p", "do it"]).run().await.exits(1).prints("").complains(words);
            assert_eq!(scene.server.model_requests().len(), 1, "{wire:?} {fault:?}");
            assert_eq!(outline(&scene.messages())[0], "user: do it");
        }
    }
}

#[tokio::test]
async fn a_wrong_key_names_its_variable() {
    let scene = Scene::new(Wire::Anthropic, work(Some(Fault::status(401)))).await;
    scene
        .workspace
        .write_models_yml(&format!("providers: {{ anthropic: {{ baseUrl: {} }} }}\n", scene.server.base_url()))
        .unwrap();
    let omp = Omp::bare(&scene.workspace).env("ANTHROPIC_API_KEY", "sk-secret-12345");
    let ran = omp.args(["-p", "hi", "--model", "anthropic/claude-sonnet-4-5"]).run().await;
    let ran = ran.exits(1).complains(&["(401)", "hint: check the key in use: ANTHROPIC_API_KEY in the environment"]);
    assert!(!ran.stderr.contains("sk-secret"), "{ran}");
}

#[tokio::test]
async fn a_wish_for_patience_is_granted() {
    let busy = FaultStatus::new(429).retry_after("1");
    let scene = Scene::new(Wire::Anthropic, work(Some(Fault::from(busy).times(1)))).await;
    scene.omp(&["-p", "do it"]).run().await.exits(0).complains(&["trying again in 1.0 s"]);
    let requests = scene.server.model_requests();
    assert!(requests[1].at - requests[0].at >= std::time::Duration::from_secs(1));
}

#[cfg(unix)]
#[tokio::test]
async fn a_line_without_end_is_bounded() {
    for wire in Wire::ALL {
        let huge = Fault::new(FaultKind::HugeLine { megabytes: 48 }).times(1);
        let scene = Scene::new(wire, work(Some(huge))).await;
        // The system kills a run that needs more memory than this, in KiB.
        let ran = Omp::behind("ulimit -d 131072; exec \"$@\"", &scene.workspace, &["-p", "do it"]).run().await;
        ran.exits(0).prints("All done.\n").complains(&["larger than 16 MiB"]);
        assert_eq!(times_run(&scene), 1, "{wire:?}");
    }
}

#[tokio::test]
async fn cut_arguments_are_answered_and_never_run() {
    let cut = Turn::text("I work.")
        .and_call("bash", json!({"command": format!("touch marker; echo {}", "x".repeat(200))}))
        .fault(Fault::new(FaultKind::TruncatedArguments));
    let invalid = Turn::default().with_call(Call::raw("bash", [r#"{"command": "touch marker"#, r#"", "timeout": "#]));
    let half = Turn::default().with_call(Call::raw("bash", [r#"{"command": "touch marker"#]));
    for wire in Wire::ALL {
        for turn in [&cut, &invalid, &half] {
            let scene = Scene::new(wire, [turn.clone(), Turn::text("Done.")]).await;
            scene.omp(&["-p", "do it"]).run().await.exits(0).prints("Done.\n");
            assert!(!scene.workspace.path("marker").exists(), "{wire:?}");
            let held = scene.messages();
            let failed = held.iter().any(|message| match message {
                Message::ToolResult(result) => result.is_error,
                Message::Assistant(answer) => answer.failed(),
                _ => false,
            });
            assert!(failed, "{wire:?}: {:?}", outline(&held));
        }
    }
}

#[tokio::test]
async fn two_calls_with_one_id_both_get_a_result() {
    let twice = || {
        let echo = |word: &str| Call::new("bash", json!({"command": format!("echo {word}")})).id("call_same");
        Turn::default().with_call(echo("first")).with_call(echo("second"))
    };
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [twice(), Turn::text("Done.")]).await;
        scene.omp(&["-p", "do it"]).run().await.exits(0).prints("Done.\n");
        let held = outline(&scene.messages());
        assert_eq!(held[2..4], ["result: first", "result: second"], "{wire:?}");
        let sent = scene.last_request().json().unwrap()[wire.conversation()].to_string();
        for word in ["first", "second"] {
            assert!(sent.contains(&format!("{word}\\n")), "{wire:?}: {sent}");
        }
    }
}

#[tokio::test]
async fn layouts_of_the_stream_go_unnoticed() {
    let plain = Framing::default;
    let framings = [
        Framing { split: Some(Split::EveryByte), ..plain() },
        Framing { split: Some(Split::Every(7)), crlf: true, ..plain() },
        Framing { gzip: true, ..plain() },
        Framing { gzip: true, split: Some(Split::Every(5)), ..plain() },
        Framing { comments: true, bom: true, ..plain() },
        Framing { multi_line: true, no_final_newline: true, ..plain() },
        Framing { crlf: true, comments: true, multi_line: true, bom: true, no_final_newline: true, ..plain() },
    ];
    let mut rows = Vec::new();
    for wire in Wire::ALL {
        for framing in framings.clone() {
            rows.push(async move {
                let scene = Scene::new(wire, work(None).framing(framing.clone())).await;
                let ran = scene.omp(&["-p", "do it"]).run().await;
                let context = format!("{wire:?} {framing:?}\n{ran}");
                let Ran { status, stdout, stderr } = ran;
                assert_eq!(
                    (status.code(), stdout.as_str(), stderr.as_str()),
                    (Some(0), "All done.\n", ""),
                    "{context}"
                );
                let held = outline(&scene.messages());
                let expect = ["user: do it", "assistant: I look. [bash]", "result: Wall time", "assistant: All done."];
                assert_eq!((held.len(), times_run(&scene)), (expect.len(), 1), "{held:?} {context}");
                assert_eq!((&held[1], &held[3]), (&expect[1].to_owned(), &expect[3].to_owned()), "{context}");
            });
        }
    }
    each(rows, 2).await;
}
