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

const WITHOUT_VIEW: &str = "guarded files such as .git/hooks are put back only after a command has changed them, sockets \
     such as docker's can be reached, and modes and times of files outside can be changed";
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
    let mut plan = Plan::new(&map, rung, &[]).map_err(io::Error::other)?;
    // With all that a command's child does, for one of these steps may be what fails.
    if let Some(view) = &mut plan.view {
        view.tag = super::tag((0, 0)).into_bytes();
        view.own_devices = true;
    }
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

fn no_namespaces(error: &io::Error) -> Missing {
    let read = |path: &str| {
        let mut text = String::new();
        File::open(path).and_then(|mut file| file.read_to_string(&mut text)).ok().map(|_| text)
    };
    Missing { what: "namespaces", costs: WITHOUT_VIEW, why: told(error), fix: fix(&read) }
}

/// The first kernel with all that a view of the file system needs.
const NEEDED: (u32, u32) = (5, 12);

fn is_before(release: &str, (major, minor): (u32, u32)) -> bool {
    let mut numbers = release.trim().split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let (Some(has_major), has_minor) = (numbers.next(), numbers.next()) else { return false };
    (has_major, has_minor.unwrap_or(0)) < (major, minor)
}

/// The usual reasons have a switch each, and there may be several.
fn fix(read: &dyn Fn(&str) -> Option<String>) -> String {
    const SWITCHES: &[(&str, &str, &str)] = &[
        ("kernel/unprivileged_userns_clone", "0", "`sudo sysctl -w kernel.unprivileged_userns_clone=1`"),
        ("user/max_user_namespaces", "0", "`sudo sysctl -w user.max_user_namespaces=10000`"),
        ("user/max_mnt_namespaces", "0", "`sudo sysctl -w user.max_mnt_namespaces=10000`"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "an AppArmor profile for omp that allows `userns` (docs/containment.md has one), or \
             `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`",
        ),
    ];
    if read("/proc/self/status").is_none() {
        return "mount /proc: without it no namespace can be set up, and a process that leaves its group is not found when \
                omp ends"
            .to_owned();
    }
    if let Some(old) = read("/proc/sys/kernel/osrelease").filter(|release| is_before(release, NEEDED)) {
        let (major, minor) = NEEDED;
        return format!("use Linux {major}.{minor} or newer; this is {}, which has no `mount_setattr`", old.trim());
    }
    let is_set = |name: &str, value: &str| read(&format!("/proc/sys/{name}")).is_some_and(|is| is.trim() == value);
    let mut fixes: Vec<&str> =
        SWITCHES.iter().filter(|(name, value, _)| is_set(name, value)).map(|(.., fix)| *fix).collect();
    let is_filtered = |status: String| status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"]));
    if read("/proc/self/status").is_some_and(is_filtered) {
        fixes.push(
            "in Docker or Podman `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or a seccomp \
             profile that lets `unshare`, `mount`, `open_tree` and `move_mount` through",
        );
    }
    if fixes.is_empty() {
        fixes.push("allow user and mount namespaces to this user; Linux 5.12 or newer is needed");
    }
    fixes.join(", and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that are there, and what the fix names.
    #[track_caller]
    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let fix = fix(&read);
        let named = [
            "userns_clone=1",
            "max_user_namespaces=",
            "max_mnt_",
            "AppArmor profile for omp",
            "--security-opt",
            "5.12",
            "mount /proc",
        ];
        let found: Vec<&str> = named.into_iter().filter(|name| fix.contains(name)).collect();
        assert_eq!(found, expect, "{fix}");
    }

    #[test]
    fn the_usual_systems_are_told_what_helps() {
        let debian = ("/proc/sys/kernel/unprivileged_userns_clone", "0\n");
        let ubuntu = ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
        let hardened = ("/proc/sys/user/max_user_namespaces", "0\n");
        let docker = ("/proc/self/status", "Name:\tomp\nNoNewPrivs:\t0\nSeccomp:\t2\nSeccomp_filters:\t1\n");
        let plain = ("/proc/self/status", "Seccomp:\t0\n");
        check(&[debian, plain], &["userns_clone=1"]);
        check(&[ubuntu, plain], &["AppArmor profile for omp"]);
        check(&[hardened, plain], &["max_user_namespaces="]);
        check(&[("/proc/sys/user/max_mnt_namespaces", "0\n"), plain], &["max_mnt_"]);
        check(&[docker], &["--security-opt"]);
        // Each that stands in the way has to go.
        check(&[debian, docker, ubuntu], &["userns_clone=1", "AppArmor profile for omp", "--security-opt"]);
        // Switches that are as they should be.
        let open = [
            ("/proc/sys/kernel/unprivileged_userns_clone", "1\n"),
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n"),
            ("/proc/sys/user/max_user_namespaces", "96000\n"),
            ("/proc/self/status", "Seccomp:\t0\n"),
        ];
        check(&open, &["5.12"]);
        check(&[plain], &["5.12"]);
        // A switch does not help where the kernel is too old, and Docker's filter is not the reason.
        let old = ("/proc/sys/kernel/osrelease", "4.19.0-27-amd64\n");
        check(&[old, docker, debian], &["5.12"]);
        check(&[("/proc/sys/kernel/osrelease", "6.1.0-9\n"), docker], &["--security-opt"]);
        check(&[], &["mount /proc"]);
    }

    #[test]
    fn the_step_that_failed_is_named_with_what_it_costs() {
        let missing = no_namespaces(&io::Error::from_raw_os_error(nix::libc::EPERM));
        assert_eq!((missing.what, missing.costs), ("namespaces", WITHOUT_VIEW));
        let told = missing.to_string();
        assert!(told.contains(&missing.why) && told.contains("put back") && told.contains("\nhint: "), "{told}");
    }
}
