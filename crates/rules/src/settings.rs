//! The settings of rules that watch the stream.

use omp_config::Settings;
use omp_types::{Setting, SettingKind};

const TAB: &str = "Context";

pub const SETTINGS: &[Setting] = &[
    Setting::new(TAB, "ttsr.enabled", SettingKind::Bool, "true", "Stop the model when its output breaks a rule.")
        .titled("Stream rules")
        .by_user(),
    Setting::new(
        TAB,
        "ttsr.contextMode",
        SettingKind::OneOf(&["discard", "keep"]),
        "\"discard\"",
        "Discard or keep an answer that a rule stopped.",
    )
    .titled("Stopped answers")
    .by_user(),
    Setting::new(
        TAB,
        "ttsr.interruptMode",
        SettingKind::OneOf(&["never", "prose-only", "tool-only", "always"]),
        "\"always\"",
        "Where a broken rule stops the answer; elsewhere the model is reminded afterwards.",
    )
    .titled("When rules interrupt")
    .by_user(),
    Setting::new(
        TAB,
        "ttsr.repeatMode",
        SettingKind::OneOf(&["once", "after-gap"]),
        "\"once\"",
        "Whether a rule can fire again in the same session.",
    )
    .titled("Repeat rules")
    .by_user(),
    Setting::new(
        TAB,
        "ttsr.repeatGap",
        SettingKind::Number { least: 1.0, most: 1000.0 },
        "10",
        "Turns before a rule can fire again if ttsr.repeatMode is `after-gap`.",
    )
    .titled("Turns between repeats")
    .by_user(),
    Setting::new(TAB, "ttsr.builtinRules", SettingKind::Bool, "true", "Use the rules that come with omp.")
        .titled("Built-in rules")
        .by_user(),
    Setting::new(
        "",
        "ttsr.disabledRules",
        SettingKind::List,
        "[]",
        "Rules not to use; a project can disable only its own rules.",
    )
    .titled("Disabled rules"),
];

/// What happens to the interrupted answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContextMode {
    /// It is removed from the context.
    #[default]
    Discard,
    Keep,
}

/// When a rule interrupts the answer instead of waiting for its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterruptMode {
    Never,
    ProseOnly,
    ToolOnly,
    #[default]
    Always,
}

impl InterruptMode {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "never" => Self::Never,
            "prose-only" => Self::ProseOnly,
            "tool-only" => Self::ToolOnly,
            "always" => Self::Always,
            _ => return None,
        })
    }

    pub fn interrupts(self, in_tool: bool) -> bool {
        match self {
            Self::Never => false,
            Self::ProseOnly => !in_tool,
            Self::ToolOnly => in_tool,
            Self::Always => true,
        }
    }
}

/// Whether a rule that has fired may fire again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleRepeat {
    #[default]
    Once,
    /// After this number of turns.
    AfterGap(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSettings {
    pub enabled: bool,
    pub context: ContextMode,
    pub interrupt: InterruptMode,
    pub repeat: RuleRepeat,
    pub builtin: bool,
    /// Rules disabled by the user.
    pub disabled: Vec<String>,
    /// Rules of the project that the project disables; the user's and the built-in ones are not affected.
    pub disabled_by_project: Vec<String>,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self::read(&Settings::default())
    }
}

impl RuleSettings {
    /// Only the user configures how rules guard: a project can neither disable them nor make them fire less often.
    pub fn read(settings: &Settings) -> Self {
        let own = settings.of(SETTINGS);
        let word = |key: &str| own.user::<String>(key);
        let gap = own.user::<u64>("ttsr.repeatGap").max(1);
        Self {
            enabled: own.user("ttsr.enabled"),
            context: if word("ttsr.contextMode") == "keep" { ContextMode::Keep } else { ContextMode::Discard },
            interrupt: InterruptMode::from_name(&word("ttsr.interruptMode")).unwrap_or_default(),
            repeat: if word("ttsr.repeatMode") == "after-gap" { RuleRepeat::AfterGap(gap) } else { RuleRepeat::Once },
            builtin: own.user("ttsr.builtinRules"),
            disabled: own.user("ttsr.disabledRules"),
            disabled_by_project: settings.project("ttsr.disabledRules").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_is_what_is_the_default() {
        assert_eq!(RuleSettings::read(&Settings::default()), RuleSettings::default());
        for setting in SETTINGS {
            let value: serde_json::Value = serde_json::from_str(setting.default).unwrap();
            let mut settings = Settings::default();
            settings.set_runtime(setting.key, value);
            assert_eq!(RuleSettings::read(&settings), RuleSettings::default(), "{}", setting.key);
        }
    }

    #[test]
    fn values_are_taken() {
        let mut settings = Settings::default();
        for (key, value) in [
            ("ttsr.enabled", false.into()),
            ("ttsr.contextMode", "keep".into()),
            ("ttsr.interruptMode", "prose-only".into()),
            ("ttsr.repeatMode", "after-gap".into()),
            ("ttsr.repeatGap", 0.into()),
            ("ttsr.builtinRules", false.into()),
            ("ttsr.disabledRules", serde_json::json!(["a"])),
        ] {
            settings.set_runtime(key, value);
        }
        let expect = RuleSettings {
            enabled: false,
            context: ContextMode::Keep,
            interrupt: InterruptMode::ProseOnly,
            repeat: RuleRepeat::AfterGap(1),
            builtin: false,
            disabled: vec!["a".into()],
            disabled_by_project: Vec::new(),
        };
        assert_eq!(RuleSettings::read(&settings), expect);
    }
}
