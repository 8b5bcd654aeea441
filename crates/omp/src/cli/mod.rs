//! The command line: parses flags into plain data and makes no decisions. Each subcommand has its own file or folder.

pub mod config;
pub mod context;
pub mod demo;
pub mod doctor;
pub mod faces;
pub mod first_word;
mod help;
pub mod sessions;
pub mod trust;
pub mod ttsr;
mod typed_line;
pub mod usage_error;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use omp_commands::{parse_cost, parse_tokens};
use omp_config::RunPins;
use omp_types::ThinkingLevel;

use config::ConfigArgs;
use context::ContextArgs;
use doctor::DoctorArgs;
use faces::{FindArgs, GrepArgs, ReadArgs};
use sessions::SessionsArgs;
use trust::TrustArgs;
use ttsr::TtsrArgs;

const EXAMPLES: &str = "\
Examples:
  omp                                        start a session in the terminal
  omp fix the failing test                   the same, with a first message
  omp -c                                     continue the last session of this folder
  omp demo                                   watch omp work on a sample project, no key needed
  omp -p \"why does the build fail?\"          print one answer and exit
  git diff | omp -p \"review this\"            send piped text before the message
  omp -p @screenshot.png \"what is wrong?\"    attach files and images
  omp -c -p \"now add a test\"                 continue the last session of this folder
  omp --export 01a1e0cb talk.html            export a session as an HTML page
  omp --mode json -p \"…\"                     print every event as a JSON line
  omp --mode rpc                             serve another program
  omp grep \"fn main\" src                     use a tool by hand: read, grep, find
  omp acp                                    serve an editor (editors start this themselves)
  omp --plain                                plain lines, for screen readers
  omp config list                            list every setting, its value and its source
  omp doctor                                 check this machine
  omp setup                                  find or enter an API key, find local model servers

Exit codes: 0 done, 1 model or provider failed, 2 bad usage, 3 a limit was reached, 130 interrupted.
read, grep, find: 0 found, 1 nothing found, 2 could not look.";

/// A coding agent that works in your repository.
#[derive(Parser, Debug)]
#[command(
    name = "omp",
    version,
    after_help = EXAMPLES,
    subcommand_negates_reqs = true,
    args_conflicts_with_subcommands = true,
    args_override_self = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Subcommands>,

    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Subcommand, Debug)]
pub enum Subcommands {
    /// Show omp at work on a small sample project, without a model or a key
    Demo,
    /// Print a file or list a folder, as the model would see it: `omp read src/main.rs:40-80`
    Read(ReadArgs),
    /// Search file contents, as the model would: `omp grep 'fn main' src`
    #[command(visible_alias = "search")]
    Grep(GrepArgs),
    /// Find files by glob, newest first, as the model would: `omp find '*.rs'`
    Find(FindArgs),
    /// Serve an editor over standard input and output (Agent Client Protocol)
    Acp(AcpArgs),
    /// List, search, show, rename, move, archive, delete and repair sessions
    Sessions(SessionsArgs),
    /// Show and change settings: list, get, set, reset, path, schema, sources
    Config(ConfigArgs),
    /// Manage which folders may run their own hooks, servers and commands: list, add, remove, explain
    Trust(TrustArgs),
    /// Show what each part of the prompt costs in tokens: system text, notes, rules, skills, tools, conversation
    Context(ContextArgs),
    /// List the rules that watch what the model writes, or try one on a file or a session
    Ttsr(TtsrArgs),
    /// Check this machine: containment, model and keys, shell, git, terminal, folders
    Doctor(DoctorArgs),
    /// Set up a model: find API keys and local model servers, or enter a key
    Setup,
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Editors start this themselves; docs/acp.md shows how to set them up.")]
pub struct AcpArgs {
    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub tools: ToolArgs,

    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Store sessions in this folder
    #[arg(long, value_name = "FOLDER")]
    pub session_dir: Option<PathBuf>,

    /// Read more settings from this file, which win over config.yml (repeatable)
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
}

impl From<AcpArgs> for RunArgs {
    fn from(args: AcpArgs) -> Self {
        let AcpArgs { model, tools, budget, session_dir, config } = args;
        let session = SessionArgs { session_dir, ..SessionArgs::default() };
        Self { model, tools, budget, session, config, ..Self::default() }
    }
}

#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// What to do. Unquoted words are one message; quoted messages are sent one after the other. `@file` attaches a file
    /// to the first
    #[arg(value_name = "MESSAGE")]
    pub messages: Vec<String>,

