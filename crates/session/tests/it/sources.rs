//! Tests of tools and slash commands that are added and removed with their sources.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{AnyTool, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_session::{Command, OWN_SOURCE, Session, SessionEvent, SlashCommand, SlashReply};
use omp_testkit::{ScriptedLlm, Turn};
use omp_view::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approval::Note;
use crate::stage::Stage;

/// A tool that counts across sessions and stores the count in its details.
#[derive(Default)]
struct Count(Mutex<u32>);

#[derive(Deserialize, JsonSchema)]
struct Params {}

#[derive(Serialize, Deserialize)]
struct Counted {
    so_far: u32,
}

impl Tool for Count {
    type Params = Params;
    type Plan = Params;
    type Details = Counted;
    const NAME: &'static str = "count";
    const PROMPT: &'static str = "Counts.";

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, _: Params, _: &ToolCx) -> Result<Output<Counted>, ToolError> {
        let mut so_far = self.0.lock().unwrap();
        *so_far += 1;
        Ok(Output::text(so_far.to_string(), Counted { so_far: *so_far }))
    }

    fn render(_: &Params, _: Outcome<&Counted>) -> View {
        View::default()
    }

    fn restore(&self, last: Counted) {
        *self.0.lock().unwrap() = last.so_far;
    }
}

fn bring(source: &str, tools: Vec<Arc<dyn AnyTool>>) -> Command {
    Command::SetTools { source: source.to_owned(), tools }
}

fn offered(stage: &Stage, request: usize) -> Vec<String> {
    stage.llm.requests()[request].tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn a_source_brings_tools_and_takes_them_away_and_the_others_stay() {
    let call = || Turn::call("count", json!({}));
    let script = [call(), Turn::text("one"), Turn::text("two"), call(), Turn::text("three")];
    let mut stage = Stage::with(ScriptedLlm::new(script), |_| {});
    stage.send(bring("server", vec![Arc::new(Count::default()), Arc::new(Note)])).await;
    let mut notices = Vec::new();
    stage.send(Command::Prompt(omp_session::Prompt::text("count"))).await;
    let (lines, _) = stage
        .until_idle(|event| {
            if let SessionEvent::Notice { text, .. } = event {
                notices.push(text.clone());
            }
        })
        .await;
    assert!(lines.contains(&"result: 1".to_owned()), "{lines:?}");
    assert_eq!(notices, ["tools of server are ignored, because other tools have these names: `note`"]);
    assert_eq!(offered(&stage, 0), ["note", "count"]);
    stage.send(bring("server", Vec::new())).await;
    stage.prompt("go on").await;
    assert_eq!(offered(&stage, 2), ["note"]);
    // The tool is added again as a new value, and continues the count recorded in the conversation.
    stage.send(bring("server", vec![Arc::new(Count::default())])).await;
    let (lines, _) = stage.prompt("count again").await;
    assert!(lines.contains(&"result: 2".to_owned()), "{lines:?}");
    stage.send(bring(OWN_SOURCE, Vec::new())).await;
    stage.send(bring("other", vec![Arc::new(Note)])).await;
    stage.session.until(|now| !now.running).await.unwrap();
    let (reply, settled) = tokio::sync::oneshot::channel();
    stage.send(Command::Settle(reply)).await;
    settled.await.unwrap();
    assert_eq!(stage.session.tools().names().collect::<Vec<_>>(), ["count", "note"]);
}

struct Named(&'static str);

impl SlashCommand for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &str {
        "says its source"
    }

    fn run<'a>(&'a self, _: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async { Ok(SlashReply::Text(String::new())) }.boxed()
    }
}

#[tokio::test]
async fn commands_that_come_later_can_be_called_and_are_told() {
    let mut stage = Stage::with(ScriptedLlm::new([Turn::text("unused")]), |_| {});
    let names = |session: &Session| {
        session.commands().iter().map(|command| command.name().to_owned()).collect::<Vec<_>>().join(" ")
    };
    stage.session.set_commands(OWN_SOURCE, vec![Arc::new(Named("help"))]);
    stage.session.set_commands("server", vec![Arc::new(Named("deploy")), Arc::new(Named("help"))]);
    for _ in 0..2 {
        assert!(matches!(stage.events.recv().await, Some(SessionEvent::CommandsChanged)));
    }
    assert_eq!(names(&stage.session), "help deploy");
    assert!(stage.session.commands().find("/deploy now").is_some());
    stage.session.set_commands("server", Vec::new());
    assert_eq!(names(&stage.session), "help");
}
