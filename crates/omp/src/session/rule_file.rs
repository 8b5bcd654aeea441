//! Approval rules that the user adds while omp runs, stored in the user's `config.yml`.

use std::path::PathBuf;

use omp_config::{ListChange, Settings, change_list};
use omp_policy::{ApprovalRules, Policy, RuleLevel, RulePlaces, RuleProblem};
use omp_session::RuleKeeper;

use crate::folder::FolderProblem;

pub struct RuleFile(pub PathBuf);

impl RuleKeeper for RuleFile {
    fn keep(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        change_list(&self.0, level.key(), ListChange::Add(rule)).map(drop).map_err(|error| error.to_string())
    }

    fn forget(&self, level: RuleLevel, rule: &str) -> Result<bool, String> {
        change_list(&self.0, level.key(), ListChange::Remove(rule)).map_err(|error| error.to_string())
    }

    fn keep_listed(&self, setting: &'static str, value: &str) -> Result<(), String> {
        change_list(&self.0, setting, ListChange::Add(value)).map(drop).map_err(|error| error.to_string())
    }
}

/// Returns the approval policy and warnings about invalid rules. An invalid rule that restricts calls is an error, because
/// ignoring it would allow more than the user wants.
pub fn policy(settings: &Settings, places: RulePlaces) -> Result<(Policy, Vec<String>), FolderProblem> {
    let (rules, problems) = ApprovalRules::from_settings(settings, places);
    if let Some(problem) = problems.iter().find(|problem| problem.loosens) {
        return Err(with_place(settings, problem));
    }
    let warnings = problems.iter().map(|problem| with_place(settings, problem)).collect();
    Ok((Policy { rules, ..Policy::from_settings(settings) }, warnings))
}

/// Formats a problem with the location of its line, and a hint.
fn with_place(settings: &Settings, problem: &RuleProblem) -> String {
    let told = &problem.told;
    let levels = [RuleLevel::Deny, RuleLevel::Ask, RuleLevel::Allow];
    let place =
        levels.into_iter().flat_map(|level| [(level.key(), false), (level.key(), true)]).find_map(|(key, its)| {
            settings.place_of_item(key, its, |line| told.starts_with(&format!("{line} in `{key}` is no rule")))
        });
    let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
    let hint = if told.contains("\nhint: ") {
        ""
    } else {
        "\nhint: a rule is written like `bash(git push *)` or `read(~/notes/**)`"
    };
    format!("{place}{told}{hint}")
}