    /// Print the answer and exit
    #[arg(short, long)]
    pub print: bool,

    /// What to print
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub mode: OutputMode,

    /// Use plain lines of text, for screen readers: nothing is redrawn, colored or animated
    #[arg(long, conflicts_with_all = ["print", "mode"])]
    pub plain: bool,

    /// Work in this folder instead of the current one
    #[arg(long, value_name = "FOLDER")]
    pub cwd: Option<PathBuf>,

    /// Read more settings from this file, which win over config.yml (repeatable)
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,

    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub session: SessionArgs,

    /// Export a session as an HTML page and exit. FILE is its file or the start of its id, OUT the page to write (default:
    /// omp-session-….html)
    #[arg(long, value_names = ["FILE", "OUT"], num_args = 1..=2, help_heading = "Session")]
    pub export: Vec<String>,

    #[command(flatten)]
    pub tools: ToolArgs,

    #[command(flatten)]
    pub prompt: PromptArgs,

    #[command(flatten)]
    pub budget: BudgetArgs,

    /// Stop after this time: seconds, or 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub max_time: Option<Duration>,
}

#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Budget")]
pub struct BudgetArgs {
    /// Stop before a request that would take the run over this many tokens, including cached ones: 200000, 200k, 1.5M
    #[arg(long, value_name = "COUNT", value_parser = parse_tokens)]
    pub max_tokens: Option<u64>,

    /// Stop before a request that would take the run over this cost in dollars: 0.50
    #[arg(long, value_name = "DOLLARS", value_parser = parse_cost)]
    pub max_cost: Option<f64>,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Prompt")]
pub struct PromptArgs {
    /// Replace the system prompt (text, or the path of a file)
    #[arg(long, value_name = "TEXT|FILE")]
    pub system_prompt: Option<String>,

    /// Add to the system prompt (text, or the path of a file)
    #[arg(long, value_name = "TEXT|FILE")]
    pub append_system_prompt: Option<String>,

    /// Where these files are looked for as well
    #[arg(skip)]
    pub started_in: Option<PathBuf>,

    /// Ignore all rules, in the prompt and for the model's output
    #[arg(long)]
    pub no_rules: bool,

    /// Use only these skills; `*` in a name matches anything
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub skills: Vec<String>,

    /// Use no skills
    #[arg(long, conflicts_with = "skills")]
    pub no_skills: bool,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// Model to use: provider/id, an id, or part of one. `:high` and the like at its end set the thinking level.
    /// `replay/FILE` replays a recording made with --record
    #[arg(long, value_name = "PATTERN")]
    pub model: Option<String>,

    /// Models to choose from in this run: names or patterns such as `anthropic/*` or `*sonnet*`, separated by commas.
    /// /model lists them, ctrl+p goes through them, and without --model the first one is used
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub models: Vec<String>,

    #[command(flatten)]
    pub roles: RoleArgs,

    /// Provider of the model (older form of --model provider/id)
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,

    /// API key for the model's provider, for this run only
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<String>,

    /// How hard to think: off, minimal, low, medium, high, xhigh
    #[arg(long, value_name = "LEVEL")]
    pub thinking: Option<ThinkingLevel>,

    /// Service tier, for providers that have them: none, auto, default, flex, scale, priority
    #[arg(long, value_name = "TIER")]
    pub service_tier: Option<String>,

    /// Record every exchange with the provider in this file, without keys; `--model replay/FILE` replays it offline
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// List the models you can use; with FILTER, search all known models
    #[arg(long, value_name = "FILTER", num_args = 0..=1, default_missing_value = "")]
    pub list_models: Option<String>,
}

/// What wins over the variables and over `modelRoles`.
#[derive(Args, Clone, Debug, Default)]
pub struct RoleArgs {
    /// Model for quick, cheap work; `--model pi/smol` uses it
    #[arg(long, value_name = "PATTERN")]
    pub smol: Option<String>,

    /// Model for hard questions; `--model pi/slow` uses it
    #[arg(long, value_name = "PATTERN")]
    pub slow: Option<String>,

