//! What the application asks of the machine around it besides what the prompt asks. The composition root knows how.

use std::path::Path;
use std::sync::Arc;

use omp_tui::{Rgb, Theme};
use omp_types::Setting;
use serde_json::Value;

use crate::action::Secret;
use crate::dialogs::StoredSetting;
use crate::setup::Provider;

/// The value of a key and where it comes from.
pub type Stored = Box<dyn Fn(&str) -> Option<StoredSetting>>;

/// Providers that take a key, and the file it goes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPlaces {
    pub providers: Vec<Provider>,
    pub file: String,
}

/// Every problem is a sentence for the user.
pub trait Surroundings: Send + Sync {
    /// The branch that is checked out in a folder.
    fn branch(&self, folder: &Path) -> Option<String>;

    /// Themes by name, in the order they are offered.
    fn themes(&self) -> Vec<String>;

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String>;

    /// The theme for a terminal with this background, where the user has chosen none.
    fn theme_for(&self, background: Rgb) -> Option<Arc<Theme>>;

    /// Models that settings keep for roles: `provider/id`, perhaps with `:level`.
    fn roles(&self) -> Vec<(String, String)>;

    /// Every setting there is, in the order it is offered.
    fn setting_list(&self) -> Vec<Setting>;

    /// What is set now, to be asked key by key.
    fn settings(&self) -> Result<Stored, String>;

    /// What a key can be given for, and where it is kept.
    fn key_places(&self) -> KeyPlaces;

    /// Keeps a key for later runs, and uses it from now on; says what came of it.
    fn keep_key(&self, provider: &str, key: &Secret) -> Result<String, String>;

    /// Keeps a setting for later runs.
    fn keep_setting(&self, key: &str, value: Value) -> Result<(), String>;
}
