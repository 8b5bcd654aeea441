//! Rules: which bucket each belongs to, and which of them a model's stream breaks.
//!
//! [`bucket()`] sorts the discovered rules. Rules with a condition become a [`Watch`]; a [`StreamListener`] receives one
//! answer as it arrives and reports the rules it breaks. Every byte is scanned once, by one automaton for all rules: earlier
//! input is in the automaton's state, so nothing is searched again and the length of a match is not limited.

mod bucket;
mod builtin;
mod condition;
mod gate;
mod listener;
mod scope;
mod settings;
mod snapshot;
mod structure;
mod watch;

pub use bucket::{Buckets, bucket};
pub use builtin::builtin_rules;
pub use listener::{Hit, StreamListener, ViolationOrigin};
pub use scope::{StreamPart, path_candidates};
pub use settings::{ContextMode, InterruptMode, RuleRepeat, RuleSettings, SETTINGS};
pub use snapshot::writes_source;
pub use watch::{RuleMatch, Watch};
