//! Discovers the instructions of a user and a repository for the agent, in the formats of many programs.
//!
//! A provider knows the locations of one program. All providers run, strongest first; items of a weaker one with the same
//! name are shadowed. Every file is read once, with a size limit, and cached for the next run.

mod again;
mod catalogue;
mod choices;
mod disk;
mod files;
mod finder;
mod front_matter;
mod imports;
mod items;
mod jsonc;
mod nested;
mod providers;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use again::{Again, read_again};
pub(crate) use catalogue::Kind;
pub use catalogue::{
    AgentFile, Catalogue, Declared, FileCommand, Import, Provider, Rule, Shadowed, Skill, Source as ItemSource,
    TextFile,
};
pub use choices::{Choices, SETTINGS};
use disk::Disk;
use finder::{Finder, Folder};
pub use nested::nested_context_files;

/// The owner of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    User,
    Project,
}

/// Instructions that are part of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    pub path: PathBuf,
    pub level: Level,
    pub text: String,
}

/// The folders that discovery searches.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    pub home: &'a Path,
    /// `~/.omp/agent`, or its configured location.
    pub agent: &'a Path,
    pub cwd: &'a Path,
}

/// Builds a rule from a file in any folder.
pub fn rule_in(path: &Path, text: &str) -> Rule {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let source = ItemSource { provider: Provider::Native, level: Level::User, path: path.to_owned() };
    items::rule(name, &front_matter::parse(text), source)
}

/// Finds all items.
pub fn discover(places: &Places<'_>) -> Catalogue {
    discover_chosen(places, &Choices::default())
}

/// Finds all items that the user's settings do not disable.
pub fn discover_chosen(places: &Places<'_>, choices: &Choices) -> Catalogue {
    let root = repository_root(places.cwd);
    Disk::explored(places, &root, |disk| look(disk, places, choices, &root))
}

/// The result is incomplete if the disk left queries open.
fn look(disk: Disk, places: &Places<'_>, choices: &Choices, root: &Path) -> (Catalogue, Disk) {
    let mut find = Finder::new(disk, places, choices, root);
    // The user named these folders, so they win over the default ones.
    find.turn_to(Provider::Custom);
    for folder in choices.skill_folders.iter().filter(|_| choices.wants_any_skills()) {
        find.every_skill(&Folder { path: folder.clone(), level: Level::User }, true);
    }
    let mut vendors = providers::VENDORS.to_vec();
    vendors.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    for (_, vendor) in vendors.iter().filter(|(_, vendor)| choices.wants_guards(vendor.provider())) {
        find.turn_to(vendor.provider());
        find.only_guards(!choices.wants(vendor.provider()));
        vendor.find(&mut find);
    }
    find.finish()
}

/// Returns the nearest folder above with a `.git`, or the folder itself.
pub fn repository_root(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(cwd).to_owned()
}
