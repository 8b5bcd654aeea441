//! The parts of a file that can be folded.

use tree_sitter::{Node, Tree};

use super::OutlineLimits;

/// Rows `first..=last` (counted from 0) are hidden when the fold is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    pub first: usize,
    pub last: usize,
    /// Number of folds around it.
    pub depth: usize,
    /// The innermost fold around it.
    pub parent: Option<usize>,
    /// Contains declarations and is never closed.
    pub container: bool,
}

/// Deeper nodes are shown or hidden with their surroundings.
const MAX_DEPTH: usize = 12;

/// Returns folds in file order, outer ones before inner ones.
pub fn find(tree: &Tree, lines: &[&str], limits: OutlineLimits) -> Vec<Fold> {
    let mut finder = FoldFinder { lines, limits, folds: Vec::new(), around: Vec::new(), comment: None };
    let mut cursor = tree.walk();
    let mut level = 0;
    loop {
        let foldable = finder.visit(&cursor.node(), level);
        // Comments and strings contain no folds.
        if foldable && cursor.goto_first_child() {
            level += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                finder.end_comment();
                return finder.folds;
            }
            level -= 1;
        }
    }
}

struct FoldFinder<'a> {
    lines: &'a [&'a str],
    limits: OutlineLimits,
    folds: Vec<Fold>,
    /// The folds around the current node, with their level in the tree.
    around: Vec<(usize, usize)>,
    /// The rows of adjacent comment lines.
    comment: Option<(usize, usize)>,
}

impl FoldFinder<'_> {
    /// Returns `false` if the node's children need not be visited.
    fn visit(&mut self, node: &Node<'_>, level: usize) -> bool {
        while self.around.last().is_some_and(|(_, at)| *at >= level) {
            self.around.pop();
        }
        let kind = node.kind();
        if kind.contains("comment") {
            self.see_comment(node);
            return false;
        }
        if self.comment.is_some_and(|(_, last)| node.start_position().row > last) {
            self.end_comment();
        }
        if node.start_position().row == node.end_position().row || self.around.len() >= MAX_DEPTH {
            return node.end_position().row > node.start_position().row;
        }
        let is_string = node.is_named() && kind.contains("string") && !kind.contains("content");
        if (is_string || is_body(node))
            && let Some((first, last)) = self.inner_rows(node)
            && last + 1 - first >= self.limits.min_body_lines.max(1)
        {
            self.push(first, last, level, is_container(node, self.lines));
        }
        !is_string
    }

    fn push(&mut self, first: usize, last: usize, level: usize, container: bool) {
        let parent = self.around.last().map(|(fold, _)| *fold);
        if let Some(parent) = parent.map(|parent| &mut self.folds[parent])
            && (parent.first, parent.last) == (first, last)
        {
            parent.container |= container;
            return;
        }
        self.around.push((self.folds.len(), level));
        self.folds.push(Fold { first, last, depth: self.around.len() - 1, parent, container });
    }

    fn see_comment(&mut self, node: &Node<'_>) {
        let (first, last) = (node.start_position().row, last_row(node));
        let own_line = blank(before(self.lines, node));
        match &mut self.comment {
            Some((_, end)) if own_line && first <= *end + 1 => *end = last,
            _ => {
                self.end_comment();
                self.comment = own_line.then_some((first, last));
            }
        }
    }

    /// A long comment keeps its first line, and the last one if that only closes it.
    fn end_comment(&mut self) {
        let Some((first, last)) = self.comment.take() else { return };
        if last + 1 - first < self.limits.min_comment_lines.max(2) {
            return;
        }
        let closes = self.lines.get(last).is_some_and(|line| matches!(line.trim(), "*/" | "**/" | "-->" | "-}" | "]]"));
        let last = if closes { last - 1 } else { last };
        let parent = self.around.last().map(|(fold, _)| *fold);
        let depth = self.around.len();
        self.folds.push(Fold { first: first + 1, last, depth, parent, container: false });
    }

    /// Returns the rows between the opening and closing of a body.
    fn inner_rows(&self, node: &Node<'_>) -> Option<(usize, usize)> {
        let (start, end) = (node.start_position().row, last_row(node));
        // An indented block has no delimiters: its first and last line are part of its content.
        let indented = is_indented(node) && !opens_with_sign(node);
        let first = if indented { start } else { start + 1 };
        let line = self.lines.get(end)?;
        let stop = if node.end_position().row == end { node.end_position().column } else { line.len() };
        let (within, behind) = (line.get(..stop)?, line.get(stop..)?);
        let closes =
            (!indented && is_closer(within.trim())) || !behind.trim_matches([' ', '\t', ';', ',', ')']).is_empty();
        let last = if closes { end.checked_sub(1)? } else { end };
        (first <= last).then_some((first, last))
    }
}

/// A node that ends after a line feed does not include the next line.
fn last_row(node: &Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}

fn before<'a>(lines: &[&'a str], node: &Node<'_>) -> &'a str {
    let start = node.start_position();
    lines.get(start.row).and_then(|line| line.get(..start.column)).unwrap_or_default()
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn is_closer(text: &str) -> bool {
    let bare = text.trim_end_matches([';', ',']);
    matches!(bare, "end" | "done" | "```")
        || bare.starts_with("</")
        || (!bare.is_empty() && bare.chars().all(|c| "}])\"'`".contains(c)))
}

/// A body is delimited by braces or brackets, indented, or continues below a first line.
fn is_body(node: &Node<'_>) -> bool {
    opens_with_sign(node) || is_indented(node) || (node.is_named() && HEADED.contains(&node.kind()))
}

/// Matches a block that starts below the line of its parent; a whole file is not a body.
fn is_indented(node: &Node<'_>) -> bool {
    let below = |parent: Node<'_>| parent.start_position().row < node.start_position().row;
    node.is_named() && INDENTED.contains(&node.kind()) && node.parent().is_some_and(below)
}

fn opens_with_sign(node: &Node<'_>) -> bool {
    let Some(first) = node.child(0) else { return false };
    matches!(first.kind(), "{" | "[" | "{|" | "do" | "[[")
}

/// Node kinds of bodies without delimiters.
const INDENTED: &[&str] =
    &["block", "body", "body_statement", "block_body", "statements", "indented_block", "block_node", "function_body"];

/// Node kinds whose first line describes them.
const HEADED: &[&str] = &["element", "function", "paragraph", "list", "fenced_code_block", "pipe_table", "block_quote"];

/// Parts of the node names that grammars use for classes and similar containers.
const CONTAINERS: &[&str] = &[
    "class",
    "impl",
    "trait",
    "interface",
    "module",
    "mod_item",
    "namespace",
    "extension",
    "protocol",
    "contract",
    "library",
    "object_declaration",
    "object_definition",
    "companion_object",
    "struct_declaration",
    "struct_specifier",
    "record_declaration",
    "foreign_mod",
    "linkage",
    "package",
    "mixin",
];

const CONTAINER_CALLS: &[&str] = &["defmodule", "defimpl", "defprotocol"];

fn is_container(node: &Node<'_>, lines: &[&str]) -> bool {
    let Some(parent) = node.parent() else { return false };
    if parent.parent().is_none() {
        // It is the whole content, as in a data file.
        return opens_with_sign(node);
    }
    if parent.kind() == "call" {
        let word = lines.get(parent.start_position().row).map_or("", |line| line.trim_start());
        return CONTAINER_CALLS.iter().any(|call| word.strip_prefix(call).is_some_and(|rest| rest.starts_with(' ')));
    }
    CONTAINERS.iter().any(|name| parent.kind().contains(name))
}
