//! Configures how queued messages are taken, and whether failures are retried.

use omp_agent::{InterruptMode, QueueMode};
use omp_session::Command;
use omp_wire::{EnabledRequest, InterruptModeRequest, InterruptWhen, QueueModeRequest, QueueTaking};

use super::current::Current;
use super::frame::{DONE, Outcome, Refusal};
use super::input::Request;
use super::prompting::send;

pub async fn set_steering_mode(current: &Current, request: &Request) -> Outcome {
    let mode = taken(request)?;
    send(current, Command::SetSteeringMode(mode)).await?;
    settled(current.session.until(|state| state.modes.steering == mode).await)
}

pub async fn set_follow_up_mode(current: &Current, request: &Request) -> Outcome {
    let mode = taken(request)?;
    send(current, Command::SetFollowUpMode(mode)).await?;
    settled(current.session.until(|state| state.modes.follow_up == mode).await)
}

pub async fn set_interrupt_mode(current: &Current, request: &Request) -> Outcome {
    let mode = match request.fields::<InterruptModeRequest>()?.mode {
        InterruptWhen::Immediate => InterruptMode::Immediate,
        InterruptWhen::Wait => InterruptMode::Wait,
    };
    send(current, Command::SetInterruptMode(mode)).await?;
    settled(current.session.until(|state| state.modes.interrupt == mode).await)
}

pub async fn set_auto_retry(current: &Current, request: &Request) -> Outcome {
    let EnabledRequest { enabled } = request.fields()?;
    send(current, Command::SetAutoRetry(enabled)).await?;
    settled(current.session.until(|state| state.auto_retry == enabled).await)
}

pub async fn set_auto_compaction(current: &Current, request: &Request) -> Outcome {
    let EnabledRequest { enabled } = request.fields()?;
    send(current, Command::SetAutoCompaction(enabled)).await?;
    settled(current.session.until(|state| state.auto_compaction == enabled).await)
}

pub async fn abort_retry(current: &Current) -> Outcome {
    send(current, Command::AbortRetry).await
}

pub fn mode_name(mode: QueueMode) -> &'static str {
    match mode {
        QueueMode::All => "all",
        QueueMode::OneAtATime => "one-at-a-time",
    }
}

pub fn interrupt_name(mode: InterruptMode) -> &'static str {
    match mode {
        InterruptMode::Immediate => "immediate",
        InterruptMode::Wait => "wait",
    }
}

fn taken(request: &Request) -> Result<QueueMode, Refusal> {
    Ok(match request.fields::<QueueModeRequest>()?.mode {
        QueueTaking::All => QueueMode::All,
        QueueTaking::OneAtATime => QueueMode::OneAtATime,
    })
}

pub fn settled(waited: Result<(), omp_session::Closed>) -> Outcome {
    waited.map_err(|closed| Refusal::from(closed.to_string()))?;
    DONE
}
