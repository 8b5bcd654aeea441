//! Secrets: collected, hidden from the model, restored in what it asks for, kept out of everything written.
//!
//! A [`Veil`] knows the values. What goes to a model passes [`Veiled`], what is written or told passes [`Veil::hide`],
//! what comes from outside passes [`Veil::take_in`], and the arguments of a call pass [`Veil::restore`] right before the
//! tool gets them. Everything between those two ends holds placeholders.

mod file;
mod found;
mod key;
mod llm;
mod patterns;
mod settings;
mod sieve;
mod veil;
mod walk;

pub use file::{load, merge};
pub use found::{Entry, Found, Kind, Mode, Origin, of_env};
pub use key::Key;
pub use llm::Veiled;
pub use settings::SETTINGS;
pub use veil::{Restored, Veil};
