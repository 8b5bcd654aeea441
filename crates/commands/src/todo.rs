//! `/todo`: changes the task list, and notifies the model of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Command, CommandScreen, Session, SlashCommand, SlashReply};
use omp_stdx::md_table::escaped;
use omp_stdx::page::Page;
use omp_store::Custom;
use omp_types::{Content, CustomMessage, Message, now_ms};
use serde_json::json;

use crate::{TaskList, TaskListNote};

const HINT: &str = "hint: usage: /todo [edit | copy | export [file] | import <file> | append [<phase>] <task> | start <task> | done|drop|rm [<task or phase>]]";
/// Shows the list for editing; with a list after it, replaces the list.
const EDIT_LINE: &str = "/todo edit";
const DEFAULT_FILE: &str = "TODO.md";

pub struct TodoCommand {
    pub tasks: Arc<dyn TaskList>,
    pub cwd: PathBuf,
}

impl SlashCommand for TodoCommand {
    fn name(&self) -> &str {
        "todo"
    }

    fn description(&self) -> &str {
        "Show or change the task list"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[edit|copy|export|import|append|start|done|drop|rm]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (verb, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            let is_edit = EDIT_LINE.strip_prefix("/todo ") == Some(verb);
            let file = |default: Option<&str>| file_named(&self.cwd, rest.trim(), default);
            let done = match verb {
                "" => return Ok(shown(&*self.tasks, None)),
                "export" => return export(&*self.tasks, &file(Some(DEFAULT_FILE))?),
                "copy" => return copy(&*self.tasks),
                _ if is_edit && rest.trim().is_empty() => return Ok(edit(&*self.tasks)),
                _ if is_edit => replace(&*self.tasks, rest)?,
                "import" => import(&*self.tasks, &file(None)?)?,
                _ => self.tasks.edit(arguments)?,
            };
            tell(&*self.tasks, session, &done).await?;
            Ok(shown(&*self.tasks, Some(&done)))
        }
        .boxed()
    }
}

/// Shows the list, below what was done to it.
fn shown(tasks: &dyn TaskList, done: Option<&str>) -> SlashReply {
    let Some(list) = written(tasks) else {
        let done = done.map(|done| format!("{done}\n\n")).unwrap_or_default();
        return SlashReply::Text(format!("{done}the list is empty\n{HINT}"));
    };
    let page = done.iter().fold(Page::default(), |page, done| page.either(escaped(done), *done));
    SlashReply::Page(page.either(drawn(&list), list))
}

/// Returns the list as Markdown; `None` if it is empty.
fn written(tasks: &dyn TaskList) -> Option<String> {
    let text = tasks.export();
    // An empty list is exported as a heading, so that the file can be filled in.
    text.lines().any(|line| line.starts_with("- ")).then_some(text)
}

/// Rewrites an exported list so that Markdown draws it: a sign before each task, one task per row.
fn drawn(list: &str) -> String {
    let row = |line: &str| {
        let signs = [("- [ ] ", "☐"), ("- [/] ", "▸"), ("- [x] ", "✓"), ("- [-] ", "✗")];
        let found = signs.iter().find_map(|(mark, sign)| Some((sign, line.strip_prefix(mark)?)));
        match (found, line.strip_prefix("# ")) {
            // Two spaces end the row.
            (Some((sign, task)), _) => format!("{sign} {}  ", escaped(task)),
            (None, Some(phase)) => format!("\n## {}\n", escaped(phase)),
            (None, None) => String::new(),
        }
    };
    let rows: String = list.lines().map(row).filter(|row| !row.is_empty()).map(|row| row + "\n").collect();
    rows.trim().to_owned()
}

fn copy(tasks: &dyn TaskList) -> Result<SlashReply, String> {
    written(tasks).map(SlashReply::Copy).ok_or_else(|| "there are no tasks to copy".to_owned())
}

/// In the terminal application, the edited list comes back as `/todo edit <list>`.
fn edit(tasks: &dyn TaskList) -> SlashReply {
    let list = tasks.export();
    let text = format!("{}\n\n`/todo edit <list>` replaces it.", list.trim_end());
    SlashReply::Screen { text, screen: CommandScreen::EditText { text: list, line: EDIT_LINE.to_owned() } }
}

fn replace(tasks: &dyn TaskList, markdown: &str) -> Result<String, String> {
    tasks.import(markdown).map_err(|problems| format!("the list is unchanged: {}", problems.join("; ")))?;
    Ok("replaced the list".to_owned())
}

fn file_named(cwd: &Path, name: &str, default: Option<&str>) -> Result<PathBuf, String> {
    match (name, default) {
        ("", None) => Err(format!("no file given\n{HINT}")),
        ("", Some(default)) => Ok(cwd.join(default)),
        (name, _) => Ok(cwd.join(name)),
    }
}

/// Never overwrites an existing file, because it may contain more than this list.
fn export(tasks: &dyn TaskList, file: &Path) -> Result<SlashReply, String> {
    let created = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let written = created.and_then(|mut to| std::io::Write::write_all(&mut to, tasks.export().as_bytes()));
    let hint = "hint: name another file: /todo export <file>";
    written.map_err(|error| format!("cannot write {}: {error}\n{hint}", file.display()))?;
    Ok(SlashReply::Text(format!("wrote {}", file.display())))
}

/// Caps the size of an imported file.
const MAX_IMPORT: u64 = 1024 * 1024;

fn import(tasks: &dyn TaskList, file: &Path) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("cannot import {}: {why}", file.display());
    let found = std::fs::metadata(file).map_err(|error| failed(&error))?;
    if !found.is_file() || found.len() > MAX_IMPORT {
        return Err(failed(&"it is not a text file of at most 1 MiB"));
    }
    let text = omp_stdx::plain_file::read_text(file, MAX_IMPORT).map_err(|error| failed(&error))?;
    tasks.import(&text).map_err(|problems| failed(&problems.join("; ")))?;
    Ok(format!("imported {}", file.display()))
}

/// Stores the list in the session file and adds a note that the model reads with the next prompt.
async fn tell(tasks: &dyn TaskList, session: &Session, done: &str) -> Result<(), String> {
    let TaskListNote { custom_type, text, phases } = tasks.note_of_edit(done);
    let data = Some(json!({"phases": phases}));
    let note = Custom { custom_type: custom_type.to_owned(), data };
    session.note(note).map_err(|error| error.to_string())?;
    let reminder = Message::Custom(CustomMessage {
        custom_type: custom_type.to_owned(),
        content: vec![Content::text(text)],
        display: false,
        details: Some(json!({"phases": phases})),
        timestamp: now_ms(),
    });
    session.send(Command::Append(Arc::new(reminder))).await.map_err(|closed| closed.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_drawn_with_signs() {
        let list = "# Read *all*\n- [x] open it\n- [-] guess\n\n# Write\n- [/] a_b\n- [ ] end\\\n";
        let expect = "## Read \\*all\\*\n\n✓ open it  \n✗ guess  \n\n## Write\n\n▸ a_b  \n☐ end\\\\";
        assert_eq!(drawn(list), expect);
    }
}
