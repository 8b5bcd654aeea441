//! Finds the processes of a tree in `/proc`: members of the group, processes with its mark or its tag, and their
//! descendants.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tag::TreeTag;
use crate::spawn::MARK_VARIABLE;

struct ProcessRow {
    pid: i32,
    parent: i32,
    group: i32,
    /// Start time in kernel ticks.
    began: u64,
}

/// Living processes of the tree, parents before their children. `leader_reaped` says that the leader was waited for: if a
/// process with its id exists nevertheless, the id was reused and the group is no longer ours. The mark always counts.
pub(super) fn members(group: i32, mark: &str, tag: Option<&TreeTag>, leader_reaped: bool) -> Vec<i32> {
    let processes = living();
    let needle = format!("{MARK_VARIABLE}={mark}");
    let group_is_ours = !(leader_reaped && exists(group));
    let mut found: HashSet<i32> = processes
        .iter()
        .filter(|process| {
            (group_is_ours && process.group == group)
                || bears_mark(process.pid, needle.as_bytes())
                || tag.is_some_and(|tag| tag.is_on(process.pid))
        })
        .map(|process| process.pid)
        .collect();
    loop {
        let before = found.len();
        let children = processes.iter().filter(|process| found.contains(&process.parent)).map(|process| process.pid);
        found.extend(children.collect::<Vec<_>>());
        if found.len() == before {
            break;
        }
    }
    let mut members: Vec<ProcessRow> = processes.into_iter().filter(|process| found.contains(&process.pid)).collect();
    members.sort_by_key(|process| (process.began, process.pid));
    members.into_iter().map(|process| process.pid).collect()
}

/// Whether `/proc` exists.
pub(super) fn is_there() -> bool {
    fs::exists("/proc/self/stat").unwrap_or(false)
}

/// Whether a group whose leader was waited for has a living member. Zombies do not count.
pub(super) fn group_lives(group: i32) -> bool {
    !exists(group) && living().iter().any(|process| process.group == group)
}

/// Whether a contained tree whose leader started this long ago has a living process.
pub(super) fn tagged_lives(mark: &str, tag: Option<&TreeTag>, leader: i32, ago: Duration) -> bool {
    let needle = format!("{MARK_VARIABLE}={mark}");
    // Without a tag the tree is identified by its mark alone.
    let is_of_it = |pid: i32| tag.map_or_else(|| bears_mark(pid, needle.as_bytes()), |tag| tag.is_on(pid));
    let lives = |pid: i32| is_of_it(pid) && living_one(pid).is_some();
    match younger(leader, ago) {
        Some(mut few) => few.any(lives),
        None => numbers().any(lives),
    }
}

/// The process ids assigned since then, if that is known and they are few: ids are assigned in order, and do not wrap
/// around in a short time.
fn younger(leader: i32, ago: Duration) -> Option<impl Iterator<Item = i32>> {
    const SHORT: Duration = Duration::from_millis(250);
    const FEW: i32 = 64;
    let newest = newest_process().and_then(|newest| i32::try_from(newest).ok())?;
    (ago < SHORT && (leader..leader.saturating_add(FEW)).contains(&newest)).then(|| leader + 1..=newest)
}

/// The id of the newest process, read cheaply from `load load load running/all last`.
pub(super) fn newest_process() -> Option<usize> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split_ascii_whitespace().nth(4)?.parse().ok()
}

fn exists(pid: i32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap_or(false)
}

pub(super) fn signal_all(pids: &[i32], signal: Signal) {
    for pid in pids {
        // The process has exited, or may not be signalled (a setuid program); there is nothing more to do in either case.
        let _ = kill(Pid::from_raw(*pid), signal);
    }
}

fn living() -> Vec<ProcessRow> {
    numbers().filter_map(living_one).collect()
}

fn numbers() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn living_one(pid: i32) -> Option<ProcessRow> {
    parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `pid (name) state ppid pgrp …`, with the start time as field 22; the name may contain anything, including
/// parentheses.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<ProcessRow> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let began = fields.nth(16)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(ProcessRow { pid, parent, group, began })
}

fn bears_mark(pid: i32, needle: &[u8]) -> bool {
    let Ok(environ) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environ.split(|byte| *byte == 0).any(|variable| variable == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_do_not_confuse() {
        let rest = "5 0 -1 4194304 120 0 0 0 1 2 0 0 20 0 1 0 7788 2510848 180";
        let process = parse_stat(7, format!("7 (a) b) c) S 3 5 {rest}").as_bytes()).unwrap();
        assert_eq!((process.pid, process.parent, process.group, process.began), (7, 3, 5, 7788));
        assert!(parse_stat(7, format!("7 (dead) Z 3 5 {rest}").as_bytes()).is_none());
        assert!(parse_stat(7, b"nonsense").is_none());
    }
}
