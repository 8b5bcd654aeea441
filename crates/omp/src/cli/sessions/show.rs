//! `omp sessions show` and `stats`.

use std::fmt::Write;

use clap::Args;
use omp_store::{FileStats, LoadedSession};
use omp_types::{Message, Usage};
use serde_json::{Value, json};

use super::{SessionsContext, SessionsOutput};
use crate::folder::FolderProblem;
use crate::session::transcript::told;

/// Characters shown of one message.
const MESSAGE_SHOWN: usize = 500;

#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The start of its id, or the path of its file
    #[arg(value_name = "ID|PATH")]
    session: String,

    /// How many of its last messages to show
    #[arg(long, value_name = "N", default_value_t = 6)]
    last: usize,
}

impl SessionsContext {
    pub(super) fn show(&self, args: &ShowArgs) -> Result<SessionsOutput, FolderProblem> {
        let session = self.open(&args.session)?;
        let (messages, total, problems) = last_messages(&session, args.last);
        let header = session.header();
        let in_use = omp_store::in_use(session.path()).map(|holder| holder.to_string());
        let mut text = String::new();
        let facts = [
            ("id", Some(session.id().to_owned())),
            ("title", session.title().map(str::to_owned)),
            ("file", Some(session.path().display().to_string())),
            ("folder", Some(header.cwd.clone())),
            ("started", Some(header.timestamp.clone())),
            ("forked from", header.parent_session.clone()),
            ("entries", Some(session.entry_count().to_string())),
            ("messages", Some(total.to_string())),
            ("in use by", in_use.clone()),
        ];
        for (name, value) in facts {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                let _ = writeln!(text, "{name:<12} {value}");
            }
        }
        for problem in &problems {
            let _ = writeln!(text, "{:<12} {problem}", "damage");
        }
        for message in messages.iter().filter_map(told) {
            let shown: String = message.chars().take(MESSAGE_SHOWN).collect();
            let more = if shown.len() < message.len() { " …" } else { "" };
            let _ = write!(text, "\n{shown}{more}\n");
        }
        let json = json!({
            "id": session.id(), "path": session.path(), "title": session.title(), "cwd": header.cwd,
            "version": header.version, "timestamp": header.timestamp, "parentSession": header.parent_session,
            "entries": session.entry_count(), "messages": total, "inUseBy": in_use, "damage": problems, "last": messages,
        });
        Ok(SessionsOutput { text, json })
    }

    pub(super) fn stats(&self, session: &str) -> Result<SessionsOutput, FolderProblem> {
        let session = self.open(session)?;
        let stats = session.stats();
        Ok(SessionsOutput { text: stats_text(&stats), json: stats_json(session.id(), &stats) })
    }
}

/// Returns the last messages of the branch, the total number of messages, and the problems found while reading.
fn last_messages(session: &LoadedSession, last: usize) -> (Vec<Message>, usize, Vec<String>) {
    let mut problems: Vec<String> = session.report().to_string().lines().map(str::to_owned).collect();
    let Some(transcript) = session.transcript(None) else { return (Vec::new(), 0, problems) };
    let total = transcript.len();
    let (told, found) = transcript.read(total.saturating_sub(last)..total);
    problems.extend(found.iter().map(ToString::to_string));
    (told.into_iter().map(|told| told.message).collect(), total, problems)
}

fn stats_text(stats: &FileStats) -> String {
    let tally = &stats.tally;
    let mut text = String::new();
    let counts = [
        ("entries", stats.entries),
        ("questions", tally.user_messages),
        ("answers", tally.assistant_messages),
        ("tool results", tally.tool_results),
        ("failed calls", tally.failed_results),
        ("compactions", stats.compactions),
        ("unreadable", stats.unreadable),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let _ = writeln!(text, "{name:<15} {count}");
    }
    for (tool, count) in &tally.by_tool {
        let _ = writeln!(text, "calls of {tool}: {count}");
    }
    for model in &tally.models {
        let _ = writeln!(text, "{}: {} answers, {}", model.selector(), model.answers, usage_text(&model.usage));
    }
    let _ = writeln!(text, "total: {}", usage_text(&tally.usage));
    text
}

fn usage_text(usage: &Usage) -> String {
    let Usage { input, output, cache_read, cache_write, .. } = usage;
    format!(
        "{input} tokens in, {cache_read} from cache, {cache_write} to cache, {output} out, ${:.4}",
        usage.cost.total
    )
}

fn stats_json(id: &str, stats: &FileStats) -> Value {
    let tally = &stats.tally;
    let models: serde_json::Map<String, Value> = tally
        .models
        .iter()
        .map(|model| (model.selector(), json!({"answers": model.answers, "usage": model.usage})))
        .collect();
    json!({
        "id": id,
        "entries": stats.entries,
        "userMessages": tally.user_messages,
        "answers": tally.assistant_messages,
        "toolResults": tally.tool_results,
        "failedResults": tally.failed_results,
        "otherMessages": tally.other_messages() + stats.told_entries,
        "compactions": stats.compactions,
        "unreadable": stats.unreadable,
        "toolCalls": tally.by_tool,
        "models": models,
        "usage": tally.usage,
    })
}
