//! The functions of the machine that the application needs, besides those of the prompt. The composition root implements
//! them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_tui::{Rgb, Theme};
use omp_types::Setting;
use serde_json::Value;

use crate::action::Secret;
use crate::chrome::StatusLook;
use crate::dialogs::StoredSetting;
use crate::setup::Provider;

/// Returns the value of a key and its source.
pub type Stored = Box<dyn Fn(&str) -> Option<StoredSetting>>;

/// Providers that accept a key, and the file that stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPlaces {
    pub providers: Vec<Provider>,
    pub file: String,
}

/// Numbers of files that differ from the last commit; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GitChanges {
    pub unstaged: Option<usize>,
    pub staged: Option<usize>,
    pub untracked: Option<usize>,
}

/// Errors are messages for the user.
pub trait Surroundings: Send + Sync {
    /// Returns the branch that is checked out in a folder.
    fn branch(&self, folder: &Path) -> Option<String>;

    /// Counts the changed files of the repository that contains a folder. Takes a second at most.
    fn git_changes(&self, folder: &Path) -> GitChanges;

    /// Reads the settings of the status line, and what is wrong with them.
    fn status_look(&self) -> Result<(StatusLook, Vec<String>), String>;

    /// Runs the user's command for the status line in a folder, with facts about the session as its input. Returns its
    /// output.
    fn status_command(&self, facts: Value, folder: PathBuf) -> BoxFuture<'static, Result<String, String>>;

    fn host_name(&self) -> String;

    /// Returns the names of the themes, in display order.
    fn themes(&self) -> Vec<String>;

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String>;

    /// Returns the theme for a terminal with this background, if the user has chosen none.
    fn theme_for(&self, background: Rgb) -> Option<Arc<Theme>>;

    /// Returns the models that settings store for roles: `provider/id`, optionally with `:level`.
    fn roles(&self) -> Vec<(String, String)>;

    /// Returns `provider/id` of the models that the user has marked as favourites.
    fn favorite_models(&self) -> Vec<String>;

    /// Returns all settings, in display order.
    fn setting_list(&self) -> Vec<Setting>;

    /// Returns a function that looks up the current value of a key.
    fn settings(&self) -> Result<Stored, String>;

    /// Returns the providers that accept a key, and where it is stored.
    fn key_places(&self) -> KeyPlaces;

    /// Stores a key for later runs and uses it from now on; returns a message.
    fn keep_key(&self, provider: &str, key: &Secret) -> Result<String, String>;

    /// Stores a setting for later runs.
    fn keep_setting(&self, key: &str, value: Value) -> Result<(), String>;
}
