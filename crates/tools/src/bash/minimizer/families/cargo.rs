//! Cargo: lines about compiled and fetched crates and passed tests (libtest and nextest). `cargo run` is not changed.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &[
        "cargo b",
        "cargo bench",
        "cargo build",
        "cargo c",
        "cargo check",
        "cargo clippy",
        "cargo doc",
        "cargo fetch",
        "cargo install",
        "cargo nextest",
        "cargo t",
        "cargo test",
        "cargo update",
    ],
    noise: &[
        starts("Compiling "),
        starts("Checking "),
        starts("Documenting "),
        starts("Downloading "),
        starts("Downloaded "),
        starts("Updating "),
        starts("Adding "),
        starts("Fresh "),
        starts("Dirty "),
        starts("Blocking waiting for file lock"),
        starts("PASS ["),
        Noise { starts: "test ", holds: " ... ", ends: "ok" },
        Noise { starts: "test ", holds: " ... ", ends: "ignored" },
    ],
    passed: None,
};
