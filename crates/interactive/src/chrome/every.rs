//! Everything that stands around the transcript, at three sizes and in both themes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_policy::ApprovalMode;
use omp_tui::{Line, Space};
use omp_types::{Content, Message, ThinkingLevel, Usage, UserMessage};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::looks::looks;
use crate::transcript::Block;

const LONG: &str =
    "then run all tests of the workspace, and if one of them fails, say which, and why, and what you would do about it";

fn status() -> StatusBar {
    let mut usage = Usage { input: 1_000, output: 2_345, ..Usage::default() };
    usage.cost.total = 0.123;
    StatusBar {
        model: "anthropic/claude-sonnet-4-5".into(),
        thinking: Some(ThinkingLevel::Medium),
        context: (106_000, 200_000),
        usage,
        git: Some(GitFacts { branch: "main".into(), unstaged: Some(2), staged: Some(1), untracked: Some(3) }),
        mode: ApprovalMode::AskWrites,
        contained: Some(("uncontained".into(), true)),
        folder: "/home/user/src/thing".into(),
        home: "/home/user".into(),
        title: Some("Rename the totals".into()),
        session: "0123456789abcdef".into(),
        host: "box".into(),
        ..StatusBar::default()
    }
}

#[test]
fn the_status_line_of_every_preset() {
    let presets = ["default", "minimal", "compact", "full", "nerd", "ascii"];
    let line = |status: &StatusBar, preset: &str, space: &Space<'_>| {
        let (look, problems) = StatusLook::read(|key| (key == "statusLine.preset").then(|| json!(preset)));
        assert_eq!(problems, Vec::<String>::new());
        status_line(status, &look, space)
    };
    let mut busy = StatusBar { plans: true, repeats: true, context: (190_000, 200_000), ..status() };
    busy.git = None;
    insta::assert_snapshot!(looks(|space| {
        let presets = presets.iter().map(|preset| line(&status(), preset, space));
        let more = [line(&busy, "default", space), line(&StatusBar::default(), "default", space)];
        presets.chain(more).collect()
    }));
}

#[test]
fn the_working_row() {
    let now = Instant::now();
    let working = Working::new(now);
    let doing = |doing: &str| Working { doing: Some(doing.to_owned()), ..working.clone() };
    let shown = [
        (working.clone(), 4),
        (doing("$ cargo test"), 75),
        (doing(&format!("$ echo {LONG}")), 4000),
        (Working { retrying: true, ..working.clone() }, 9),
        (Working { compacting: true, ..working.clone() }, 9),
        (Working { summing_up: true, ..working.clone() }, 9),
        (Working { asking: true, ..working.clone() }, 9),
    ];
    insta::assert_snapshot!(looks(|space| {
        shown.iter().map(|(working, after)| working.row(now + Duration::from_secs(*after), "esc", space)).collect()
    }));
}

#[test]
fn the_queue() {
    let message = |text: &str| Arc::new(Message::User(UserMessage::new(vec![Content::text(text)])));
    let steering = [message("use the other file\nplease"), message(LONG)];
    let follow_up: Vec<_> = (1..=6).map(|at| message(&format!("message {at}"))).collect();
    insta::assert_snapshot!(looks(|space| queue_rows(&steering, &follow_up, "alt+up", space)));
}

fn phases() -> Value {
    let task = |content: &str, status: &str| json!({"content": content, "status": status});
    let pending = (1..=6).map(|at| task(&format!("test case {at}"), "pending"));
    let tests: Vec<Value> = std::iter::once(task(LONG, "in_progress")).chain(pending).collect();
    json!([
        {"name": "Read", "tasks": [task("find the callers", "completed"), task("ask", "abandoned")]},
        {"name": "Tests", "tasks": tests},
    ])
}

#[test]
fn the_task_list_in_short_and_expanded() {
    insta::assert_snapshot!(looks(|space| {
        let mut rows = todo_rows(&phases(), false, space);
        rows.push(Line::from("expanded:"));
        rows.extend(todo_rows(&phases(), true, space));
        rows
    }));
}

#[test]
fn the_welcome() {
    let mut welcome = Welcome {
        version: "1.2.3".into(),
        folder: PathBuf::from("/home/user/src/thing"),
        home: PathBuf::from("/home/user"),
        unused: Some("1 hook of this folder is not used until you trust it: /trust".into()),
        update: Some("omp 1.3.0 is available".into()),
    };
    insta::assert_snapshot!(looks(|space| welcome.draw(space)));
}
