//! Tags that permanently identify a contained tree. A process can drop a mark in the environment, leave a group and a
//! session, and lose its parent, but it cannot leave a namespace.
//!
//! All trees of this omp have its ids in their user namespace. Each tree also has an IPC namespace of its own, which omp
//! holds open so that the kernel does not reuse its number.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use crate::spawn::BEGAN;

/// Two halves of a number that is unique to this omp.
pub(super) fn owner() -> (u32, u32) {
    const HALF: u64 = (1 << 31) - 1;
    (((*BEGAN >> 31) & HALF) as u32, (*BEGAN & HALF) as u32)
}

/// A `grep -E` pattern for the line that all trees of this omp have.
pub(super) fn pattern() -> String {
    let (high, low) = owner();
    format!("^ *{high} +{low} +1$")
}

/// The IPC namespace of one tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeTag {
    number: u64,
    _held: Arc<OwnedFd>,
}

impl TreeTag {
    pub(super) fn of(namespace: OwnedFd) -> Option<Self> {
        let file = std::fs::File::from(namespace);
        let number = file.metadata().ok()?.ino();
        Some(Self { number, _held: Arc::new(file.into()) })
    }

    pub(super) fn is_on(&self, pid: i32) -> bool {
        std::fs::metadata(format!("/proc/{pid}/ns/ipc")).is_ok_and(|data| data.ino() == self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_told_by_its_namespace() {
        let own = std::fs::File::open("/proc/self/ns/ipc").unwrap();
        let other = std::fs::File::open("/proc/self/ns/uts").unwrap();
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(TreeTag::of(own.into()).unwrap().is_on(me));
        let other = TreeTag::of(other.into()).unwrap();
        assert!(!other.is_on(me) && !other.is_on(-1));
    }
}
