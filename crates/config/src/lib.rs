//! Where configuration lies and how its layers merge. Layering only: what a setting means is known by the crate that
//! owns it.

mod dirs;
mod discovery;
mod dotenv;
mod save;
mod settings;

pub use dirs::Dirs;
pub use discovery::{
    AgentFile, Catalogue, ContextFile, Declared, FileCommand, Found, ItemSource, Level, Places, Provider, Rule,
    Shadowed, Skill, TextFile, discover, discover_context_files, repository_root,
};
pub use dotenv::load_environment;
pub use save::{SaveError, save_setting};
pub use settings::{ConfigError, Layer, Settings};
