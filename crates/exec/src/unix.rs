//! Children on Unix: a session of their own, one pipe for both streams, signals to the whole tree.

mod arguments;
#[cfg(target_os = "linux")]
mod memory;
mod pipe;
#[cfg(target_os = "linux")]
mod proc_table;
#[cfg(target_os = "linux")]
mod tag;
mod terminal;
mod text;
mod watchdog;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Instant;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setsid};
use omp_contain::Cage;
use tokio::process::Command;

use crate::spawn::{Given, ProcessLimits};

pub use arguments::hide_arguments;
pub use pipe::InputPipe;
pub(crate) use pipe::OutputPipe;
pub(crate) use terminal::{Terminal, start_in_terminal};
pub(crate) use text::{TextFile, text_file, text_slot};
pub(crate) use tokio::process::Child as Process;
pub(crate) use watchdog::{leave, remove_if_empty, remove_later};

/// Starts `command` in a new session, so that it has no terminal and a group of its own.
pub(crate) fn start(command: Command, given: Given) -> io::Result<Process> {
    start_with(command, given, Streams::Plain)
}

/// Brings what a contained tree is known by, once it has started.
#[cfg(target_os = "linux")]
pub(crate) type Herald = Option<omp_contain::Herald>;

#[cfg(not(target_os = "linux"))]
pub(crate) type Herald = ();

/// Makes everything of the tree known for ever.
#[cfg(target_os = "linux")]
pub(crate) fn tag(cage: &mut Cage) -> Herald {
    cage.tag(tag::owner())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn tag(_cage: &mut Cage) -> Herald {}

/// What a child's streams are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streams {
    Plain,
    /// A terminal, which is to be the one of the child's session.
    Terminal,
}

fn start_with(mut command: Command, given: Given, streams: Streams) -> io::Result<Process> {
    let Given { limits, mut cage, text } = given;
    let (limits, is_scoped) = (resources(limits), wants_scope(cage.as_ref()));
    // The watchdog sees the whole tree only while its root lives, so the root is left to it where there is one.
    let parent = (!watchdog::expect_child()).then(nix::unistd::getpid);
    // SAFETY: between fork and exec only async-signal-safe calls are made (setsid, prctl, ioctl, getppid, setrlimit,
    // fcntl, dup2, what `Cage::enter` makes), and nothing is allocated: limits and cage were laid out before.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            keep_orphans()?;
            if streams == Streams::Terminal {
                terminal::take_control()?;
            }
            if let Some(parent) = parent {
                die_with(parent)?;
            }
            for (resource, limit) in limits.iter().filter_map(|(resource, limit)| limit.map(|limit| (*resource, limit)))
            {
                setrlimit(resource, limit, limit)?;
            }
            cage.as_mut().map_or(Ok(()), Cage::enter)?;
            keep_descriptors_from_programs()?;
            text.as_ref().map_or(Ok(()), text::hand_over)
        });
    }
    launch(command, is_scoped)
}

/// What omp itself was started with and has not closed: a folder among them would lead around every mount.
fn keep_descriptors_from_programs() -> io::Result<()> {
    const FIRST: i32 = 3;
    /// Where they cannot be told apart from those that are not open.
    const MOST: i32 = 4_096;
    #[cfg(target_os = "linux")]
    {
        const CLOEXEC: u32 = 4;
        // SAFETY: numbers only.
        if unsafe { nix::libc::syscall(nix::libc::SYS_close_range, FIRST, u32::MAX, CLOEXEC) } == 0 {
            return Ok(());
        }
    }
    for descriptor in FIRST..MOST {
        // SAFETY: numbers only; one that is not open stays so.
        unsafe { nix::libc::fcntl(descriptor, nix::libc::F_SETFD, nix::libc::FD_CLOEXEC) };
    }
    Ok(())
}

fn resources(limits: ProcessLimits) -> [(Resource, Option<rlim_t>); 4] {
    [
        (Resource::RLIMIT_CPU, limits.cpu_seconds),
        (Resource::RLIMIT_FSIZE, limits.file_bytes),
        (Resource::RLIMIT_NOFILE, limits.open_files),
        (Resource::RLIMIT_NPROC, limits.processes),
    ]
    .map(|(resource, limit)| (resource, limit.map(|limit| lowered(resource, limit as rlim_t))))
}