    /// Model for plans; `--model pi/plan` uses it
    #[arg(long, value_name = "PATTERN")]
    pub plan: Option<String>,
}

impl RoleArgs {
    pub fn flags(&self) -> BTreeMap<String, String> {
        let Self { smol, slow, plan } = self;
        let rows = [("smol", smol), ("slow", slow), ("plan", plan)];
        rows.into_iter().filter_map(|(role, model)| Some((role.to_owned(), model.clone()?))).collect()
    }
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Session")]
pub struct SessionArgs {
    /// Continue the last session of this folder: the one of this terminal, else the newest
    #[arg(short, long, conflicts_with = "resume")]
    pub r#continue: bool,

    /// Continue a session, named by the start of its id or the path of its file; without a value, choose from a list
    #[arg(short, long, value_name = "ID|PATH", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// Continue in a copy of a session, including its artifacts; the session itself is not changed
    #[arg(long, value_name = "ID|PATH", conflicts_with_all = ["continue", "resume", "no_session"])]
    pub fork: Option<String>,

    /// Store sessions in this folder
    #[arg(long, value_name = "FOLDER")]
    pub session_dir: Option<PathBuf>,

    /// Do not generate a title for the session
    #[arg(long)]
    pub no_title: bool,

    /// Do not save the session
    #[arg(long, conflicts_with_all = ["continue", "resume"])]
    pub no_session: bool,
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Tools")]
pub struct ToolArgs {
    /// Offer only these tools, including ones that are off by default
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub tools: Vec<String>,

    /// Offer no tools
    #[arg(long, conflicts_with = "tools")]
    pub no_tools: bool,

    /// Give no command a terminal that you can type into
    #[arg(long)]
    pub no_pty: bool,

    /// Run calls without asking, except those that cannot be undone; your rules that deny or ask still apply
    #[arg(long, visible_alias = "yolo")]
    pub auto_approve: bool,

    /// Which calls need approval; with -p nobody can be asked, so they are refused
    #[arg(long, value_enum, value_name = "MODE", conflicts_with = "auto_approve")]
    pub approval_mode: Option<ApprovalFlag>,

    /// Let this folder run its own hooks, servers and commands, as they are now, for this run only
    #[arg(long)]
    pub trust: bool,

    /// What `--trust` covers, once that was looked up.
    #[arg(skip)]
    pub trusted: Option<Arc<RunPins>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// Only the answer
    #[default]
    Text,
    /// Every event, one JSON object per line
    Json,
    /// Serve a program: commands on standard input, events on standard output
    Rpc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApprovalFlag {
    /// Only calls whose effects cannot be undone
    #[value(alias = "yolo")]
    Auto,
    /// Changes outside of build folders
    AskWrites,
    /// Everything except reading
    #[value(alias = "always-ask")]
    AskAll,
    /// Commands, but not changes to files
    #[value(hide = true)]
    Write,
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("unknown unit `{unit}`; use ms, s, m or h")),
    };
    let seconds = digits.parse::<f64>().ok().map(|number| number * factor).filter(|s| s.is_finite() && *s > 0.0);
    seconds
        .and_then(|s| Duration::try_from_secs_f64(s).ok())
        .ok_or_else(|| "a positive time such as 90s or 10m".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_last_of_a_repeated_flag_wins_so_that_aliases_can_hold_defaults() {
        let cli = Cli::try_parse_from([
            "omp", "--model", "a", "--config", "1", "-p", "--model", "b", "-p", "--config", "2", "x", "y", "--tools",
            "r", "--tools", "s,t",
        ]);
        let run = cli.unwrap().run;
        assert_eq!(run.model.model.as_deref(), Some("b"));
        assert_eq!(run.config, [PathBuf::from("1"), PathBuf::from("2")]);
        assert_eq!(run.messages, ["x", "y"]);
        assert_eq!(run.tools.tools, ["r", "s", "t"]);
        assert!(run.print);
    }

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("5", 5.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0), ("250ms", 0.25)] {
            assert_eq!(parse_time(text).unwrap(), Duration::from_secs_f64(seconds), "{text}");
        }
        for text in ["", "0", "-1", "5 d", "5d", "h", "inf", "1e400"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
