//! The settings of a session: queues and retries.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Number, OneOf};

const QUEUES: omp_types::SettingKind = OneOf(&["one-at-a-time", "all"]);

const fn count(most: f64) -> omp_types::SettingKind {
    Number { least: 0.0, most }
}

pub const SETTINGS: &[Setting] = &[
    Setting::new(
        "Messages",
        "steeringMode",
        QUEUES,
        "\"one-at-a-time\"",
        "Send messages that interrupt a turn one at a time or all at once.",
    )
    .titled("Steering messages"),
    Setting::new(
        "Messages",
        "followUpMode",
        QUEUES,
        "\"one-at-a-time\"",
        "Send queued messages one at a time or all at once.",
    )
    .titled("Follow-up messages"),
    Setting::new(
        "Messages",
        "interruptMode",
        OneOf(&["immediate", "wait"]),
        "\"immediate\"",
        "Deliver steering messages at once, or wait for running tools.",
    )
    .titled("Interrupting tools"),
    Setting::new("Messages", "retry.enabled", Bool, "true", "Retry when a request to the model fails.")
        .titled("Retry failed requests"),
    Setting::new("Messages", "retry.maxRetries", count(100.0), "10", "How often to retry a failed request.")
        .titled("Maximum retries"),
    Setting::new(
        "Messages",
        "retry.baseDelayMs",
        count(600_000.0),
        "500",
        "Milliseconds before the first retry; doubles with each retry, up to 8 seconds.",
    )
    .titled("First retry delay"),
    Setting::new(
        "Messages",
        "retry.maxDelayMs",
        count(3_600_000.0),
        "300000",
        "Longest wait in milliseconds that a provider may ask for before omp gives up; 0 means no limit.",
    )
    .titled("Longest retry delay"),
];
