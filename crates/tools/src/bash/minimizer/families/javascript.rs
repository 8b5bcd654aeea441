//! JavaScript: lines of jest, vitest, mocha and npm scripts, and install progress of npm, pnpm and yarn.

use super::{Family, Noise, starts};

pub(super) const TESTS: Family = Family {
    commands: &[
        "ava",
        "bun test",
        "jest",
        "mocha",
        "npm run test",
        "npm t",
        "npm test",
        "playwright test",
        "pnpm run test",
        "pnpm test",
        "vitest",
        "yarn jest",
        "yarn run test",
        "yarn test",
        "yarn vitest",
    ],
    noise: &[starts("PASS "), starts("✓ "), starts("✔ "), starts("√ "), starts("(pass) ")],
    passed: None,
};

pub(super) const PACKAGES: Family = Family {
    commands: &[
        "bun add",
        "bun install",
        "npm ci",
        "npm i",
        "npm install",
        "npm update",
        "pnpm add",
        "pnpm i",
        "pnpm install",
        "yarn add",
        "yarn install",
    ],
    noise: &[
        Noise { starts: "npm ", holds: "deprecated ", ends: "" },
        starts("npm http "),
        starts("npm timing "),
        starts("Progress: resolved "),
        starts("Packages: +"),
        starts("➤ YN0000:"),
        starts("➤ YN0013:"),
        starts("info "),
        Noise { starts: "[", holds: "/4] ", ends: "..." },
        Noise { starts: "warning ", holds: "deprecated", ends: "" },
        starts("++++"),
    ],
    passed: None,
};
