//! Tools for the tests: one for every way a call can end.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{
    AnyPlan, AnyTool, Approval, Concurrency, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError, ToolOutput,
    plan_of,
};
use omp_types::Content;
use omp_view::View;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Barrier;

type Body = fn(Arc<Value>, ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;

struct Plain {
    name: &'static str,
    concurrency: Concurrency,
    body: Body,
}

pub fn all_tools() -> Vec<Arc<dyn AnyTool>> {
    let shared = |name, body| Arc::new(Plain { name, concurrency: Concurrency::Shared, body }) as Arc<dyn AnyTool>;
    vec![
        shared("echo", echo),
        shared("secret", echo),
        shared("fail", |_, _| async { Err(ToolError::Reply("no such thing".into())) }.boxed()),
        shared("fatal", |_, _| async { Err(ToolError::Fatal("the disk is gone".into())) }.boxed()),
        shared("panic", |_, _| async { panic!("oops") }.boxed()),
        shared("forever", |_, _| std::future::pending().boxed()),
        shared("progress", progress),
        Arc::new(Meeting::new()),
        Arc::new(Count::default()),
        Arc::new(Plain { name: "alone", concurrency: Concurrency::Exclusive, body: echo }),
    ]
}

fn echo(arguments: Arc<Value>, _cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async move { Ok(text(arguments["text"].as_str().unwrap_or_default())) }.boxed()
}

fn progress(_arguments: Arc<Value>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
    async move {
        cx.progress.text("half");
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        Ok(text("whole"))
    }
    .boxed()
}

fn text(text: &str) -> ToolOutput {
    ToolOutput { content: vec![Content::text(text)], details: Some(json!({})), ..ToolOutput::default() }
}

impl AnyTool for Plain {
    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }

    fn description(&self) -> Cow<'_, str> {
        "for tests".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"text": {"type": "string"}}})
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        Ok(plan_of(Tier::Read, move |cx| (self.body)(arguments, cx)))
    }

    fn concurrency(&self) -> Concurrency {
        self.concurrency
    }

    fn render(&self, _arguments: &Value, _outcome: Outcome<&Value>) -> View {
        View::default()
    }
}

/// Finishes only if two calls run at once; the later one ends first.
struct Meeting {
    barrier: Barrier,
    order: AtomicUsize,
}

impl Meeting {
    fn new() -> Self {
        Self { barrier: Barrier::new(2), order: AtomicUsize::new(0) }
    }
}

impl AnyTool for Meeting {
    fn name(&self) -> Cow<'_, str> {
        "meet".into()
    }

    fn description(&self) -> Cow<'_, str> {
        "for tests".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        let run = async move {
            let arrived = self.order.fetch_add(1, Ordering::SeqCst);
            self.barrier.wait().await;
            if arrived == 0 {
                for _ in 0..5 {
                    tokio::task::yield_now().await;
                }
            }
            Ok(text(arguments["text"].as_str().unwrap_or_default()))
        };
        Ok(plan_of(Tier::Read, move |_| run.boxed()))
    }

    fn render(&self, _arguments: &Value, _outcome: Outcome<&Value>) -> View {
        View::default()
    }
}

/// Counts its plans, and reports the plan with which it runs.
#[derive(Default)]
struct Count {
    planned: AtomicUsize,
}

#[derive(Deserialize, JsonSchema)]
struct CountParams {
    text: String,
}

impl Tool for Count {
    type Params = CountParams;
    type Plan = String;
    type Details = ();
    const NAME: &'static str = "count";
    const PROMPT: &'static str = "for tests";

    fn plan(&self, params: CountParams) -> Planned<String> {
        let number = self.planned.fetch_add(1, Ordering::SeqCst) + 1;
        let plan = format!("plan {number}: {}", params.text);
        Planned::new(Approval { reason: Some(plan.clone()), ..Tier::Read.into() }, plan)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, plan: String, _cx: &ToolCx) -> Result<Output<()>, ToolError> {
        Ok(Output::text(format!("ran {plan}"), ()))
    }

    fn render(_params: &CountParams, _outcome: Outcome<&()>) -> View {
        View::default()
    }
}
