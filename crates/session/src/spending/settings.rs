//! The settings for spending limits.

use omp_config::Settings;
use omp_types::{Setting, SettingKind};

use super::budget::BudgetLimits;

const MAX_TOKENS: &str = "budget.maxTokens";
const MAX_COST: &str = "budget.maxCost";

pub const SPENDING_SETTINGS: &[Setting] = &[
    Setting::new(
        "Messages",
        "budget.maxTokens",
        SettingKind::Number { least: 0.0, most: 1e15 },
        "0",
        "Maximum tokens of a session; 0 means no limit.",
    )
    .titled("Token limit"),
    Setting::new(
        "Messages",
        "budget.maxCost",
        SettingKind::Number { least: 0.0, most: 1e9 },
        "0",
        "Maximum cost of a session in dollars; 0 means no limit.",
    )
    .titled("Cost limit"),
];

impl BudgetLimits {
    /// The limits of a session. A project can lower the user's limits but not raise them.
    pub fn from_settings(settings: &Settings) -> Self {
        let user = Self { max_tokens: settings.user(MAX_TOKENS), max_cost: settings.user(MAX_COST) };
        let project = Self { max_tokens: settings.project(MAX_TOKENS), max_cost: settings.project(MAX_COST) };
        user.meant().tightened(project.meant())
    }

    /// In settings, zero means no limit.
    fn meant(self) -> Self {
        let Self { max_tokens, max_cost } = self;
        Self { max_tokens: max_tokens.filter(|most| *most > 0), max_cost: max_cost.filter(|most| *most > 0.0) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_only_tightens() {
        let folder = tempfile::tempdir().unwrap();
        let check = |user: Option<f64>, project: Option<f64>, expect: Option<f64>| {
            let mut settings = Settings::default();
            if let Some(cost) = user {
                settings.set_runtime(MAX_COST, json!(cost));
            }
            let file = folder.path().join(".omp/config.yml");
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, project.map(|cost| format!("budget:\n  maxCost: {cost}\n")).unwrap_or_default())
                .unwrap();
            assert!(settings.load_project(folder.path()).is_empty());
            assert_eq!(BudgetLimits::from_settings(&settings).max_cost, expect, "{user:?} {project:?}");
        };
        check(None, None, None);
        check(Some(2.0), Some(0.0), Some(2.0));
        check(Some(-2.0), None, None);
        check(Some(2.0), None, Some(2.0));
        check(None, Some(1.5), Some(1.5));
        check(Some(2.0), Some(1.5), Some(1.5));
        check(Some(1.0), Some(9.0), Some(1.0));
    }
}
