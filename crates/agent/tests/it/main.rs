//! The loop against a scripted model: each test is a readable list of what happened.

mod abort;
mod bench_tools;
mod calls;
mod queues;
mod stage;
mod turns;
