//! Everything that stands around the transcript, at three sizes and in both themes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_policy::ApprovalMode;
use omp_session::ContextSize;
use omp_tui::{Line, Space};
use omp_types::{Content, Message, TaskItem, TaskPhase, TaskStatus, ThinkingLevel, Usage, UserMessage};
use serde_json::json;
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
        context: ContextSize { tokens: 106_000, is_estimate: false },
        window: 200_000,
        usage,
        git: Some(GitFacts { branch: "main".into(), unstaged: Some(2), staged: Some(1), untracked: Some(3) }),
        mode: ApprovalMode::AskWrites,
        contained: Some(("no sandbox".into(), true)),
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
    let mut busy = StatusBar {
        plans: true,
        repeats: true,
        context: ContextSize { tokens: 190_000, is_estimate: true },
        ..status()
    };
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

fn phases() -> Vec<TaskPhase> {
    let task = |content: &str, status| TaskItem { content: content.to_owned(), status };
    let pending = (1..=6).map(|at| task(&format!("test case {at}"), TaskStatus::Pending));
    let tests = std::iter::once(task(LONG, TaskStatus::InProgress)).chain(pending).collect();
    let read = vec![task("find the callers", TaskStatus::Completed), task("ask", TaskStatus::Abandoned)];
    vec![TaskPhase { name: "Read".to_owned(), tasks: read }, TaskPhase { name: "Tests".to_owned(), tasks: tests }]
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
