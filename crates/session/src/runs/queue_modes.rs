//! The settings for how messages sent during a run are delivered.

use omp_agent::{InterruptMode, QueueMode, Queues};
use omp_config::Settings;

use crate::settings::SETTINGS;

/// Empty queues with the modes of `steeringMode`, `followUpMode` and `interruptMode`.
pub fn queues_from_settings(settings: &Settings) -> Queues {
    let queues = Queues::default();
    queues.set_steering_mode(queue_mode(settings, "steeringMode"));
    queues.set_follow_up_mode(queue_mode(settings, "followUpMode"));
    queues.set_interrupt_mode(match settings.of(SETTINGS).get::<String>("interruptMode").as_str() {
        "wait" => InterruptMode::Wait,
        _ => InterruptMode::Immediate,
    });
    queues
}

fn queue_mode(settings: &Settings, key: &str) -> QueueMode {
    match settings.of(SETTINGS).get::<String>(key).as_str() {
        "all" => QueueMode::All,
        _ => QueueMode::OneAtATime,
    }
}
