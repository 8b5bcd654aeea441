//! The settings of undo. A project cannot disable it, because the stored data protects the user's files.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Number};

pub const SETTINGS: &[Setting] = &[
    Setting::new("Files", "undo.enabled", Bool, "true", "keep what calls change, so that /undo can take it back")
        .by_user(),
    Setting::new(
        "Files",
        "undo.quotaMb",
        Number { least: 1.0, most: 1_000_000.0 },
        "2048",
        "megabytes of disk for what is kept of all workspaces; the oldest turns go first",
    )
    .by_user(),
    Setting::new(
        "Files",
        "undo.maxFileMb",
        Number { least: 1.0, most: 1024.0 },
        "16",
        "larger files are not covered by /undo, except where git has them unchanged",
    )
    .by_user(),
    Setting::new(
        "Files",
        "undo.patienceMs",
        Number { least: 100.0, most: 600_000.0 },
        "2000",
        "milliseconds that a command waits at most while its workspace is looked at; what there is no time for is told",
    )
    .by_user(),
];
