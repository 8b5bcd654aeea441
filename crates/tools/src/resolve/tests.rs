//! Tests `resolve` alone; `ast_edit` has the tests of both together.

use omp_agent::{Approval, ToolOutput};
use omp_types::Content;
use serde_json::json;

use super::*;
use crate::pending::{PendingAction, PendingStep};
use crate::scratch::Scratch;

fn step(word: &'static str) -> PendingStep {
    Box::new(move |reason, _call| {
        let text = format!("{word}: {reason}");
        Box::pin(async move { Ok(ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() }) })
    })
}

fn action(label: &str, reject: Option<PendingStep>) -> PendingAction {
    let approval = Approval { reason: Some(format!("because of {label}")), ..Tier::Write.into() };
    PendingAction { label: label.into(), source: "test".into(), approval, apply: step("applied"), reject }
}

#[test]
fn the_newest_comes_first() {
    let scratch = Scratch::new(&[]);
    let tool = Resolve { pending: Arc::default() };
    tool.pending.push(action("one", None)).unwrap();
    tool.pending.push(action("two", Some(step("rejected")))).unwrap();
    tool.pending.push(action("three", None)).unwrap();
    let call = |action: &str| scratch.text(&tool, json!({"action": action, "reason": "so"}));
    assert_eq!(call("discard"), "Discarded: three. Reason: so");
    assert_eq!(call("discard"), "rejected: so");
    assert_eq!(call("apply"), "applied: so");
    assert_eq!(call("apply"), "error: No pending action to resolve. Nothing to apply or discard.");
    assert!(call("perhaps").starts_with("error: Invalid arguments for `resolve`"));
}

#[test]
fn applying_needs_what_the_preview_needs() {
    let tool = Resolve { pending: Arc::default() };
    let approval = |action: &str| crate::scratch::approval(&tool, &json!({"action": action, "reason": "so"}));
    assert_eq!(approval("apply").tier, Tier::Read);
    tool.pending.push(action("one", None)).unwrap();
    assert_eq!((approval("apply").tier, approval("apply").reason.as_deref()), (Tier::Write, Some("because of one")));
    assert_eq!(approval("discard").tier, Tier::Read);
}

#[test]
fn only_so_many_wait() {
    let pending = PendingActions::default();
    assert!(pending.is_empty());
    let refused = (0..20).map(|_| pending.push(action("x", None))).filter(Result::is_err).count();
    assert_eq!((pending.len(), refused), (8, 12));
}

#[test]
fn views() {
    let scratch = Scratch::new(&[]);
    let tool = Resolve { pending: Arc::default() };
    tool.pending.push(action("two files", None)).unwrap();
    let view = scratch.view(&tool, json!({"action": "apply", "reason": "all good"}));
    assert_eq!((view.title.as_str(), view.notes[0].as_str()), ("apply two files", "all good"));
}
