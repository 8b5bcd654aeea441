//! Processes: the one door through which children start, and how whole trees end.
//!
//! [`Spawn`] says what to start, [`Child`] reads its merged output and ends it: dropping a child kills it and
//! everything it started. What outlives a finished command in the background goes to a [`Reaper`], whose owner decides
//! how long it may live. No other crate may start a process, so containment has one place to stand.

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

/// Takes what starting processes needs of this process's own resources while there is plenty. To be called first.
pub fn prepare() {
    platform::text_slot();
}
