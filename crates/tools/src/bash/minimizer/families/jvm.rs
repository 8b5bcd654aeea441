//! Maven and Gradle: lines about downloads and tasks that had nothing to do.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["gradle", "gradlew", "mvn", "mvnw"],
    noise: &[
        starts("Downloading from "),
        starts("Downloaded from "),
        starts("[INFO] Downloading from "),
        starts("[INFO] Downloaded from "),
        starts("Progress ("),
        Noise { starts: "> Task :", holds: "", ends: "UP-TO-DATE" },
        Noise { starts: "> Task :", holds: "", ends: "NO-SOURCE" },
        Noise { starts: "> Task :", holds: "", ends: "FROM-CACHE" },
        Noise { starts: "[INFO] Tests run: ", holds: "Failures: 0, Errors: 0, Skipped: 0, Time", ends: "" },
        Noise { starts: "", holds: " > ", ends: " PASSED" },
    ],
    passed: None,
};
