//! A day at the terminal: twenty prompts with 150 calls, two interruptions, a resize, a plan and an undo. At its end nothing
//! is lost and the terminal is as it was.

use std::time::{Duration, Instant};

use omp_testkit::{Script, Turn, Wire};
use omp_types::Message;
use serde_json::json;

use crate::harness::{Scene, outline};
use crate::seat::{RUNS, Seat, at_a_seat};

const PROMPTS: usize = 20;
const CALLS: usize = 150;
/// Of these prompts the command is interrupted.
const INTERRUPTED: [usize; 2] = [5, 12];
const PLANNED: usize = 8;
const RESIZED_AFTER: usize = 10;
const UNDONE: usize = 15;
/// The first prompts have a call more than the others.
const LONGER: usize = 6;
const LIMIT: Duration = Duration::from_secs(60);

fn is_usual(prompt: usize) -> bool {
    prompt != PLANNED && !INTERRUPTED.contains(&prompt)
}

/// The usual prompts, in their order.
fn usual() -> Vec<usize> {
    (1..=PROMPTS).filter(|prompt| is_usual(*prompt)).collect()
}

fn has_one_more(prompt: usize) -> bool {
    usual().iter().take(LONGER).any(|longer| *longer == prompt)
}

/// Four calls: two change files, two read.
fn four_calls(first: &str, second: &str, content: &str) -> Turn {
    Turn::call("write", json!({"path": first, "content": content}))
        .and_call("bash", json!({"command": format!("printf '%s' '{content}' > {second}")}))
        .and_call("read", json!({"path": "base.txt"}))
        .and_call("read", json!({"path": "."}))
}

fn turns_of(prompt: usize) -> Vec<Turn> {
    if INTERRUPTED.contains(&prompt) {
        return vec![Turn::call("bash", json!({"command": format!("echo begun-{prompt}; sleep 300")}))];
    }
    if prompt == PLANNED {
        let plan = "# The plan of the day\n\n1. Write it down.\n";
        return vec![
            Turn::call("write", json!({"path": "local://PLAN.md", "content": plan}))
                .and_call("read", json!({"path": "base.txt"})),
            Turn::text("Planned."),
            four_calls("plan-a.txt", "plan-b.txt", "planned"),
            Turn::text("Carried out."),
        ];
    }
    let name = |part: &str| format!("{prompt}-{part}.txt");
    let mut second = four_calls(&name("c"), &name("d"), &prompt.to_string());
    if has_one_more(prompt) {
        second = second.and_call("read", json!({"path": "base.txt"}));
    }
    let answer = Turn::text(format!("Answer {prompt} is this."));
    vec![four_calls(&name("a"), &name("b"), &prompt.to_string()), second, answer]
}

fn work(seat: &Seat, prompt: usize) {
    seat.says(&format!("prompt number {prompt}"), &format!("Answer {prompt} is this."));
}

fn interrupt(seat: &Seat, prompt: usize) {
    seat.keys(format!("prompt number {prompt}\r"));
    seat.until(&format!("begun-{prompt}"));
    seat.keys("\x1b");
    seat.until_gone(RUNS);
}

fn plan(seat: &Seat, prompt: usize) {
    seat.keys(format!("/plan prompt number {prompt}\r"));
    seat.until("1. Approve and run");
    assert!(seat.text().contains("The plan of the day"), "{}", seat.text());
    // A question ignores keys that were typed before it could be read.
    seat.until_quiet(Duration::from_millis(400));
    seat.keys("1");
    seat.until("Carried out.");
    seat.until_gone(RUNS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_of_work_loses_nothing() {
    let script = Script::new((1..=PROMPTS).flat_map(turns_of));
    let scene = Scene::new(Wire::Completions, script).await;
    scene.workspace.write("base.txt", "base\n").unwrap();
    let start = Instant::now();
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        for prompt in 1..=PROMPTS {
            match prompt {
                PLANNED => plan(&seat, prompt),
                _ if INTERRUPTED.contains(&prompt) => interrupt(&seat, prompt),
                _ => work(&seat, prompt),
            }
            if prompt == RESIZED_AFTER {
                seat.resize(100, 30);
                seat.until_quiet(Duration::from_millis(300));
            }
            if prompt == UNDONE {
                let before = seat.shown();
                seat.keys("/undo\r");
                seat.until_after(before, "4 paths undone");
            }
        }
        seat.leaves();
    })
    .await;
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    files_are_as_expected(&scene);
    session_is_whole(&scene);
}

fn files_are_as_expected(scene: &Scene) {
    for prompt in usual() {
        for part in ["a", "b", "c", "d"] {
            let found = scene.workspace.read(&format!("{prompt}-{part}.txt")).ok();
            let expect = (prompt != UNDONE).then(|| prompt.to_string());
            assert_eq!(found, expect, "{prompt}-{part}.txt");
        }
    }
    for name in ["plan-a.txt", "plan-b.txt"] {
        assert_eq!(scene.workspace.read(name).unwrap(), "planned");
    }
    assert_eq!(scene.workspace.read("base.txt").unwrap(), "base\n");
}

fn session_is_whole(scene: &Scene) {
    let messages = scene.messages();
    let said = outline(&messages);
    let results = messages.iter().filter(|message| matches!(message, Message::ToolResult(_))).count();
    assert_eq!(results, CALLS, "{said:#?}");
    let prompts: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("user: prompt number ")).collect();
    let expect: Vec<String> = (1..=PROMPTS).map(|prompt| prompt.to_string()).collect();
    assert_eq!(prompts, expect);
    for prompt in usual() {
        assert!(said.contains(&format!("assistant: Answer {prompt} is this.")), "{prompt}");
    }
    assert!(said.iter().any(|line| line.starts_with("user: I approve the plan")), "{said:#?}");
}
