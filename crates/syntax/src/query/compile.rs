//! Compiles the text of a pattern to trees that can be compared with code.
//!
//! A pattern is parsed as a separate file. In some languages an expression is not valid there, or has another meaning (a
//! call in Go becomes a conversion), so it is also parsed inside a function, and both readings are searched.

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Language as _, Pattern, PatternError};

use super::QueryError;
use crate::Language;
use crate::parse::parse;

/// Returns the readings of a pattern, and a warning about doubtful parts.
pub fn compile(
    text: &str,
    language: Language,
    selector: Option<&str>,
) -> Result<(Vec<Pattern>, Option<String>), QueryError> {
    let alone = match selector {
        Some(selector) => Pattern::contextual(text, selector, language),
        None => Pattern::try_new(text, language),
    };
    let alone = alone.map_err(|error| explain(error, text, language, selector)).and_then(|pattern| {
        let wrong = pattern.has_error();
        if wrong { Err(QueryError::NotCode { pattern: text.into(), language }) } else { Ok(pattern) }
    });
    let inside = if selector.is_none() { in_function(text, language) } else { None };
    match (alone, inside) {
        (Ok(alone), None) => {
            let doubt = has_error_inside(&alone.node).then(|| doubt(text, language));
            Ok((vec![alone], doubt))
        }
        (Ok(alone), Some(inside)) if !has_error_inside(&alone.node) => Ok((vec![alone, inside], None)),
        (_, Some(inside)) => Ok((vec![inside], None)),
        (Err(error), None) => Err(error),
    }
}

/// Parses the pattern as one valid node in a function's body.
fn in_function(text: &str, language: Language) -> Option<Pattern> {
    let text = language.pre_process_pattern(text);
    language.functions().iter().find_map(|(before, after)| {
        let src = format!("{before}{text}{after}");
        let tree = parse(&src, language).ok().filter(|tree| !tree.root_node().has_error())?;
        let root = AstGrep::doc(StrDoc { src, lang: language, tree });
        let range = before.len()..before.len() + text.len();
        let node = root.root().get_inner_node().descendant_for_byte_range(range.start, range.end)?;
        (node.byte_range() == range).then(|| Pattern::from(root.adopt(node)))
    })
}

/// Returns the longest text that a match must contain literally; empty if there is none.
pub fn longest_word(pattern: &Pattern) -> String {
    fn longest(node: &PatternNode) -> &str {
        match node {
            PatternNode::Terminal { text, is_named: true, .. } => text,
            PatternNode::Terminal { .. } | PatternNode::MetaVar { .. } => "",
            PatternNode::Internal { children, .. } => {
                children.iter().map(longest).max_by_key(|text| text.len()).unwrap_or_default()
            }
        }
    }
    longest(&pattern.node).to_owned()
}

fn doubt(text: &str, language: Language) -> String {
    format!("the pattern `{text}` does not parse cleanly as {language} and may match something else than intended")
}

fn explain(error: PatternError, pattern: &str, language: Language, selector: Option<&str>) -> QueryError {
    let (pattern, selector) = (pattern.to_owned(), selector.unwrap_or_default().to_owned());
    match error {
        PatternError::Parse(_) | PatternError::NoContent(_) => QueryError::NotCode { pattern, language },
        PatternError::MultipleNode(_) => QueryError::Several { pattern, language },
        PatternError::RootMultiMetaVar(_) => QueryError::OnlyMulti(pattern),
        PatternError::InvalidKind(_) => QueryError::UnknownKind { selector, language },
        PatternError::NoSelectorInContext { .. } => QueryError::NoSuchKindInPattern { pattern, selector },
    }
}

/// The node kind of every grammar for text that it cannot parse.
const ERROR_KIND: u16 = u16::MAX;

fn has_error_inside(node: &PatternNode) -> bool {
    match node {
        PatternNode::MetaVar { .. } => false,
        PatternNode::Terminal { kind_id, .. } => *kind_id == ERROR_KIND,
        PatternNode::Internal { kind_id, children } => *kind_id == ERROR_KIND || children.iter().any(has_error_inside),
    }
}
