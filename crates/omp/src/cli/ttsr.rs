//! `omp ttsr`: lists the rules that watch the model's output, and tests where a rule would fire.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use omp_agent::Tool;
use omp_config::{ItemKind, Rule, rule_in};
use omp_headless::Exit;
use omp_rules::{Hit, RuleSettings, StreamListener, ViolationOrigin, Watch, bucket};
use omp_tools::Write;
use omp_types::{Content, Env, Message, ToolCall};
use serde_json::Value;

use crate::cli::RunArgs;
use crate::folder::trust;
use crate::folder::{FolderProblem, FolderSetup};
use crate::output::{print_quoted, warn};

/// Larger files are not tested.
const MAX_FILE: u64 = 64 << 20;
/// Lines shown for one file or block.
const MAX_LINES: usize = 50;

#[derive(Args, Debug)]
#[command(after_help = "Exit codes of test: 0 the rule fires, 1 it does not, 2 it could not be tested.")]
pub struct TtsrArgs {
    #[command(subcommand)]
    command: TtsrCommand,
}

#[derive(Subcommand, Debug)]
enum TtsrCommand {
    /// List the rules that watch what the model writes here
    List {
        /// Look at this folder
        #[arg(long, value_name = "FOLDER")]
        cwd: Option<PathBuf>,
    },
    /// Try a rule: `omp ttsr test rule.md src/main.rs`, or a session's .jsonl file
    Test {
        /// The rule's file, or the name of a rule that is in use here
        rule: String,
        /// A file, heard as if the model wrote it; or a session's .jsonl file, heard answer by answer
        file: PathBuf,
    },
}

pub fn run(args: TtsrArgs, env: &Env) -> Result<Exit, FolderProblem> {
    match args.command {
        TtsrCommand::List { cwd } => list(&FolderSetup::new(&RunArgs { cwd, ..RunArgs::default() }, env)?),
        TtsrCommand::Test { rule, file } => test(&FolderSetup::new(&RunArgs::default(), env)?, &rule, &file),
    }
}

fn list(setup: &FolderSetup) -> Result<Exit, FolderProblem> {
    let buckets = setup.rules();
    warn(&buckets.warnings);
    let mut text = String::new();
    for rule in buckets.ttsr.rules() {
        text.push_str(&described(rule));
    }
    let left_out = setup.trust().left_out().into_iter().filter(|item| item.kind == ItemKind::Rule);
    for item in left_out {
        let (name, path) = (trust::clean(&item.name), trust::clean(&item.path.display().to_string()));
        let does = item.runs.join(", ");
        text.push_str(&format!("\nignored until the folder is trusted: {name}  {path}\n  it {does}\n"));
    }
    if text.is_empty() {
        text.push_str("no stream rules here\n");
    }
    for (what, rules) in [("in the prompt", &buckets.always), ("read through rule://", &buckets.rulebook)] {
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        if !names.is_empty() {
            text.push_str(&format!("\n{what}: {}\n", names.join(", ")));
        }
    }
    print_quoted(&text)
}

fn described(rule: &Rule) -> String {
    let mut text = format!("{}  {}\n", rule.name, rule.source.path.display());
    let mut add = |what: &str, values: &[String]| {
        for value in values {
            text.push_str(&format!("  {what:<13} {value}\n"));
        }
    };
    add("condition", &rule.condition);
    add("astCondition", &rule.ast_condition);
    add("scope", &rule.scope);
    add("globs", &rule.globs);
    add("interruptMode", rule.interrupt_mode.as_slice());
    text
}

fn test(setup: &FolderSetup, rule: &str, file: &Path) -> Result<Exit, FolderProblem> {
    let rule = named(setup, rule)?;
    let buckets = bucket(std::slice::from_ref(&rule), &RuleSettings::default());
    warn(&buckets.warnings);
    if buckets.ttsr.is_empty() {
        return Err(format!(
            "rule `{}` has no condition\nhint: add `condition:` (a regular expression) or `astCondition:` (a code pattern) to its front matter",
            rule.name
        ));
    }
    let text = read(&setup.cwd.join(file))?;
    let is_session = file.extension().is_some_and(|extension| extension == "jsonl");
    let tried = match is_session {
        true => in_session(&buckets.ttsr, &setup.cwd, &text)?,
        false => in_file(&buckets.ttsr, &setup.cwd, file, &text),
    };
    match tried.is_empty() {
        true => {
            print_quoted(&format!("rule `{}` does not fire on {}\n", rule.name, file.display()))?;
            Ok(Exit::Failed)
        }
        false => print_quoted(&format!("rule `{}` fires on {}\n{}", rule.name, file.display(), tried.concat())),
    }
}

