//! Records what calls change in the workspace, and reverts it.
//!
//! The workspace is scanned before and after each call that may change files; the difference is the effect of the call,
//! regardless of the program that caused it. Contents are stored by digest, so an undo depends neither on git nor on the
//! tool. Everything here blocks and must be called from threads that may block.

mod collect;
mod digest;
mod folder;
mod git;
mod ignored;
mod index_file;
mod limit;
mod node;
mod objects;
mod packed;
mod passing;
mod records;
mod rel_path;
mod restore;
mod scan;
mod settings;
mod tree;
mod turn;
mod undo;

pub use collect::Collected;
pub use digest::Digest;
pub use git::open_past;
pub use limit::StopFlag;
pub use node::{LinkTarget, Node, Uncovered};
pub use rel_path::RelPath;
pub use restore::LeftReason;
pub use settings::SETTINGS;
pub use tree::TreeChange;
pub use turn::{By, Call, Step, Turn};
pub use undo::{LeftOut, PATIENCE, Undo, UndoOptions, UndoReport, UndoRequest};

/// Why nothing can be undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("what was changed cannot be kept: {0}\nhint: see that there is room in the agent's folder")]
    Store(std::io::Error),
    #[error("the workspace cannot be looked at: {0}\nhint: see that the folder is there and may be read")]
    Workspace(std::io::Error),
    #[error("the look at the workspace was stopped")]
    Stopped,
    #[error("its content is not kept any more\nhint: undo.quotaMb says how much is kept")]
    Evicted,
    #[error("its content is damaged in the store")]
    Damaged,
    #[error("there is nothing to take back\nhint: /changes lists what this session has changed")]
    NothingToUndo,
    #[error("nothing was taken back that could be done again\nhint: /redo follows an /undo of the same session")]
    NothingToRedo,
    #[error(
        "no turn of this session has changed `{0}`\nhint: /changes lists what was changed; /undo takes a number of turns or a path"
    )]
    NeverChanged(RelPath),
    #[error("{turns} can be taken back, not {}\nhint: /changes lists them", .1, turns = omp_stdx::format::plural(*.0, "turn", "turns"))]
    NotSoMany(usize, usize),
}
