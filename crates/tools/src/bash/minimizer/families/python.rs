//! Python: per-test lines of pytest and unittest, and install progress of pip.

use super::{Family, Noise, starts};

pub(super) const TESTS: Family = Family {
    commands: &["nox", "py.test", "pytest", "tox", "unittest"],
    noise: &[
        Noise { starts: "", holds: "::", ends: " PASSED" },
        Noise { starts: "", holds: " PASSED ", ends: "%]" },
        Noise { starts: "", holds: ".py .", ends: "%]" },
        Noise { starts: "test_", holds: " ... ", ends: "ok" },
    ],
    passed: None,
};

pub(super) const PACKAGES: Family = Family {
    commands: &["pip install", "pip3 install", "pip download", "poetry install", "uv pip", "uv sync"],
    noise: &[
        starts("Collecting "),
        starts("Downloading "),
        starts("Using cached "),
        starts("Requirement already satisfied"),
        starts("Preparing metadata"),
        starts("Getting requirements to build"),
        starts("Installing build dependencies"),
        starts("Building wheel"),
        starts("Created wheel for "),
        starts("Stored in directory"),
        starts("Attempting uninstall"),
        starts("Found existing installation"),
        starts("Uninstalling "),
        starts("━━━━"),
        starts("+ "),
        starts("- Installing "),
    ],
    passed: None,
};
