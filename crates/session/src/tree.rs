//! The entries of a session's file as a tree a person can read: who said what, where it branches, where the session is.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use omp_store::EntryId;
use serde::Deserialize;
use serde_json::Value;

/// Characters of a text that are shown.
const SHOWN: usize = 80;
/// The longest line that is looked into.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("this session is not recorded, so it has no tree")]
    Unrecorded,
    #[error("cannot read {path}: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
}

/// An entry that somebody may want to go to.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    pub id: EntryId,
    /// The entry it follows, shown or not.
    pub parent: Option<EntryId>,
    /// How many branches lead here.
    pub depth: usize,
    /// Whether it is part of the conversation as it stands.
    pub active: bool,
    pub label: Option<String>,
    /// `user`, `assistant`, or the kind of the entry.
    pub who: String,
    /// The beginning of what it says.
    pub text: String,
}

impl TreeNode {
    /// Whether the session goes on before this entry rather than behind it: what a person said is said anew.
    pub fn is_said_anew(&self) -> bool {
        matches!(self.who.as_str(), "user" | "custom_message")
    }
}

/// Reads the tree. Lines that are no entries are passed over; entries without a parent follow the one before.
pub(crate) fn read(file: &Path, leaf: Option<&EntryId>) -> Result<Vec<TreeNode>, TreeError> {
    let unreadable = |source| TreeError::Unreadable { path: file.to_owned(), source };
    let opened = match std::fs::File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut forest = Forest::default();
    let mut reader = BufReader::new(opened);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(unreadable)? > 0 {
        if line.len() <= LONGEST_LINE
            && let Ok(entry) = serde_json::from_slice::<Entry>(&line)
        {
            forest.add(entry);
        }
        line.clear();
        line.shrink_to(1024 * 1024);
    }
    Ok(forest.nodes(leaf))
}

/// One line a node; the active ones have a dot.
pub fn tree_text(nodes: &[TreeNode]) -> String {
    let mut text = String::new();
    for node in nodes {
        let dot = if node.active { "•" } else { " " };
        let label = node.label.as_ref().map(|label| format!("[{label}] ")).unwrap_or_default();
        let indent = "  ".repeat(node.depth);
        text.push_str(&format!("{dot} {} {indent}{label}{}: {}\n", node.id, node.who, node.text));
    }
    text
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    r#type: String,
    id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    parent_id: Option<Option<String>>,
    message: Option<Body>,
    content: Option<Value>,
    summary: Option<String>,
    custom_type: Option<String>,
    display: Option<bool>,
    target_id: Option<String>,
    label: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    role: String,
    content: Option<Value>,
    stop_reason: Option<String>,
}

/// Tells `null` from nothing at all.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Default)]
struct Forest {
    /// In the order of the file; a parent always comes before its children.
    entries: Vec<Twig>,
    positions: HashMap<String, usize>,
    labels: HashMap<String, String>,
}

struct Twig {
    id: String,
    parent: Option<usize>,
    /// Who speaks, and what; `None` for what is not shown.
    shown: Option<(String, String)>,
}

impl Forest {
    fn add(&mut self, entry: Entry) {
        if let ("label", Some(target)) = (entry.r#type.as_str(), &entry.target_id) {
            match entry.label.as_ref().filter(|label| !label.is_empty()) {
                Some(label) => self.labels.insert(target.clone(), label.clone()),
                None => self.labels.remove(target),
            };
        }
        let Some(id) = entry.id.clone().filter(|_| entry.r#type != "session") else { return };
        let before = self.entries.len().checked_sub(1);
        let parent = match &entry.parent_id {
            Some(None) => None,
            Some(Some(parent)) => self.positions.get(parent).copied().or(before),
            None => before,
        };
        self.positions.insert(id.clone(), self.entries.len());
        self.entries.push(Twig { id, parent, shown: shown(&entry) });
    }

    fn nodes(self, leaf: Option<&EntryId>) -> Vec<TreeNode> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.entries.len()];
        let mut roots = Vec::new();
        for position in 0..self.entries.len() {
            match self.visible_parent(position) {
                _ if self.entries[position].shown.is_none() => {}
                Some(parent) => children[parent].push(position),
                None => roots.push(position),
            }
        }
        let active = self.path_to(leaf);
        let mut nodes = Vec::new();
        // A chain is as long as the session, so the walk keeps its own stack.
        let mut stack = Vec::new();
        push_all(&mut stack, &roots, 0);
        while let Some((position, depth)) = stack.pop() {
            nodes.push(self.node(position, depth, active.contains(&position)));
            push_all(&mut stack, &children[position], depth);
        }
        nodes
    }

    fn visible_parent(&self, position: usize) -> Option<usize> {
        let above = std::iter::successors(self.entries[position].parent, |at| self.entries[*at].parent);
        above.into_iter().find(|at| self.entries[*at].shown.is_some())
    }

    fn path_to(&self, leaf: Option<&EntryId>) -> HashSet<usize> {
        let start = leaf.and_then(|leaf| self.positions.get(leaf.as_str()).copied());
        std::iter::successors(start, |at| self.entries[*at].parent).collect()
    }

    fn node(&self, position: usize, depth: usize, active: bool) -> TreeNode {
        let twig = &self.entries[position];
        let (who, text) = twig.shown.clone().unwrap_or_default();
        TreeNode {
            id: EntryId::from(twig.id.clone()),
            parent: twig.parent.map(|parent| EntryId::from(self.entries[parent].id.clone())),
            depth,
            active,
            label: self.labels.get(&twig.id).cloned(),
            who,
            text,
        }
    }
}

