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
pub use git::{GitCounter, GitCounts, open_past};
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
    #[error("cannot record the changes: {0}\nhint: check free space in the agent folder")]
    Store(std::io::Error),
    #[error("cannot scan the workspace: {0}\nhint: check that the folder exists and is readable")]
    Workspace(std::io::Error),
    #[error("the workspace scan was stopped")]
    Stopped,
    #[error("its content is no longer stored\nhint: undo.quotaMb sets how much is stored")]
    Evicted,
    #[error("its content is damaged in the store")]
    Damaged,
    #[error("nothing to undo\nhint: /changes lists the changes of this session")]
    NothingToUndo,
    #[error("nothing to redo\nhint: /redo works only after an /undo in the same session")]
    NothingToRedo,
    #[error(
        "no turn of this session changed `{0}`\nhint: /changes lists the changes; /undo takes a number of turns or a path"
    )]
    NeverChanged(RelPath),
    #[error("{turns} can be undone, not {}\nhint: /changes lists them", .1, turns = omp_stdx::format::plural(*.0, "turn", "turns"))]
    NotSoMany(usize, usize),
}
