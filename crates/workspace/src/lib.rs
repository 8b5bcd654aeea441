//! The project's files: paths, reading, walking, searching, editing, diffing. Independent of models and tools.

pub mod archive;
pub mod conflict;
mod diff;
mod file_edit;
mod fuzzy;
mod generated;
mod git;
mod glob;
pub mod hashline;
mod image_type;
mod lines;
mod listing;
pub mod notebook;
mod open;
#[cfg(test)]
#[cfg(unix)]
mod ordinary_user;
pub mod patch;
mod path;
mod reach;
pub mod replace;
mod scan_cache;
mod search;
mod snapshot;
pub mod sqlite;
mod text_file;
mod texts;
mod tree;
mod walk;
mod write;

pub use diff::{FileDiff, LineChange, PreviewLimits};
pub use file_edit::{
    Draft, DraftId, EditKind, EditRefused, EditRules, FileEdit, FileSource, folded, lookalike, refuse_generated,
};
pub use fuzzy::{FuzzyFound, FuzzyMatch, fuzzy_files};
pub use generated::generated_marker;
pub use git::{GitStatus, checked_out, git_status};
pub use glob::{Glob, PathTarget, TargetError};
pub use image_type::image_type;
pub use lines::{LineWindow, Tail, WindowLimits, WindowLine, stream_window, tail_window, window};
pub use listing::{ListingLimits, list_folder};
pub use open::{FileError, FileKind, MAX_WHOLE_FILE, kind_of, open_regular, read_if_exists, read_whole};
pub use path::{PathError, PathResolver, ResolvedPath, known_schemes, real_location, scheme_of};
pub use reach::{FileReach, OpenedPath};
pub use scan_cache::{Met, ScanCache, ScanPolicy};
pub use search::{FileHits, HitLine, MatchPage, MatchedFiles, PageRequest, Pattern, PatternError};
pub use snapshot::{FileSnapshot, SnapshotCache, Tag, TagHasher};
pub use text_file::{Eol, Splice, TextFile, binary_reason};
pub use texts::{OpenTexts, Texts};
pub use tree::{ProjectTree, TreeLimits, project_tree};
pub use walk::{Newest, StopCheck, Walk, WalkReport};
pub use write::{CommitError, EditPlan, FileChange, commit, commit_changes, entry_location};
