//! Which of the skills and commands that were found a session has: settings, flags, and whose folders they lie in.
//!
//! A project may leave out more than the user does, never bring back what the user has left out.

mod settings;
#[cfg(test)]
mod tests;

use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use omp_config::{ItemSource, Level, Provider, Settings, Skill};

pub use settings::SETTINGS as SKILL_SETTINGS;

/// What the flags say.
#[derive(Clone, Debug, Default)]
pub struct SkillFlags {
    /// `--no-skills`
    pub none: bool,
    /// `--skills`: takes the place of `skills.includeSkills`.
    pub only: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct SkillChoice {
    enabled: bool,
    /// Whether `/skill:name` is offered.
    pub commands: bool,
    ignored: GlobSet,
    /// A name has to be in each.
    included: Vec<GlobSet>,
    toggles: Vec<(Provider, Level, bool)>,
    /// Folders of the user's that hold skills, as they were written.
    pub custom_directories: Vec<String>,
    /// Patterns that could not be understood, in sentences.
    pub warnings: Vec<String>,
}

/// Skills that go by the toggles of their own; the rest stays as long as one of these is on.
const TOGGLES: &[(&str, Provider, Level)] = &[
    ("skills.enableCodexUser", Provider::Codex, Level::User),
    ("skills.enableClaudeUser", Provider::Claude, Level::User),
    ("skills.enableClaudeProject", Provider::Claude, Level::Project),
    ("skills.enablePiUser", Provider::Native, Level::User),
    ("skills.enablePiProject", Provider::Native, Level::Project),
    ("skills.enableAgentsUser", Provider::Agents, Level::User),
    ("skills.enableAgentsProject", Provider::Agents, Level::Project),
];

impl SkillChoice {
    pub fn read(settings: &Settings, flags: &SkillFlags) -> Self {
        let mut warnings = Vec::new();
        let lists = |key: &str| -> Vec<Vec<String>> {
            [settings.user(key), settings.project(key)]
                .into_iter()
                .flatten()
                .filter(|list: &Vec<_>| !list.is_empty())
                .collect()
        };
        let included = match flags.only.is_empty() {
            false => vec![flags.only.clone()],
            true => lists("skills.includeSkills"),
        };
        Self {
            enabled: !flags.none && is_on(settings, "skills.enabled"),
            commands: is_on(settings, "skills.enableSkillCommands"),
            ignored: globs(&lists("skills.ignoredSkills").concat(), &mut warnings),
            included: included.iter().map(|list| globs(list, &mut warnings)).collect(),
            toggles: TOGGLES.iter().map(|(key, provider, level)| (*provider, *level, is_on(settings, key))).collect(),
            custom_directories: settings.user("skills.customDirectories").unwrap_or_default(),
            warnings,
        }
    }

    /// The skills of the session, by name. A skill of a folder that the user has set takes the place of another one.
    pub fn choose(&self, found: Vec<Skill>, custom: Vec<Skill>) -> Vec<Skill> {
        if !self.enabled {
            return Vec::new();
        }
        let found = found.into_iter().filter(|skill| self.source_is_on(&skill.source));
        let mut chosen: Vec<Skill> = Vec::new();
        for skill in custom.into_iter().chain(found).filter(|skill| self.name_is_in(&skill.name)) {
            if !chosen.iter().any(|known| known.name == skill.name || known.folder == skill.folder) {
                chosen.push(skill);
            }
        }
        chosen.sort_by_key(|skill| (skill.name.to_lowercase(), skill.name.clone()));
        chosen
    }

    fn name_is_in(&self, name: &str) -> bool {
        let name = Path::new(name);
        !self.ignored.is_match(name) && self.included.iter().all(|included| included.is_match(name))
    }

    fn source_is_on(&self, source: &ItemSource) -> bool {
        let own =
            self.toggles.iter().find(|(provider, level, _)| (*provider, *level) == (source.provider, source.level));
        let others = || self.toggles.iter().any(|(provider, _, on)| *on && *provider != Provider::Agents);
        own.map_or_else(others, |(.., on)| *on)
    }
}

/// Whether the commands of such a source are wanted.
pub fn commands_are_on(settings: &Settings, source: &ItemSource) -> bool {
    let key = match (source.provider, source.level) {
        (Provider::Claude, Level::User) => "commands.enableClaudeUser",
        (Provider::Claude, Level::Project) => "commands.enableClaudeProject",
        (Provider::OpenCode, Level::User) => "commands.enableOpencodeUser",
        (Provider::OpenCode, Level::Project) => "commands.enableOpencodeProject",
        _ => return true,
    };
    is_on(settings, key)
}

fn is_on(settings: &Settings, key: &str) -> bool {
    settings.user(key).unwrap_or(true) && settings.project(key).unwrap_or(true)
}

/// A pattern that is none counts as the name it is.
fn globs(patterns: &[String], warnings: &mut Vec<String>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.iter().map(|pattern| pattern.trim()).filter(|pattern| !pattern.is_empty()) {
        let glob = Glob::new(pattern).or_else(|error| {
            warnings.push(format!(
                "the skill pattern `{pattern}` is not understood ({}); it counts as a name",
                error.kind()
            ));
            Glob::new(&globset::escape(pattern))
        });
        if let Ok(glob) = glob {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}
