//! What a contained tree is known by for ever. A mark in the environment can be dropped, a group and a session left, a parent can
//! end; a namespace cannot be left.
//!
//! All trees of this omp bear its numbers in their user namespace. Each tree has an IPC namespace of its own besides, which omp
//! holds open: else the kernel gives its number to the next one.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use crate::spawn::BEGAN;

/// Two halves of a number that no other omp has.
pub(super) fn owner() -> (u32, u32) {
    const HALF: u64 = (1 << 31) - 1;
    (((*BEGAN >> 31) & HALF) as u32, (*BEGAN & HALF) as u32)
}

/// For `grep -E`: the line that all trees of this omp have.
pub(super) fn pattern() -> String {
    let (high, low) = owner();
    format!("^ *{high} +{low} +1$")
}

/// The namespace of one tree.
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
