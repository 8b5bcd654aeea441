//! `/undo`, `/redo` and `/changes`: show the changes of calls to files, and revert them.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::view::{Block, Diff, Status, View, unified_diff_lines};
use omp_session::{Command, FilesInTheWay, Overwritten, Session, SlashCommand, SlashReply, UNDO_ENTRY};
use omp_stdx::truncate::rows_shown;
use omp_types::{Content, CustomMessage, Message, now_ms};
use omp_undo::{LeftReason, Node, RelPath, TreeChange, Turn, Undo, UndoError, UndoReport, UndoRequest};
use omp_workspace::{FileDiff, TextFile};

use crate::WORKING;

const OFF: &str = "undo is not available in this session\nhint: set undo.enabled; undo never covers a home folder";
/// Caps the paths listed.
const SHOWN: usize = 40;
/// Caps the bytes shown of a diff.
const LONGEST_DIFF: usize = 64 << 10;

pub struct UndoCommand {
    pub files: Option<Arc<Undo>>,
}

impl SlashCommand for UndoCommand {
    fn name(&self) -> &str {
        "undo"
    }

    fn description(&self) -> &str {
        "Undo the file changes of a turn, of several, or to one path"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[turns|path] [force]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let files = idle(&self.files, session).await?;
            let wanted = wanted(arguments, files.workspace())?;
            let path = wanted.path.clone();
            let report = aside(files, move |undo| undo.undo(&wanted)).await?;
            tell_model(session, "undone", &report).await?;
            let again =
                UndoRequest { ids: report.ids.clone(), path, force: true, spares_lost: true, ..UndoRequest::default() };
            ask_to_overwrite(session, files, "undone", &report, move |undo| undo.undo(&again)).await?;
            Ok(SlashReply::Text(reported("undone", &report)))
        }
        .boxed()
    }
}

pub struct RedoCommand {
    pub files: Option<Arc<Undo>>,
}

impl SlashCommand for RedoCommand {
    fn name(&self) -> &str {
        "redo"
    }

    fn description(&self) -> &str {
        "Redo the file changes that were undone last"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[force]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let force = match arguments.trim() {
                "" => false,
                "force" => true,
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /redo [force]")),
            };
            let files = idle(&self.files, session).await?;
            let report = aside(files, move |undo| undo.redo(force)).await?;
            tell_model(session, "redone", &report).await?;
            let again = report.ids.first().cloned();
            let redo = move |undo: &Undo| undo.redo_of(again.as_deref(), true);
            ask_to_overwrite(session, files, "redone", &report, redo).await?;
            Ok(SlashReply::Text(reported("redone", &report)))
        }
        .boxed()
    }
}

pub struct ChangesCommand {
    pub files: Option<Arc<Undo>>,
}

impl SlashCommand for ChangesCommand {
    fn name(&self) -> &str {
        "changes"
    }

    fn aliases(&self) -> &[&str] {
        &["diff"]
    }

    fn description(&self) -> &str {
        "Show the file changes of each turn and call"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[turn|call] [diff]")
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let files = self.files.as_ref().ok_or(OFF)?;
            let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
            aside(files, move |undo| undo.catch_up().map(|()| changes(undo, &words))).await?
        }
        .boxed()
    }
}

/// Refuses to restore files while calls are running.
async fn idle<'a>(files: &'a Option<Arc<Undo>>, session: &Session) -> Result<&'a Arc<Undo>, String> {
    if session.works().await {
        return Err(WORKING.to_owned());
    }
    files.as_ref().ok_or_else(|| OFF.to_owned())
}

/// Asks before overwriting changes that the user made since.
async fn ask_to_overwrite(
    session: &Session,
    files: &Arc<Undo>,
    done: &'static str,
    report: &UndoReport,
    insist: impl FnOnce(&Undo) -> Result<UndoReport, UndoError> + Send + 'static,
) -> Result<(), String> {
    let changed = report.left.iter().filter(|(_, why)| *why == LeftReason::Changed);
    let paths: Vec<String> = changed.map(|(path, _)| format!("  {path}")).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let files = files.clone();
    let overwrite = async move {
        match aside(&files, insist).await {
            Ok(report) => Overwritten { said: reported(done, &report), told: for_model(done, &report) },
            Err(problem) => Overwritten { said: problem, told: None },
        }
    };
    let shown = paths.len().min(SHOWN);
    let more = if paths.len() > shown { format!("\n  … {} more", paths.len() - shown) } else { String::new() };
    let question = FilesInTheWay { paths: paths[..shown].join("\n") + &more, overwrite: overwrite.boxed() };
    session.send(Command::AskToOverwrite(question)).await.map_err(|closed| closed.to_string())
}

async fn tell_model(session: &Session, done: &str, report: &UndoReport) -> Result<(), String> {
    match for_model(done, report) {
        Some(message) => session.send(Command::Append(message)).await.map_err(|closed| closed.to_string()),
        None => Ok(()),
    }
}

