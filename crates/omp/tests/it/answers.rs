//! Complete but unusual answers: refusals, unknown stop reasons, empty answers, invalid calls.

use omp_testkit::{Call, ScriptedArguments, Stop, TokenCounts, Turn, Wire};
use serde_json::json;

use crate::harness::{Scene, outline};

#[tokio::test]
async fn a_refusal_is_reported_and_not_repeated() {
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [Turn::text("I must not").stop(Stop::Refusal)]).await;
        scene
            .omp(&["-p", "do evil"])
            .run()
            .await
            .exits(1)
            .prints("")
            .complains(&["policy", "hint: rephrase the message"]);
        assert_eq!(scene.server.model_requests().len(), 1, "{wire:?}");
        assert_eq!(outline(&scene.messages())[0], "user: do evil");
    }
}

#[tokio::test]
async fn an_answer_without_a_word_is_told() {
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [Turn::default()]).await;
        scene.omp(&["-p", "hi"]).run().await.exits(0).prints("").complains(&["ended without a final answer"]);
        let nothing = Turn::default().usage(TokenCounts::default());
        let scene = Scene::new(wire, [nothing, Turn::text("Hello.")]).await;
        scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n").complains(&["empty answer", "trying again"]);
    }
}

/// For stop reasons that no provider is known to use, the text is kept, unless the wire sends them only for broken answers.
#[tokio::test]
async fn an_unknown_ending_never_hangs() {
    for (wire, code, printed) in [
        (Wire::Anthropic, 0, "So far.\n"),
        (Wire::Completions, 0, "So far.\n"),
        (Wire::Responses, 3, "So far.\n"),
        (Wire::Google, 0, "Again.\n"),
    ] {
        let odd = Turn::text("So far.").stop(Stop::Raw("frobnicated".into()));
        let scene = Scene::new(wire, [odd, Turn::text("Again.")]).await;
        let ran = scene.omp(&["-p", "hi"]).run().await;
        assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(code), printed), "{wire:?}: {ran}");
    }
}

#[tokio::test]
async fn calls_that_cannot_be_run_are_answered() {
    let calls = [
        (Call::new("frobnicate", json!({})), "There is no tool `frobnicate`. Available tools: read, "),
        (Call::new("read", json!({})), "Invalid arguments for `read`; nothing was run:"),
        (Call::new("read", json!({"path": 7})), "Invalid arguments for `read`; nothing was run:"),
        (Call::new("read", json!([1])), "The arguments of `read` are not one complete JSON object"),
        (Call::raw("read", [""]), "Invalid arguments for `read`; nothing was run:"),
        (Call::raw("", ["{}"]), "There is no tool ``."),
    ];
    for wire in Wire::ALL {
        // Google's stream sends call arguments as objects and cannot send anything else.
        let can_be_sent = |call: &Call| wire != Wire::Google || matches!(call.arguments, ScriptedArguments::Object(_));
        let calls: Vec<_> = calls.iter().filter(|(call, _)| can_be_sent(call)).collect();
        let mut turn = Turn::text("Odd.");
        turn.calls = calls.iter().map(|(call, _)| call.clone()).collect();
        let scene = Scene::new(wire, [turn, Turn::text("Done.")]).await;
        scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Done.\n");
        let held = outline(&scene.messages());
        for ((_, expect), found) in calls.iter().zip(&held[2..]) {
            assert!(found.starts_with(&format!("result: {expect}")), "{wire:?}: {found}");
        }
        assert_eq!(held.len(), calls.len() + 3, "{wire:?}: {held:?}");
    }
}
