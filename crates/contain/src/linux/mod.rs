//! Linux: namespaces, Landlock and seccomp. Everything is laid out before the fork; the child only makes system calls.

mod door;
mod enter;
mod filter;
mod plan;
mod probe;
mod rules;

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use omp_types::AccessMap;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::egress::{self, Egress};
use crate::rung::Rung;
use plan::Plan;

pub use enter::explain;
pub(crate) use probe::probe;

/// As it is written to `/proc/self/projid_map`, and read there up to the blanks.
pub fn tag((high, low): (u32, u32), tree: u32) -> String {
    const OF_TREES: u32 = 1 << 31;
    const NO_OWNER: u32 = u32::MAX - 1;
    format!("{} {} 1\n{} {NO_OWNER} 1\n", high % OF_TREES, low % OF_TREES, OF_TREES + tree % (OF_TREES - 1))
}

/// What one child is put into.
#[derive(Debug)]
pub struct Cage {
    plan: Plan,
    variables: Vec<(&'static str, String)>,
}

impl Cage {
    pub(crate) fn new(map: &AccessMap, rung: Rung) -> Result<Self, String> {
        Ok(Self { plan: Plan::new(map, rung)?, variables: Vec::new() })
    }

    /// Gives the command's own network a way to `egress`, for as long as what is returned lives.
    pub(crate) fn let_out(&mut self, egress: &Arc<Egress>, map: &AccessMap) -> Result<AbortOnDropHandle<()>, String> {
        let view = self.plan.view.as_mut().ok_or("the command has no network of its own")?;
        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        let (ours, theirs) = door::pair().map_err(|error| error.to_string())?;
        view.door = Some(theirs);
        self.variables = egress::variables(map, door::PORT);
        let egress = egress.clone();
        let serving = runtime.spawn(async move {
            if let Ok(listener) = door::receive(ours).await {
                egress.serve(listener).await;
            }
        });
        Ok(AbortOnDropHandle::new(serving))
    }

    /// Two numbers below 2³¹ that everything of the tree can be told by for ever, and one that is the tree's own: in the
    /// map of project numbers of its user namespace, which nobody uses, nothing leaves and nothing can change.
    pub fn tag(&mut self, owner: (u32, u32), tree: u32) {
        if let Some(view) = &mut self.plan.view {
            view.tag = tag(owner, tree).into_bytes();
        }
    }

    /// What is to be set in the child's environment.
    pub fn variables(&self) -> &[(&'static str, String)] {
        &self.variables
    }

    /// What is to be started with the program and its arguments behind it: nothing, the child contains itself.
    pub fn wrapper(&self) -> Vec<OsString> {
        Vec::new()
    }

    /// Contains the calling process for ever. To be called between fork and exec: allocates nothing, and an error of it
    /// is told by [`explain`].
    pub fn enter(&mut self) -> io::Result<()> {
        enter::enter(&mut self.plan)
    }
}
