//! The location of configuration and the merging of its layers. The meaning of a setting is defined by the crate that owns
//! it.

mod declared;
mod dirs;
mod discovery;
mod dotenv;
mod hook_line;
mod known;
mod migrate;
mod save;
mod screen;
mod settings;
mod takeover;
mod trust;

pub use declared::DeclaredSettings;
pub use dirs::Dirs;
pub use discovery::{
    Again, AgentFile, Catalogue, Choices, ContextFile, Declared, FileCommand, Import, ItemSource, Level, Places,
    Provider, Rule, SETTINGS, Shadowed, Skill, TextFile, discover, discover_chosen, nested_context_files, read_again,
    repository_root, rule_in,
};
pub use dotenv::{ignored_variables, load_environment};
pub use hook_line::hook_line;
pub use known::{Known, Named, reference as reference_settings};
pub use migrate::RENAMED as RENAMED_SETTINGS;
pub use save::{ListChange, SaveError, Saver, change_list, parse_value, save_setting};
pub use screen::{Complaint, Wrong, told as told_complaints};
pub use settings::{ConfigError, Layer, Origin, Settings};
pub use takeover::take_over;
pub use trust::{
    Item, ItemKind, NeverTaken, ProjectRules, RunPins, Trust, TrustDecision, TrustError, TrustState, TrustedFolder,
    items_of, never_taken, run_lines,
};
