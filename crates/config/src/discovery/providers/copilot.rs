//! GitHub Copilot: the project's `.github`, `~/.copilot` (or `COPILOT_HOME`), and the folders that
//! `COPILOT_CUSTOM_INSTRUCTIONS_DIRS` names.

use super::super::finder::{Finder, Folder};
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct Copilot;

impl Vendor for Copilot {
    fn provider(&self) -> Provider {
        Provider::Copilot
    }

    fn find(&self, find: &mut Finder<'_>) {
        for folder in find.in_project(".github") {
            instructions(find, &folder);
            find.prompts(&folder.join("prompts"), &[".prompt.md"]);
            find.skills(&folder.join("skills"), true);
            let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
            find.context_file(folder.path.join("copilot-instructions.md"), folder.level, &scope);
        }
        let home = find.choices.copilot_home.clone().unwrap_or_else(|| find.places.home.join(".copilot"));
        find.context_file(home.join("copilot-instructions.md"), Level::User, &home);
        for folder in named_folders(find) {
            instructions(find, &folder.join(".github"));
            let path = folder.path.join("AGENTS.md");
            match folder.level {
                // The user named each of them, so none shadows another.
                Level::User => find.context_file_for(path.display().to_string(), path, Level::User),
                Level::Project => find.context_file(path, Level::Project, &folder.path),
            }
        }
    }
}

fn instructions(find: &mut Finder<'_>, folder: &Folder) {
    find.instructions(&folder.join("instructions"), &[".instructions.md"], true);
}

/// Skips relative folders: they depend on the folder in which omp is started, so the user did not choose them.
fn named_folders(find: &Finder<'_>) -> Vec<Folder> {
    let folders = find.choices.copilot_folders.iter().map(|folder| match folder.is_absolute() {
        true => Folder { path: folder.clone(), level: Level::User },
        false => Folder { path: find.places.cwd.join(folder), level: Level::Project },
    });
    folders.collect()
}
