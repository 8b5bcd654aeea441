//! Detects what this kernel supports by trying it in a child that exits at once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork};
use omp_types::{AccessMap, ContainMode};

use super::enter;
use super::filter::{self, Strict};
use super::plan::Plan;
use crate::rung::{Missing, ProbedSupport, Rung};

const WITHOUT_VIEW: &str = "protected files such as .git/hooks are restored only after a command changed them, sockets such as docker's are reachable, and modes and times of files outside can be changed";
const WITHOUT_LANDLOCK: &str = "commands can reach abstract sockets such as that of the X server";

pub(crate) fn probe() -> ProbedSupport {
    let read = |path: &str| {
        let mut text = String::new();
        File::open(path).and_then(|mut file| file.read_to_string(&mut text)).ok().map(|_| text)
    };
    let view = attempt(Rung::Namespaces);
    let landlock = asked_for_landlock();
    // Later steps were not tried if the view has failed.
    let rest = match (&view, landlock) {
        (Err(error), Ok(_)) if is_of_the_view(error) => attempt(Rung::Landlock),
        _ => Ok(()),
    };
    Tried { view, rest, landlock, seccomp: filter::program(Strict::default()).is_ok() }.standing(&read)
}

fn is_of_the_view(error: &io::Error) -> bool {
    enter::parts(error).is_none_or(|(step, _)| enter::is_of_the_view(step))
}

/// The results of the attempts.
struct Tried {
    view: io::Result<()>,
    /// Landlock and seccomp without a view.
    rest: io::Result<()>,
    /// The version, or the error number.
    landlock: Result<u8, i32>,
    seccomp: bool,
}

/// Reads a file of `/proc`.
type ReadFile<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Tried {
    fn standing(self, read: ReadFile<'_>) -> ProbedSupport {
        let landlock = self.landlock.unwrap_or(0);
        let (mut namespaces, mut missing) = (false, Vec::new());
        match &self.view {
            Ok(()) => namespaces = true,
            Err(error) if is_of_the_view(error) => missing.push(no_namespaces(error, read)),
            Err(error) => {
                missing.push(no_seccomp(error));
                return ProbedSupport { missing, landlock, ..ProbedSupport::default() };
            }
        }
        if let Err(error) = &self.rest {
            let is_landlock = enter::parts(error).is_some_and(|(step, _)| step == enter::EnterStep::Landlock as usize);
            missing.push(if is_landlock { no_landlock(libc::EPERM, read) } else { no_seccomp(error) });
            return ProbedSupport { missing, landlock, ..ProbedSupport::default() };
        }
        match self.landlock {
            Err(errno) => missing.push(no_landlock(errno, read)),
            Ok(version @ ..6) => missing.push(Missing {
                what: "Landlock's scopes",
                costs: WITHOUT_LANDLOCK,
                why: format!("the kernel has version {version} of Landlock"),
                fix: "use Linux 6.12 or newer".to_owned(),
            }),
            Ok(_) => {}
        }
        ProbedSupport { namespaces, landlock, seccomp: self.seccomp, missing, ..ProbedSupport::default() }
    }
}

fn no_landlock(errno: i32, read: ReadFile<'_>) -> Missing {
    let is_old = is_before(&read(RELEASE).unwrap_or_default(), FIRST_WITH_LANDLOCK);
    let (why, fix) = match errno {
        libc::EOPNOTSUPP => (
            "Landlock is turned off in this kernel",
            "add `landlock` to the `lsm=` modules that the kernel is started with",
        ),
        _ if is_old => {
            ("the kernel has no Landlock", "use Linux 5.13 or newer with `landlock` among its `lsm=` modules")
        }
        libc::ENOSYS => (
            "the kernel has no Landlock, or a filter around omp hides it",
            "use a kernel with CONFIG_SECURITY_LANDLOCK, or a seccomp profile that allows `landlock_create_ruleset`",
        ),
        _ => (
            "something around omp forbids Landlock",
            "use a seccomp profile that allows `landlock_create_ruleset`, `landlock_add_rule` and `landlock_restrict_self`",
        ),
    };
    Missing { what: "Landlock", costs: WITHOUT_LANDLOCK, why: why.to_owned(), fix: fix.to_owned() }
}

