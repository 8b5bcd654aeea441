//! `omp read`, `omp grep` and `omp find`: the tools of the same name for people and scripts. They print what a model would
//! read, because they make the same call.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use omp_agent::{Tool, ToolCx, ToolOutput};
use omp_headless::Exit;
use omp_tools::{Find, Read, Search};
use omp_types::{Content, Editor, Env};
use serde_json::{Map, Value, json};

use crate::cli::demo;
use crate::cli::{RunArgs, ToolArgs};
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::{print, warn};
use crate::session::sessions;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  omp read src/main.rs:40-80\n  omp read docs")]
pub struct ReadArgs {
    /// A file or a folder; `:40-80`, `:40+20` or `:raw` behind a file picks lines or leaves the numbers out
    #[arg(value_name = "PATH")]
    path: String,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  omp grep 'fn main' src\n  omp grep -i todo '*.rs' docs -C 0")]
pub struct GrepArgs {
    /// A regular expression (Rust syntax); with `\n` it matches across lines
    #[arg(value_name = "PATTERN")]
    pattern: String,

    /// Files, folders or globs (default: this folder)
    #[arg(value_name = "PATH")]
    paths: Vec<String>,

    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,

    /// Search ignored files too
    #[arg(long)]
    no_ignore: bool,

    /// Matches to leave out, to see the next page
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u32,

    /// Lines to show before a match
    #[arg(short = 'B', long, value_name = "N")]
    before: Option<u16>,

    /// Lines to show after a match
    #[arg(short = 'A', long, value_name = "N")]
    after: Option<u16>,

    /// Lines to show before and after a match
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<u16>,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  omp find '*.rs'\n  omp find 'src/**/*test*' --limit 20")]
pub struct FindArgs {
    /// Globs, files or folders; a glob without a folder matches at any depth
    #[arg(value_name = "GLOB", required = true)]
    globs: Vec<String>,

    /// Leave out hidden files
    #[arg(long)]
    no_hidden: bool,

    /// At most so many paths
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: u32,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args, Debug)]
struct OutputArgs {
    /// One JSON object: the text and what is known of it
    #[arg(long)]
    json: bool,
}

pub async fn read(args: ReadArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let call = ExampleCall { tool: Read::NAME, arguments: json!({"path": args.path}), counts: None };
    call.run(setup(env)?, args.output.json).await
}

pub async fn grep(args: GrepArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let mut setup = setup(env)?;
    let context = [("search.contextBefore", args.before), ("search.contextAfter", args.after)];
    for (setting, lines) in context.map(|(setting, lines)| (setting, lines.or(args.context))) {
        if let Some(lines) = lines {
            setup.settings.set_runtime(setting, lines.into());
        }
    }
    let paths = if args.paths.is_empty() { vec![".".to_owned()] } else { args.paths };
    let arguments = json!({
        "pattern": args.pattern,
        "paths": paths,
        "i": args.ignore_case,
        "gitignore": !args.no_ignore,
        "skip": args.skip,
    });
    ExampleCall { tool: Search::NAME, arguments, counts: Some("matchCount") }.run(setup, args.output.json).await
}

pub async fn find(args: FindArgs, env: &Env) -> Result<Exit, FolderProblem> {
    let arguments = json!({"paths": args.globs, "hidden": !args.no_hidden, "limit": args.limit});
    let call = ExampleCall { tool: Find::NAME, arguments, counts: Some("fileCount") };
    call.run(setup(env)?, args.output.json).await
}

fn setup(env: &Env) -> Result<FolderSetup, FolderProblem> {
    let setup = FolderSetup::new(&RunArgs::default(), env)?;
    warn(&setup.warnings);
    Ok(setup)
}

/// A tool call as a model would make it.
struct ExampleCall {
    tool: &'static str,
    arguments: Value,
    /// The name of the detail that is zero if nothing was found.
    counts: Option<&'static str>,
}

impl ExampleCall {
    async fn run(self, mut setup: FolderSetup, as_json: bool) -> Result<Exit, FolderProblem> {
        // The settings decide which tools models get; a person may use these in any case.
        setup.settings.set_runtime(&format!("{}.enabled", self.tool), true.into());
        let opened = sessions::unrecorded(&setup.cwd);
        // The tools need a model in their context, but none of these three uses it.
        let (model, ..) = demo::model(Duration::ZERO);
        let only = ToolArgs { tools: vec![self.tool.to_owned()], ..ToolArgs::default() };
        let tools = setup.tools(&only, &model, false, Editor::default(), &opened)?.tools;
        let tool = tools.first().ok_or_else(|| format!("unknown tool `{}`", self.tool))?;
        let output = tool
            .plan(Arc::new(self.arguments))?
            .run(ToolCx::detached("cli"))
            .await
            .map_err(|error| error.to_string())?;
        let text = text_of(&output);
        if output.is_error {
            return Err(text);
        }
        let details = output.details.unwrap_or_default();
        let found = self.counts.is_none_or(|name| details[name].as_u64() != Some(0));
        print(&if as_json { to_json(text, details) } else { text + "\n" })?;
        Ok(if found { Exit::Success } else { Exit::Failed })
    }
}

fn text_of(output: &ToolOutput) -> String {
    let parts: Vec<&str> = output.content.iter().filter_map(Content::as_text).collect();
    parts.join("\n").trim_end().to_owned()
}

fn to_json(text: String, details: Value) -> String {
    let mut object = match details {
        Value::Object(details) => details,
        _ => Map::new(),
    };
    object.insert("text".into(), text.into());
    format!("{}\n", Value::Object(object))
}
