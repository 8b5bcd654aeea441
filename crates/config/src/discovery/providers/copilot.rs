//! GitHub Copilot: the project's `.github` and `~/.copilot`.

use super::super::Provider;
use super::super::finder::Finder;
use super::Vendor;

pub(crate) struct Copilot;

impl Vendor for Copilot {
    fn provider(&self) -> Provider {
        Provider::Copilot
    }

    fn find(&self, find: &mut Finder<'_>) {
        for folder in find.in_project(".github") {
            find.instructions(&folder.join("instructions"), &[".instructions.md"], true);
            find.prompts(&folder.join("prompts"), &[".prompt.md"]);
            find.skills(&folder.join("skills"), true);
            let scope = folder.path.parent().unwrap_or(&folder.path).to_owned();
            find.context_file(folder.path.join("copilot-instructions.md"), folder.level, &scope);
        }
        let user = find.user(".copilot");
        find.context_file(user.path.join("copilot-instructions.md"), user.level, &user.path);
    }
}
