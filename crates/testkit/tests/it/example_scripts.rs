//! Tests that the example scripts work.

use std::path::Path;

use omp_testkit::{Script, Server, Wire};

use crate::client::Client;

#[tokio::test]
async fn every_example_script_loads_and_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 3);
    for path in paths {
        let script = Script::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let server = Server::start(script).await.unwrap();
        let answer = Client::connect(&server).await.ask(Wire::Anthropic).await;
        assert!([200, 429].contains(&answer.status), "{}: {}", path.display(), answer.text());
    }
}

/// Readers will copy the script in the documentation.
#[tokio::test]
async fn the_documented_script_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/testkit.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        Script::parse("docs/testkit.md", block).unwrap_or_else(|error| panic!("{error}\n{block}"));
    }
}
