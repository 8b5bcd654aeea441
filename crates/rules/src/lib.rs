//! Rules: which bucket each belongs to, and which of them a model's stream breaks.
//!
//! [`bucket`] sorts what discovery has found. Rules with a condition become a [`Watch`]; a [`StreamListener`] hears one answer
//! as it arrives and names the rules it breaks. Every byte is looked at once, by one automaton for all rules: what was
//! heard before is in the automaton's state, so nothing is searched again and the length of a match has no limit.

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
