//! Secrets: collected, hidden from the model, restored in its tool calls, and kept out of everything written.
//!
//! A [`Veil`] knows the values. Requests to a model pass through [`Veiled`], written or displayed text through
//! [`Veil::hide`], external text through [`Veil::take_in`], and the arguments of a call through [`Veil::restore`] right
//! before the tool gets them. Everything in between contains placeholders. Output that leaves permanently (pages, logs) uses
//! the veil as its [`omp_types::Redact`].

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
