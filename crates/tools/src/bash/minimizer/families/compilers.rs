//! C compilers called directly: lines that `-v` prints about the compiler itself. Diagnostics, search lists and versions
//! stay.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["c++", "cc", "clang", "clang++", "g++", "gcc"],
    noise: &[
        starts("COLLECT_GCC="),
        starts("COLLECT_GCC_OPTIONS="),
        starts("COLLECT_LTO_WRAPPER="),
        starts("COMPILER_PATH="),
        starts("LIBRARY_PATH="),
        starts("OFFLOAD_TARGET_"),
        starts("Compiler executable checksum: "),
        starts("Found candidate GCC installation: "),
        starts("Candidate multilib: "),
        starts("GGC heuristics: "),
        starts("compiled by GNU C version "),
        Noise { starts: "ignoring nonexistent directory \"", holds: "", ends: "\"" },
        Noise { starts: "ignoring duplicate directory \"", holds: "", ends: "\"" },
    ],
    passed: None,
};
