//! What the application asks of the machine around it. The composition root knows how.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use omp_tui::Theme;
use omp_types::Content;
use serde_json::Value;

/// Every problem is a sentence for the user.
pub trait Outside: Send + Sync {
    /// Lets the user write in their own editor, which has the terminal meanwhile. `None` when nothing was changed.
    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, String>>;

    /// Puts text on the clipboard of the desktop.
    fn copy(&self, text: String) -> BoxFuture<'_, Result<(), String>>;

    /// A picture from the clipboard, `None` when there is none.
    fn paste_image(&self) -> BoxFuture<'_, Result<Option<Content>, String>>;

    /// The branch that is checked out in a folder.
    fn branch(&self, folder: &Path) -> Option<String>;

    /// Themes by name, in the order they are offered.
    fn themes(&self) -> Vec<String>;

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String>;

    /// Keeps a setting for later runs.
    fn keep_setting(&self, key: &str, value: Value) -> Result<(), String>;
}