/// Notifies the model, which would otherwise rely on files that were reverted.
fn for_model(done: &str, report: &UndoReport) -> Option<Arc<Message>> {
    if report.restored.is_empty() {
        return None;
    }
    let text = format!(
        "<system-reminder>\nThe user has {done} changes that were made to files. They are now:\n{}\n</system-reminder>",
        summed_up(report)
    );
    let message = Message::Custom(CustomMessage {
        custom_type: UNDO_ENTRY.to_owned(),
        content: vec![Content::text(text)],
        display: false,
        details: None,
        timestamp: now_ms(),
    });
    Some(Arc::new(message))
}

fn wanted(arguments: &str, workspace: &Path) -> Result<UndoRequest, String> {
    let mut wanted = UndoRequest::default();
    let mut rest = arguments.trim();
    if let Some(before) = rest.strip_suffix("force").filter(|before| before.is_empty() || before.ends_with(' ')) {
        wanted.force = true;
        rest = before.trim();
    }
    if rest.is_empty() {
        return Ok(wanted);
    }
    match rest.parse::<usize>() {
        Ok(0) => {
            return Err("the number of turns must be at least 1\nhint: usage: /undo [turns|path] [force]".to_owned());
        }
        Ok(turns) => wanted.turns = turns,
        Err(_) if rest.bytes().all(|byte| byte.is_ascii_digit()) => wanted.turns = usize::MAX,
        Err(_) => {
            let path = Path::new(rest);
            let inside = path.strip_prefix(workspace).unwrap_or(path);
            let outside = || format!("`{rest}` is not in the workspace\nhint: undo covers only the workspace");
            wanted.path = Some(RelPath::of(inside).ok_or_else(outside)?);
        }
    }
    Ok(wanted)
}