/// How many processes and threads this user may have; `None` for any number.
pub(crate) fn process_limit() -> Option<u64> {
    let (limit, _) = getrlimit(Resource::RLIMIT_NPROC).ok()?;
    (limit != nix::libc::RLIM_INFINITY).then_some(limit)
}

/// A limit that this process has itself cannot be raised.
fn lowered(resource: Resource, limit: rlim_t) -> rlim_t {
    getrlimit(resource).map_or(limit, |(_, most)| limit.min(most))
}

/// What a descendant leaves behind when it ends becomes a child of the command, not of init: so a daemon that has left
/// its group, its session, its parent and its environment is still found as long as the command runs.
#[cfg(target_os = "linux")]
fn keep_orphans() -> io::Result<()> {
    Ok(nix::sys::prctl::set_child_subreaper(true)?)
}

#[cfg(not(target_os = "linux"))]
fn keep_orphans() -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before the line above took effect.
    if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Pid) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn wants_scope(cage: Option<&Cage>) -> bool {
    cage.is_some_and(Cage::wants_scope)
}

#[cfg(not(target_os = "linux"))]
fn wants_scope(_cage: Option<&Cage>) -> bool {
    false
}

/// Linux sends the parent-death signal when the *thread* that forked ends, and runtime threads come and go. So one
/// thread that lives as long as the process does all the forking; another that of contained children, who have its Landlock
/// domain in common: their signals reach each other, and neither omp nor anything else of the user's.
#[cfg(target_os = "linux")]
fn launch(mut command: Command, is_scoped: bool) -> io::Result<Process> {
    use std::sync::LazyLock;
    use std::sync::mpsc::{Sender, channel, sync_channel};
    type Job = Box<dyn FnOnce() + Send>;
    type Forker = LazyLock<io::Result<Sender<Job>>>;
    fn forker(name: &str, prepare: fn()) -> io::Result<Sender<Job>> {
        let (sender, jobs) = channel::<Job>();
        let serve = move || {
            prepare();
            jobs.into_iter().for_each(|job| job());
        };
        std::thread::Builder::new().name(name.into()).stack_size(256 * 1024).spawn(serve).map(|_| sender)
    }
    static FREE: Forker = LazyLock::new(|| forker("omp-fork", || ()));
    static CONTAINED: Forker = LazyLock::new(|| forker("omp-fork-in", omp_contain::scope_thread));
    let gone = || io::Error::other("the thread that starts processes is gone");
    let forker = if is_scoped { &CONTAINED } else { &FREE };
    let forker = forker.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    let (reply, answer) = sync_channel(1);
    let job = move || {
        let _guard = runtime.enter();
        let _ = reply.send(command.spawn());
    };
    forker.send(Box::new(job)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

#[cfg(not(target_os = "linux"))]
fn launch(mut command: Command, _is_scoped: bool) -> io::Result<Process> {
    command.spawn()
}

pub(crate) fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Whether the group's number still certainly belongs to the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    /// The leader has not been waited for, so its number cannot have been given to anybody else.
    Ours,
    Reaped,
}

/// How many processes a tree can have at most, from what is cheap to know.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc tells"))]
pub(crate) struct Crowd {
    /// The newest process of the machine when the tree was counted last, and the count.
    newest: Option<usize>,
    counted: usize,
}

#[cfg(target_os = "linux")]
impl Crowd {
    pub(crate) fn of_new_tree() -> Self {
        Self { newest: proc_table::newest_process(), counted: 1 }
    }

    /// Counts the tree only when as many processes were started on the machine as it would need.
    pub(crate) fn exceeds(&mut self, tree: &Tree, limit: usize) -> bool {
        let (Some(before), Some(now)) = (self.newest, proc_table::newest_process()) else { return false };
        // Numbers begin anew when they are used up.
        let started = now.checked_sub(before).unwrap_or(usize::MAX);
        if self.counted.saturating_add(started) <= limit {
            return false;
        }
        (self.newest, self.counted) = (Some(now), tree.count());
        self.counted > limit
    }
}

/// How much memory a tree takes, looked at where the machine is short of it.
#[derive(Debug, Default)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc tells"))]
pub(crate) struct Weight {
    looks: u32,
}

#[cfg(target_os = "linux")]
impl Weight {
    /// A tree cannot take more than all that is taken. Processes that share what they have not changed since they were
    /// forked are counted to the page, which is slow, only when they seem to take too much.
    pub(crate) fn exceeds(&mut self, tree: &Tree, limit: u64) -> bool {
        const EVERY: u32 = 4;
        self.looks = self.looks.wrapping_add(1);
        let Some(group) = tree.group.filter(|_| self.looks.is_multiple_of(EVERY)) else { return false };
        if memory::taken_on_machine().is_some_and(|taken| taken < limit) {
            return false;
        }
        let members = proc_table::members(group, &tree.mark, tree.tag.as_ref(), false);
        memory::at_most(&members) > limit && memory::own(&members) > limit
    }
}

#[cfg(not(target_os = "linux"))]
impl Weight {
    pub(crate) fn exceeds(&mut self, _tree: &Tree, _limit: u64) -> bool {
        false
    }
}

/// `None` where it cannot be told.
#[cfg(target_os = "linux")]
pub(crate) fn memory_of_machine() -> Option<u64> {
    memory::of_machine()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn memory_of_machine() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
impl Crowd {
    pub(crate) fn of_new_tree() -> Self {
        Self { newest: None, counted: 1 }
    }

    pub(crate) fn exceeds(&mut self, _tree: &Tree, _limit: usize) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
fn lives(group: i32) -> bool {
    if proc_table::is_there() { proc_table::group_lives(group) } else { is_still_a_group(group) }
}

/// Where there is no `/proc`: nobody has the number of the leader, who was waited for, so it was not given away and what the
/// group has is still ours.
#[cfg(target_os = "linux")]
fn is_still_a_group(group: i32) -> bool {
    nix::sys::signal::kill(Pid::from_raw(group), None) == Err(Errno::ESRCH)
}

#[cfg(not(target_os = "linux"))]
fn lives(_group: i32) -> bool {
    true
}

/// A child, its group, and whatever left the group. The default is a tree of nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Group and session id; the leader's process id.
    group: Option<i32>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc shows the marks of processes"))]
    mark: String,
    /// When it began, if it is contained.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc shows the tags of processes"))]
    contained: Option<Instant>,
    #[cfg(target_os = "linux")]
    tag: Option<tag::TreeTag>,
}

impl Tree {
    /// With a herald it is contained.
    pub(crate) fn new(child: &Process, mark: String, herald: Option<Herald>) -> Self {
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = group {
            watchdog::watch(group);
        }
        Self {
            group,
            mark,
            contained: herald.is_some().then(Instant::now),
            #[cfg(target_os = "linux")]
            tag: herald.flatten().and_then(omp_contain::Herald::receive).and_then(tag::TreeTag::of),
        }
    }

    /// Nothing of the group runs any more.
    pub(crate) fn has_ended(&self) {
        if let Some(group) = self.group {
            watchdog::forget(group);
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.group.and_then(|group| u32::try_from(group).ok()).unwrap_or_default()
    }

    /// Whether anything of the group runs, or of the tree where it is contained. For a group whose leader was waited for.
    pub(crate) fn has_members(&self) -> bool {
        let has_group = |group| !matches!(killpg(Pid::from_raw(group), None), Err(Errno::ESRCH)) && lives(group);
        self.group.is_some_and(|group| has_group(group) || self.has_tagged(group))
    }

    #[cfg(target_os = "linux")]
    fn has_tagged(&self, leader: i32) -> bool {
        let lives = |began: Instant| proc_table::tagged_lives(&self.mark, self.tag.as_ref(), leader, began.elapsed());
        self.contained.is_some_and(lives)
    }

    #[cfg(not(target_os = "linux"))]
    fn has_tagged(&self, _leader: i32) -> bool {
        false
    }

    /// Only for a group whose leader has not been waited for.
    pub(crate) fn interrupt(&self) {
        if let Some(group) = self.group {
            let _ = killpg(Pid::from_raw(group), Signal::SIGINT);
        }
    }

    /// Asks all of the tree to end.
    pub(crate) fn terminate(&self, leader: Leader) {
        self.signal(Signal::SIGTERM, leader);
    }

    /// Asks all below the leader to end; how many there were. Only for a leader that has not been waited for.
    #[cfg(target_os = "linux")]
    pub(crate) fn terminate_descendants(&self) -> usize {
        let Some(group) = self.group else { return 0 };
        let mut members = proc_table::members(group, &self.mark, self.tag.as_ref(), false);
        members.retain(|pid| *pid != group);
        proc_table::signal_all(&members, Signal::SIGTERM);
        members.len()
    }

    /// They cannot be told from others here: what is in the group ends with it.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn terminate_descendants(&self) -> usize {
        0
    }

    /// Kills all of the tree, members that left the group included.
    pub(crate) fn kill(&self, leader: Leader) {
        self.signal(Signal::SIGKILL, leader);
        self.has_ended();
    }

    #[cfg(target_os = "linux")]
    fn signal(&self, signal: Signal, leader: Leader) {
        let Some(group) = self.group else { return };
        if !proc_table::is_there() {
            return signal_group(group, signal, leader);
        }
        let members = || proc_table::members(group, &self.mark, self.tag.as_ref(), leader == Leader::Reaped);
        // Looked up first: once a parent is dead, its children hang below init and only their mark tells.
        let mut signalled = if signal == Signal::SIGKILL { freeze(members) } else { members() };
        proc_table::signal_all(&signalled, signal);
        if leader == Leader::Ours {
            let _ = killpg(Pid::from_raw(group), signal);
        }
        // What was forked while the list was made shows up in the next.
        for _ in 0..4 {
            let fresh: Vec<i32> = members().into_iter().filter(|pid| !signalled.contains(pid)).collect();
            if fresh.is_empty() {
                break;
            }
            proc_table::signal_all(&fresh, signal);
            signalled.extend(fresh);
        }
    }

    #[cfg(target_os = "linux")]
    fn count(&self) -> usize {
        self.group.map_or(0, |group| proc_table::members(group, &self.mark, self.tag.as_ref(), false).len())
    }

    #[cfg(not(target_os = "linux"))]
    fn signal(&self, signal: Signal, _leader: Leader) {
        let Some(group) = self.group.map(Pid::from_raw) else { return };
        if signal == Signal::SIGKILL {
            // Else a shell takes up its next command when the one it waits for is dead.
            let _ = killpg(group, Signal::SIGSTOP);
        }
        let _ = killpg(group, signal);
    }
}

/// All that can be reached without `/proc`.
#[cfg(target_os = "linux")]
fn signal_group(group: i32, signal: Signal, leader: Leader) {
    if leader == Leader::Reaped && !is_still_a_group(group) {
        return;
    }
    let group = Pid::from_raw(group);
    if signal == Signal::SIGKILL {
        let _ = killpg(group, Signal::SIGSTOP);
    }
    let _ = killpg(group, signal);
}

/// Stops every member until none is left that could fork. Whoever is killed one by one goes on first: a shell takes up its
/// next command as soon as the one it waits for is dead, and a fork bomb is never done with.
#[cfg(target_os = "linux")]
fn freeze(members: impl Fn() -> Vec<i32>) -> Vec<i32> {
    let mut stopped = Vec::new();
    for _ in 0..64 {
        let known: std::collections::HashSet<i32> = stopped.iter().copied().collect();
        let fresh: Vec<i32> = members().into_iter().filter(|pid| !known.contains(pid)).collect();
        if fresh.is_empty() {
            break;
        }
        proc_table::signal_all(&fresh, Signal::SIGSTOP);
        stopped.extend(fresh);
    }
    stopped
}
