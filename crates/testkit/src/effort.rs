//! Measures the CPU time of a thread, for tests with a time limit: a wall clock would include the load of other processes.

use std::time::Duration;

/// Measures the CPU time of the current thread since its creation.
pub struct Effort(Duration);

impl Effort {
    pub fn begin() -> Self {
        Self(worked())
    }

    pub fn spent(&self) -> Duration {
        worked().saturating_sub(self.0)
    }
}

/// Returns the CPU time of this thread.
fn worked() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanos| nanos.parse().ok()).map_or_else(clock, Duration::from_nanos)
}

/// Other systems use elapsed time instead.
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
