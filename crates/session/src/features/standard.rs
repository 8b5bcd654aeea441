//! The standard features of a session and the order of all features.

use std::sync::Arc;

use super::budget::Budget;
use super::exploration::Exploration;
use super::hooks::Hooks;
use super::jobs::WatchedJobs;
use super::quarantine::Quarantine;
use super::stream_rules::RulesWatched;
use super::title::Titles;
use super::undo::ChangesKept;
use super::{BackgroundJobs, FilesKept, SessionFeature, SessionHooks, StreamRules, Titling};

/// The inputs of the feature list. The default has no rules and no hooks.
#[derive(Default)]
pub struct StandardFeatures {
    /// Stream rules for the model's output.
    pub rules: StreamRules,
    /// Features of the program itself, such as reminders.
    pub own: Vec<Arc<dyn SessionFeature>>,
    /// Several sets of hooks; all of them are run.
    pub hooks: Vec<Arc<dyn SessionHooks>>,
    /// Keeps copies of files as they were before calls.
    pub files: Option<Arc<dyn FilesKept>>,
    /// Generates a title in the background for a session without one.
    pub titling: Option<Titling>,
    /// Background jobs whose ends are reported.
    pub jobs: Option<Arc<dyn BackgroundJobs>>,
    /// Whether the end of a job starts a run. The front end must be able to show a run that the user did not start.
    pub jobs_wake: bool,
}

impl StandardFeatures {
    /// Returns the features in their order. An exploration refuses a call before hooks see it. When the model wants to
    /// stop, hooks are asked last; their changes to a result are made before rules add theirs.
    pub fn list(self) -> Vec<Arc<dyn SessionFeature>> {
        let mut list: Vec<Arc<dyn SessionFeature>> = vec![
            Arc::new(Quarantine::default()),
            Arc::new(Exploration::default()),
            Arc::new(RulesWatched::new(self.rules)),
        ];
        list.extend(self.own);
        if !self.hooks.is_empty() {
            list.push(Arc::new(Hooks::new(self.hooks)));
        }
        if let Some(files) = self.files {
            list.push(Arc::new(ChangesKept(files)));
        }
        if let Some(jobs) = self.jobs {
            list.push(Arc::new(WatchedJobs { jobs, wakes: self.jobs_wake }));
        }
        if let Some(titling) = self.titling {
            list.push(Arc::new(Titles::new(titling)));
        }
        list.push(Arc::new(Budget));
        list
    }
}
