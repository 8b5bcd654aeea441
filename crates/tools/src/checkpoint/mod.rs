//! `checkpoint`: marks the point to which `rewind` returns.
//!
//! The tool only acknowledges the call. The session owns the conversation: it tracks the active checkpoint, decides what the
//! model sees afterwards, and refuses a second checkpoint before the call reaches this tool.

use jiff::Timestamp;
use omp_agent::{Concurrency, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError, ToolRole};
use omp_view::{CallKind, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub struct Checkpoint;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// What the exploration is to find out.
    pub goal: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    pub goal: String,
    pub started_at: String,
}

impl Tool for Checkpoint {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "checkpoint";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Think;
    const ROLE: Option<ToolRole> = Some(ToolRole::Checkpoint);

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let started_at = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
        let text = format!(
            "Checkpoint created.\nGoal: {}\nRun your investigation, then call rewind with a concise report.",
            params.goal
        );
        Ok(Output::text(text, Details { goal: params.goal, started_at }))
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let status = match outcome {
            Outcome::Running => Status::Running,
            Outcome::Done { is_error: false, .. } => Status::Done,
            Outcome::Done { .. } | Outcome::Failed => Status::Failed,
        };
        View::new("checkpoint", status).note(params.goal.clone())
    }
}

#[cfg(test)]
mod tests {
    use omp_agent::AnyTool;
    use serde_json::json;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_goal_is_echoed() {
        let output = Scratch::new(&[]).call(&Checkpoint, json!({"goal": "where is it?"})).unwrap();
        assert_eq!(
            output.content[0].as_text().unwrap(),
            "Checkpoint created.\nGoal: where is it?\nRun your investigation, then call rewind with a concise report."
        );
        let details = output.details.unwrap();
        assert_eq!(details["goal"], "where is it?");
        assert!(details["startedAt"].as_str().unwrap().parse::<Timestamp>().is_ok(), "{details}");
        let view = AnyTool::render(
            &Checkpoint,
            &json!({"goal": "where is it?"}),
            Outcome::Done { details: &details, is_error: false },
        );
        assert_eq!((view.title.as_str(), view.status), ("checkpoint", Status::Done));
    }

    #[test]
    fn a_goal_is_needed() {
        let error = Scratch::new(&[]).call(&Checkpoint, json!({})).unwrap_err();
        assert!(error.contains("goal"), "{error}");
    }
}
