//! What the user disables in discovery: single items, whole programs, a program's skills or commands.
//!
//! A repository may disable more, but never enable anything.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use omp_types::{Env, Setting, SettingKind, vars};

use super::Level;
use super::catalogue::Provider;
use crate::Settings;

/// The settings of discovery. `disabledProviders` is declared with model selection.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "Context",
        "disabledExtensions",
        SettingKind::List,
        "[]",
        "Items not to load, such as `skill:name`, `rule:name`, `slash-command:name` or `mcp:name`.",
    )
    .titled("Disabled items"),
    switch("skills.enabled", "Offer skills to the model.").titled("Skills"),
    switch("skills.enablePiUser", "Load skills from ~/.omp/agent/skills.").titled("Your omp skills"),
    switch("skills.enablePiProject", "Load skills from the project's .omp/skills.").titled("Project's omp skills"),
    switch("skills.enableClaudeUser", "Load skills from ~/.claude/skills.").titled("Your Claude skills"),
    switch("skills.enableClaudeProject", "Load skills from the project's .claude/skills.")
        .titled("Project's Claude skills"),
    switch("skills.enableCodexUser", "Load skills from ~/.codex/skills.").titled("Your Codex skills"),
    switch("skills.enableAgentsUser", "Load skills from ~/.agents/skills and ~/.agent/skills.")
        .titled("Your .agents skills"),
    switch("skills.enableAgentsProject", "Load skills from the project's .agents/skills and .agent/skills.")
        .titled("Project's .agents skills"),
    list("skills.customDirectories", "Additional folders to load skills from.").titled("More skill folders").by_user(),
    list("skills.ignoredSkills", "Skills not to load; `*` matches anything.").titled("Ignored skills"),
    list("skills.includeSkills", "If set, load only these skills; `*` matches anything.").titled("Only these skills"),
    switch("commands.enableClaudeUser", "Load slash commands from ~/.claude/commands.").titled("Your Claude commands"),
    switch("commands.enableClaudeProject", "Load slash commands from the project's .claude/commands.")
        .titled("Project's Claude commands"),
    switch("commands.enableOpencodeUser", "Load slash commands from ~/.config/opencode/commands.")
        .titled("Your OpenCode commands"),
    switch("commands.enableOpencodeProject", "Load slash commands from the project's .opencode/commands.")
        .titled("Project's OpenCode commands"),
];

const fn switch(key: &'static str, about: &'static str) -> Setting {
    Setting::new("Context", key, SettingKind::Bool, "true", about).off_stays()
}

const fn list(key: &'static str, about: &'static str) -> Setting {
    Setting::new("Context", key, SettingKind::List, "[]", about)
}

const MAX_COPILOT_FOLDERS: usize = 32;

/// The settings that affect discovery, read once.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    items_off: HashSet<String>,
    /// Items disabled by the project.
    items_off_by_project: HashSet<String>,
    providers_off: HashSet<String>,
    /// The providers that the user disabled, whatever the project says.
    providers_off_by_user: HashSet<String>,
    /// Keys of switches that are off.
    switched_off: HashSet<&'static str>,
    ignored_skills: Vec<String>,
    included_skills: Vec<String>,
    pub(crate) skill_folders: Vec<PathBuf>,
    pub(crate) copilot_home: Option<PathBuf>,
    pub(crate) copilot_folders: Vec<PathBuf>,
}

impl Choices {
    pub fn read(settings: &Settings, home: &Path) -> Self {
        let off = |setting: &&Setting| {
            let own = settings.user(setting.key) == Some(false);
            matches!(setting.kind, SettingKind::Bool) && (own || settings.project(setting.key) == Some(false))
        };
        let both = |key: &str| -> Vec<String> {
            let lists = [settings.user::<Vec<String>>(key), settings.project(key)];
            lists.into_iter().flatten().flatten().collect()
        };
        let folders: Vec<String> = settings.of(SETTINGS).user("skills.customDirectories");
        let included: Vec<String> = settings.of(SETTINGS).user("skills.includeSkills");
        let expand = |folder: &String| home.join(folder.strip_prefix("~/").unwrap_or(folder));
        Self {
            items_off: settings.of(SETTINGS).user("disabledExtensions"),
            items_off_by_project: settings.project("disabledExtensions").unwrap_or_default(),
            providers_off_by_user: settings.user("disabledProviders").unwrap_or_default(),
            providers_off: both("disabledProviders").into_iter().collect(),
            switched_off: SETTINGS.iter().filter(off).map(|setting| setting.key).collect(),
            ignored_skills: both("skills.ignoredSkills"),
            included_skills: if included.is_empty() { both("skills.includeSkills") } else { included },
            skill_folders: folders.iter().map(expand).collect(),
            copilot_home: None,
            copilot_folders: Vec::new(),
        }
    }

