//! Tests of rules on whole answers: buckets, sources, files, structure, and chunk boundaries.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed test panics")]

mod buckets;
mod builtin;
mod cuts;
mod streams;

use omp_config::{ItemSource, Level, Provider, Rule};

pub fn rule(name: &str) -> Rule {
    Rule {
        name: name.into(),
        content: format!("text of {name}"),
        description: None,
        globs: Vec::new(),
        always_apply: false,
        condition: Vec::new(),
        ast_condition: Vec::new(),
        scope: Vec::new(),
        interrupt_mode: None,
        source: ItemSource { provider: Provider::Native, level: Level::Project, path: format!("{name}.md").into() },
    }
}

pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
