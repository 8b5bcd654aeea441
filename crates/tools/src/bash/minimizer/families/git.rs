//! Git: transfer progress and the advice of `git status`. File content that git prints is not changed.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["git clone", "git fetch", "git pull", "git push", "git status", "git submodule", "git gc"],
    noise: &[
        starts("remote: Enumerating objects"),
        starts("remote: Counting objects"),
        starts("remote: Compressing objects"),
        starts("Enumerating objects"),
        starts("Counting objects"),
        starts("Compressing objects"),
        starts("Delta compression using"),
        starts("Receiving objects"),
        starts("Resolving deltas"),
        starts("Unpacking objects"),
        starts("Writing objects"),
        starts("Updating files"),
        Noise { starts: "(use \"git ", holds: "", ends: ")" },
    ],
    passed: None,
};