/// The first child is on top; where there are several, each begins a branch.
fn push_all(stack: &mut Vec<(usize, usize)>, children: &[usize], depth: usize) {
    let depth = depth + usize::from(children.len() > 1);
    stack.extend(children.iter().rev().map(|child| (*child, depth)));
}

fn shown(entry: &Entry) -> Option<(String, String)> {
    let said = |who: &str, text: String| Some((who.to_owned(), first_words(&text)));
    match (entry.r#type.as_str(), &entry.message) {
        ("message", Some(body)) => {
            let text = text_in(body.content.as_ref());
            let failed = matches!(body.stop_reason.as_deref(), Some("error" | "aborted"));
            match body.role.as_str() {
                "user" => said("user", text),
                "assistant" if failed && text.trim().is_empty() => said("assistant", "(failed)".to_owned()),
                "assistant" if !text.trim().is_empty() => said("assistant", text),
                _ => None,
            }
        }
        ("custom_message", _) if entry.display == Some(true) => {
            let text = text_in(entry.content.as_ref());
            said("custom_message", format!("{} {text}", entry.custom_type.as_deref().unwrap_or_default()))
        }
        (kind @ ("compaction" | "branch_summary"), _) => said(kind, entry.summary.clone().unwrap_or_default()),
        _ => None,
    }
}

fn text_in(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn first_words(text: &str) -> String {
    let plain: String = text.chars().take(SHOWN * 4).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= SHOWN {
        return words;
    }
    words.chars().take(SHOWN - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], leaf: Option<&str>, expect: &str) {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("s.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let nodes = read(&file, leaf.map(EntryId::from).as_ref()).unwrap();
        assert_eq!(tree_text(&nodes), expect);
    }

    const TREE: [&str; 10] = [
        r#"{"type":"session","version":3,"id":"s"}"#,
        r#"{"type":"model_change","id":"m","parentId":null,"model":"a/b"}"#,
        r#"{"type":"message","id":"u1","parentId":"m","message":{"role":"user","content":"Start\n task"}}"#,
        r#"{"type":"message","id":"c1","parentId":"u1","message":{"role":"assistant","content":[{"type":"toolCall"}],"stopReason":"toolUse"}}"#,
        r#"{"type":"message","id":"r1","parentId":"c1","message":{"role":"toolResult","content":[{"type":"text","text":"x"}]}}"#,
        r#"{"type":"message","id":"a1","parentId":"r1","message":{"role":"assistant","content":[{"type":"text","text":"Plan"}]}}"#,
        r#"{"type":"message","id":"u2","parentId":"a1","message":{"role":"user","content":[{"type":"text","text":"Try A"}]}}"#,
        r#"{"type":"message","id":"u3","parentId":"a1","message":{"role":"user","content":[{"type":"text","text":"Try B"}]}}"#,
        r#"{"type":"label","id":"l1","parentId":"u3","targetId":"u2","label":"first idea"}"#,
        "{not json",
    ];

    #[test]
    fn the_tree_shows_who_said_what_and_where_the_session_is() {
        check(
            &TREE,
            Some("l1"),
            "• u1 user: Start task\n• a1 assistant: Plan\n  u2   [first idea] user: Try A\n• u3   user: Try B\n",
        );
        check(&TREE[..2], None, "");
        check(&[], None, "");
    }

    #[test]
    fn a_long_chain_is_walked_without_recursion() {
        let mut lines =
            vec![r#"{"type":"message","id":"0","parentId":null,"message":{"role":"user","content":"x"}}"#.to_owned()];
        lines.extend((1..50_000).map(|number| {
            let parent = number - 1;
            format!(r#"{{"type":"message","id":"{number}","parentId":"{parent}","message":{{"role":"user","content":"x"}}}}"#)
        }));
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("s.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let nodes = read(&file, Some(&EntryId::from("49999"))).unwrap();
        assert!(nodes.len() == 50_000 && nodes.iter().all(|node| node.active && node.depth == 0));
    }
}
