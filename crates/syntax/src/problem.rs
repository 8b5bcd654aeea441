//! Finds where a file stops conforming to its grammar.

use tree_sitter::{Node, Tree};

use crate::Language;
use crate::parse::{ParseError, parse};

/// The first position that does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// A few words of the text there, or what is missing.
    pub near: String,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.near)
    }
}

/// Returns `Ok(None)` if everything parses.
pub fn first_error(source: &str, language: Language) -> Result<Option<SyntaxError>, ParseError> {
    Ok(error_in(&parse(source, language)?, source))
}

pub(crate) fn error_in(tree: &Tree, source: &str) -> Option<SyntaxError> {
    let node = first_bad_node(tree)?;
    let start = node.start_position();
    let line = source.lines().nth(start.row).unwrap_or_default();
    let column = line.get(..start.column).map_or(start.column, |before| before.chars().count()) + 1;
    Some(SyntaxError { line: start.row + 1, column, near: near(&node, source) })
}

/// Descends only into subtrees with errors.
fn first_bad_node(tree: &Tree) -> Option<Node<'_>> {
    let mut node = tree.root_node();
    if !node.has_error() {
        return None;
    }
    loop {
        if node.is_missing() {
            return Some(node);
        }
        let mut cursor = node.walk();
        let below =
            node.children(&mut cursor).find(|child| child.has_error() || child.is_error() || child.is_missing());
        match below {
            // An error inside a large error node is a more precise position.
            Some(child) => node = child,
            None => return Some(node),
        }
    }
}

const NEAR_CHARS: usize = 40;

fn near(node: &Node<'_>, source: &str) -> String {
    if node.is_missing() {
        return format!("missing `{}`", node.kind());
    }
    let rest = source.get(node.start_byte()..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default().trim_end();
    let shown: String = line.chars().take(NEAR_CHARS).collect();
    match shown.len() < line.len() {
        true => format!("near `{shown}…`"),
        false => format!("near `{shown}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, source: &str, expect: &str) {
        let found = first_error(source, Language::from_name(language).unwrap()).unwrap();
        assert_eq!(found.map_or("-".to_owned(), |error| error.to_string()), expect, "{source}");
    }

    #[test]
    fn the_first_place_is_named() {
        check("rust", "fn a() {}\n", "-");
        check("rust", "fn a() {\n    let x = ;\n}\n", "line 2, column 11: near `= ;`");
        check("rust", "fn a() {\n    b(\n}\n", "line 2, column 6: near `(`");
        check("json", "{\"a\": 1, \"ä\": }", "line 1, column 14: missing `number`");
        check("python", "def f(:\n    pass\n", "line 1, column 7: missing `)`");
        check("javascript", "let a = 1;\nfunction () {}\n", "-");
        check("rust", "", "-");
    }
}
