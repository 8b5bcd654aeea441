//! Linux: namespaces, Landlock and seccomp. Everything is laid out before the fork; the child only makes system calls.

mod enter;
mod filter;
mod plan;
mod probe;
mod rules;

use std::io;

use omp_types::AccessMap;

use crate::rung::Rung;
use plan::Plan;

pub use enter::explain;
pub(crate) use probe::probe;

/// What one child is put into.
#[derive(Debug)]
pub struct Cage(Plan);

impl Cage {
    pub(crate) fn new(map: &AccessMap, rung: Rung) -> Result<Self, String> {
        Plan::new(map, rung).map(Self)
    }

    /// Contains the calling process for ever. To be called between fork and exec: allocates nothing, and an error of it
    /// is told by [`explain`].
    pub fn enter(&mut self) -> io::Result<()> {
        enter::enter(&mut self.0)
    }
}
