//! `rewind`: ends an exploration with a report.
//!
//! Like `checkpoint` it changes nothing itself: the session reads the result and replaces the exploration by the report.
//! Without a checkpoint the session refuses the call.

use omp_agent::{Concurrency, Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError, ToolRole};
use omp_view::{Block, CallKind, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub struct Rewind;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// What was found, in full: nothing else of the exploration stays.
    pub report: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    pub report: String,
    pub rewound: bool,
}

impl Tool for Rewind {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "rewind";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Think;
    const ROLE: Option<ToolRole> = Some(ToolRole::Rewind);

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let report = params.report.trim();
        if report.is_empty() {
            return Err(ToolError::reply("Report cannot be empty. Nothing else of the exploration is kept."));
        }
        let details = Details { report: report.to_owned(), rewound: true };
        Ok(Output::text("The report replaces the exploration.", details))
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let status = match outcome {
            Outcome::Running => Status::Running,
            Outcome::Done { is_error: false, .. } => Status::Done,
            Outcome::Done { .. } | Outcome::Failed => Status::Failed,
        };
        View::new("rewind", status).block(Block::Text(params.report.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_details_carry_the_report() {
        let output = Scratch::new(&[]).call(&Rewind, json!({"report": " it is in a.rs:3\n"})).unwrap();
        assert_eq!(output.details, Some(json!({"report": "it is in a.rs:3", "rewound": true})));
    }

    #[test]
    fn an_empty_report_is_refused() {
        let error = Scratch::new(&[]).call(&Rewind, json!({"report": " \n"})).unwrap_err();
        assert!(error.starts_with("Report cannot be empty."), "{error}");
    }
}
