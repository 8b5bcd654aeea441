//! How much a thread has worked, for tests that set a limit to it: a clock would also count what else the machine does.

use std::time::Duration;

/// Counts the thread that made it, from then on.
pub struct Effort(Duration);

impl Effort {
    pub fn begin() -> Self {
        Self(worked())
    }

    pub fn spent(&self) -> Duration {
        worked().saturating_sub(self.0)
    }
}

/// The time of this thread on a processor.
fn worked() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanos| nanos.parse().ok()).map_or_else(clock, Duration::from_nanos)
}

/// Elsewhere the time that passed has to do.
fn clock() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts() {
        let effort = Effort::begin();
        let mut sum = 0_u64;
        while effort.spent() < Duration::from_millis(20) {
            sum = (0..1000).fold(sum, |sum, number| std::hint::black_box(sum ^ number));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn waiting_does_not() {
        let effort = Effort::begin();
        std::thread::sleep(Duration::from_millis(200));
        assert!(effort.spent() < Duration::from_millis(100), "{:?}", effort.spent());
    }
}
