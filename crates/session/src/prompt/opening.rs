//! Facts about the project that change between sessions: sent with the first prompt, hidden from the user.
//!
//! They are a message of the conversation, so they are stored in the file and do not change when the project does.

use std::sync::Arc;

use omp_stdx::format;
use omp_types::Message;

use super::template::{TemplateError, fill};
use crate::features::hidden;

const OPENING: &str = include_str!("opening.md");
const MESSAGE_TYPE: &str = "project-state";

/// The current state of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    pub git: Option<GitState>,
    pub tree: Option<FolderTree>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitState {
    /// The branch, or the abbreviated commit if HEAD is detached.
    pub head: String,
    /// Tracked files that differ from the git index; `None` if they were not counted.
    pub changed: Option<usize>,
}

/// The shown part of the files in the working folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderTree {
    /// One indented line per entry.
    pub lines: Vec<String>,
    /// Whether files were omitted.
    pub cut: bool,
}

impl Opening {
    /// `None` if there is nothing to report.
    pub fn text(&self) -> Result<Option<String>, TemplateError> {
        let (git, tree) = (self.git.as_ref().map(git).unwrap_or_default(), self.tree.as_ref().and_then(tree));
        let tree = tree.unwrap_or_default();
        if git.is_empty() && tree.is_empty() {
            return Ok(None);
        }
        fill(OPENING, &[("git", &git), ("tree", &tree)]).map(|text| Some(text.trim_end().to_owned()))
    }
}

fn git(state: &GitState) -> String {
    let changed = match state.changed {
        None => String::new(),
        Some(0) => ", no tracked file changed since it was last staged".to_owned(),
        Some(count) => {
            format!(", {} changed and not staged", format::plural(count, "tracked file looks", "tracked files look"))
        }
    };
    format!("Git: {}{changed}", state.head)
}

fn tree(tree: &FolderTree) -> Option<String> {
    if tree.lines.is_empty() {
        return None;
    }
    let cut = if tree.cut { " (shortened; `find` and `read` show the rest)" } else { "" };
    Some(format!("Files{cut}, ignored and hidden ones left out:\n{}", tree.lines.join("\n")))
}

pub(crate) fn message(text: String) -> Arc<Message> {
    hidden(MESSAGE_TYPE, text, None)
}

/// Whether the conversation already contains this message.
pub(crate) fn is_told(messages: &[Arc<Message>]) -> bool {
    messages.iter().any(|message| matches!(&**message, Message::Custom(custom) if custom.custom_type == MESSAGE_TYPE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(git: Option<(&str, Option<usize>)>, tree: Option<(&[&str], bool)>, expect: Option<&str>) {
        let git = git.map(|(head, changed)| GitState { head: head.into(), changed });
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let tree = tree.map(|(shown, cut)| FolderTree { lines: lines(shown), cut });
        let text = Opening { git, tree }.text().unwrap();
        let told = text.as_deref().map(|text| text.split_once('\n').unwrap().1);
        assert_eq!(told, expect);
    }

    #[test]
    fn only_what_is_known_is_told() {
        check(None, None, None);
        check(None, Some((&[], false)), None);
        check(Some(("main", None)), None, Some("Git: main"));
        check(Some(("main", Some(0))), None, Some("Git: main, no tracked file changed since it was last staged"));
        check(Some(("main", Some(1))), None, Some("Git: main, 1 tracked file looks changed and not staged"));
        check(
            Some(("0123abcd", Some(12))),
            Some((&["src/", "  a.rs"], true)),
            Some(
                "Git: 0123abcd, 12 tracked files look changed and not staged\nFiles (shortened; `find` and `read` show the \
                 rest), ignored and hidden ones left out:\nsrc/\n  a.rs",
            ),
        );
    }

    #[test]
    fn it_is_told_once() {
        let told = message("x".into());
        assert!(is_told(&[told]) && !is_told(&[]) && !is_told(&[hidden("other", "x", None)]));
    }
}
