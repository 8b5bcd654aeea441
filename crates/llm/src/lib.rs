//! `Llm` over HTTP: wire APIs (one folder each), providers as data, credentials, the model catalogue.
//!
//! [`Providers`] sends requests over the wire API of the model. [`Registry`] knows which models exist, their addresses and
//! their keys; neither depends on the agent loop or the tools.

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