/// Loads a rule from a file, or finds a rule in use by its name.
fn named(setup: &FolderSetup, wanted: &str) -> Result<Rule, FolderProblem> {
    let path = setup.cwd.join(wanted);
    if path.is_file() {
        return Ok(rule_in(&path, &read(&path)?));
    }
    let known = setup.rules().ttsr.rules().find(|rule| rule.name == wanted).map(|rule| Rule::clone(rule));
    known.ok_or_else(|| format!("no rule or rule file `{wanted}`\nhint: `omp ttsr list` lists the rules"))
}

fn read(path: &Path) -> Result<String, FolderProblem> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_FILE {
        return Err(format!("{} is too large: {size} bytes, at most {MAX_FILE}", path.display()));
    }
    let bytes = omp_stdx::plain_file::read(path, MAX_FILE).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Tests a file as text that the model writes to it; if no rule fires, as text that it says or thinks.
fn in_file(watch: &Watch, cwd: &Path, file: &Path, text: &str) -> Vec<String> {
    let mut listener = StreamListener::new(cwd.to_owned());
    let mut call = ToolCall { id: "file".to_owned(), name: Write::NAME.to_owned(), ..ToolCall::default() };
    call.arguments.insert("path".to_owned(), file.display().to_string().into());
    call.arguments.insert("content".to_owned(), text.into());
    let mut hits = listener.call_ended(watch, 0, &call);
    if hits.is_empty() {
        hits = listener.text(watch, 1, text);
        hits.extend(listener.ended(watch, 1));
    }
    if hits.is_empty() {
        hits = listener.thinking(watch, 2, text);
        hits.extend(listener.ended(watch, 2));
    }
    let path = file.display().to_string();
    hits.iter().map(|hit| told(watch, hit, Some(&path), text)).collect()
}

/// Tests every answer in a session file, on any branch. Hits are reported by line number.
fn in_session(watch: &Watch, cwd: &Path, text: &str) -> Result<Vec<String>, FolderProblem> {
    let mut found = Vec::new();
    let mut answers = 0;
    let mut listener = StreamListener::new(cwd.to_owned());
    for (number, line) in text.lines().enumerate() {
        let Ok(mut entry) = serde_json::from_str::<Value>(line) else { continue };
        let Ok(Message::Assistant(answer)) = serde_json::from_value(entry["message"].take()) else { continue };
        answers += 1;
        listener.reset();
        for (index, block) in answer.content.iter().enumerate() {
            let (hits, said, path) = heard(watch, &mut listener, index, block);
            found.extend(
                hits.iter().map(|hit| format!("line {}: {}", number + 1, told(watch, hit, path.as_deref(), &said))),
            );
        }
    }
    match answers {
        0 => Err("this .jsonl file contains no model answers\nhint: give a session file".to_owned()),
        _ => Ok(found),
    }
}

fn heard(
    watch: &Watch,
    listener: &mut StreamListener,
    index: usize,
    block: &Content,
) -> (Vec<Hit>, String, Option<String>) {
    let mut hits = Vec::new();
    let (mut said, mut path) = (String::new(), None);
    match block {
        Content::Text(text) => {
            hits.extend(listener.text(watch, index, &text.text));
            said.clone_from(&text.text);
        }
        Content::Thinking(thinking) => {
            hits.extend(listener.thinking(watch, index, &thinking.thinking));
            said.clone_from(&thinking.thinking);
        }
        Content::ToolCall(call) => {
            let raw = Value::Object(call.arguments.clone()).to_string();
            hits.extend(listener.arguments(watch, index, call, &raw));
            hits.extend(listener.call_ended(watch, index, call));
            path = call.arguments.get("path").and_then(Value::as_str).map(str::to_owned);
            said = call.arguments.get("content").and_then(Value::as_str).map_or(raw, str::to_owned);
        }
        _ => {}
    }
    hits.extend(listener.ended(watch, index));
    (hits, said, path)
}

/// Reports where a rule fires and which lines trigger it.
fn told(watch: &Watch, hit: &Hit, path: Option<&str>, text: &str) -> String {
    let place = match &hit.origin {
        ViolationOrigin::Text => "in text",
        ViolationOrigin::Thinking => "in thinking",
        ViolationOrigin::Tool(_) => "in tool arguments",
    };
    let mut told = format!("{place}\n");
    let lines = watch.lines(hit.rule, path, text);
    for number in lines.iter().take(MAX_LINES) {
        let line: String = text.lines().nth(number - 1).unwrap_or_default().chars().take(200).collect();
        told.push_str(&format!("  {number}: {}\n", line.trim_end()));
    }
    if lines.len() > MAX_LINES {
        told.push_str(&format!("  … and {} more lines\n", lines.len() - MAX_LINES));
    }
    told
}
