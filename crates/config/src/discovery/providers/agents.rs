//! `.agents` and `.agent`, which belong to no program: the user's, and the project's at every level up to the root.

use super::super::Provider;
use super::super::finder::Finder;
use super::Vendor;

pub(crate) struct Agents;

impl Vendor for Agents {
    fn provider(&self) -> Provider {
        Provider::Agents
    }

    fn find(&self, find: &mut Finder<'_>) {
        let names = [".agent", ".agents"];
        let mut folders: Vec<_> = names.iter().flat_map(|name| find.in_project(name)).collect();
        // Nearest first, with either name.
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.path.components().count()));
        folders.extend(names.map(|name| find.user(name)));
        for folder in &folders {
            find.skills(&folder.join("skills"), false);
            find.rules(&folder.join("rules"), &[".md", ".mdc"]);
            find.commands(&folder.join("commands"), false);
            find.prompts(&folder.join("prompts"), &[".md"]);
            find.system(folder, "SYSTEM.md");
            let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
            find.context_file(folder.path.join("AGENTS.md"), folder.level, &scope);
        }
    }
}
