//! `omp demo`: runs the real agent loop and the real tools on a small project, driven by a scripted model.

mod script;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omp_types::{Api, InputKind, Llm, Model, Prices};

pub use script::{DemoLlm, DemoOutcome};

/// The prompt that a user would have typed.
pub const TASK: &str = "A test fails. Find out why and fix it.";

pub const CLOSING: &str = "\
That was the real loop with the real tools; only the model was scripted.
To work with a real model in your own project:

  export ANTHROPIC_API_KEY=…      (or OPENAI_API_KEY, GEMINI_API_KEY, … see docs/providers.md)
  omp -p \"explain what this project does\"

A local server (Ollama, llama.cpp, LM Studio) is found automatically: omp --list-models
";

/// Writes the sample project into a folder.
pub fn write_project(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("lib"))?;
    std::fs::write(folder.join("lib/price.sh"), include_str!("project/price.sh"))?;
    std::fs::write(folder.join("test.sh"), include_str!("project/test.sh"))
}

/// The message for a step that failed.
pub fn failure(reason: &str) -> String {
    format!("the demo failed at {reason}\nhint: `omp doctor` checks this machine")
}

/// Creates the scripted model; `typing` is the pause between words. The outcome reports how the demo went.
pub fn model(typing: Duration) -> (Arc<Model>, Arc<dyn Llm>, DemoOutcome) {
    let model = Model {
        id: "scripted".into(),
        name: "Scripted demo".into(),
        api: Api::Demo,
        provider: "demo".into(),
        base_url: String::new(),
        reasoning: false,
        input: vec![InputKind::Text],
        cost: Prices::default(),
        context_window: 100_000,
        max_tokens: 10_000,
        headers: Default::default(),
        thinking: None,
        compat: serde_json::Value::Null,
        context_promotion_target: None,
    };
    let outcome = DemoOutcome::default();
    (Arc::new(model), Arc::new(DemoLlm { typing, outcome: outcome.clone() }), outcome)
}
