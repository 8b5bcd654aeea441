//! `render_mermaid`: draws diagrams as text art.

use omp_agent::{Outcome, Output, Planned, Tier, Tool, ToolCx, ToolError};
use omp_view::{Block, Status, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod draw;

#[derive(Default)]
pub struct RenderMermaid {
    canvas: draw::Canvas,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Params {
    /// Mermaid source with its header line.
    pub mermaid: String,
    #[serde(default)]
    pub ascii: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    pub diagram: String,
}

impl Tool for RenderMermaid {
    type Params = Params;
    type Plan = Params;
    type Details = Details;
    const NAME: &'static str = "render_mermaid";
    const PROMPT: &'static str = include_str!("prompt.md");

    fn plan(&self, params: Params) -> Planned<Params> {
        Planned::new(Tier::Read, params)
    }

    async fn run(&self, params: Params, _cx: &ToolCx) -> Result<Output<Details>, ToolError> {
        let diagram = self.canvas.draw(params.mermaid, params.ascii).await.map_err(ToolError::Reply)?;
        Ok(Output::text(diagram.clone(), Details { diagram }))
    }

    fn render(_params: &Params, outcome: Outcome<&Details>) -> View {
        match outcome {
            Outcome::Running => View::new("render_mermaid", Status::Running),
            Outcome::Failed => View::new("render_mermaid", Status::Failed),
            Outcome::Done { details, .. } => {
                let text = details.diagram.clone();
                let block = Block::Code { language: None, text, first_line: None };
                View::new("render_mermaid", Status::Done).block(block)
            }
        }
    }
}

#[cfg(test)]
mod tests;
