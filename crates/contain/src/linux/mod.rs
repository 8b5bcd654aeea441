//! Linux: namespaces, Landlock and seccomp. Everything is laid out before the fork; the child only makes system calls.

mod door;
mod enter;
mod filter;
mod plan;
mod probe;
mod rules;

use std::io;
use std::sync::Arc;

use omp_types::AccessMap;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::egress::Egress;
use crate::rung::Rung;
use plan::Plan;

pub(crate) const PROXY_PORT: u16 = door::PORT;

pub use enter::explain;
pub(crate) use probe::probe;

/// What one child is put into.
#[derive(Debug)]
pub struct Cage(Plan);

impl Cage {
    pub(crate) fn new(map: &AccessMap, rung: Rung) -> Result<Self, String> {
        Plan::new(map, rung).map(Self)
    }

    /// Gives the command's own network a way to `egress`, for as long as what is returned lives.
    pub(crate) fn let_out(&mut self, egress: &Arc<Egress>) -> Result<AbortOnDropHandle<()>, String> {
        let view = self.0.view.as_mut().ok_or("the command has no network of its own")?;
        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        let (ours, theirs) = door::pair().map_err(|error| error.to_string())?;
        view.door = Some(theirs);
        let egress = egress.clone();
        let serving = runtime.spawn(async move {
            if let Ok(listener) = door::receive(ours).await {
                egress.serve(listener).await;
            }
        });
        Ok(AbortOnDropHandle::new(serving))
    }

    /// Contains the calling process for ever. To be called between fork and exec: allocates nothing, and an error of it
    /// is told by [`explain`].
    pub fn enter(&mut self) -> io::Result<()> {
        enter::enter(&mut self.0)
    }
}
