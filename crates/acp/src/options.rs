//! The options of a session: approval mode, model and thinking level.
//!
//! Newer clients read all of them as options; older ones know the approval modes as session modes. Both are sent.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode, SessionModeState,
};
use omp_policy::ApprovalMode;
use omp_session::Snapshot;
use omp_types::{Model, ThinkingLevel};

pub const MODE: &str = "mode";
pub const MODEL: &str = "model";
pub const THINKING: &str = "thinking";

const MODES: [(ApprovalMode, &str, &str); 4] = [
    (ApprovalMode::AskAll, "Ask for all", "Everything but reading needs your approval"),
    (ApprovalMode::AskWrites, "Ask for writes", "Changes outside of build folders need your approval"),
    (ApprovalMode::Auto, "Auto", "Only what cannot be undone needs your approval"),
    (ApprovalMode::Write, "Write", "Files are read and written without asking; commands need your approval"),
];

/// The chosen values, even if the session applies them only after the running prompt.
#[derive(Clone)]
pub struct Chosen {
    pub mode: ApprovalMode,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
}

impl From<&Snapshot> for Chosen {
    fn from(snapshot: &Snapshot) -> Self {
        Self { mode: snapshot.approval_mode, model: snapshot.model.clone(), thinking: snapshot.thinking }
    }
}

/// The modes that are offered: the one of earlier versions only if it is chosen.
fn offered_modes(chosen: &Chosen) -> impl Iterator<Item = &'static (ApprovalMode, &'static str, &'static str)> {
    let current = chosen.mode;
    MODES.iter().filter(move |(mode, ..)| *mode != ApprovalMode::Write || current == ApprovalMode::Write)
}

pub fn modes(chosen: &Chosen) -> SessionModeState {
    let offered = offered_modes(chosen)
        .map(|(mode, name, about)| SessionMode::new(mode.as_str(), *name).description((*about).to_owned()));
    SessionModeState::new(chosen.mode.as_str(), offered.collect())
}

pub fn model_id(model: &Model) -> String {
    format!("{}/{}", model.provider, model.id)
}

pub fn options(chosen: &Chosen, models: &[Arc<Model>]) -> Vec<SessionConfigOption> {
    let modes = offered_modes(chosen).map(|(mode, name, about)| {
        SessionConfigSelectOption::new(mode.as_str(), *name).description((*about).to_owned())
    });
    let current = model_id(&chosen.model);
    let mut offered: Vec<_> = models.iter().map(|model| model_option(model)).collect();
    // The current model may not be offered any more.
    if !models.iter().any(|model| model_id(model) == current) {
        offered.insert(0, model_option(&chosen.model));
    }
    let levels = ThinkingLevel::ALL.map(|level| SessionConfigSelectOption::new(level.as_str(), level.as_str()));
    vec![
        SessionConfigOption::select(MODE, "Approval", chosen.mode.as_str(), modes.collect::<Vec<_>>())
            .category(SessionConfigOptionCategory::Mode),
        SessionConfigOption::select(MODEL, "Model", current, offered).category(SessionConfigOptionCategory::Model),
        SessionConfigOption::select(THINKING, "Thinking", chosen.thinking.as_str(), levels.to_vec())
            .category(SessionConfigOptionCategory::ThoughtLevel),
    ]
}

fn model_option(model: &Model) -> SessionConfigSelectOption {
    SessionConfigSelectOption::new(model_id(model), model.name.clone()).description(model.provider.clone())
}
