//! Decides which items of a folder may run in a session: the user's decision, the warnings about items without one, and
//! `--trust`.

mod asking;
mod told;

use std::sync::{Arc, OnceLock};

use omp_config::{Catalogue, Item, RunPins, Trust, TrustDecision, items_of, repository_root};
use omp_exec::is_child_of_omp;
use omp_store::Custom;
use omp_types::Env;
use serde_json::json;

use crate::cli::ToolArgs;
use crate::folder::displaced_rules;
use crate::folder::{FolderProblem, FolderSetup};
use crate::session::secrets;

pub use asking::{at_terminal, in_text};
pub use told::{clean, explained, left_out};

/// The `customType` of the session entry that records what `--trust` covered.
const ENTRY: &str = "trust";

/// Refuses to change trust from a command that the model runs. A command could hide where it comes from: this check prevents
/// mistakes, the sandbox prevents attacks.
pub fn refuse_children(env: &Env) -> Result<(), FolderProblem> {
    match is_child_of_omp(env) {
        false => Ok(()),
        true => Err("commands that omp runs cannot trust a folder\nhint: run it in your own shell".to_owned()),
    }
}

/// The cached trust decision of a setup.
#[derive(Clone, Default)]
pub struct FolderTrust {
    for_run: Option<Arc<RunPins>>,
    /// `--trust` was given and has not been resolved to items yet.
    all_now: bool,
    decided: Arc<OnceLock<(Arc<TrustDecision>, Option<String>)>>,
}

impl FolderTrust {
    pub fn of(args: &ToolArgs) -> Self {
        Self { for_run: args.trusted.clone(), all_now: args.trust, decided: Arc::default() }
    }

    fn decide(&self, setup: &FolderSetup, catalogue: &Catalogue) -> (Arc<TrustDecision>, Option<String>) {
        let root = repository_root(&setup.cwd);
        let mut items = items_of(catalogue, &root);
        items.retain(|item| item.kind.is_used());
        items.extend(secrets::project_list(setup));
        items.extend(displaced_rules::items(setup));
        let trust = Trust::load(&setup.dirs.agent);
        let warning = trust.warning().map(str::to_owned);
        let now = if self.all_now { RunPins::of(&root, &items) } else { None };
        let for_run = now.as_ref().or(self.for_run.as_deref());
        (Arc::new(TrustDecision::of(&trust, &root, items, for_run)), warning)
    }

    /// Clears the cache after the user has answered.
    pub fn forget(&mut self) {
        self.decided = Arc::default();
    }
}

impl FolderSetup {
    /// Returns which items of this folder may run. Query it with an item built right before use.
    pub fn trust(&self) -> Arc<TrustDecision> {
        self.trusted().0.clone()
    }

    fn trusted(&self) -> &(Arc<TrustDecision>, Option<String>) {
        self.folder_trust.decided.get_or_init(|| self.folder_trust.decide(self, self.catalogue()))
    }

    /// Pins `--trust` to the items that would run here now. It does not cover items added later or in another folder.
    pub fn pin_for_run(&self, args: &mut ToolArgs) {
        if std::mem::take(&mut args.trust) {
            let decision = self.trust();
            args.trusted = RunPins::of(decision.root(), decision.items()).map(Arc::new);
        }
    }

    /// Returns a warning about the trust file.
    pub fn trust_file_warning(&self) -> Vec<String> {
        self.trusted().1.iter().cloned().collect()
    }

    /// Returns warnings about items that are not run, with hints.
    pub fn trust_warnings(&self) -> Vec<String> {
        let (decision, warning) = self.trusted();
        let for_run = (decision.is_for_run() && !decision.items().is_empty()).then(|| told::for_run(decision));
        warning.iter().cloned().chain(left_out(decision)).chain(for_run).collect()
    }

    /// Returns the session entry that records what runs because of `--trust`.
    pub fn trust_entry(&self) -> Option<Custom> {
        let decision = self.trust();
        let runs = decision.items().iter().filter(|item| decision.may_run(item));
        // Paths may be invalid UTF-8.
        let told = |item: &Item| json!({"kind": item.kind.name(), "name": item.name, "path": item.path.to_string_lossy(), "runs": item.runs});
        let folder = decision.root().to_string_lossy();
        let data = json!({"by": "--trust", "folder": folder, "items": runs.map(told).collect::<Vec<_>>()});
        decision.is_for_run().then(|| Custom { custom_type: ENTRY.to_owned(), data: Some(data) })
    }
}
