//! Prints figures beside their limits, each as soon as it is measured.

use std::time::Duration;

pub struct Table;

/// The limit of a figure, and its unit.
pub struct Limit {
    most: f64,
    text: String,
}

impl Limit {
    pub fn ms(most: u64) -> Self {
        Self { most: most as f64, text: format!("{most} ms") }
    }

    /// A share of a core.
    pub fn share(most: f64) -> Self {
        Self { most, text: format!("{} %", most * 100.0) }
    }
}

impl Table {
    pub fn begin() -> Self {
        println!("| | measured | limit | measured to limit |\n|---|---|---|---|");
        Self
    }

    /// `ratio` is the figure divided by its limit.
    pub fn add(&self, what: &str, measured: String, ratio: f64, limit: &str) {
        let ratio = if limit.is_empty() { String::new() } else { format!("{ratio:.2}") };
        println!("| {what} | {measured} | {limit} | {ratio} |");
    }

    pub fn times(&self, what: &str, times: &mut [Duration], limit: Limit) {
        times.sort();
        let [low, median, high] = [0, times.len() / 2, times.len() - 1].map(|at| ms(times[at]));
        self.add(what, format!("{median:.1} ms ({low:.1} to {high:.1})"), median / limit.most, &limit.text);
    }

    /// The slowest time counts.
    pub fn latency(&self, what: &str, times: &mut [Duration], limit: Limit) {
        times.sort();
        let at = |part: usize| ms(times[(times.len() - 1) * part / 100]);
        let measured = format!("{:.1} ms, p99 {:.1}, at most {:.1} of {}", at(50), at(99), at(100), times.len());
        self.add(what, measured, at(100) / limit.most, &limit.text);
    }

    /// `share` of a core.
    pub fn share(&self, what: &str, share: f64, bytes: usize, limit: Limit) {
        // A limit of zero is met if the clock ticks show no time.
        let ratio = if limit.most > 0.0 { share / limit.most } else { share / 0.001 };
        self.add(what, format!("{:.2} % of a core, {bytes} bytes", share * 100.0), ratio, &limit.text);
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
