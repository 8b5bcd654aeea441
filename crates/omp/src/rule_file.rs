//! Rules on calls that the user gives while omp runs, kept in the user's `config.yml`.

use std::path::{Path, PathBuf};

use omp_config::{ListChange, Settings, change_list};
use omp_session::{Places, Policy, RuleKeeper, RuleLevel, Rules};

use crate::compose::Problem;

pub struct RuleFile(pub PathBuf);

impl RuleKeeper for RuleFile {
    fn keep(&self, level: RuleLevel, rule: &str) -> Result<(), String> {
        change_list(&self.0, level.key(), ListChange::Add(rule)).map(drop).map_err(|error| error.to_string())
    }

    fn forget(&self, level: RuleLevel, rule: &str) -> Result<bool, String> {
        change_list(&self.0, level.key(), ListChange::Remove(rule)).map_err(|error| error.to_string())
    }

    fn keep_writable(&self, path: &Path) -> Result<(), String> {
        let path = path.to_str().ok_or("its name is no text")?;
        change_list(&self.0, "containment.writable", ListChange::Add(path)).map(drop).map_err(|error| error.to_string())
    }
}

/// What may run. A rule of the user's that forbids and cannot be read is no reason to go on without it.
pub fn policy(settings: &Settings, cwd: &Path, home: &Path, warnings: &mut Vec<String>) -> Result<Policy, Problem> {
    let (rules, problems) = Rules::from_settings(settings, Places::new(cwd, Some(home)));
    if let Some(problem) = problems.iter().find(|problem| problem.loosens) {
        return Err(problem.told.clone());
    }
    warnings.extend(problems.into_iter().map(|problem| problem.told));
    Ok(Policy { rules, ..Policy::from_settings(settings) })
}
