//! Checks API keys and the model that a session would start with.

use omp_llm::{InitialChoice, discover};

use super::report::Finding;
use crate::cli::ModelArgs;
use crate::folder::FolderSetup;

const AREA: &str = "model";

/// With `local`, also queries the model servers of this machine, which a session does only if it has no other model.
pub async fn check(setup: &FolderSetup, local: bool) -> Vec<Finding> {
    let mut registry = setup.registry(&ModelArgs::default());
    if local {
        let found = discover(&setup.client(None), &registry).await;
        registry.add_discovered(found.models);
    }
    let mut findings: Vec<Finding> =
        registry.problems().iter().map(|problem| Finding::warning(AREA, problem.to_string())).collect();
    let choice =
        InitialChoice { scope: setup.settings.of(omp_llm::SETTINGS).get("enabledModels"), ..InitialChoice::default() };
    let chosen = match registry.initial(&choice) {
        Ok(resolved) => {
            let note = resolved.note.map(|note| Finding::warning(AREA, note));
            let source = registry.auth().source(&resolved.model.provider).unwrap_or_else(|| "no key".to_owned());
            let usable = match registry.available().len() {
                1 => "1 model".to_owned(),
                count => format!("{count} models"),
            };
            let text = format!("{} (key: {source}); {usable} available", resolved.model.selector());
            findings.extend(note);
            Finding::fine(AREA, text)
        }
        Err(error) if !local && error.discovery_may_help() => Finding::failure(
            AREA,
            format!("{error}\nlocal model servers were not checked; `omp doctor --local` checks them"),
        ),
        Err(error) => Finding::failure(AREA, error.to_string()),
    };
    findings.push(chosen);
    findings
}
