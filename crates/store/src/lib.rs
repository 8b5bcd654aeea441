//! Session files: an append-only tree of entries in one JSONL file, with blobs and artifacts next to it.
//!
//! Everything uses plain `std::fs`: an entry is one `write(2)` of one line, so appended entries survive the death of the
//! process. Reading never changes a file and never discards anything: unreadable parts stay where they are and are listed in
//! a [`Report`]. The format is documented in `docs/session-format.md`.

mod artifact;
mod blob;
mod breadcrumb;
mod context;
mod copy;
mod custom;
mod entry;
mod entry_read;
mod error;
mod folder;
mod gc;
mod header;
mod ids;
pub mod import;
mod index;
mod labels;
mod lines;
mod list;
mod lock;
mod mend;
mod message;
mod open;
mod platform;
mod problem;
mod relocate;
mod salvage;
mod scan;
mod search;
mod skim;
mod stamp;
mod stats;
mod tail;
mod title;
mod transcript;
mod tree;
mod walk;
mod window;
mod writer;

pub use artifact::{Artifact, ArtifactDir};
pub use blob::BlobStore;
pub use breadcrumb::{Breadcrumb, LastSession, terminal_device};
pub use context::Context;
pub use copy::{CopiedSession, CopyTo};
pub use entry::{
    BranchSummary, Compaction, CredentialPin, Custom, CustomMessageEntry, EntryBody, EntryId, Label, McpToolSelection,
    ModeChange, ModelChange, OtherEntry, ServiceTierChange, SessionInit, ThinkingLevelChange, TitleChange,
    TtsrInjection,
};
pub use entry_read::Entry;
pub use error::{CopyError, FindError, MoveError, OpenError, WriteError};
pub use folder::SessionsDir;
pub use gc::{GcOptions, GcReport};
pub use header::SessionHeader;
pub use list::SessionInfo;
pub use lock::{Holder, in_use};
pub use open::LoadedSession;
pub use platform::host_name;
pub use problem::{Damage, FileProblem, Report};
pub use salvage::Salvaged;
pub use search::SearchHit;
pub use stats::FileStats;
pub use title::TitleSource;
pub use transcript::{StoredTranscript, TranscriptMessage};
pub use tree::{EntryNode, ShownNode, TreeFilter, shown};
pub use walk::EntryReader;
pub use writer::{NewSession, SessionWriter};
