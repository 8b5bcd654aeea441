//! `Llm` over HTTP: one folder a wire API, providers as data, credentials, the model catalogue.
//!
//! [`Providers`] answers requests by picking the wire that the model's API names. Which models exist, where they are
//! and which key opens them is the business of [`Registry`]; neither knows the loop or the tools.

mod auth;
mod catalog;
mod discovery;
mod errors;
mod models_file;
mod prepared;
mod providers;
mod recording;
mod registry;
mod replay;
mod resolve;
mod settings;
mod shorten;
mod stream;
mod watchdog;
mod wire;

pub use auth::{Auth, Credential, CredentialSource};
pub use discovery::{Discovered, discover};
pub use models_file::{ModelsFile, ModelsFileProblem};
pub use providers::Providers;
pub use recording::{Recording, RecordingError};
pub use registry::{LoadOptions, Registry};
pub use replay::{Replay, ReplayError, ReplayOptions, ReplayTiming};
pub use resolve::{InitialChoice, ModelScope, ResolveError, ResolveErrorKind, Resolved};
pub use settings::SETTINGS;
pub use watchdog::{WatchdogSettings, Watchdogs};
pub use wire::takes_service_tier;
