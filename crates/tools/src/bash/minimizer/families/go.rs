//! Go: lines about passed tests and fetched modules.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["go build", "go get", "go install", "go mod", "go test", "go vet", "gotestsum"],
    noise: &[
        starts("=== RUN "),
        starts("=== PAUSE "),
        starts("=== CONT "),
        starts("=== NAME "),
        starts("--- PASS: "),
        starts("go: downloading "),
        Noise { starts: "? ", holds: "", ends: "[no test files]" },
    ],
    passed: None,
};
