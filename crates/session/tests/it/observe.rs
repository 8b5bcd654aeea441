//! Tests of observers: the session never waits for them, and they get the number of lost events.

use omp_session::{Observed, RunEnd, SessionEvent};
use omp_testkit::{ScriptedLlm, Turn};

use crate::stage::Stage;

/// Produces more events than are kept for an observer.
const PROMPTS: usize = 200;

#[tokio::test]
async fn one_that_reads_nothing_stalls_nothing_and_hears_how_much_it_lost() {
    let mut stage = Stage::with(ScriptedLlm::new((0..PROMPTS).map(|_| Turn::text("done"))), |_| {});
    let mut observer = stage.session.observe();
    for _ in 0..PROMPTS {
        stage.prompt("go").await;
    }
    let Some(Observed::Lost(lost)) = observer.next().await else { panic!("nothing was lost") };
    drop(stage);
    let mut heard = 0;
    let mut last = None;
    while let Some(observed) = observer.next().await {
        let Observed::Event(event) = observed else { panic!("lost once more: {observed:?}") };
        heard += 1;
        last = Some(event);
    }
    assert!(lost > 0 && heard == 1024, "{lost} lost, {heard} heard");
    assert!(matches!(*last.unwrap(), SessionEvent::Idle { end: RunEnd::Finished, .. }));
}

#[tokio::test]
async fn one_that_keeps_up_hears_everything_that_a_front_end_hears() {
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("done")]), |_| {});
    let mut observer = stage.session.observe();
    let mut told = Vec::new();
    stage.session.send(omp_session::Command::Prompt(omp_session::Prompt::text("go"))).await.unwrap();
    stage.until_idle(|event| told.push(format!("{event:?}"))).await;
    let mut seen = Vec::new();
    while seen.len() < told.len() {
        let Some(Observed::Event(event)) = observer.next().await else { panic!("{seen:?}") };
        seen.push(format!("{event:?}"));
    }
    assert_eq!(seen, told);
}
