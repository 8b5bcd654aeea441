//! The settings of `bash` and `job`.

use std::time::Duration;

use omp_exec::ProcessLimits;
use serde_json::Value;

use super::intercept::InterceptRule;
use crate::options::set;
use crate::output_sink::SinkLimits;
use crate::toolbox::default_intercepts;

#[derive(Clone, Debug, PartialEq)]
pub struct BashOptions {
    /// `bash.enabled`
    pub enabled: bool,
    /// `shellPath`: the shell to use instead of `$SHELL`.
    pub shell_path: Option<String>,
    /// `bash.startFilesTimeout`: seconds that the start files of the user's shell may take.
    pub start_files: f64,
    /// `bash.stripTrailingHeadTail`
    pub strip_head_tail: bool,
    /// `bash.maxProcesses`: a command with more processes is killed.
    pub max_processes: usize,
    /// `bash.maxMemory`: a command that uses more MiB is killed; 0 means three quarters of the machine's memory.
    pub max_memory: u64,
    /// `bash.maxFileSize`: MiB that a command may write to one file; 0 means no limit.
    pub max_file_size: u64,
    /// `tools.maxTimeout`: the longest timeout in seconds that a command may request; 0 means no limit.
    pub max_timeout: f64,
    /// `bashInterceptor.patterns`, empty unless `bashInterceptor.enabled`.
    pub intercept: Vec<InterceptRule>,
    /// `async.enabled`
    pub jobs: bool,
    /// `async.maxJobs`
    pub max_jobs: usize,
    /// `async.pollWaitDuration`
    pub poll_wait: Duration,
    /// `bash.autoBackground.thresholdMs`, when `bash.autoBackground.enabled`.
    pub background_after: Option<Duration>,
    pub minimizer: MinimizerOptions,
    pub sink: SinkLimits,
}

/// Selects which outputs are shortened.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimizerOptions {
    /// `shellMinimizer.enabled`
    pub enabled: bool,
    /// `shellMinimizer.only`: programs whose output is shortened; empty means all known programs.
    pub only: Vec<String>,
    /// `shellMinimizer.except`
    pub except: Vec<String>,
    /// `shellMinimizer.maxCaptureBytes`: longer output is not shortened.
    pub max_capture: usize,
}

impl Default for BashOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            shell_path: None,
            start_files: 10.0,
            strip_head_tail: true,
            max_processes: 1000,
            max_memory: 0,
            max_file_size: 65_536,
            max_timeout: 0.0,
            intercept: Vec::new(),
            jobs: false,
            max_jobs: 100,
            poll_wait: Duration::from_secs(30),
            background_after: None,
            minimizer: MinimizerOptions::default(),
            sink: SinkLimits::default(),
        }
    }
}

impl Default for MinimizerOptions {
    fn default() -> Self {
        Self { enabled: true, only: Vec::new(), except: Vec::new(), max_capture: 4 * 1024 * 1024 }
    }
}

impl BashOptions {
    /// Returns the resource limits for the process tree of one command.
    pub(super) fn limits(&self) -> ProcessLimits {
        let usual = ProcessLimits::of_commands();
        let megabytes = |count: u64| Some(count).filter(|count| *count > 0).map(|count| count << 20);
        ProcessLimits {
            tree_processes: Some(self.max_processes),
            tree_memory: megabytes(self.max_memory).or(usual.tree_memory),
            file_bytes: megabytes(self.max_file_size),
            ..usual
        }
    }

