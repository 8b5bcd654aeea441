//! The settings of a session: queues and retries.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Number, OneOf};

const QUEUES: omp_types::SettingKind = OneOf(&["one-at-a-time", "all"]);

const fn count(most: f64) -> omp_types::SettingKind {
    Number { least: 0.0, most }
}

pub const SETTINGS: &[Setting] = &[
    Setting::new("Messages", "steeringMode", QUEUES, "\"one-at-a-time\"", "how messages that interrupt are taken"),
    Setting::new("Messages", "followUpMode", QUEUES, "\"one-at-a-time\"", "how messages that wait are taken"),
    Setting::new(
        "Messages",
        "interruptMode",
        OneOf(&["immediate", "wait"]),
        "\"immediate\"",
        "whether steering waits for tools",
    ),
    Setting::new("Messages", "retry.enabled", Bool, "true", "try again when an answer failed"),
    Setting::new("Messages", "retry.maxRetries", count(100.0), "10", "how often"),
    Setting::new(
        "Messages",
        "retry.baseDelayMs",
        count(600_000.0),
        "500",
        "milliseconds before the first retry, doubled for each further one up to 8 seconds",
    ),
    Setting::new(
        "Messages",
        "retry.maxDelayMs",
        count(3_600_000.0),
        "300000",
        "milliseconds that a provider may ask to wait; longer waits fail at once, 0 is no limit",
    ),
];
