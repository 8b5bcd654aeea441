//! What a contained tree is known by for ever: numbers in its user namespace, which none of it can leave or change.
//!
//! A mark in the environment can be dropped, a group and a session left, a parent can end. The number of the namespace
//! itself is of no use: the kernel gives it to the next one as soon as it is free.

use crate::spawn::BEGAN;

/// Two halves of a number that no other omp has.
pub(super) fn owner() -> (u32, u32) {
    const HALF: u64 = (1 << 31) - 1;
    (((*BEGAN >> 31) & HALF) as u32, (*BEGAN & HALF) as u32)
}

/// The number of the tree among those of this omp.
pub(super) fn of_tree(mark: &str) -> u32 {
    mark.rsplit('-').next().and_then(|count| count.parse::<u64>().ok()).unwrap_or_default() as u32
}

/// For `grep -E`: the line that all trees of this omp have.
pub(super) fn pattern() -> String {
    let (high, low) = owner();
    format!("^ *{high} +{low} +1$")
}

pub(super) struct Tag(String);

impl Tag {
    pub(super) fn of(mark: &str) -> Self {
        Self(omp_contain::tag(owner(), of_tree(mark)))
    }

    pub(super) fn is_on(&self, pid: i32) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/projid_map")).is_ok_and(|map| self.is(&map))
    }

    /// The kernel puts each number into a column.
    fn is(&self, map: &str) -> bool {
        map.split_whitespace().eq(self.0.split_whitespace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_told_from_others_whatever_the_columns() {
        let (high, low) = owner();
        let of = |tree: u32| {
            format!("{high:>10} {low:>10}          1\n{:>10} {:>10}          1\n", (1_u32 << 31) + tree, u32::MAX - 1)
        };
        let tag = Tag::of("77-18e891-3");
        assert!(tag.is(&of(3)) && !tag.is(&of(4)) && !tag.is("") && !tag.is("         0          0 4294967295\n"));
        assert!(!Tag::of("77-18e891-3").is_on(i32::try_from(std::process::id()).unwrap()));
    }
}
