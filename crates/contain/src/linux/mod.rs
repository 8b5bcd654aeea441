//! Linux: namespaces, Landlock and seccomp. Everything is prepared before the fork; the child only makes system calls.

mod devices;
mod door;
mod enter;
mod family;
mod filter;
mod plan;
mod probe;
mod rules;

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

use omp_egress::Egress;
use omp_types::AccessMap;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use crate::rung::Rung;
use plan::Plan;

pub use enter::explain;
pub(crate) use family::Families;
pub use family::{Herald, scope_thread};
pub(crate) use probe::probe;

/// In the format of `/proc/self/projid_map`, which is compared up to the blanks.
fn tag((high, low): (u32, u32)) -> String {
    const MOST: u32 = 1 << 31;
    format!("{} {} 1\n", high % MOST, low % MOST)
}

/// The containment of one child.
#[derive(Debug)]
pub struct Cage {
    plan: Plan,
    rung: Rung,
    /// The map that all commands of the session share, including what was lent to this one.
    shared: Arc<AccessMap>,
    families: Arc<Families>,
    variables: Vec<(&'static str, String)>,
}

impl Cage {
    /// Commands with an equal `shared` may see each other. Paths in `open` are protected in another way: their parent
    /// folders must not be moved.
    pub(crate) fn new(map: &AccessMap, rung: Rung, shared: Arc<AccessMap>, open: &[PathBuf]) -> Result<Self, String> {
        Ok(Self { plan: Plan::new(map, rung, open)?, rung, shared, families: Arc::default(), variables: Vec::new() })
    }

    /// Joins the families of one session.
    pub(crate) fn in_families(&mut self, families: &Arc<Families>) {
        self.families = families.clone();
    }

    /// Connects the command's own network to `egress`, for as long as the returned handle lives.
    pub(crate) fn let_out(&mut self, egress: &Arc<Egress>, map: &AccessMap) -> Result<AbortOnDropHandle<()>, String> {
        let view = self.plan.view.as_mut().ok_or("the command has no own network namespace")?;
        let runtime = Handle::try_current().map_err(|error| error.to_string())?;
        let (ours, theirs) = door::pair().map_err(|error| error.to_string())?;
        view.door = Some(theirs);
        self.variables = omp_egress::variables(map, door::PORT);
        let egress = egress.clone();
        let serving = runtime.spawn(async move {
            if let Ok(listener) = door::receive(ours).await {
                egress.serve(listener).await;
            }
        });
        Ok(AbortOnDropHandle::new(serving))
    }

    /// Tags the tree with two numbers below 2³¹ that identify this omp permanently: in the projid map of the user
    /// namespace, which is otherwise unused and can be neither left nor changed. The returned herald identifies the tree.
    pub fn tag(&mut self, owner: (u32, u32)) -> Option<Herald> {
        let view = self.plan.view.as_mut()?;
        let tag = tag(owner);
        view.family = family::of(&self.families, &self.shared, &tag);
        if view.family.is_some() && self.rung == Rung::Full {
            // A domain of its own would keep it from seeing the others. The private `/dev` provides the rest of its
            // protection.
            self.plan.landlock = None;
            view.own_devices = true;
        }
        view.tag = tag.into_bytes();
        let (ours, theirs) = UnixStream::pair().ok()?;
        view.herald = Some(theirs.into());
        Some(Herald { end: ours })
    }

    /// Whether the child is to be started by a thread that has called [`scope_thread`]. This excludes file rules of its
    /// own: beneath another domain no file can be linked or renamed between folders.
    pub fn wants_scope(&self) -> bool {
        self.rung == Rung::Full && self.plan.landlock.is_none()
    }

    /// Variables to set in the child's environment.
    pub fn variables(&self) -> &[(&'static str, String)] {
        &self.variables
    }

    /// The program to start in front of the command: none, the child contains itself.
    pub fn wrapper(&self) -> Vec<OsString> {
        Vec::new()
    }

    /// Contains the calling process permanently. To be called between fork and exec: allocates nothing, and its errors are
    /// explained by [`explain`].
    pub fn enter(&mut self) -> io::Result<()> {
        enter::enter(&mut self.plan)
    }
}
