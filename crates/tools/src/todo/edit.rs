//! Edits of the list by the user, with targets found by approximate text.

use super::list::{Phase, Status, one_line};
use super::{Op, OpKind};

/// One change to the list. A target names a task or a phase; an unambiguous part of the text is enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoEdit {
    /// Without a phase the task goes to the active phase, else to the last one, else to `Todos`.
    Append {
        phase: Option<String>,
        task: String,
    },
    /// Names a task.
    Start(String),
    /// Names a task or a phase; `None` means everything.
    Done(Option<String>),
    Drop(Option<String>),
    Remove(Option<String>),
}

const DEFAULT_PHASE: &str = "Todos";
/// Limits the candidates named in an error.
const MAX_NAMED: usize = 5;

enum TodoTarget {
    Task(String),
    Phase(String),
}

impl TodoEdit {
    /// Parses `append [<phase>] <task…>`, `start <task>`, `done|drop|rm [<task or phase>]`. Texts with spaces may be quoted;
    /// `append` reads its first word as a phase only if it is quoted or names one of `phases`.
    pub fn parse(line: &str, phases: &[Phase]) -> Result<Self, String> {
        let words = words_of(line)?;
        let Some((verb, rest)) = words.split_first() else { return Err(usage()) };
        let text = rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let target = Some(text.clone()).filter(|text| !text.is_empty());
        match verb.text.as_str() {
            "append" => append(rest, phases),
            "start" => target.map(TodoEdit::Start).ok_or_else(|| "start needs a task\nhint: /todo start <task>".into()),
            "done" => Ok(TodoEdit::Done(target)),
            "drop" => Ok(TodoEdit::Drop(target)),
            "rm" => Ok(TodoEdit::Remove(target)),
            other => Err(format!("unknown argument `{other}`\n{}", usage())),
        }
    }

    /// Returns the operation with exact names, and a sentence that describes it.
    pub(super) fn resolve(&self, phases: &[Phase]) -> Result<(Op, String), String> {
        match self {
            TodoEdit::Append { phase, task } => {
                let (phase, task) = (phase_for(phase.as_deref(), phases), one_line(task));
                let done = format!("added \"{task}\" to {phase}");
                Ok((Op { phase: Some(phase), items: Some(vec![task]), ..Op::new(OpKind::Append) }, done))
            }
            TodoEdit::Start(text) => match find(text, phases, true)? {
                TodoTarget::Task(task) | TodoTarget::Phase(task) => {
                    let done = format!("started \"{task}\"");
                    Ok((Op { task: Some(task), ..Op::new(OpKind::Start) }, done))
                }
            },
            TodoEdit::Done(target) => aimed(OpKind::Done, "completed", target.as_deref(), phases),
            TodoEdit::Drop(target) => aimed(OpKind::Drop, "dropped", target.as_deref(), phases),
            TodoEdit::Remove(target) => aimed(OpKind::Rm, "removed", target.as_deref(), phases),
        }
    }
}

fn usage() -> String {
    "hint: append [<phase>] <task>, start <task>, done|drop|rm [<task or phase>]".to_owned()
}

fn append(words: &[TodoWord], phases: &[Phase]) -> Result<TodoEdit, String> {
    let joined = |words: &[TodoWord]| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let is_phase = |word: &TodoWord| word.quoted || phases.iter().any(|phase| same(&phase.name, &word.text));
    match words {
        [] => Err("append needs a task\nhint: /todo append [<phase>] <task>".to_owned()),
        [phase, task @ ..] if !task.is_empty() && is_phase(phase) => {
            Ok(TodoEdit::Append { phase: Some(phase.text.clone()), task: joined(task) })
        }
        all => Ok(TodoEdit::Append { phase: None, task: joined(all) }),
    }
}

fn phase_for(wanted: Option<&str>, phases: &[Phase]) -> String {
    if let Some(wanted) = wanted {
        let known = phases.iter().find(|phase| same(&phase.name, wanted));
        return known.map_or_else(|| one_line(wanted), |phase| phase.name.clone());
    }
    let active = |phase: &&Phase| phase.tasks.iter().any(|task| task.status == Status::InProgress);
    let phase = phases.iter().find(active).or_else(|| phases.last());
    phase.map_or_else(|| DEFAULT_PHASE.to_owned(), |phase| phase.name.clone())
}

fn aimed(kind: OpKind, done: &str, target: Option<&str>, phases: &[Phase]) -> Result<(Op, String), String> {
    let op = Op::new(kind);
    Ok(match target.map(|text| find(text, phases, false)).transpose()? {
        None => (op, format!("{done} everything")),
        Some(TodoTarget::Task(task)) => {
            let done = format!("{done} \"{task}\"");
            (Op { task: Some(task), ..op }, done)
        }
        Some(TodoTarget::Phase(phase)) => {
            let done = format!("{done} all of {phase}");
            (Op { phase: Some(phase), ..op }, done)
        }
    })
}

/// Finds the only task or phase that matches `text`: exactly, else ignoring case, else by prefix, else by substring.
fn find(text: &str, phases: &[Phase], only_tasks: bool) -> Result<TodoTarget, String> {
    let wanted = one_line(text).to_lowercase();
    let tasks: Vec<&str> = phases.iter().flat_map(|phase| &phase.tasks).map(|task| task.content.as_str()).collect();
    let names: Vec<&str> =
        if only_tasks { Vec::new() } else { phases.iter().map(|phase| phase.name.as_str()).collect() };
    let fits: [&dyn Fn(&str) -> bool; 4] = [
        &|known| known == text,
        &|known| known.to_lowercase() == wanted,
        &|known| known.to_lowercase().starts_with(&wanted),
        &|known| known.to_lowercase().contains(&wanted),
    ];
    for fits in fits {
        let matching = |all: &[&str]| all.iter().filter(|known| fits(known)).map(|known| (*known).to_owned()).collect();
        let (tasks, names): (Vec<String>, Vec<String>) = (matching(&tasks), matching(&names));
        match (&tasks[..], &names[..]) {
            ([], []) => {}
            ([task], _) => return Ok(TodoTarget::Task(task.clone())),
            ([], [name]) => return Ok(TodoTarget::Phase(name.clone())),
            (many, _) if !many.is_empty() => return Err(unclear(text, many)),
            (_, many) => return Err(unclear(text, many)),
        }
    }
    let what = if only_tasks { "task" } else { "task or phase" };
    Err(format!("no {what} is called \"{text}\""))
}

fn unclear(text: &str, candidates: &[String]) -> String {
    let named: Vec<String> = candidates.iter().take(MAX_NAMED).map(|candidate| format!("\"{candidate}\"")).collect();
    let more = candidates.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("\"{text}\" is ambiguous: {}{more}\nhint: write more of it", named.join(", "))
}

fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == one_line(other).to_lowercase()
}

struct TodoWord {
    text: String,
    quoted: bool,
}

/// Splits a line into words; quoted text is one word. A quote inside a word is an ordinary character.
fn words_of(line: &str) -> Result<Vec<TodoWord>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let (text, quoted, after) = match first {
            '"' | '\'' => {
                let (text, after) =
                    rest[1..].split_once(first).ok_or_else(|| format!("a quote is not closed: {rest}"))?;
                (text, true, after)
            }
            _ => {
                let (text, after) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
                (text, false, after)
            }
        };
        words.push(TodoWord { text: text.to_owned(), quoted });
        rest = after.trim_start();
    }
    Ok(words)
}
