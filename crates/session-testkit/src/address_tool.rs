//! A tool that asks the user to open an address, for the tests of front ends.

use std::borrow::Cow;
use std::sync::Arc;

use omp_agent::{AnyPlan, AnyTool, Concurrency, Outcome, Tier, ToolCx, ToolOutput, plan_of};
use omp_types::Content;
use omp_view::View;
use serde_json::{Value, json};

/// `visit` asks the user about the address in `url` and returns the answer.
pub struct AddressTool;

impl AnyTool for AddressTool {
    fn name(&self) -> Cow<'_, str> {
        "visit".into()
    }

    fn description(&self) -> Cow<'_, str> {
        "Opens an address".into()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object"})
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn plan(&self, arguments: Arc<Value>) -> Result<Box<dyn AnyPlan + '_>, String> {
        let run = async move |cx: ToolCx| {
            let url = arguments["url"].as_str().unwrap_or_default().to_owned();
            let text = match &cx.questions {
                None => "nobody is there".to_owned(),
                Some(questions) => format!("{:?}", questions.open_url(url, "You have to log in.".to_owned()).await),
            };
            Ok(ToolOutput { content: vec![Content::text(text)], ..ToolOutput::default() })
        };
        Ok(plan_of(Tier::Read, move |cx| Box::pin(async move { run(cx).await })))
    }

    fn render(&self, _: &Value, _: Outcome<&Value>) -> View {
        View::default()
    }
}