/// Runs work on the undo store on a blocking thread.
pub async fn aside<T: Send + 'static>(
    undo: &Arc<Undo>,
    work: impl FnOnce(&Undo) -> Result<T, UndoError> + Send + 'static,
) -> Result<T, String> {
    let undo = undo.clone();
    match tokio::task::spawn_blocking(move || work(&undo)).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Formats the result of an undo or a redo.
pub fn reported(done: &str, report: &UndoReport) -> String {
    let turns = match report.turns {
        0 | 1 => String::new(),
        many => format!(" of {many} turns"),
    };
    let mut text = match report.restored.len() {
        0 => format!("nothing {done}"),
        1 => format!("1 path{turns} {done}"),
        many => format!("{many} paths{turns} {done}"),
    };
    text.push('\n');
    text += &summed_up(report);
    if report.left.iter().any(|(_, why)| *why == LeftReason::Changed) {
        text += "\nhint: add `force` to overwrite later changes";
        text += if report.gives_back { "; /redo restores them" } else { "" };
    }
    text.trim_end().to_owned()
}

/// Formats one path per line: what happens to it, or why it is left unchanged.
pub fn summed_up(report: &UndoReport) -> String {
    let mut lines: Vec<String> =
        report.restored.iter().map(|change| format!("  {} {}", sign(change), change.path)).collect();
    let shown = rows_shown(lines.len(), SHOWN);
    let hidden = lines.len() - shown;
    lines.truncate(shown);
    if hidden > 0 {
        lines.push(format!("  … {hidden} more"));
    }
    let shown = rows_shown(report.left.len(), SHOWN);
    let left = report.left.iter().take(shown);
    lines.extend(left.map(|(path, why)| format!("  skipped: {path} ({})", first_line(&why.to_string()))));
    if report.left.len() > shown {
        lines.push(format!("  … {} more skipped", report.left.len() - shown));
    }
    lines.join("\n")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn sign(change: &TreeChange) -> char {
    match (&change.before, &change.after) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    }
}

fn changes(undo: &Undo, words: &[String]) -> Result<SlashReply, String> {
    let turns = undo.turns();
    let (with_diff, words) = match words {
        [before @ .., last] if last == "diff" => (true, before),
        all => (false, all),
    };
    let word = words.first().map(String::as_str).unwrap_or_default();
    if let Some(more) = words.get(1) {
        return Err(format!("unknown argument `{more}`\nhint: usage: /changes [turn|call] [diff]"));
    }
    let Some(newest) = turns.last() else {
        if !word.is_empty() {
            return Err(format!("no turn or call `{word}` changed files\nhint: /changes lists the changes"));
        }
        let text = format!("no turn of this session changed files\n{}", not_covered(undo));
        return Ok(SlashReply::Text(text.trim_end().to_owned()));
    };
    if word.is_empty() && !with_diff {
        return Ok(SlashReply::Text(format!("{}{}", listed(undo, &turns), not_covered(undo))));
    }
    let picked = match word.parse::<usize>() {
        _ if word.is_empty() => newest.changes(),
        Ok(back) if back >= 1 && back <= turns.len() => turns[turns.len() - back].changes(),
        Ok(_) => return Err(format!("no turn `{word}`: {} turns changed files\nhint: 1 is the newest", turns.len())),
        Err(_) => of_call(&turns, word)?,
    };
    Ok(if with_diff { with_diffs(undo, &picked) } else { SlashReply::Text(detailed(undo, &picked)) })
}

/// Finds a call by its id or a prefix of it.
fn of_call(turns: &[Turn], word: &str) -> Result<Vec<TreeChange>, String> {
    for turn in turns.iter().rev() {
        let calls = turn.steps.iter().flat_map(|step| &step.calls);
        if let Some(call) = calls.into_iter().find(|call| call.id.starts_with(word)) {
            return Ok(turn.changes_of(&call.id));
        }
    }
    Err(format!("no call `{word}` changed files\nhint: /changes lists the changes"))
}

fn listed(undo: &Undo, turns: &[Turn]) -> String {
    let mut out = String::new();
    for (at, turn) in turns.iter().enumerate().rev() {
        let undone = if turn.undone { " (undone)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}: {}{undone}", turns.len() - at, turn.label);
        for step in &turn.steps {
            let calls: Vec<String> = step.calls.iter().map(|call| format!("{} {}", call.tool, call.id)).collect();
            let by = match step.by {
                omp_undo::By::Calls => calls.join(", "),
                omp_undo::By::Background => "in the background".to_owned(),
                omp_undo::By::Others => "by others, between calls".to_owned(),
            };
            let _ = writeln!(out, "  {by}");
            let shown = rows_shown(step.changes.len(), SHOWN);
            for change in &step.changes[..shown] {
                let _ = writeln!(out, "    {} {}{}", sign(change), change.path, counted(undo, change));
            }
            if step.changes.len() > shown {
                let _ = writeln!(out, "    … {} more", step.changes.len() - shown);
            }
        }
    }
    out
}

fn not_covered(undo: &Undo) -> String {
    let uncovered = undo.uncovered();
    if uncovered.is_empty() {
        return String::new();
    }
    let most = rows_shown(uncovered.len(), SHOWN);
    let shown: Vec<String> =
        uncovered.iter().take(most).map(|(path, why)| format!("  {path} ({})", why.as_str())).collect();
    let more = uncovered.len() - most;
    let more = if more > 0 { format!("\n  … {more} more") } else { String::new() };
    format!("not covered:\n{}{more}", shown.join("\n"))
}

fn detailed(undo: &Undo, changes: &[TreeChange]) -> String {
    let mut out = String::new();
    for change in changes {
        if out.len() > LONGEST_DIFF {
            out.push_str("… more\n");
            break;
        }
        let _ = writeln!(out, "{} {}{}", sign(change), change.path, counted(undo, change));
    }
    out.trim_end().to_owned()
}

/// Returns the diff of every changed file, as text and as a card.
fn with_diffs(undo: &Undo, changes: &[TreeChange]) -> SlashReply {
    let mut text = String::new();
    let mut view = View::new("/changes diff", Status::Done);
    let (mut added, mut removed) = (0, 0);
    for (at, change) in changes.iter().enumerate() {
        if text.len() > LONGEST_DIFF {
            text.push_str("… more\n");
            view = view.block(Block::Lines { lines: Vec::new(), hidden: changes.len() - at });
            break;
        }
        let named = format!("{} {}", sign(change), change.path);
        let Some((old, new)) = texts(undo, change) else {
            let line = format!("{named}{}", counted(undo, change));
            let _ = writeln!(text, "{line}");
            view = view.block(Block::Text(line));
            continue;
        };
        let diff = FileDiff::between(&old, &new);
        let unified = diff.unified(&change.path.to_string(), &old, &new);
        let (more, less) = diff.counts();
        (added, removed) = (added + more, removed + less);
        let _ = write!(text, "{named} +{more} -{less}\n{unified}");
        let lines = unified_diff_lines(&unified);
        view = view.block(Block::Diff(Diff::new(lines).of(change.path.to_string()).named(true)));
    }
    let files = omp_stdx::format::plural(changes.len(), "path", "paths");
    SlashReply::Card {
        text: text.trim_end().to_owned(),
        view: Box::new(view.note(files).note(format!("+{added} -{removed}"))),
    }
}

fn counted(undo: &Undo, change: &TreeChange) -> String {
    match (&change.before, &change.after) {
        (Some(Node::Folder { .. }), Some(Node::Folder { mode })) => format!(" (mode {mode:o})"),
        (_, Some(Node::Link { target })) => format!(" -> {target}"),
        _ => match texts(undo, change) {
            Some((old, new)) => {
                let (added, removed) = FileDiff::between(&old, &new).counts();
                format!(" +{added} -{removed}")
            }
            None => String::new(),
        },
    }
}

/// Returns both versions as text, empty for a missing file. Returns `None` if one is not text or not stored.
fn texts(undo: &Undo, change: &TreeChange) -> Option<(TextFile, TextFile)> {
    let text = |node: &Option<Node>| match node {
        None => Some(TextFile::parse(Vec::new())),
        Some(Node::File { hash, .. }) => {
            let content: Result<Vec<u8>, UndoError> = undo.content(hash);
            content.ok().filter(|content| !content.contains(&0)).map(TextFile::parse)
        }
        Some(_) => None,
    };
    Some((text(&change.before)?, text(&change.after)?))
}
