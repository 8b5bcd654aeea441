//! The settings of undo. A project cannot disable it, because the stored data protects the user's files.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Number};

pub const SETTINGS: &[Setting] = &[
    Setting::new("Files", "undo.enabled", Bool, "true", "Record file changes so that /undo can revert them.")
        .titled("Undo")
        .by_user(),
    Setting::new(
        "Files",
        "undo.quotaMb",
        Number { least: 1.0, most: 1_000_000.0 },
        "2048",
        "Disk space in megabytes for undo data of all workspaces; the oldest turns are dropped first.",
    )
    .titled("Undo disk limit")
    .by_user(),
    Setting::new(
        "Files",
        "undo.maxFileMb",
        Number { least: 1.0, most: 1024.0 },
        "16",
        "Larger files in megabytes are not covered by undo, unless git has them unchanged.",
    )
    .titled("Largest file for undo")
    .by_user(),
    Setting::new(
        "Files",
        "undo.patienceMs",
        Number { least: 100.0, most: 600_000.0 },
        "2000",
        "Milliseconds a command waits while omp scans the workspace; omp reports what it could not scan in time.",
    )
    .titled("Undo scan timeout")
    .by_user(),
];
