//! Reads from the environment how long file lists are cached.

use std::time::Duration;

use omp_types::{Env, EnvVar, vars};
use omp_workspace::ScanPolicy;

/// Returns the defaults, overridden by the environment. A value that is not a number is ignored.
pub(crate) fn scan_policy(env: &Env) -> ScanPolicy {
    let number = |variable: EnvVar| env.get(variable).and_then(|value| value.trim().parse::<u64>().ok());
    let time = |variable, default| number(variable).map_or(default, Duration::from_millis);
    let default = ScanPolicy::default();
    ScanPolicy {
        ttl: time(vars::FS_SCAN_CACHE_TTL_MS, default.ttl),
        empty_recheck: time(vars::FS_SCAN_EMPTY_RECHECK_MS, default.empty_recheck),
        max_scans: number(vars::FS_SCAN_CACHE_MAX_ENTRIES)
            .map_or(default.max_scans, |scans| usize::try_from(scans).unwrap_or(usize::MAX)),
        ..default
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_the_defaults() {
        let env =
            [("FS_SCAN_CACHE_TTL_MS", "0"), ("FS_SCAN_EMPTY_RECHECK_MS", "soon"), ("FS_SCAN_CACHE_MAX_ENTRIES", "3")];
        let expect = ScanPolicy { ttl: Duration::ZERO, max_scans: 3, ..ScanPolicy::default() };
        assert_eq!(scan_policy(&env.into_iter().collect()), expect);
        assert_eq!(scan_policy(&Env::default()), ScanPolicy::default());
    }
}
