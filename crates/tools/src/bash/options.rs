//! The settings of `bash` and `job`.

use std::time::Duration;

use omp_exec::ProcessLimits;
use serde::Deserialize;

use super::intercept::InterceptRule;
use crate::options::ToolSettings;
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
        Self::read(&ToolSettings::UNSET)
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
    pub(crate) fn read(settings: &ToolSettings) -> Self {
        let own_rules: Option<_> = settings.get("bashInterceptor.patterns");
        let rules = || own_rules.unwrap_or_else(default_intercepts);
        let threshold = || Duration::from_millis(settings.get("bash.autoBackground.thresholdMs"));
        Self {
            enabled: settings.get("bash.enabled"),
            shell_path: settings.get("shellPath"),
            start_files: settings.get("bash.startFilesTimeout"),
            strip_head_tail: settings.get("bash.stripTrailingHeadTail"),
            max_processes: settings.get("bash.maxProcesses"),
            max_memory: settings.get("bash.maxMemory"),
            max_file_size: settings.get("bash.maxFileSize"),
            max_timeout: settings.get("tools.maxTimeout"),
            intercept: if settings.get("bashInterceptor.enabled") { rules() } else { Vec::new() },
            jobs: settings.get("async.enabled"),
            max_jobs: settings.get("async.maxJobs"),
            poll_wait: settings.get::<PollWait>("async.pollWaitDuration").0,
            background_after: settings.get::<bool>("bash.autoBackground.enabled").then(threshold),
            minimizer: MinimizerOptions::read(settings),
            sink: sink_limits(settings),
        }
    }
}

impl MinimizerOptions {
    fn read(settings: &ToolSettings) -> Self {
        Self {
            enabled: settings.get("shellMinimizer.enabled"),
            only: settings.get("shellMinimizer.only"),
            except: settings.get("shellMinimizer.except"),
            max_capture: settings.get::<usize>("shellMinimizer.maxCaptureBytes").min(MAX_CAPTURE),
        }
    }
}

impl Default for MinimizerOptions {
    fn default() -> Self {
        Self::read(&ToolSettings::UNSET)
    }
}

/// `5s` or `1m`.
#[derive(Default, Deserialize)]
#[serde(try_from = "String")]
struct PollWait(Duration);

impl TryFrom<String> for PollWait {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        duration(&text).map(Self).ok_or("a number and `s` or `m`")
    }
}

/// Caps the memory used for one output, whatever the settings say.
const MAX_CAPTURE: usize = 64 * 1024 * 1024;
/// Caps the output shown, whatever the settings say.
const MAX_KILOBYTES: usize = 1024;

fn sink_limits(settings: &ToolSettings) -> SinkLimits {
    let bytes = |key: &str| settings.get::<usize>(key).clamp(1, MAX_KILOBYTES) * 1024;
    let spill_bytes = bytes("tools.artifactSpillThreshold");
    let columns: usize = settings.get("tools.outputMaxColumns");
    SinkLimits {
        spill_bytes,
        // The shown part of a truncated output must be smaller than the limit that truncates it.
        head_bytes: bytes("tools.artifactHeadBytes").min(spill_bytes / 2),
        tail_bytes: bytes("tools.artifactTailBytes").min(spill_bytes / 2),
        tail_lines: settings.get("tools.artifactTailLines"),
        columns: if columns == 0 { usize::MAX / 8 } else { columns },
        capture_bytes: 0,
    }
}

impl Default for SinkLimits {
    fn default() -> Self {
        sink_limits(&ToolSettings::UNSET)
    }
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
        let options = crate::ToolOptions::read(&get).bash;
        assert_eq!(options.poll_wait, Duration::from_secs(300));
        assert_eq!(options.intercept, default_intercepts());
        assert_eq!(options.background_after, Some(Duration::from_millis(5)));
        assert_eq!((options.sink.spill_bytes, options.sink.head_bytes), (100 * 1024, 20 * 1024));
        assert!(options.sink.columns > 1_000_000);
        assert_eq!(options.minimizer.except, ["cargo"]);
        let options = crate::ToolOptions::read(&|_| Some(json!("nonsense"))).bash;
        assert_eq!(options, BashOptions { shell_path: Some("nonsense".to_owned()), ..BashOptions::default() });
        assert_eq!((options.poll_wait, options.max_jobs), (Duration::from_secs(30), 100));
    }
}
