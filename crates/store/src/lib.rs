//! Session files: an append-only tree of entries in one JSONL file, with blobs and artifacts beside it.
//!
//! Everything here is plain `std::fs`: an entry is one `write(2)` of one line, so what was appended survives the death
//! of the process. Reading never changes a file and never throws anything away: what cannot be understood stays where
//! it is and is named in a [`Report`]. The format is written down in `docs/session-format.md`.

mod artifact;
mod blob;
mod context;
mod entry;
mod error;
mod folder;
mod header;
mod ids;
pub mod import;
mod lines;
mod list;
mod lock;
mod mend;
mod message;
mod open;
mod platform;
mod problem;
mod scan;
mod skim;
mod stamp;
mod tail;
mod title;
mod window;
mod writer;

pub use artifact::{Artifact, ArtifactDir};
pub use blob::BlobStore;
pub use context::Context;
pub use entry::{
    BranchSummary, Compaction, Custom, CustomMessageEntry, EntryBody, EntryId, Label, ModeChange, ModelChange,
    OtherEntry, SessionInit, ThinkingLevelChange, TitleChange, TtsrInjection,
};
pub use error::{FindError, OpenError, WriteError};
pub use folder::SessionsDir;
pub use header::SessionHeader;
pub use list::SessionInfo;
pub use open::LoadedSession;
pub use problem::{Damage, Problem, Report};
pub use title::TitleSource;
pub use writer::{NewSession, SessionWriter};
