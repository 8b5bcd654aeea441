//! The session against a scripted model: commands in, events and a file out.

mod approval;
mod queue;
mod record;
mod retry;
mod stage;
