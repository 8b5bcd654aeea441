//! `project-rules.json` in the agent folder: approval rules that the user keeps for one project.
//!
//! They are not stored in the project, because a repository must not bring its own permissions. Rules belong to a folder
//! that is still the same one: another folder at its path has none.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::{Identity, identity};
use super::store::{others_may_write, write_page};
use crate::save::lock;

const FILE: &str = "project-rules.json";
const VERSION: u32 = 1;
const MOST_FOLDERS: usize = 2_000;
const MOST_RULES: usize = 500;

/// The rules that the user keeps for projects.
#[derive(Clone, Debug)]
pub struct ProjectRules {
    file: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct RulesPage {
    version: u32,
    projects: BTreeMap<String, ProjectRecord>,
}

#[derive(Serialize, Deserialize)]
struct ProjectRecord {
    #[serde(flatten)]
    identity: Identity,
    allow: Vec<String>,
}

impl ProjectRules {
    pub fn new(agent: &Path) -> Self {
        Self { file: agent.join(FILE) }
    }

    /// Returns the rules that allow calls in the project, by its real path.
    pub fn allowed(&self, project: &Path) -> Result<Vec<String>, String> {
        let found = project.to_str().and_then(|path| Some((path, identity(project)?)));
        let Some((path, identity)) = found else { return Ok(Vec::new()) };
        let mut page = self.read().map_err(|why| self.told(&why))?;
        let record = page.projects.remove(path).filter(|record| record.identity == identity);
        Ok(record.map(|record| record.allow).unwrap_or_default())
    }

    pub fn add(&self, project: &Path, rule: &str) -> Result<(), String> {
        let path = project.to_str().ok_or("the name of the project's folder is not UTF-8")?;
        let identity = identity(project).ok_or("the project's folder no longer exists")?;
        self.change(|page| {
            let fresh = ProjectRecord { identity, allow: Vec::new() };
            let record = page.projects.entry(path.to_owned()).or_insert(fresh);
            if record.identity != identity {
                *record = ProjectRecord { identity, allow: Vec::new() };
            }
            if record.allow.iter().any(|known| known == rule) {
                return Ok(false);
            }
            if record.allow.len() >= MOST_RULES {
                return Err(format!("this project already has {MOST_RULES} rules"));
            }
            record.allow.push(rule.to_owned());
            Ok(true)
        })
        .map(drop)
    }

    /// Returns `false` if there is no such rule.
    pub fn remove(&self, project: &Path, rule: &str) -> Result<bool, String> {
        if !self.file.exists() {
            return Ok(false);
        }
        self.change(|page| {
            let Some(record) = project.to_str().and_then(|path| page.projects.get_mut(path)) else { return Ok(false) };
            let before = record.allow.len();
            record.allow.retain(|known| known != rule);
            Ok(record.allow.len() < before)
        })
    }

    /// Reads the file again first, so that changes of another omp process are not lost.
    fn change(&self, change: impl FnOnce(&mut RulesPage) -> Result<bool, String>) -> Result<bool, String> {
        let failed = |error: io::Error| self.told(&error.to_string());
        std::fs::create_dir_all(self.file.parent().unwrap_or(Path::new("."))).map_err(failed)?;
        let _alone = lock::take(&self.file);
        let mut page = self.read().map_err(|why| self.told(&why))?;
        page.version = VERSION;
        let changed = change(&mut page)?;
        if page.projects.len() > MOST_FOLDERS {
            return Err(self.told(&format!("it already has rules for {MOST_FOLDERS} projects")));
        }
        if changed {
            page.projects.retain(|_, record| !record.allow.is_empty());
            write_page(&self.file, &page).map_err(failed)?;
        }
        Ok(changed)
    }

    fn read(&self) -> Result<RulesPage, String> {
        let Some(text) = crate::settings::read_plain_file(&self.file)? else { return Ok(RulesPage::default()) };
        if others_may_write(&self.file) {
            return Err("other users can write to it".to_owned());
        }
        let page: RulesPage = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        match page.version {
            VERSION => Ok(page),
            other => Err(format!("it has version {other}, but this omp reads version {VERSION}")),
        }
    }

    fn told(&self, why: &str) -> String {
        format!("{} cannot be used: {why}\nhint: move it away; omp writes a new one", self.file.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_belong_to_one_folder_and_can_be_taken_back() {
        let place = tempfile::tempdir().unwrap();
        let (agent, project, other) = (place.path().join("agent"), place.path().join("a"), place.path().join("b"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&other).unwrap();
        let rules = ProjectRules::new(&agent);
        assert_eq!(rules.allowed(&project), Ok(vec![]));
        assert_eq!(rules.remove(&project, "bash(x)"), Ok(false));
        for rule in ["bash(x)", "bash(y *)", "bash(x)"] {
            rules.add(&project, rule).unwrap();
        }
        assert_eq!(rules.allowed(&project), Ok(vec!["bash(x)".to_owned(), "bash(y *)".to_owned()]));
        assert_eq!(rules.allowed(&other), Ok(vec![]));
        assert_eq!(rules.remove(&project, "bash(x)"), Ok(true));
        assert_eq!(rules.allowed(&project), Ok(vec!["bash(y *)".to_owned()]));
        // Another folder at the same path.
        std::fs::rename(&project, place.path().join("moved")).unwrap();
        std::fs::rename(&other, &project).unwrap();
        assert_eq!(rules.allowed(&project), Ok(vec![]));
    }

    #[test]
    fn a_damaged_file_allows_nothing_and_is_kept() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(FILE), "{").unwrap();
        let rules = ProjectRules::new(place.path());
        assert!(rules.allowed(place.path()).unwrap_err().contains("hint: move it away"));
        assert!(rules.add(place.path(), "bash(x)").is_err());
        assert_eq!(std::fs::read_to_string(place.path().join(FILE)).unwrap(), "{");
    }
}
