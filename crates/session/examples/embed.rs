//! A program that embeds an agent with its own model and its own tool and without files. Run it with `cargo run -p
//! omp-session --example embed`. The model here is scripted; `omp_llm::Providers` implements the same trait with real
//! providers.

use std::io::Write;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use omp_agent::{AnyTool, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_session::{AgentEvent, Command, Prompt, Recorder, Session, SessionEvent, SessionOptions};
use omp_types::{
    Api, AssistantMessage, InputKind, Llm, Message, MessageBuilder, Model, ModelStream, Prices, Request, StopReason,
    StreamEvent, text_of,
};
use omp_view::{Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tool defined by this program: adds two numbers.
struct Add;

#[derive(Deserialize, JsonSchema)]
struct AddParams {
    /// First summand.
    a: i64,
    /// Second summand.
    b: i64,
}

#[derive(Serialize, Deserialize)]
struct AddDetails {
    sum: i64,
}

impl Tool for Add {
    type Params = AddParams;
    type Plan = AddParams;
    type Details = AddDetails;
    const NAME: &'static str = "add";
    const PROMPT: &'static str = "Adds two numbers.";

    fn plan(&self, params: AddParams) -> Planned<AddParams> {
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, params: AddParams, _: &ToolCx) -> Result<Output<AddDetails>, ToolError> {
        let sum = params.a.checked_add(params.b).ok_or_else(|| ToolError::reply("the sum is too large"))?;
        Ok(Output::text(sum.to_string(), AddDetails { sum }))
    }

    fn render(params: &AddParams, _: Outcome<&AddDetails>) -> View {
        View::new(format!("{} + {}", params.a, params.b), Status::Done)
    }
}

/// A model defined by this program: calls the tool, then reports its result.
struct Pretender;

impl Llm for Pretender {
    fn stream(&self, request: Request) -> Box<dyn ModelStream> {
        let mut answer = MessageBuilder::new(&request.model);
        match request.messages.last().map(|message| &**message) {
            Some(Message::ToolResult(result)) => {
                let text = answer.open_text();
                answer.push_text(text, &format!("The sum is {}.", text_of(&result.content)));
                answer.finish(StopReason::Stop);
            }
            _ => {
                let call = answer.open_tool_call("call_1", "add");
                answer.push_arguments(call, r#"{"a": 20, "b": 22}"#);
                answer.finish(StopReason::ToolUse);
            }
        }
        Box::new(Spoken(answer))
    }
}

/// An answer that is already complete.
struct Spoken(MessageBuilder);

impl Stream for Spoken {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        Poll::Ready(self.0.next_event())
    }
}

impl ModelStream for Spoken {
    fn message(&self) -> &AssistantMessage {
        self.0.message()
    }
}

fn model() -> Model {
    Model {
        id: "pretender".into(),
        name: "Pretender".into(),
        api: Api::Demo,
        provider: "own".into(),
        base_url: String::new(),
        reasoning: false,
        input: vec![InputKind::Text],
        cost: Prices::default(),
        context_window: 8000,
        max_tokens: 1000,
        headers: Default::default(),
        thinking: None,
        compat: Default::default(),
        context_promotion_target: None,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(&mut std::io::stdout()).await
}

pub async fn run(out: &mut impl Write) -> Result<(), Box<dyn std::error::Error>> {
    let (session, actor) = Session::open(SessionOptions {
        tools: vec![Arc::new(Add) as Arc<dyn AnyTool>],
        system: "You add numbers.".into(),
        ..SessionOptions::new(Arc::new(Pretender), Arc::new(model()), Recorder::nowhere(Path::new(".")))
    });
    let mut events = session.events();
    session.send(Command::Prompt(Prompt::text("What is 20 + 22?"))).await?;
    while let Some(event) = events.recv().await {
        match event {
            SessionEvent::Agent(AgentEvent::ToolStart { name, arguments, .. }) => {
                writeln!(out, "call {name} {arguments}")?
            }
            SessionEvent::Agent(AgentEvent::ToolEnd(end)) => writeln!(out, "result {}", text_of(&end.output.content))?,
            SessionEvent::Agent(AgentEvent::MessageEnd { message }) => {
                if let Some(answer) = message.as_assistant().filter(|answer| !answer.text().is_empty()) {
                    writeln!(out, "answer {}", answer.text())?;
                }
            }
            SessionEvent::Idle { .. } => break,
            _ => {}
        }
    }
    // The actor ends when the last handle is dropped.
    drop((session, events));
    actor.await?;
    Ok(())
}
