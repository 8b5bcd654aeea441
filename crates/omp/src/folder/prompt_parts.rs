//! Builds the parts of the system prompt from discovered files and from flags.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use omp_config::{Catalogue, Level, Rule};
use omp_rules::Buckets;
use omp_session::{
    Environment, FolderTree, GitState, LookAround, NamedText, Opening, PromptListItem, PromptParts, Replacement,
};
use omp_workspace::{TreeLimits, git_status, project_tree};

/// Prompt texts from flags, which override files.
#[derive(Clone, Debug, Default)]
pub struct AskedPrompt {
    pub replace: Option<String>,
    pub append: Option<String>,
}

/// `can_read`: whether the model has a tool to read internal addresses. Without one, lists of addresses are left out.
pub fn parts(
    catalogue: &Catalogue,
    buckets: &Buckets,
    environment: Environment,
    asked: AskedPrompt,
    can_read: bool,
) -> PromptParts {
    let own = |text| Replacement { text, keep_boundaries: false };
    let found = catalogue
        .system
        .as_ref()
        .filter(|file| !file.text.trim().is_empty())
        .map(|file| Replacement { text: file.text.clone(), keep_boundaries: file.source.level == Level::Project });
    let append = asked.append.or_else(|| catalogue.append_system.as_ref().map(|file| file.text.clone()));
    let (always, mut rulebook) = rules(catalogue, buckets);
    let mut skills: Vec<PromptListItem> = catalogue.skills.iter().filter(|skill| !skill.hidden).map(skill).collect();
    if !can_read {
        skills.clear();
        rulebook.clear();
    }
    PromptParts {
        environment,
        replace: asked.replace.map(own).or(found),
        append: append.filter(|text| !text.trim().is_empty()),
        context_files: catalogue.context_files.clone(),
        always,
        rulebook,
        skills,
    }
}

fn skill(skill: &omp_config::Skill) -> PromptListItem {
    PromptListItem { name: skill.name.clone(), description: skill.description.clone(), globs: Vec::new() }
}

/// Returns the rules that always apply and those that can be read on demand. A rule that watches the output is sent when it
/// fires.
fn rules(catalogue: &Catalogue, buckets: &Buckets) -> (Vec<NamedText>, Vec<PromptListItem>) {
    let (everywhere, somewhere): (Vec<&Rule>, Vec<&Rule>) =
        catalogue.instructions.iter().partition(|it| it.always_apply || is_about_everything(it));
    let text = |rule: &Rule| NamedText { name: rule.name.clone(), text: rule.content.clone() };
    let listed = |name: String, rule: &Rule| PromptListItem {
        name,
        description: rule.description.clone().unwrap_or_default(),
        globs: rule.globs.clone(),
    };
    let mut rulebook: Vec<PromptListItem> =
        buckets.rulebook.iter().map(|rule| listed(rule.name.clone(), rule)).collect();
    rulebook.extend(somewhere.into_iter().map(|it| listed(it.source.path.display().to_string(), it)));
    (buckets.always.iter().chain(everywhere).map(text).collect(), rulebook)
}

fn is_about_everything(instructions: &Rule) -> bool {
    instructions.globs.is_empty() || instructions.globs.iter().any(|glob| matches!(glob.as_str(), "**" | "**/*" | "*"))
}

/// How long the first request may wait for the project scan. On a slow file system, the prompt says less about the project.
/// Tests check what is found, on machines that may be busy.
const LOOKS_AROUND: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 150 });

/// A project scan that was started in advance.
#[derive(Default)]
pub struct Ahead(Mutex<Option<JoinHandle<Opening>>>);

impl Ahead {
    pub fn begin(&self, cwd: PathBuf, with_tree: bool) {
        let thread = std::thread::Builder::new().name("omp-look".into());
        // If no thread can be started, the scan runs when it is needed.
        *self.lock() = thread.spawn(move || opening(&cwd, with_tree)).ok();
    }

    fn take(&self) -> Option<Opening> {
        let begun = self.lock().take();
        begun.and_then(|thread| thread.join().ok())
    }

    fn lock(&self) -> MutexGuard<'_, Option<JoinHandle<Opening>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scans the project when a conversation begins.
pub fn look_around(ahead: Arc<Ahead>, cwd: PathBuf, with_tree: bool) -> LookAround {
    Arc::new(move || ahead.take().unwrap_or_else(|| opening(&cwd, with_tree)))
}

fn opening(cwd: &Path, with_tree: bool) -> Opening {
    let begun = Instant::now();
    let is_over = || begun.elapsed() >= LOOKS_AROUND;
    // The file tree matters more than the number of changed files, so it runs first.
    let tree = with_tree.then(|| {
        let found = project_tree(cwd, TreeLimits::default(), &is_over);
        FolderTree { lines: found.lines, cut: found.cut }
    });
    let git = git_status(cwd, &is_over).map(|status| GitState { head: status.head, changed: status.changed });
    Opening { git, tree }
}
