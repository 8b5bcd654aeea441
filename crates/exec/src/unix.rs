//! Children on Unix: each has its own session and one pipe for both streams, and signals go to the whole tree.

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

/// Receives the namespace that identifies a contained tree, once it has started.
#[cfg(target_os = "linux")]
pub(crate) type Herald = Option<omp_contain::Herald>;

#[cfg(not(target_os = "linux"))]
pub(crate) type Herald = ();

/// Gives the tree a tag that its processes cannot remove.
#[cfg(target_os = "linux")]
pub(crate) fn tag(cage: &mut Cage) -> Herald {
    cage.tag(tag::owner())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn tag(_cage: &mut Cage) -> Herald {}

/// The streams of a child.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Streams {
    Plain,
    /// A terminal, which becomes the controlling terminal of the child's session.
    Terminal,
}

fn start_with(mut command: Command, given: Given, streams: Streams) -> io::Result<Process> {
    let Given { limits, mut cage, text } = given;
    let (limits, is_scoped) = (resources(limits), wants_scope(cage.as_ref()));
    // The watchdog can find the whole tree only while its root lives. So the root is not killed by the parent-death signal
    // if there is a watchdog.
    let parent = (!watchdog::expect_child()).then(nix::unistd::getpid);
    // SAFETY: between fork and exec only async-signal-safe calls are made (setsid, prctl, ioctl, getppid, setrlimit, fcntl,
    // dup2, those of `Cage::enter`), and nothing is allocated: limits and cage were prepared before.
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

/// Keeps programs from inheriting descriptors that omp itself inherited: an open folder would bypass every mount.
fn keep_descriptors_from_programs() -> io::Result<()> {
    const FIRST: i32 = 3;
    /// The highest descriptor to close if the open ones cannot be listed.
    const MOST: i32 = 4_096;
    #[cfg(target_os = "linux")]
    {
        const CLOEXEC: u32 = 4;
        // SAFETY: passes only integers.
        if unsafe { nix::libc::syscall(nix::libc::SYS_close_range, FIRST, u32::MAX, CLOEXEC) } == 0 {
            return Ok(());
        }
    }
    for descriptor in FIRST..MOST {
        // SAFETY: passes only integers; a descriptor that is not open stays closed.
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

/// Limits `limit` to this process's own limit, which cannot be raised.
fn lowered(resource: Resource, limit: rlim_t) -> rlim_t {
    getrlimit(resource).map_or(limit, |(_, most)| limit.min(most))
}

/// Makes the command the subreaper of its descendants: orphans become its children instead of init's. So a daemon that has
/// left its group, its session, its parent and its environment is still found while the command runs.
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
    // The parent may have died before the prctl call took effect.
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

/// Starts children on dedicated threads: Linux sends the parent-death signal when the *thread* that forked exits, and
/// runtime threads come and go. One thread, which lives as long as the process, forks all children; another forks the
/// contained ones, which share its Landlock domain: they can signal each other, but neither omp nor any other process of
/// the user.
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
    let gone = || io::Error::other("the thread that starts processes has ended");
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

/// Whether the group id certainly still belongs to the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leader {
    /// The leader has not been waited for, so its id cannot have been reused.
    Ours,
    Reaped,
}

/// An upper bound of the number of processes in a tree, from data that is cheap to read.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc tells"))]
pub(crate) struct Crowd {
    /// The newest process id of the machine at the last count of the tree, and that count.
    newest: Option<usize>,
    counted: usize,
}

#[cfg(target_os = "linux")]
impl Crowd {
    pub(crate) fn of_new_tree() -> Self {
        Self { newest: proc_table::newest_process(), counted: 1 }
    }

    /// Counts the tree only after enough processes were started on the machine to exceed the limit.
    pub(crate) fn exceeds(&mut self, tree: &Tree, limit: usize) -> bool {
        let (Some(before), Some(now)) = (self.newest, proc_table::newest_process()) else { return false };
        // Process ids wrap around.
        let started = now.checked_sub(before).unwrap_or(usize::MAX);
        if self.counted.saturating_add(started) <= limit {
            return false;
        }
        (self.newest, self.counted) = (Some(now), tree.count());
        self.counted > limit
    }
}

/// Checks the memory of a tree when the machine is short of memory.
#[derive(Debug, Default)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc tells"))]
pub(crate) struct Weight {
    looks: u32,
}

#[cfg(target_os = "linux")]
impl Weight {
    /// A tree cannot use more memory than is used in total. The exact count of shared pages is slow, so it is only made if
    /// the upper bound exceeds the limit.
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

/// `None` if unknown.
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

/// For systems without `/proc`: if no process has the id of the reaped leader, the id was not reused and the group is still
/// ours.
#[cfg(target_os = "linux")]
fn is_still_a_group(group: i32) -> bool {
    nix::sys::signal::kill(Pid::from_raw(group), None) == Err(Errno::ESRCH)
}

#[cfg(not(target_os = "linux"))]
fn lives(_group: i32) -> bool {
    true
}

/// A child, its process group, and descendants that left the group. The default is an empty tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// Process group and session id, which is the leader's process id.
    group: Option<i32>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc shows the marks of processes"))]
    mark: String,
    /// The start time, if it is contained.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only /proc shows the tags of processes"))]
    contained: Option<Instant>,
    #[cfg(target_os = "linux")]
    tag: Option<tag::TreeTag>,
}

impl Tree {
    /// The tree runs in the sandbox if there is a herald.
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

    /// Reports that no process of the group runs any more.
    pub(crate) fn has_ended(&self) {
        if let Some(group) = self.group {
            watchdog::forget(group);
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.group.and_then(|group| u32::try_from(group).ok()).unwrap_or_default()
    }

    /// Whether any process of the group runs, or of the tree if it is contained. For a group whose leader was waited for.
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

    /// Interrupts the group. Only for a group whose leader has not been waited for.
    pub(crate) fn interrupt(&self) {
        if let Some(group) = self.group {
            let _ = killpg(Pid::from_raw(group), Signal::SIGINT);
        }
    }

    /// Terminates all processes of the tree.
    pub(crate) fn terminate(&self, leader: Leader) {
        self.signal(Signal::SIGTERM, leader);
    }

    /// Terminates all descendants of the leader and returns their number. Only for a leader that has not been waited for.
    #[cfg(target_os = "linux")]
    pub(crate) fn terminate_descendants(&self) -> usize {
        let Some(group) = self.group else { return 0 };
        let mut members = proc_table::members(group, &self.mark, self.tag.as_ref(), false);
        members.retain(|pid| *pid != group);
        proc_table::signal_all(&members, Signal::SIGTERM);
        members.len()
    }

    /// Descendants cannot be identified here; members of the group end with it.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn terminate_descendants(&self) -> usize {
        0
    }

    /// Kills all processes of the tree, including those that left the group.
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
        // Members are listed first: once a parent is dead, its children belong to init and only their mark identifies them.
        let mut signalled = if signal == Signal::SIGKILL { freeze(members) } else { members() };
        proc_table::signal_all(&signalled, signal);
        if leader == Leader::Ours {
            let _ = killpg(Pid::from_raw(group), signal);
        }
        // Processes that were forked while the list was made appear in the next one.
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
            // Otherwise a shell would start its next command when the current one is killed.
            let _ = killpg(group, Signal::SIGSTOP);
        }
        let _ = killpg(group, signal);
    }
}

/// Signals the group, which is all that can be reached without `/proc`.
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

/// Stops every member until none is left that could fork. Without this, killing members one by one lets a shell start its
/// next command as soon as the current one is dead, and a fork bomb would never end.
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
