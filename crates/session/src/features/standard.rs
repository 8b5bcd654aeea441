//! The features that come with the session, and the order of all.

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
use crate::spending::{BudgetLimits, RunBudget};

/// What the features of a session are made of. The usual one has no rules, no hooks and no limits.
#[derive(Default)]
pub struct StandardFeatures {
    /// Rules that watch what the model writes.
    pub rules: StreamRules,
    /// Features of the program itself, such as reminders.
    pub own: Vec<Arc<dyn SessionFeature>>,
    /// Several sets may take part; all of them are heard.
    pub hooks: Vec<Arc<dyn SessionHooks>>,
    /// Keeps files as they were before calls.
    pub files: Option<Arc<dyn FilesKept>>,
    /// A session without a title gets one made up in the background.
    pub titling: Option<Titling>,
    /// Their ends are told.
    pub jobs: Option<Arc<dyn BackgroundJobs>>,
    /// The end of a job starts a run, where a front end allows it.
    pub jobs_wake: bool,
    /// What all sessions of this run of the program may take together.
    pub run_budget: Arc<RunBudget>,
    pub budget: BudgetLimits,
}

impl StandardFeatures {
    /// In their order. A call is refused by an exploration before hooks hear of it. Of what is said to a model that wants to
    /// stop, hooks come last; what they make of a result is there before rules say theirs.
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
        list.push(Arc::new(Budget { run: self.run_budget, session: self.budget }));
        list
    }
}
