//! The entries of a session's file as a readable tree: the authors, the branches and the current position.

use omp_store::{EntryId, LoadedSession, OpenError, TreeFilter, shown};

/// Maximum characters of a shown text.
const SHOWN: usize = 80;

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("this session is not saved, so it has no tree")]
    Unrecorded,
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// An entry that the user may move to.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    pub id: EntryId,
    /// The entry it follows, whether that is shown or not.
    pub parent: Option<EntryId>,
    /// Index of the nearest shown ancestor.
    pub above: Option<usize>,
    /// The number of branches on the path to this node.
    pub depth: usize,
    /// Whether it is part of the current conversation.
    pub active: bool,
    pub label: Option<String>,
    /// `user`, `assistant`, or the kind of the entry.
    pub who: String,
    /// The tool that a result is from.
    pub tool: Option<String>,
    /// The beginning of its text.
    pub text: String,
}

impl TreeNode {
    /// Whether selecting this entry moves the session before it rather than after it, so that the user can rephrase the
    /// message.
    pub fn is_said_anew(&self) -> bool {
        matches!(self.who.as_str(), "user" | "custom_message")
    }
}

/// Each branch is listed below the entry where it begins, in the order of the file.
pub(crate) fn tree(session: &LoadedSession, leaf: Option<&EntryId>) -> Vec<TreeNode> {
    tree_of(&session.tree(leaf), TreeFilter::Said)
}

/// Builds the tree from entries that were read already, with the given filter.
pub(crate) fn tree_of(entries: &[omp_store::EntryNode], filter: TreeFilter) -> Vec<TreeNode> {
    let rows = shown(entries, filter, "");
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut roots = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        row.parent.map_or(&mut roots, |parent| &mut children[parent]).push(position);
    }
    let mut nodes: Vec<TreeNode> = Vec::with_capacity(rows.len());
    // Maps rows to their index among the nodes, which are in another order.
    let mut places = vec![0; rows.len()];
    // A chain can be as long as the session, so an explicit stack replaces recursion.
    let mut stack = Vec::new();
    push_all(&mut stack, &roots, 0);
    while let Some((position, depth)) = stack.pop() {
        let entry = rows[position].node;
        places[position] = nodes.len();
        nodes.push(TreeNode {
            id: entry.id.clone(),
            parent: entry.parent.map(|parent| entries[parent].id.clone()),
            above: rows[position].parent.map(|above| places[above]),
            depth,
            active: entry.active,
            label: entry.label.clone(),
            who: entry.role.as_ref().unwrap_or(&entry.kind).clone(),
            tool: entry.tool.clone(),
            text: first_words(&entry.preview),
        });
        push_all(&mut stack, &children[position], depth);
    }
    nodes
}

/// One line per node; active ones have a dot.
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

/// Pushes the children so that the first is on top; if there are several, each starts a branch.
fn push_all(stack: &mut Vec<(usize, usize)>, children: &[usize], depth: usize) {
    let depth = depth + usize::from(children.len() > 1);
    stack.extend(children.iter().rev().map(|child| (*child, depth)));
}

fn first_words(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= SHOWN {
        return words;
    }
    words.chars().take(SHOWN - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use omp_store::BlobStore;

    use super::*;

    fn read(lines: &[String], leaf: Option<&str>) -> Vec<TreeNode> {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("s.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let session = LoadedSession::open(&file, BlobStore::new(temp.path())).unwrap();
        tree(&session, leaf.map(EntryId::from).as_ref())
    }

    fn check(lines: &[&str], leaf: Option<&str>, expect: &str) {
        let lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
        assert_eq!(tree_text(&read(&lines, leaf)), expect);
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
    fn other_choices_of_entries_hang_together_too() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("s.jsonl");
        std::fs::write(&file, TREE.join("\n")).unwrap();
        let session = LoadedSession::open(&file, BlobStore::new(temp.path())).unwrap();
        let entries = session.tree(None);
        for (filter, want) in [
            (TreeFilter::Default, "u1- c1<u1 r1<c1 a1<r1 u2<a1 u3<a1"),
            (TreeFilter::NoTools, "u1- c1<u1 a1<c1 u2<a1 u3<a1"),
            (TreeFilter::LabeledOnly, "u2-"),
            (TreeFilter::All, "m- u1<m c1<u1 r1<c1 a1<r1 u2<a1 u3<a1 l1<u3"),
        ] {
            let nodes = tree_of(&entries, filter);
            let above = |node: &TreeNode| node.above.map_or("-".to_owned(), |at| format!("<{}", nodes[at].id));
            let shown: Vec<_> = nodes.iter().map(|node| format!("{}{}", node.id, above(node))).collect();
            assert_eq!(shown.join(" "), want, "{filter:?}");
        }
    }

    #[test]
    fn the_tree_shows_who_said_what_and_where_the_session_is() {
        check(
            &TREE,
            Some("l1"),
            "• u1 user: Start task\n• a1 assistant: Plan\n  u2   [first idea] user: Try A\n• u3   user: Try B\n",
        );
        check(&TREE[..3], None, "  u1 user: Start task\n");
        check(&TREE[..2], None, "");
    }

    #[test]
    fn a_long_chain_is_walked_without_recursion() {
        let mut lines =
            vec![r#"{"type":"message","id":"0","parentId":null,"message":{"role":"user","content":"x"}}"#.to_owned()];
        lines.extend((1..50_000).map(|number| {
            let parent = number - 1;
            format!(r#"{{"type":"message","id":"{number}","parentId":"{parent}","message":{{"role":"user","content":"x"}}}}"#)
        }));
        let nodes = read(&lines, Some("49999"));
        assert!(nodes.len() == 50_000 && nodes.iter().all(|node| node.active && node.depth == 0));
    }
}