    /// Applies environment variables that move other programs' folders.
    pub fn with_environment(mut self, env: &Env, home: &Path) -> Self {
        let place = |text: &str| match text.trim().strip_prefix("~/") {
            Some(below) => home.join(below),
            None => PathBuf::from(text.trim()),
        };
        let copilot_home = env.get(vars::COPILOT_HOME).filter(|text| !text.trim().is_empty());
        self.copilot_home = copilot_home.map(|text| home.join(place(text)));
        let folders = env.get(vars::COPILOT_CUSTOM_INSTRUCTIONS_DIRS).unwrap_or_default().split(',');
        let folders = folders.filter(|text| !text.trim().is_empty()).map(place);
        self.copilot_folders = folders.take(MAX_COPILOT_FOLDERS).collect();
        self
    }

    pub(crate) fn wants(&self, provider: Provider) -> bool {
        !self.providers_off.contains(provider.id())
    }

    /// Whether the user's hooks of this provider are found: a provider that only the project disabled still guards the user.
    pub(crate) fn wants_guards(&self, provider: Provider) -> bool {
        !self.providers_off_by_user.contains(provider.id())
    }

    /// `is_guard` marks an item of the user that watches or instructs the model; a project cannot disable it.
    pub(crate) fn is_off(&self, id: &str, is_guard: bool) -> bool {
        self.items_off.contains(id) || (!is_guard && self.items_off_by_project.contains(id))
    }

    pub(crate) fn wants_skills(&self, provider: Provider, level: Level) -> bool {
        let key = match (provider, level) {
            (Provider::Native, Level::User) => "skills.enablePiUser",
            (Provider::Native, Level::Project) => "skills.enablePiProject",
            (Provider::Claude, Level::User) => "skills.enableClaudeUser",
            (Provider::Claude, Level::Project) => "skills.enableClaudeProject",
            (Provider::Codex, Level::User) => "skills.enableCodexUser",
            (Provider::Agents, Level::User) => "skills.enableAgentsUser",
            (Provider::Agents, Level::Project) => "skills.enableAgentsProject",
            _ => "skills.enabled",
        };
        self.wants_any_skills() && !self.switched_off.contains(key)
    }

    pub(crate) fn wants_any_skills(&self) -> bool {
        !self.switched_off.contains("skills.enabled")
    }

    pub(crate) fn wants_skill(&self, name: &str) -> bool {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        !named(&self.ignored_skills) && (self.included_skills.is_empty() || named(&self.included_skills))
    }

    pub(crate) fn wants_commands(&self, provider: Provider, level: Level) -> bool {
        let key = match (provider, level) {
            (Provider::Claude, Level::User) => "commands.enableClaudeUser",
            (Provider::Claude, Level::Project) => "commands.enableClaudeProject",
            (Provider::OpenCode, Level::User) => "commands.enableOpencodeUser",
            (Provider::OpenCode, Level::Project) => "commands.enableOpencodeProject",
            _ => return true,
        };
        !self.switched_off.contains(key)
    }
}

/// `*` matches any characters, `?` matches one. Backtracks at most to the last star, so the time is bounded.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, read));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (at, read) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, matched) in [
            ("review", "review", true),
            ("review", "reviews", false),
            ("re*", "review", true),
            ("*view", "review", true),
            ("r?view", "review", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxbxx", false),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), matched, "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(500), &"a".repeat(499)));
    }
}
