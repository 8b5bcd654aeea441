//! The TypeScript compiler: lines about projects that are up to date or being built, and files read and written.

use super::{Family, Noise, starts};

pub(super) const FAMILY: Family = Family {
    commands: &["bun tsc", "bun x tsc", "pnpm tsc", "tsc", "vue-tsc", "yarn run tsc", "yarn tsc"],
    noise: &[
        starts("TSFILE: "),
        Noise { starts: "[", holds: "] Project '", ends: "older than input files" },
        Noise { starts: "[", holds: "' is up to date because ", ends: "" },
        Noise { starts: "[", holds: "' is up to date with .d.ts files from its dependencies", ends: "" },
        Noise { starts: "[", holds: "' is out of date because ", ends: "" },
        Noise { starts: "[", holds: "] Building project '", ends: "'..." },
        Noise { starts: "[", holds: "] Updating output timestamps of project '", ends: "'..." },
        // Printed by `--listFiles`; a diagnostic about such a file continues after its name.
        Noise { starts: "/", holds: "/node_modules/", ends: ".d.ts" },
    ],
    passed: None,
};
