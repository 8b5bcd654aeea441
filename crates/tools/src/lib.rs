//! The built-in tools, one folder each.

mod artifacts;
mod bash;
mod blocking;
mod details;
mod edit;
mod files;
mod find;
mod output_sink;
mod read;
#[cfg(test)]
mod scratch;
mod search;
mod toolbox;
mod write;

pub use artifacts::{ArtifactFile, Artifacts, NoArtifacts};
pub use bash::{Bash, BashDetails, BashParams};
pub use edit::Edit;
pub use files::{Files, header};
pub use find::{Find, FindDetails, FindParams};
pub use output_sink::{OutputSink, Summary, Truncation};
pub use read::Read;
pub use search::{Search, SearchDetails, SearchParams};
pub use toolbox::Toolbox;
pub use write::Write;
