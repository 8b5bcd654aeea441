//! Decides whether a call may run and what it may touch: policy verdicts, questions to the user, reports of refusals.

pub(crate) mod access;
pub(crate) mod approvals;
pub(crate) mod desk;
pub(crate) mod refused;
pub(crate) mod safeguards;
pub(crate) mod web_address;
