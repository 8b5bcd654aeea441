//! Signatures of commits and tags that omp makes for contained commands, which can access neither keys nor agents. Another
//! crate makes them; this one only passes the settings to children.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use crate::rung::Rung;

/// Makes signatures outside the sandbox.
pub trait Signing: Debug + Send + Sync {
    /// Where commands request a signature; created when the first of them starts. `None` if the user signs nothing.
    fn desk(&self, rung: Rung) -> Option<Arc<SigningDesk>>;

    /// What was signed since the last call, as sentences.
    fn take_signed(&self) -> Vec<String>;
}

/// Where commands request a signature.
#[derive(Debug, PartialEq, Eq)]
pub struct SigningDesk {
    /// A private folder of omp, with the programs that git starts to sign.
    pub folder: PathBuf,
    pub socket: PathBuf,
    /// Git configuration keys and values that point git to these programs.
    pub settings: Vec<(String, String)>,
}
