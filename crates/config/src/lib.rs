//! Where configuration lies and how its layers merge. Layering only: what a setting means is known by the crate that
//! owns it.

mod dirs;
mod discovery;
mod dotenv;
mod save;
mod settings;

pub use dirs::Dirs;
pub use discovery::{
    AgentFile, Catalogue, Choices, ContextFile, Declared, FileCommand, ItemSource, Level, Places, Provider, Rule,
    SETTINGS, Shadowed, Skill, TextFile, discover, discover_chosen, repository_root, rule_in,
};
pub use dotenv::load_environment;
pub use save::{SaveError, save_setting};
pub use settings::{ConfigError, Layer, Settings};
