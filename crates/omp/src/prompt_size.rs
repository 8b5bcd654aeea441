//! Everything the model sees before the first word of a conversation, as a snapshot and as a number of tokens.

use std::path::Path;
use std::time::Duration;

use omp_agent::ToolSet;
use omp_session::{PromptParts, system_prompt};
use omp_tools::{ToolOptions, Toolbox};

use crate::demo;

/// What the default prompt with all its tools may cost.
const MAX_TOKENS: usize = 6000;
/// What it may cost with the tools that nothing works without.
const MAX_BASIC_TOKENS: usize = 4000;
const BASIC: [&str; 6] = ["read", "search", "find", "edit", "write", "bash"];

fn everything_the_model_sees() -> String {
    what_the_model_sees(&|_| true)
}

fn what_the_model_sees(offered: &dyn Fn(&str) -> bool) -> String {
    let system = system_prompt(&PromptParts {
        cwd: Path::new("/project"),
        os: "linux",
        shell: Some("bash"),
        replace: None,
        append: None,
        context_files: &[],
    });
    let model = demo::model(Duration::ZERO).0;
    let options = ToolOptions::default();
    let toolbox = Toolbox { options, ..Toolbox::alone("/project".into(), "/home/user".into(), model) };
    let tools = ToolSet::new(toolbox.tools());
    let specs = tools
        .specs()
        .iter()
        .filter(|spec| offered(&spec.name))
        .map(|spec| format!("\n=== {} ===\n{}\n{:#}\n", spec.name, spec.description, spec.parameters));
    system + &specs.collect::<String>()
}

#[test]
fn the_default_prompt_is_as_reviewed() {
    insta::assert_snapshot!("default_prompt", everything_the_model_sees());
}

#[test]
fn the_default_prompt_is_small() {
    assert!(tokens(&everything_the_model_sees()) <= MAX_TOKENS);
    assert!(tokens(&what_the_model_sees(&|name| BASIC.contains(&name))) <= MAX_BASIC_TOKENS);
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base().unwrap().encode_ordinary(text).len()
}
