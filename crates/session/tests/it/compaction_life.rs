//! Tests of what ends a compaction or a branch summary, which features take part, and what else is stored.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use omp_compaction::{BeforeSummary, BranchNote, CompactionStrategy, RemoteSummary, TreeMove, TreePlan};
use omp_session::{Command, GoToError, RunEnd, SessionCx, SessionEvent, SessionFeature, SessionOptions};
use omp_store::Context;
use omp_testkit::{Reply, ScriptedLlm, TokenCounts, Turn, mock_model};
use omp_types::{ErrorKind, Model, ModelError, text_of};
use tokio::sync::Notify;

use crate::stage::Stage;

/// About a thousand tokens.
fn much(what: &str) -> String {
    format!("{what} {}", "word ".repeat(940))
}

fn said(text: &str) -> Reply {
    Turn::text(text).into()
}

/// A window of 20,000 tokens; compaction keeps the last turn.
fn small(options: &mut SessionOptions) {
    options.model = Arc::new(Model { context_window: 20_000, max_tokens: 2_000, ..mock_model() });
    options.compaction.settings.limits.keep_recent_tokens = 1_010;
    options.compaction.settings.limits.reserve_tokens = 2_000;
}

/// A model that gets a request and never answers.
#[derive(Default)]
struct Silent {
    asked: Notify,
}

impl RemoteSummary for Silent {
    fn summarize<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<String, String>> {
        self.asked.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn an_abort_during_a_compaction_changes_nothing() {
    let replies: Vec<_> = (0..7).map(|number| said(&much(&format!("answer {number}")))).collect();
    let silent = Arc::new(Silent::default());
    let mut stage = Stage::with(ScriptedLlm::new(replies), |options| {
        small(options);
        options.compaction.remote = Some(silent.clone());
    });
    for number in 0..6 {
        stage.prompt(&format!("prompt {number}")).await;
    }
    let (entries, leaf) = (stage.entries(), stage.session.leaf());
    let session = stage.session.clone();
    let compacting = tokio::spawn(async move { session.compact(None).await });
    silent.asked.notified().await;
    assert!(stage.session.snapshot().compacting);
    stage.send(Command::Abort).await;
    assert_eq!(compacting.await.unwrap().unwrap_err(), "Compaction cancelled");
    let aborted = loop {
        if let SessionEvent::CompactionEnd { aborted, result, .. } = stage.events.recv().await.unwrap() {
            break aborted && result.is_none();
        }
    };
    assert!(aborted);
    assert_eq!((stage.entries(), stage.session.leaf()), (entries, leaf));
    let (_, end) = stage.prompt("go on").await;
    assert_eq!((end, stage.llm.requests()[6].messages.len()), (RunEnd::Finished, 13));
}

#[tokio::test]
async fn an_abort_during_a_branch_summary_leaves_the_session_where_it_is() {
    let silent = Arc::new(Silent::default());
    let mut stage = Stage::with(ScriptedLlm::new([said("one"), said("two"), said("three")]), |options| {
        options.compaction.remote = Some(silent.clone());
    });
    stage.prompt("a").await;
    let here = stage.session.leaf();
    stage.prompt("b").await;
    let (entries, leaf) = (stage.entries(), stage.session.leaf());
    let session = stage.session.clone();
    let going = tokio::spawn(async move { session.go_to_with(here, BranchNote::Summary(None)).await });
    silent.asked.notified().await;
    stage.send(Command::Abort).await;
    let error = going.await.unwrap().unwrap_err();
    assert!(matches!(&error, GoToError::Cancelled) && error.to_string() == "Branch summary cancelled");
    assert_eq!((stage.entries(), stage.session.leaf()), (entries, leaf));
    let (_, end) = stage.prompt("c").await;
    assert_eq!((end, stage.llm.requests()[2].messages.len()), (RunEnd::Finished, 5));
}

#[tokio::test]
async fn an_overflow_goes_to_the_next_larger_model_where_none_is_named() {
    let overflow = || Reply::fail(ModelError::new(ErrorKind::ContextOverflow, "too long"));
    let sized = |id: &str, context_window: u64| Model { id: id.into(), context_window, ..mock_model() };
    for (enabled, expect) in [(true, "next"), (false, "mock-model")] {
        let others = [sized("huge", 900_000), sized("next", 90_000)].map(Arc::new).to_vec();
        let mut stage = Stage::with(ScriptedLlm::new([overflow(), said("made it")]), |options| {
            small(options);
            options.compaction.settings.promotes = enabled;
            options.compaction.models = Some(Arc::new(move || others.clone()));
        });
        let (_, end) = stage.prompt("go").await;
        assert_eq!(end == RunEnd::Finished, enabled, "{end:?}");
        assert_eq!(stage.session.snapshot().model.id, expect);
    }
}

#[tokio::test]
async fn the_document_of_an_automatic_handoff_is_saved_where_that_is_wished() {
    for saves in [true, false] {
        let full = Turn::text(much("last")).usage(TokenCounts { input: 18_000, output: 900, ..Default::default() });
        let mut stage = Stage::with(ScriptedLlm::new([full.into(), said("DOCUMENT")]), |options| {
            small(options);
            options.compaction.settings.strategy = CompactionStrategy::Handoff;
            options.compaction.settings.saves_handoffs = saves;
        });
        stage.prompt("work").await;
        let folder = std::fs::read_dir(stage.file.with_extension(""));
        let files: Vec<_> = folder.into_iter().flatten().map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), usize::from(saves), "{files:?}");
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(name.starts_with("handoff-20") && name.ends_with("Z.md"), "{name}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "DOCUMENT\n");
        }
    }
}

