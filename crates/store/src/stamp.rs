//! Timestamps in session files: `2026-11-15T20:00:03.186Z`, and with dashes in file names.

use std::time::SystemTime;

use jiff::Timestamp;

pub(crate) fn iso(time: SystemTime) -> String {
    Timestamp::try_from(time).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Replaces colons and dots, which are not allowed in file names everywhere.
pub(crate) fn for_file_name(iso: &str) -> String {
    iso.replace([':', '.'], "-")
}

/// Returns milliseconds since the epoch, or 0 for an invalid time.
pub(crate) fn to_ms(iso: &str) -> u64 {
    iso.parse::<Timestamp>().ok().and_then(|time| u64::try_from(time.as_millisecond()).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn times_have_the_shape_of_the_sample() {
        let time = UNIX_EPOCH + Duration::from_millis(1_794_772_803_186);
        assert_eq!(iso(time), "2026-11-15T20:00:03.186Z");
        assert_eq!(for_file_name(&iso(time)), "2026-11-15T20-00-03-186Z");
        assert_eq!(to_ms(&iso(time)), 1_794_772_803_186);
        assert_eq!(iso(UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        assert_eq!(to_ms("yesterday"), 0);
    }
}
