//! Answers that are whole but odd: refusals, unknown tools, wrong arguments, a model that never ends.

use omp_testkit::{Call, PastEnd, Script, Stop, Turn, Wire};
use serde_json::json;

use crate::harness::{Scene, outline};

#[tokio::test]
async fn a_refusal_is_reported() {
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [Turn::text("I must not").stop(Stop::Refusal)]).await;
        let ran = scene.omp(&["-p", "do evil"]).run().await;
        println!("{wire:?} {ran}");
        ran.exits(1).prints("").complains(&["policy"]);
        assert_eq!(outline(&scene.messages())[0], "user: do evil");
    }
}

#[tokio::test]
async fn an_answer_without_content() {
    for wire in Wire::ALL {
        let scene = Scene::new(wire, [Turn::default(), Turn::text("x"), Turn::text("y")]).await;
        let ran = scene.omp(&["-p", "hi"]).run().await;
        println!("{wire:?} {ran} {:?}", outline(&scene.messages()));
    }
}

#[tokio::test]
async fn an_unknown_end() {
    for wire in Wire::ALL {
        for stop in [Stop::Raw("pause_turn".into()), Stop::Raw("nonsense".into())] {
            let scene = Scene::new(wire, [Turn::text("So far.").stop(stop), Turn::text("And on.")]).await;
            let ran = scene.omp(&["-p", "hi"]).run().await;
            println!("{wire:?} {ran} {:?}", outline(&scene.messages()));
        }
    }
}

#[tokio::test]
async fn a_call_cut_by_the_output_limit() {
    for wire in Wire::ALL {
        let turn = Turn::call("bash", json!({"command": "touch marker"})).stop(Stop::Length);
        let scene = Scene::new(wire, [turn, Turn::text("Done.")]).await;
        let ran = scene.omp(&["-p", "hi"]).run().await;
        println!("{wire:?} {ran} {:?} {}", outline(&scene.messages()), scene.workspace.path("marker").exists());
    }
}

#[tokio::test]
async fn calls_that_cannot_be_run_are_answered() {
    let calls = [
        Call::new("frobnicate", json!({})),
        Call::new("read", json!({})),
        Call::new("read", json!({"path": 7})),
        Call::new("read", json!([1])),
        Call::raw("read", [""]),
        Call::raw("", ["{}"]),
    ];
    for wire in Wire::ALL {
        let mut turn = Turn::text("Odd.");
        turn.calls = calls.to_vec();
        let scene = Scene::new(wire, [turn, Turn::text("Done.")]).await;
        let ran = scene.omp(&["-p", "hi"]).run().await;
        println!("{wire:?} {ran} {:#?}", outline(&scene.messages()));
        ran.exits(0).prints("Done.\n");
    }
}

#[tokio::test]
async fn a_model_that_never_ends_is_stopped() {
    let script = Script::new([Turn::call("read", json!({"path": "a.txt"}))]).past_end(PastEnd::RepeatLast);
    let scene = Scene::new(Wire::Completions, script).await;
    let ran = scene.omp(&["-p", "hi"]).run().await;
    ran.exits(3).complains(&["turn limit"]);
    scene.messages();
}
