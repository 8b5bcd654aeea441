//! Which secrets a session hides: the credentials omp works with, and with `secrets.enabled` what the user has besides.

use std::sync::Arc;

use omp_llm::Registry;
use omp_secrets::{Found, Key, Veil, load, merge, of_env};

use crate::compose::Setup;

/// How a key is called that came by flag or by file.
const GIVEN: &str = "a key of models.yml or of a flag";
const FILE: &str = "secrets.yml";

/// What is wrong in the files is added to the warnings. What is recorded nowhere needs no key that outlives the run.
pub fn veil(setup: &mut Setup, registry: &Registry, is_recorded: bool) -> Arc<Veil> {
    let (found, mut warnings) = found(setup, registry);
    if !found.is_empty() {
        let (key, told) = if is_recorded { Key::of_agent(&setup.dirs.agent) } else { (Key::random(), None) };
        warnings.extend(told);
        let (veil, told) = Veil::new(key, found);
        warnings.extend(told);
        setup.warnings.extend(warnings);
        return Arc::new(veil);
    }
    setup.warnings.extend(warnings);
    Arc::default()
}

/// A key that the user gives while sessions run.
pub fn given(key: &str) -> Option<Found> {
    Found::held("a key given in this run", key)
}

fn found(setup: &Setup, registry: &Registry) -> (Vec<Found>, Vec<String>) {
    let enabled = setup.settings.get("secrets.enabled").unwrap_or(false);
    let held = registry.secrets().filter_map(|key| Found::held(GIVEN, key)).collect();
    let mut lists = vec![of_env(&setup.env, enabled), held];
    let mut warnings = Vec::new();
    if enabled {
        for path in [setup.dirs.agent.join(FILE), setup.cwd.join(".omp").join(FILE)] {
            let (listed, told) = load(&path);
            lists.push(listed);
            warnings.extend(told);
        }
    }
    (merge(lists), warnings)
}
