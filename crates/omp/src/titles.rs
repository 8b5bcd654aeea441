//! Who makes up the titles of sessions, and in whose words.

use std::sync::Arc;

use omp_llm::Registry;
use omp_session::Titling;
use omp_types::Model;

use crate::compose::Setup;

/// The user's own prompt for titles. Only the user's: what lies in a repository must not direct a model unseen.
const PROMPT_FILE: &str = "TITLE_SYSTEM.md";
/// A longer file is no prompt for a title.
const LONGEST_PROMPT: u64 = 64 * 1024;

/// The small model of the `smol` role where there is one, else the session's.
pub fn titling(setup: &Setup, registry: &Registry, model: &Arc<Model>) -> Titling {
    let small = registry.role("smol", model).map(|resolved| resolved.model);
    let small = small.ok().filter(|small| registry.is_available(small));
    let file = setup.dirs.agent.join(PROMPT_FILE);
    let short = std::fs::metadata(&file).is_ok_and(|found| found.is_file() && found.len() <= LONGEST_PROMPT);
    let prompt = short.then(|| std::fs::read_to_string(&file).ok()).flatten();
    Titling::new(small.unwrap_or_else(|| model.clone()), prompt)
}
