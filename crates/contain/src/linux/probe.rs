//! What this kernel lets omp do, found out by doing it in a child that ends at once.

use std::fs::File;
use std::io::{self, Read};

use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork};
use omp_types::{AccessMap, ContainMode};

use super::plan::Plan;
use super::{enter, filter};
use crate::rung::{Missing, Rung, Standing};

const WITHOUT_VIEW: &str =
    "guarded files such as .git/hooks can be written and sockets such as docker's can be reached";
const WITHOUT_LANDLOCK: &str = "commands can reach abstract sockets such as that of the X server";

pub(crate) fn probe() -> Standing {
    let landlock = landlock_version();
    let seccomp = filter::program(false).is_ok();
    let (mut namespaces, mut missing) = (false, Vec::new());
    match attempt(Rung::Namespaces) {
        Ok(()) => namespaces = true,
        Err(error) if enter::parts(&error).is_some_and(|(step, _)| !enter::is_of_the_view(step)) => {
            missing.push(no_seccomp(&error));
            return Standing { missing, landlock, ..Standing::default() };
        }
        Err(error) => missing.push(no_namespaces(&error)),
    }
    if landlock == 0 {
        missing.push(Missing {
            what: "Landlock",
            costs: WITHOUT_LANDLOCK,
            why: "the kernel has no Landlock".to_owned(),
            fix: "use Linux 5.13 or newer with `landlock` among its `lsm=` modules".to_owned(),
        });
    } else if landlock < 6 {
        missing.push(Missing {
            what: "Landlock's scopes",
            costs: WITHOUT_LANDLOCK,
            why: format!("the kernel has version {landlock} of Landlock"),
            fix: "use Linux 6.12 or newer".to_owned(),
        });
    }
    Standing { namespaces, landlock, seccomp, missing, ..Standing::default() }
}

pub(super) fn landlock_version() -> u8 {
    const VERSION: u32 = 1;
    // SAFETY: asks for a number; no structure is given.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    u8::try_from(version).unwrap_or(0)
}

/// Enters `rung` in a child. What it says comes through a pipe.
fn attempt(rung: Rung) -> io::Result<()> {
    let map = AccessMap {
        mode: ContainMode::ReadOnly,
        workspace: "/".into(),
        hidden: vec!["/sys".into()],
        ..AccessMap::default()
    };
    let mut plan = Plan::new(&map, rung).map_err(io::Error::other)?;
    let (mut reader, writer) = io::pipe()?;
    // SAFETY: the child makes system calls only, and ends without running anything of this process.
    let child = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let code = enter::enter(&mut plan).err().and_then(|error| error.raw_os_error()).unwrap_or(0);
            // SAFETY: a number with its size; then the end.
            unsafe {
                use std::os::fd::AsRawFd;
                libc::write(writer.as_raw_fd(), (&raw const code).cast(), size_of::<i32>());
                libc::_exit(0)
            }
        }
    };
    drop(writer);
    let mut code = [0; size_of::<i32>()];
    let said = reader.read_exact(&mut code);
    waitpid(child, None)?;
    said?;
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

fn told(error: &io::Error) -> String {
    enter::explain(error).unwrap_or_else(|| error.to_string())
}

fn no_seccomp(error: &io::Error) -> Missing {
    Missing {
        what: "seccomp",
        costs: "nothing is kept",
        why: told(error),
        fix: "use a kernel with CONFIG_SECCOMP_FILTER, outside of sandboxes that forbid it".to_owned(),
    }
}

/// The usual reasons have a switch each.
fn no_namespaces(error: &io::Error) -> Missing {
    let switch = |name: &str| {
        let mut text = String::new();
        let read = File::open(format!("/proc/sys/{name}")).and_then(|mut file| file.read_to_string(&mut text));
        read.ok().map(|_| text.trim().to_owned())
    };
    let fix = if switch("kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        "`sysctl kernel.unprivileged_userns_clone=1`"
    } else if switch("kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or an AppArmor profile for omp that allows `userns`"
    } else if switch("user/max_user_namespaces").as_deref() == Some("0") {
        "`sysctl user.max_user_namespaces=10000`"
    } else {
        "allow user namespaces (in a container: a seccomp profile that lets `unshare` and `mount` through; Linux 5.12 or newer)"
    };
    Missing { what: "namespaces", costs: WITHOUT_VIEW, why: told(error), fix: fix.to_owned() }
}
