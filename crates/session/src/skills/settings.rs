//! The settings of skills and of commands in files.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, List};

/// A project's files may switch off, not on; `skills.customDirectories` is the user's alone: see [`super::SkillChoice`].
pub const SETTINGS: &[Setting] = &[
    on("skills.enabled", "skills for the model and as commands"),
    on("skills.enableSkillCommands", "a command /skill:name for each skill"),
    Setting::new("Skills", "skills.ignoredSkills", List, "[]", "names of skills to leave out; * is understood"),
    Setting::new("Skills", "skills.includeSkills", List, "[]", "names of the only skills to take; empty for all"),
    Setting::new("Skills", "skills.customDirectories", List, "[]", "more folders that hold skills"),
    on("skills.enablePiUser", "skills in ~/.omp/agent/skills"),
    on("skills.enablePiProject", "skills in the project's .omp/skills"),
    on("skills.enableAgentsUser", "skills in ~/.agents/skills"),
    on("skills.enableAgentsProject", "skills in the project's .agents/skills"),
    on("skills.enableClaudeUser", "skills in ~/.claude/skills"),
    on("skills.enableClaudeProject", "skills in the project's .claude/skills"),
    on("skills.enableCodexUser", "skills in ~/.codex/skills"),
    on("commands.enableClaudeUser", "commands in ~/.claude/commands"),
    on("commands.enableClaudeProject", "commands in the project's .claude/commands"),
    on("commands.enableOpencodeUser", "commands of OpenCode in your home"),
    on("commands.enableOpencodeProject", "commands of OpenCode in the project"),
];

const fn on(key: &'static str, about: &'static str) -> Setting {
    Setting::new("Skills", key, Bool, "true", about)
}
