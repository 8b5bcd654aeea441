//! Structural rewriting: every match of a pattern is replaced by a template filled from its holes.

use std::collections::HashSet;
use std::ops::Range;

use ast_grep_core::replacer::TemplateFix;

use crate::Language;
use crate::parse::ParseError;
use crate::problem::{SyntaxError, first_error};
use crate::query::{QueryError, SearchLimits, Strictness, SyntaxQuery, tree_of};

/// A pattern with its replacement, compiled for one language.
pub struct Rewrite {
    query: SyntaxQuery,
    template: TemplateFix,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error("{0}\nhint: correct the pattern; a rewrite needs one that parses cleanly")]
    Doubtful(String),
    #[error("the replacement uses {names}, which the pattern `{pattern}` does not have")]
    UnknownVariable { names: String, pattern: String },
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Byte range in the source.
    pub range: Range<usize>,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    pub text: String,
    /// In file order, without overlap.
    pub edits: Vec<Edit>,
    /// Number of matches skipped because they are inside a replaced one.
    pub nested: usize,
    /// A limit was reached; there may be more.
    pub cut: bool,
    /// The source did not parse completely.
    pub before: Option<SyntaxError>,
    /// The result does not parse completely.
    pub after: Option<SyntaxError>,
}

impl Rewrite {
    pub fn new(pattern: &str, replacement: &str, language: Language) -> Result<Self, RewriteError> {
        let query = SyntaxQuery::new(pattern, language, Strictness::Smart, None)?;
        if let Some(doubt) = query.doubt() {
            return Err(RewriteError::Doubtful(doubt.into()));
        }
        let template = match TemplateFix::try_new(replacement, &language) {
            Ok(template) => template,
            Err(never) => match never {},
        };
        let known: HashSet<&str> = query.patterns.iter().flat_map(|pattern| pattern.defined_vars()).collect();
        let mut unknown: Vec<String> = template
            .used_vars()
            .into_iter()
            .filter(|name| !known.contains(name))
            .map(|name| format!("${name}"))
            .collect();
        unknown.sort();
        if !unknown.is_empty() {
            return Err(RewriteError::UnknownVariable { names: unknown.join(", "), pattern: pattern.trim().into() });
        }
        Ok(Self { query, template })
    }

    /// See [`SyntaxQuery::may_match`].
    pub fn may_match(&self, source: &str) -> bool {
        self.query.may_match(source)
    }
}

/// Applies all rewrites at once: each sees the original source, the outermost match wins and, of two that match the same
/// range, the earlier rewrite. All rewrites must be of `language`.
pub fn rewrite(source: &str, language: Language, rewrites: &[&Rewrite]) -> Result<Rewritten, ParseError> {
    let (root, before) = tree_of(source, language)?;
    let mut result = Rewritten { before, ..Rewritten::default() };
    let mut edits = Vec::new();
    for rewrite in rewrites {
        let (matches, cut) = rewrite.query.matches(&root, SearchLimits::default());
        result.cut |= cut;
        edits.extend(matches.iter().map(|(matched, pattern)| {
            // Punctuation after the pattern's match, such as a semicolon, is kept.
            let edit = matched.make_edit(pattern, &rewrite.template);
            let range = edit.position..edit.position + edit.deleted_length;
            Edit { range, text: String::from_utf8_lossy(&edit.inserted_text).into_owned() }
        }));
    }
    // Stable sort: of equal ranges the earlier rewrite comes first.
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let newline = if source.contains("\r\n") { "\r\n" } else { "\n" };
    for mut edit in edits {
        if edit.range.is_empty() || result.edits.last().is_some_and(|last| edit.range.start < last.range.end) {
            result.nested += 1;
            continue;
        }
        if newline == "\r\n" {
            edit.text = edit.text.replace("\r\n", "\n").replace('\n', newline);
        }
        if source.get(edit.range.clone()).is_some_and(|old| old != edit.text) {
            result.edits.push(edit);
        }
    }
    result.text = spliced(source, &result.edits);
    result.after = first_error(&result.text, language).unwrap_or_default();
    Ok(result)
}

fn spliced(source: &str, edits: &[Edit]) -> String {
    let mut text = String::with_capacity(source.len());
    let mut next = 0;
    for edit in edits {
        text.push_str(&source[next..edit.range.start]);
        text.push_str(&edit.text);
        next = edit.range.end;
    }
    text.push_str(&source[next..]);
    text
}

#[cfg(test)]
mod tests;
