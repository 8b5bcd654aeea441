//! The list of all settings, collected from the crates that read them.

use omp_config::Known;
use omp_types::{Setting, SettingKind};

/// The order of the groups on the screen; other groups follow.
const TABS: &[&str] =
    &["Model", "Look", "Approval", "Messages", "Tools", "Files", "Shell", "Context", "Skills", "Rules", "Budget"];

/// The settings that this crate reads itself.
pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "",
        "startup.setupWizard",
        SettingKind::Bool,
        "true",
        "On the first run, look for API keys and local model servers.",
    )
    .titled("First-run setup")
    .by_user(),
    Setting::new(
        "",
        "setupVersion",
        SettingKind::Number { least: 0.0, most: 1_000_000.0 },
        "0",
        "The setup pages you have seen; written by omp.",
    )
    .titled("Setup version")
    .by_user(),
    Setting::new("Look", "startup.checkUpdate", SettingKind::Bool, "true", "Look for a newer version once a day.")
        .titled("Check for updates")
        .by_user(),
    Setting::new("Look", "startup.updateUrl", SettingKind::Text, "", "The address that names the newest version.")
        .titled("Update address")
        .by_user(),
    Setting::new(
        "Messages",
        "autoResume",
        SettingKind::Bool,
        "false",
        "Resume the last session when omp starts in a terminal.",
    )
    .titled("Resume the last session")
    .by_user(),
    Setting::new(
        "Context",
        "skills.enableSkillCommands",
        SettingKind::Bool,
        "true",
        "Add a command /skill:name for each skill.",
    )
    .titled("Skill commands")
    .off_stays(),
];

/// Returns all settings by group, and within a group in the order of their crates.
pub fn settings() -> Vec<Setting> {
    let crates = [
        omp_policy::POLICY_SETTINGS,
        omp_session::SETTINGS,
        omp_session::PROMPT_SETTINGS,
        omp_hooks::SETTINGS,
        omp_session::SPENDING_SETTINGS,
        omp_compaction::COMPACTION_SETTINGS,
        omp_rules::SETTINGS,
        omp_secrets::SETTINGS,
        omp_llm::SETTINGS,
        omp_tools::SETTINGS,
        omp_interactive::SETTINGS,
        omp_interactive::COST_SETTINGS,
        omp_interactive::HABIT_SETTINGS,
        omp_interactive::STATUS_SETTINGS,
        omp_config::SETTINGS,
        omp_undo::SETTINGS,
        omp_contain::SETTINGS,
        SETTINGS,
    ];
    let mut settings: Vec<Setting> = crates.into_iter().flatten().copied().collect();
    for setting in &mut settings {
        // Groups that differ only in case are one group.
        setting.tab = TABS.iter().find(|tab| tab.eq_ignore_ascii_case(setting.tab)).unwrap_or(&setting.tab);
    }
    let place = |tab: &str| match tab {
        "" => usize::MAX,
        tab => TABS.iter().position(|known| *known == tab).unwrap_or(TABS.len()),
    };
    settings.sort_by_key(|setting| place(setting.tab));
    settings
}

pub fn known() -> Known {
    Known::new(settings())
}

#[cfg(test)]
mod tests;
