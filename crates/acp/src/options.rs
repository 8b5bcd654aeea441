//! The options of a session: approval mode, model and thinking level.
//!
//! Newer clients read all of them as options; older ones know the approval modes as session modes. Both are sent.

use std::sync::Arc;

use omp_policy::ApprovalMode;
use omp_session::Snapshot;
use omp_types::{Model, ThinkingLevel};

use crate::protocol::{
    ConfigOption, ConfigOptionCategory, ConfigOptionKind, ConfigSelectOption, SessionMode, SessionModes,
};

pub const MODE: &str = "mode";
pub const MODEL: &str = "model";
pub const THINKING: &str = "thinking";

/// They are called as everywhere else in omp.
const MODES: [(ApprovalMode, &str); 4] = [
    (ApprovalMode::AskAll, "Everything except reading needs your approval"),
    (ApprovalMode::AskWrites, "Changes outside build folders need your approval"),
    (ApprovalMode::Auto, "Only calls that cannot be undone need your approval"),
    (ApprovalMode::Write, "Files are read and written without asking; commands need your approval"),
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
fn offered_modes(chosen: &Chosen) -> impl Iterator<Item = (&'static str, &'static str)> {
    let current = chosen.mode;
    let offered = MODES.iter().filter(move |(mode, _)| *mode != ApprovalMode::Write || current == ApprovalMode::Write);
    offered.map(|(mode, about)| (mode.as_str(), *about))
}

pub fn modes(chosen: &Chosen) -> SessionModes {
    let offered = offered_modes(chosen).map(|(name, description)| SessionMode { id: name, name, description });
    SessionModes { current_mode_id: chosen.mode.as_str(), available_modes: offered.collect() }
}

pub fn model_id(model: &Model) -> String {
    format!("{}/{}", model.provider, model.id)
}

pub fn options(chosen: &Chosen, models: &[Arc<Model>]) -> Vec<ConfigOption> {
    let modes = offered_modes(chosen).map(|(name, about)| value(name, name, Some(about)));
    let current = model_id(&chosen.model);
    let mut offered: Vec<_> = models.iter().map(|model| model_option(model)).collect();
    // The current model may not be offered any more.
    if !models.iter().any(|model| model_id(model) == current) {
        offered.insert(0, model_option(&chosen.model));
    }
    let levels = ThinkingLevel::ALL.map(|level| value(level.as_str(), level.as_str(), None));
    let (mode, thinking) = (chosen.mode.as_str().to_owned(), chosen.thinking.as_str().to_owned());
    vec![
        option(MODE, "Approval", ConfigOptionCategory::Mode, mode, modes.collect()),
        option(MODEL, "Model", ConfigOptionCategory::Model, current, offered),
        option(THINKING, "Thinking", ConfigOptionCategory::ThoughtLevel, thinking, levels.into()),
    ]
}

fn option(
    id: &'static str,
    name: &'static str,
    category: ConfigOptionCategory,
    current_value: String,
    options: Vec<ConfigSelectOption>,
) -> ConfigOption {
    ConfigOption { id, name, category, kind: ConfigOptionKind::Select, current_value, options }
}

fn value(value: &str, name: &str, description: Option<&str>) -> ConfigSelectOption {
    ConfigSelectOption { value: value.to_owned(), name: name.to_owned(), description: description.map(str::to_owned) }
}

fn model_option(model: &Model) -> ConfigSelectOption {
    value(&model_id(model), &model.name, Some(&model.provider))
}
