//! apt, dnf and apk: lines about fetching, unpacking and setting up packages.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["apk", "apt", "apt-get", "brew", "dnf"],
    noise: &[
        starts("Get:"),
        starts("Hit:"),
        starts("Ign:"),
        starts("Selecting previously unselected package"),
        starts("Preparing to unpack "),
        starts("Unpacking "),
        starts("Setting up "),
        starts("Processing triggers for "),
        starts("(Reading database"),
        starts("Reading package lists"),
        starts("Building dependency tree"),
        starts("Reading state information"),
        Noise { starts: "(", holds: "/", ends: "MB/s" },
        starts("==> Downloading "),
    ],
    passed: None,
};
