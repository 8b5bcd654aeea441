//! What a child process may touch: kernel containment, egress, limits; fails closed and says why.
//!
//! [`Containment`] is what a session decided; every process that `omp-exec` starts is given one.

use omp_types::Access;

/// How the children of a session are contained. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Containment {
    access: Option<Access>,
}

impl Containment {
    /// Children may do what the user may: for what the user started themselves.
    pub fn none() -> Self {
        Self::default()
    }

    /// What the children may touch; `None` where they are not contained.
    pub fn access(&self) -> Option<&Access> {
        self.access.as_ref()
    }
}
