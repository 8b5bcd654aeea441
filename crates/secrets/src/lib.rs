//! Secrets: collected, hidden from the model, restored in what it asks for, kept out of everything written.
//!
//! A [`Veil`] knows the values. What goes to a model passes [`Veiled`], what is written or told passes [`Veil::hide`],
//! what comes from outside passes [`Veil::take_in`], and the arguments of a call pass [`Veil::restore`] right before the
//! tool gets them. Everything between those two ends holds placeholders. What leaves for good (pages, logs) has the veil
//! as its [`omp_types::Redact`].

mod environment;
mod file;
mod flow;
mod found;
mod key;
mod llm;
mod patterns;
mod redact;
mod settings;
mod sieve;
mod veil;
mod walk;

pub use environment::of_env;
pub use file::{load, merge};
pub use flow::HidingWriter;
pub use found::{FoundSecret, SecretEntry, SecretKind, SecretMode, SecretOrigin};
pub use key::VeilKey;
pub use llm::Veiled;
pub use settings::SETTINGS;
pub use veil::{Restored, Veil};
