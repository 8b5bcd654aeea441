//! Memory of processes and of the machine, from `/proc`.

use std::fs;

/// The memory of this system, or of the container that omp runs in.
pub(super) fn of_machine() -> Option<u64> {
    let all = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let of_container = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let of_container = of_container.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    Some(of_container.map_or(all, |most: u64| most.min(all)))
}

/// Memory used by all processes together, including swap.
pub(super) fn taken_on_machine() -> Option<u64> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let of = |name| kilobytes(&table, name);
    let taken = of("MemTotal:")?.saturating_sub(of("MemAvailable:")?);
    Some(taken + of("SwapTotal:")?.saturating_sub(of("SwapFree:")?))
}

/// An upper bound: pages shared since a fork count for each process.
pub(super) fn at_most(processes: &[i32]) -> u64 {
    let of = |pid: &i32| {
        let table = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        Some(kilobytes(&table, "RssAnon:")? + kilobytes(&table, "VmSwap:").unwrap_or_default())
    };
    processes.iter().filter_map(of).sum()
}

/// Shared pages are divided among their processes. A process that does not report them counts in full.
pub(super) fn own(processes: &[i32]) -> u64 {
    let of = |pid: &i32| {
        let table = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let parts =
            kilobytes(&table, "Pss_Anon:").map(|pages| pages + kilobytes(&table, "SwapPss:").unwrap_or_default());
        parts.unwrap_or_else(|| at_most(std::slice::from_ref(pid)))
    };
    processes.iter().map(of).sum()
}

/// Parses the line `name   12 kB` to bytes.
fn kilobytes(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let table = "Name:\tx\nRssAnon:\t     128 kB\nVmSwap:\t       0 kB\n";
        assert_eq!((kilobytes(table, "RssAnon:"), kilobytes(table, "VmSwap:")), (Some(128 * 1024), Some(0)));
        assert_eq!(kilobytes(table, "Gone:"), None);
        let me = [i32::try_from(std::process::id()).unwrap()];
        assert!(own(&me) > 0 && own(&me) <= at_most(&me) + (64 << 20));
        assert!(taken_on_machine().unwrap() > 0 && of_machine().unwrap() > 1 << 20);
        assert_eq!(at_most(&[-1]), 0);
    }
}
