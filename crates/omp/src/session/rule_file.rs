//! Approval rules that the user adds while omp runs, stored in the user's `config.yml` or, for one project, beside it.

use std::path::PathBuf;

use omp_config::{ListChange, ProjectRules, Settings, change_list};
use omp_policy::{ApprovalRules, Policy, RuleLevel, RulePlaces, RuleProblem, RuleSource};
use omp_session::RuleKeeper;

use crate::folder::FolderProblem;

pub struct RuleFile {
    /// The user's `config.yml`.
    pub settings: PathBuf,
    pub projects: ProjectRules,
    /// The workspace with links resolved.
    pub workspace: PathBuf,
}

impl RuleKeeper for RuleFile {
    fn keep(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        change_list(&self.settings, level.key(), ListChange::Add(rule)).map(drop).map_err(|error| error.to_string())
    }

    fn forget(&self, level: RuleLevel, rule: &str) -> Result<bool, String> {
        let here = level == RuleLevel::Allow && self.projects.remove(&self.workspace, rule)?;
        let removed = change_list(&self.settings, level.key(), ListChange::Remove(rule));
        removed.map(|everywhere| everywhere || here).map_err(|error| error.to_string())
    }

    fn keep_here(&self, rule: &str) -> Result<(), String> {
        self.projects.add(&self.workspace, rule)
    }

    fn keep_listed(&self, setting: &'static str, value: &str) -> Result<(), String> {
        change_list(&self.settings, setting, ListChange::Add(value)).map(drop).map_err(|error| error.to_string())
    }
}

/// Returns the approval policy and warnings about invalid rules. An invalid rule that restricts calls is an error, because
/// ignoring it would allow more than the user wants.
pub fn policy(
    settings: &Settings,
    places: RulePlaces,
    projects: &ProjectRules,
) -> Result<(Policy, Vec<String>), FolderProblem> {
    let kept_here = projects.allowed(&places.workspace);
    let (mut rules, problems) = ApprovalRules::from_settings(settings, places);
    if let Some(problem) = problems.iter().find(|problem| problem.loosens) {
        return Err(with_place(settings, problem));
    }
    let mut warnings: Vec<String> = problems.iter().map(|problem| with_place(settings, problem)).collect();
    match kept_here {
        Ok(kept) => {
            let added = kept.iter().map(|rule| rules.add(RuleLevel::Allow, RuleSource::UserHere, rule));
            warnings.extend(added.filter_map(Result::err));
        }
        Err(problem) => warnings.push(problem),
    }
    Ok((Policy { rules, ..Policy::from_settings(settings) }, warnings))
}

/// Formats a problem with the location of its line, and a hint.
fn with_place(settings: &Settings, problem: &RuleProblem) -> String {
    let told = &problem.told;
    let levels = [RuleLevel::Deny, RuleLevel::Ask, RuleLevel::Allow];
    let place =
        levels.into_iter().flat_map(|level| [(level.key(), false), (level.key(), true)]).find_map(|(key, its)| {
            settings.place_of_item(key, its, |line| told.starts_with(&format!("{line} in `{key}` is not a valid rule")))
        });
    let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
    let hint = if told.contains("\nhint: ") {
        ""
    } else {
        "\nhint: a rule is written like `bash(git push *)` or `read(~/notes/**)`"
    };
    format!("{place}{told}{hint}")
}