/// Whether a process that has left its group can be found.
pub(super) fn lists_processes() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// 0 if it is not supported.
pub(super) fn landlock_version() -> u8 {
    asked_for_landlock().unwrap_or(0)
}

fn asked_for_landlock() -> Result<u8, i32> {
    const VERSION: u32 = 1;
    // SAFETY: asks for a version; no structure is passed.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    u8::try_from(version).ok().filter(|version| *version > 0).ok_or(errno)
}

/// Enters `rung` in a child, which reports through a pipe.
fn attempt(rung: Rung) -> io::Result<()> {
    let map = AccessMap {
        mode: ContainMode::ReadOnly,
        workspace: "/".into(),
        hidden: vec!["/sys".into()],
        ..AccessMap::default()
    };
    let mut plan = Plan::new(&map, rung, &[]).map_err(io::Error::other)?;
    // With all steps of a command's child, since any of them may fail.
    if let Some(view) = &mut plan.view {
        view.tag = super::tag((0, 0)).into_bytes();
        view.own_devices = true;
    }
    let (mut reader, writer) = io::pipe()?;
    // SAFETY: the child makes only system calls, and exits without running any code of this process.
    let child = match unsafe { fork() }? {
        ForkResult::Parent { child } => child,
        ForkResult::Child => {
            let code = enter::enter(&mut plan).err().and_then(|error| error.raw_os_error()).unwrap_or(0);
            // SAFETY: writes a number with its size, then ends the process.
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
        costs: "commands are not restricted",
        why: told(error),
        fix: "use a kernel with CONFIG_SECCOMP_FILTER, outside of sandboxes that forbid it".to_owned(),
    }
}

fn no_namespaces(error: &io::Error, read: ReadFile<'_>) -> Missing {
    Missing { what: "namespaces", costs: WITHOUT_VIEW, why: told(error), fix: fix(read) }
}

/// The first kernel with everything that a view of the file system needs.
const NEEDED: (u32, u32) = (5, 12);
const FIRST_WITH_LANDLOCK: (u32, u32) = (5, 13);
const RELEASE: &str = "/proc/sys/kernel/osrelease";

fn is_before(release: &str, (major, minor): (u32, u32)) -> bool {
    let mut numbers = release.trim().split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let (Some(has_major), has_minor) = (numbers.next(), numbers.next()) else { return false };
    (has_major, has_minor.unwrap_or(0)) < (major, minor)
}

/// Each of the usual causes has a switch, and there may be several.
fn fix(read: ReadFile<'_>) -> String {
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
        return "mount /proc: without it no namespace can be set up, and programs cannot start a session or process \
                group (`setsid`, `setpgid`)"
            .to_owned();
    }
    if let Some(old) = read(RELEASE).filter(|release| is_before(release, NEEDED)) {
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
             profile that allows `unshare`, `mount`, `open_tree` and `move_mount`",
        );
    }
    if fixes.is_empty() {
        fixes.push("allow user and mount namespaces for this user; Linux 5.12 or newer is needed");
    }
    fixes.join(", and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which fixes are named for these files.
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
        // Every obstacle has to be removed.
        check(&[debian, docker, ubuntu], &["userns_clone=1", "AppArmor profile for omp", "--security-opt"]);
        // Switches that have the right values.
        let open = [
            ("/proc/sys/kernel/unprivileged_userns_clone", "1\n"),
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n"),
            ("/proc/sys/user/max_user_namespaces", "96000\n"),
            ("/proc/self/status", "Seccomp:\t0\n"),
        ];
        check(&open, &["5.12"]);
        check(&[plain], &["5.12"]);
        // A switch does not help if the kernel is too old, and Docker's filter is not the cause.
        let old = ("/proc/sys/kernel/osrelease", "4.19.0-27-amd64\n");
        check(&[old, docker, debian], &["5.12"]);
        check(&[("/proc/sys/kernel/osrelease", "6.1.0-9\n"), docker], &["--security-opt"]);
        check(&[], &["mount /proc"]);
    }

    /// The message for the user when commands are refused, or run with less protection.
    fn told_on(release: &str, view: i32, landlock: Result<u8, i32>) -> (Rung, String) {
        told_with(release, view, Ok(()), landlock)
    }

    fn told_with(release: &str, view: i32, rest: io::Result<()>, landlock: Result<u8, i32>) -> (Rung, String) {
        let read = |path: &str| match path {
            RELEASE => Some(format!("{release}\n")),
            // Every container has a filter; it is not always the cause.
            "/proc/self/status" => Some("Seccomp:\t2\n".to_owned()),
            _ => None,
        };
        let view = Err(io::Error::from_raw_os_error(view));
        let standing = Tried { view, rest, landlock, seccomp: true }.standing(&read);
        let lines: Vec<String> = standing.missing.iter().map(ToString::to_string).collect();
        (standing.rung(), format!("{}\n{}", lines.join("\n"), standing.refusal("workspace-write")))
    }

    #[test]
    fn an_old_kernel_is_told_as_what_it_is() {
        let (rung, told) = told_on("4.18.0-553.el8_10.x86_64", libc::ENOSYS, Err(libc::ENOSYS));
        assert_eq!(rung, Rung::None);
        for words in
            ["use Linux 5.12 or newer; this is 4.18.0-553", "the kernel has no Landlock", "use Linux 5.13 or newer"]
        {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert!(!told.contains("Docker") && !told.contains("seccomp profile"), "{told}");
        // A kernel between the two.
        let (rung, told) = told_on("5.10.0-30-amd64", libc::ENOSYS, Err(libc::EOPNOTSUPP));
        assert_eq!(rung, Rung::None);
        assert!(told.contains("this is 5.10.0-30") && told.contains("Landlock is turned off"), "{told}");
        assert!(!told.contains("Docker"), "{told}");
    }

    #[test]
    fn a_filter_around_omp_is_not_taken_for_an_old_kernel() {
        let (rung, told) = told_on("6.8.0-45-generic", libc::EPERM, Err(libc::EPERM));
        assert_eq!(rung, Rung::None);
        assert!(told.contains("--security-opt seccomp=unconfined") && told.contains("forbids Landlock"), "{told}");
        let (_, told) = told_on("6.8.0-45-generic", libc::EPERM, Err(libc::ENOSYS));
        assert!(told.contains("or a filter around omp hides it") && !told.contains("or newer"), "{told}");
        let (rung, told) = told_on("6.8.0-45-generic", libc::EPERM, Ok(4));
        assert_eq!(rung, Rung::Landlock);
        assert!(told.contains("version 4 of Landlock") && told.contains("use Linux 6.12 or newer"), "{told}");
        // Supported, but forbidden.
        for (step, words) in
            [(enter::EnterStep::Landlock, "forbids Landlock"), (enter::EnterStep::Seccomp, "applying seccomp failed")]
        {
            let (rung, told) = told_with("6.12.0", libc::EPERM, Err(enter::error(step, libc::EPERM)), Ok(7));
            assert_eq!(rung, Rung::None, "{told}");
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn the_step_that_failed_is_named_with_what_it_costs() {
        let missing = no_namespaces(&io::Error::from_raw_os_error(nix::libc::EPERM), &|_| None);
        assert_eq!((missing.what, missing.costs), ("namespaces", WITHOUT_VIEW));
        let told = missing.to_string();
        assert!(told.contains(&missing.why) && told.contains("restored") && told.contains("\nhint: "), "{told}");
    }
}
