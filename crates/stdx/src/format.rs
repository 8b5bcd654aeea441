//! Formats numbers for people: sizes, durations, counts.

use std::time::Duration;

/// `512B`, `1.5KB`, `50KB`, `2.3MB`: powers of 1024, one decimal below ten.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KB", "MB", "GB", "TB", "PB", "EB"];
    if count < 1024 {
        return format!("{count}B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{}{}", short_decimal(value), UNITS[unit])
}

/// `850ms`, `4.2s`, `3m 05s`, `2h 07m`, `3d 4h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        _ if time.as_millis() < 1000 => format!("{}ms", time.as_millis()),
        0..60 => format!("{}s", short_decimal(time.as_millis() as f64 / 1000.0)),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// `12,345`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `950`, `1.2k`, `34k`, `5.6M`.
pub fn compact(count: u64) -> String {
    let (scale, suffix) = match count {
        0..1000 => return count.to_string(),
        1000..1_000_000 => (1e3, "k"),
        1_000_000..1_000_000_000 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    format!("{}{suffix}", short_decimal(count as f64 / scale))
}

/// `1 match`, `1,200 matches`.
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count as u64), if count == 1 { one } else { many })
}

/// Uses one decimal below ten unless it is zero, none above; truncated and not rounded up, so that a limit is never shown as
/// reached too early.
fn short_decimal(value: f64) -> String {
    let tenths = (value * 10.0).floor() / 10.0;
    if tenths >= 10.0 || tenths.fract() == 0.0 { format!("{}", tenths.floor()) } else { format!("{tenths:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        for (count, want) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1KB"),
            (1536, "1.5KB"),
            (50 * 1024, "50KB"),
            (1024 * 1024 - 1, "1023KB"),
            (1024 * 1024, "1MB"),
            (u64::MAX, "16EB"),
        ] {
            assert_eq!(bytes(count), want, "{count}");
        }
    }

    #[test]
    fn durations() {
        for (millis, want) in [
            (0, "0ms"),
            (999, "999ms"),
            (1000, "1s"),
            (4_250, "4.2s"),
            (59_999, "59s"),
            (185_000, "3m 05s"),
            (7_620_000, "2h 07m"),
            (273_600_000, "3d 4h"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), want, "{millis}");
        }
    }

    #[test]
    fn counts() {
        for (count, want) in [
            (0, "0 0"),
            (999, "999 999"),
            (1000, "1,000 1k"),
            (34_567, "34,567 34k"),
            (999_999, "999,999 999k"),
            (1_234_567, "1,234,567 1.2M"),
        ] {
            assert_eq!(format!("{} {}", grouped(count), compact(count)), want, "{count}");
        }
        assert_eq!(plural(1, "match", "matches"), "1 match");
        assert_eq!(plural(1200, "match", "matches"), "1,200 matches");
    }

    proptest! {
        #[test]
        fn grouping_keeps_the_digits(count in any::<u64>()) {
            prop_assert_eq!(grouped(count).replace(',', ""), count.to_string());
        }

        #[test]
        fn short_forms_stay_short(count in any::<u64>()) {
            prop_assert!(bytes(count).len() <= 6, "{}", bytes(count));
        }
    }
}
