//! Starts all child processes, and ends whole process trees.
//!
//! [`Spawn`] describes a process, [`Child`] reads its merged output and ends it: dropping a child kills it and all its
//! descendants. Background processes that outlive their command are passed to a [`Reaper`], whose owner decides how long
//! they may live. No other crate may start a process, so containment is enforced in one place.

mod child;
mod declared;
mod dialect;
mod elsewhere;
mod environment;
mod guard;
mod in_front;
mod lookup;
mod oversized;
mod private_folder;
mod pty;
mod reaper;
mod session;
mod shell;
#[cfg(unix)]
mod signing;
mod snapshot;
mod spawn;
mod threads;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use child::{Captured, Child, Finished, Leftover, ProcessExit};
pub use environment::ChildEnv;
pub use omp_contain::{Containment, Deed, Rung, SetAside};
pub use omp_egress::Passage;
pub use platform::{InputPipe, hide_arguments};
pub use pty::{Pty, TerminalSize};
pub use reaper::Reaper;
pub use session::{ShellSession, ShellTurn};
pub use shell::Shell;
#[cfg(unix)]
pub use signing::{Signer, stand_in};
pub use spawn::{ErrorPipe, Overrun, ProcessLimits, Spawn, SpawnError, Stderr, is_child_of_omp};
pub use threads::check_threads;

/// Reserves the resources that starting processes needs. To be called first.
pub fn prepare() {
    platform::text_slot();
}
