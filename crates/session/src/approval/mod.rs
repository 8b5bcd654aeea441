//! Whether a call may run, and what it may touch: the policy's verdict, questions to the user, what is told of a refusal.

pub(crate) mod access;
pub(crate) mod approvals;
pub(crate) mod desk;
pub(crate) mod refused;
pub(crate) mod safeguards;
pub(crate) mod web_address;