    /// See [`crate::ToolOptions::read`].
    pub(crate) fn read(&mut self, get: &dyn Fn(&str) -> Option<Value>) {
        set(get, "bash.enabled", &mut self.enabled);
        set(get, "shellPath", &mut self.shell_path);
        set(get, "bash.startFilesTimeout", &mut self.start_files);
        set(get, "bash.stripTrailingHeadTail", &mut self.strip_head_tail);
        set(get, "bash.maxProcesses", &mut self.max_processes);
        set(get, "bash.maxMemory", &mut self.max_memory);
        set(get, "bash.maxFileSize", &mut self.max_file_size);
        set(get, "tools.maxTimeout", &mut self.max_timeout);
        if flag(get, "bashInterceptor.enabled") {
            self.intercept = default_intercepts();
            set(get, "bashInterceptor.patterns", &mut self.intercept);
        }
        set(get, "async.enabled", &mut self.jobs);
        set(get, "async.maxJobs", &mut self.max_jobs);
        let mut wait = String::new();
        set(get, "async.pollWaitDuration", &mut wait);
        self.poll_wait = duration(&wait).unwrap_or(self.poll_wait);
        if flag(get, "bash.autoBackground.enabled") {
            let mut threshold = 60_000;
            set(get, "bash.autoBackground.thresholdMs", &mut threshold);
            self.background_after = Some(Duration::from_millis(threshold));
        }
        set(get, "shellMinimizer.enabled", &mut self.minimizer.enabled);
        set(get, "shellMinimizer.only", &mut self.minimizer.only);
        set(get, "shellMinimizer.except", &mut self.minimizer.except);
        set(get, "shellMinimizer.maxCaptureBytes", &mut self.minimizer.max_capture);
        self.minimizer.max_capture = self.minimizer.max_capture.min(MAX_CAPTURE);
        read_sink(&mut self.sink, get);
    }
}

/// Caps the memory used for one output, whatever the settings say.
const MAX_CAPTURE: usize = 64 * 1024 * 1024;
/// Caps the output shown, whatever the settings say.
const MAX_KILOBYTES: usize = 1024;

fn read_sink(sink: &mut SinkLimits, get: &dyn Fn(&str) -> Option<Value>) {
    let kilobytes = |key: &str, place: &mut usize| {
        let mut count = *place / 1024;
        set(get, key, &mut count);
        *place = count.clamp(1, MAX_KILOBYTES) * 1024;
    };
    kilobytes("tools.artifactSpillThreshold", &mut sink.spill_bytes);
    kilobytes("tools.artifactHeadBytes", &mut sink.head_bytes);
    kilobytes("tools.artifactTailBytes", &mut sink.tail_bytes);
    set(get, "tools.artifactTailLines", &mut sink.tail_lines);
    set(get, "tools.outputMaxColumns", &mut sink.columns);
    if sink.columns == 0 {
        sink.columns = usize::MAX / 8;
    }
    // The shown part of a truncated output must be smaller than the limit that truncates it.
    sink.head_bytes = sink.head_bytes.min(sink.spill_bytes / 2);
    sink.tail_bytes = sink.tail_bytes.min(sink.spill_bytes / 2);
}

fn flag(get: &dyn Fn(&str) -> Option<Value>, key: &str) -> bool {
    let mut on = false;
    set(get, key, &mut on);
    on
}

/// Parses `5s`, `1m`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    match unit {
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_go_by_their_names() {
        let get = |key: &str| match key {
            "async.pollWaitDuration" => Some(json!("5m")),
            "bashInterceptor.enabled" | "bash.autoBackground.enabled" => Some(json!(true)),
            "bash.autoBackground.thresholdMs" => Some(json!(5)),
            "tools.artifactSpillThreshold" => Some(json!(100)),
            "tools.outputMaxColumns" => Some(json!(0)),
            "shellMinimizer.except" => Some(json!(["cargo"])),
            _ => None,
        };
        let mut options = BashOptions::default();
        options.read(&get);
        assert_eq!(options.poll_wait, Duration::from_secs(300));
        assert_eq!(options.intercept, default_intercepts());
        assert_eq!(options.background_after, Some(Duration::from_millis(5)));
        assert_eq!((options.sink.spill_bytes, options.sink.head_bytes), (100 * 1024, 20 * 1024));
        assert!(options.sink.columns > 1_000_000);
        assert_eq!(options.minimizer.except, ["cargo"]);
        options.read(&|_| Some(json!("nonsense")));
        assert_eq!(options.poll_wait, Duration::from_secs(300));
    }
}
