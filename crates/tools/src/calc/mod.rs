//! `calc`: arithmetic for the model.

use omp_agent::{Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_view::{Block, CallKind, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod expression;
mod number;

use expression::evaluate;

/// Limits the calculations in one call.
const MAX_CALCULATIONS: usize = 200;
/// Results shown before the card is collapsed.
const MAX_LINES: usize = 8;

pub struct Calc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    pub calculations: Vec<Calculation>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Calculation {
    /// Such as `(3 + 4) * 2 ** 3`.
    pub expression: String,
    /// Text before the result.
    pub prefix: String,
    /// Text behind the result.
    pub suffix: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    pub results: Vec<Calculated>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calculated {
    pub expression: String,
    pub value: f64,
    pub output: String,
}

impl Tool for Calc {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "calc";
    const PROMPT: &'static str = include_str!("prompt.md");
    const KIND: CallKind = CallKind::Think;

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let count = params.calculations.len();
        if count == 0 || count > MAX_CALCULATIONS {
            return Err(ToolError::Reply(format!("give 1 to {MAX_CALCULATIONS} calculations, not {count}")));
        }
        let results: Vec<Calculated> = params.calculations.iter().map(calculate).collect::<Result<_, _>>()?;
        let text = results.iter().map(|result| result.output.as_str()).collect::<Vec<_>>().join("\n");
        Ok(Output::text(text, Details { results }))
    }

    fn render(params: &Params, outcome: Outcome<&Details>) -> View {
        let title = match params.calculations.as_slice() {
            [only] => format!("calc {}", only.expression),
            all => format!("calc {} expressions", all.len()),
        };
        match outcome {
            Outcome::Running => View::new(title, Status::Running),
            Outcome::Failed => View::new(title, Status::Failed),
            Outcome::Done { details, .. } => {
                let line = |result: &Calculated| format!("{} = {}", result.expression, result.output);
                let lines = details.results.iter().take(MAX_LINES).map(line).collect();
                let hidden = details.results.len().saturating_sub(MAX_LINES);
                View::new(title, Status::Done).block(Block::Lines { lines, hidden })
            }
        }
    }
}

fn calculate(calculation: &Calculation) -> Result<Calculated, ToolError> {
    let Calculation { expression, prefix, suffix } = calculation;
    let value = evaluate(expression).map_err(|error| ToolError::Reply(format!("{error}: {expression}")))?;
    let output = format!("{prefix}{}{suffix}", number::shown(value));
    Ok(Calculated { expression: expression.clone(), value, output })
}

#[cfg(test)]
mod tests;
