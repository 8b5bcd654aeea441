//! The parts of the actor's runs: limits, retries, ends, and maintenance of the conversation between requests.

pub(crate) mod aside;
pub(crate) mod call_files;
pub(crate) mod compacting;
mod levels;
pub(crate) mod maintenance;
pub(crate) mod pictures;
pub(crate) mod queue_modes;
pub(crate) mod retry;
pub(crate) mod run_end;
pub(crate) mod standing;
pub(crate) mod time_limit;
