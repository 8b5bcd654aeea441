//! Signatures of commits and tags that omp makes for contained commands, which see neither keys nor agents. Who makes
//! them is known above; here is what a child is told of it.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use crate::rung::Rung;

/// Makes signatures outside of the cage.
pub trait Signing: Debug + Send + Sync {
    /// Where commands ask for a signature; made when the first of them starts. `None` where the user signs nothing.
    fn desk(&self, rung: Rung) -> Option<Arc<SigningDesk>>;

    /// What was signed since this was asked for last, as sentences.
    fn take_signed(&self) -> Vec<String>;
}

/// Where commands ask for a signature.
#[derive(Debug, PartialEq, Eq)]
pub struct SigningDesk {
    /// A private folder of omp's, with the programs that git starts to sign.
    pub folder: PathBuf,
    pub socket: PathBuf,
    /// Keys of git's configuration with their values, which lead git to these programs.
    pub settings: Vec<(String, String)>,
}
