//! Figures beside their limits.

use std::time::Duration;

#[derive(Default)]
pub struct Table {
    rows: Vec<[String; 4]>,
}

/// How much a figure may be, and how it is written.
pub struct Limit {
    most: f64,
    text: String,
}

impl Limit {
    pub fn ms(most: u64) -> Self {
        Self { most: most as f64, text: format!("{most} ms") }
    }

    /// Of a core.
    pub fn share(most: f64) -> Self {
        Self { most, text: format!("{} %", most * 100.0) }
    }
}

impl Table {
    /// `ratio` is the figure to its limit.
    pub fn add(&mut self, what: &str, measured: String, ratio: f64, limit: &str) {
        let ratio = if limit.is_empty() { String::new() } else { format!("{ratio:.2}") };
        self.rows.push([what.to_owned(), measured, limit.to_owned(), ratio]);
    }

    pub fn times(&mut self, what: &str, times: &mut [Duration], limit: Limit) {
        times.sort();
        let [low, median, high] = [0, times.len() / 2, times.len() - 1].map(|at| ms(times[at]));
        self.add(what, format!("{median:.1} ms ({low:.1} to {high:.1})"), median / limit.most, &limit.text);
    }

    /// The slowest counts.
    pub fn latency(&mut self, what: &str, times: &mut [Duration], limit: Limit) {
        times.sort();
        let at = |part: usize| ms(times[(times.len() - 1) * part / 100]);
        let measured = format!("{:.1} ms, p99 {:.1}, at most {:.1} of {}", at(50), at(99), at(100), times.len());
        self.add(what, measured, at(100) / limit.most, &limit.text);
    }

    /// `share` of a core.
    pub fn share(&mut self, what: &str, share: f64, bytes: usize, limit: Limit) {
        // A limit of nothing is held by what no clock tick sees.
        let ratio = if limit.most > 0.0 { share / limit.most } else { share / 0.001 };
        self.add(what, format!("{:.2} % of a core, {bytes} bytes", share * 100.0), ratio, &limit.text);
    }

    pub fn print(&self) {
        println!("| | measured | limit | measured to limit |\n|---|---|---|---|");
        for [what, measured, limit, ratio] in &self.rows {
            println!("| {what} | {measured} | {limit} | {ratio} |");
        }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