struct Hook {
    wants: BeforeSummary,
    moves: Mutex<Vec<TreeMove>>,
}

impl SessionFeature for Hook {
    fn before_move(&self, plan: &TreePlan<'_>) -> BeforeSummary {
        let left = (plan.left)();
        assert!(left.from.is_some() && plan.to.is_some() && left.from.as_ref() != plan.to);
        assert_eq!(left.messages.iter().map(|left| text_of(left.content())).collect::<Vec<_>>(), ["b", "two"]);
        self.wants.clone()
    }

    fn moved(&self, _: &SessionCx, moved: &TreeMove, _: &Context) {
        self.moves.lock().unwrap().push(moved.clone());
    }
}

#[tokio::test]
async fn hooks_cancel_a_move_sum_up_the_branch_or_are_told() {
    let own = || BeforeSummary::Summary { summary: "OWN".to_owned(), details: None };
    let asked = || BranchNote::Summary(None);
    for (wants, note, expect) in [
        (BeforeSummary::Cancel, asked(), Err(())),
        (own(), asked(), Ok(Some("OWN"))),
        // No summary is requested, so the one provided is not used.
        (own(), BranchNote::AsSet, Ok(None)),
        (BeforeSummary::Go, asked(), Ok(Some("MODEL"))),
    ] {
        let hook = Arc::new(Hook { wants, moves: Mutex::default() });
        let mut stage = Stage::with(ScriptedLlm::new([said("one"), said("two"), said("MODEL")]), |options| {
            options.features.push(hook.clone());
        });
        stage.prompt("a").await;
        let here = stage.session.leaf();
        stage.prompt("b").await;
        let stands = stage.session.leaf();
        let done = stage.session.go_to_with(here.clone(), note).await;
        let moves = hook.moves.lock().unwrap().clone();
        let Ok(summary) = expect else {
            assert!(matches!(done, Err(GoToError::Vetoed)), "{done:?}");
            assert_eq!((stage.session.leaf(), moves.len()), (stands, 0));
            continue;
        };
        done.unwrap();
        assert_eq!((&moves[0].from, &moves[0].to), (&stands, &stage.session.leaf()));
        let told = moves[0].summary.as_ref();
        assert_eq!(told.is_some_and(|told| told.from_extension == Some(true)), summary == Some("OWN"));
        match summary {
            Some(words) => assert!(told.unwrap().summary.contains(words), "{told:?}"),
            None => assert_eq!((told, stage.session.leaf()), (None, here)),
        }
        assert_eq!(stage.llm.requests().len(), if summary == Some("MODEL") { 3 } else { 2 });
    }
}
