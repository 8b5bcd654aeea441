//! `AGENTS.md`, `CLAUDE.md` and `GEMINI.md` in a project, from the working folder up to the repository root.

use super::super::finder::Finder;
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct PlainFiles;

/// Stand-alone context files, strongest first. One of them counts for its folder.
pub(crate) const NAMES: &[(&str, Provider)] =
    &[("AGENTS.md", Provider::Agents), ("CLAUDE.md", Provider::Claude), ("GEMINI.md", Provider::Gemini)];

impl Vendor for PlainFiles {
    fn provider(&self) -> Provider {
        Provider::Agents
    }

    fn find(&self, find: &mut Finder<'_>) {
        for folder in find.project.clone() {
            for (name, provider) in NAMES.iter().filter(|(_, provider)| find.choices.wants(*provider)) {
                find.turn_to(*provider);
                find.context_file(folder.join(name), Level::Project, &folder);
            }
        }
    }
}
