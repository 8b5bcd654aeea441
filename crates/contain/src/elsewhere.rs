//! Systems without kernel containment in omp: nothing can be enforced, and this is reported.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use omp_egress::Egress;
use omp_types::AccessMap;
use tokio_util::task::AbortOnDropHandle;

use crate::rung::{Missing, ProbedSupport, Rung};

/// Containment is not available.
#[derive(Debug)]
pub struct Cage;

impl Cage {
    pub(crate) fn new(
        _map: &AccessMap,
        _rung: Rung,
        _shared: Arc<AccessMap>,
        _open: &[PathBuf],
    ) -> Result<Self, String> {
        Err("this system has no sandbox".to_owned())
    }

    pub(crate) fn let_out(&mut self, _egress: &Arc<Egress>, _map: &AccessMap) -> Result<AbortOnDropHandle<()>, String> {
        Err("this system has no sandbox".to_owned())
    }

    pub fn variables(&self) -> &[(&'static str, String)] {
        &[]
    }

    pub fn wrapper(&self) -> Vec<OsString> {
        Vec::new()
    }

    /// Always fails.
    pub fn enter(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub fn explain(_error: &io::Error) -> Option<String> {
    None
}

pub(crate) fn probe() -> ProbedSupport {
    let missing = Missing {
        what: "anything",
        costs: "commands are not restricted",
        why: format!("omp has no sandbox for {}", std::env::consts::OS),
        fix: "run omp in a container or a virtual machine".to_owned(),
    };
    ProbedSupport { missing: vec![missing], ..ProbedSupport::default() }
}
