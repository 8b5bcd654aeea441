//! Structural search: a pattern is code with holes, and matches where the tree of a file has the same shape.

mod compile;

use std::ops::Range;
use std::time::{Duration, Instant};

use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Language as _, MatchStrictness, NodeMatch, Pattern};

use crate::Language;
use crate::parse::{ParseError, parse, refuse_deep};
use crate::problem::{SyntaxError, error_in};

pub(crate) type Doc = StrDoc<Language>;

/// A pattern compiled for one language.
pub struct SyntaxQuery {
    /// Several if a language interprets the same text in two ways.
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) language: Language,
    doubt: Option<String>,
    /// For each pattern, a text without which it cannot match.
    needed: Vec<String>,
}

/// A text parsed once, for many patterns of its language.
pub struct Code(AstGrep<Doc>);

impl Code {
    pub fn parse(source: &str, language: Language) -> Result<Self, ParseError> {
        Ok(Self(tree_of(source, language)?.0))
    }
}

/// How much of a pattern's text must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Every token.
    Cst,
    /// Every token of the pattern; the code may have further punctuation.
    #[default]
    Smart,
    /// Only named nodes of the grammar.
    Ast,
    /// Only named nodes, without comments.
    Relaxed,
    /// The kinds of nodes, not their text.
    Signature,
    /// The text of nodes, not their kinds.
    Template,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("the pattern is empty\nhint: write the code to look for, with $NAME for what may be anything")]
    Empty,
    #[error("the pattern has {0} bytes (limit {MAX_PATTERN})")]
    TooLong(usize),
    #[error(
        "`{pattern}` is not {language} code\nhint: a pattern is a whole expression, statement or declaration; $NAME stands for one node, $$$NAME for any number"
    )]
    NotCode { pattern: String, language: Language },
    #[error(
        "`{pattern}` is more than one piece of {language} code\nhint: search for each on its own, or wrap them in their block and name the kind with `sel`"
    )]
    Several { pattern: String, language: Language },
    #[error("`{0}` alone would match any list\nhint: use $NAME, or put it into the code around it: f({0})")]
    OnlyMulti(String),
    #[error(
        "{language} has no node kind `{selector}`\nhint: kinds are those of the tree-sitter grammar, such as call_expression"
    )]
    UnknownKind { selector: String, language: Language },
    #[error("no `{selector}` in the pattern `{pattern}`")]
    NoSuchKindInPattern { pattern: String, selector: String },
    #[error("`$${0}` is not a metavariable\nhint: ${0} stands for one node, $$${0} for any number")]
    TwoDollars(String),
    #[error(transparent)]
    Parse(#[from] ParseError),
}

/// One match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// In bytes.
    pub range: Range<usize>,
    /// Counted from 1.
    pub first_line: usize,
    pub last_line: usize,
    /// The contents of the holes, by name.
    pub captures: Vec<Capture>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    pub name: String,
    pub text: String,
}

/// The matches in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryMatches {
    /// In file order.
    pub matches: Vec<Match>,
    /// A limit was reached; there may be more.
    pub cut: bool,
    /// The file does not parse completely: code around that position may have been missed.
    pub syntax_error: Option<SyntaxError>,
}

#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    pub matches: usize,
    /// Time limit for one file, after parsing.
    pub time: Duration,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self { matches: 10_000, time: Duration::from_secs(5) }
    }
}

const MAX_PATTERN: usize = 16 * 1024;
/// Length limit of a captured text; the rest is left out.
const MAX_CAPTURE: usize = 400;

impl SyntaxQuery {
    /// With `selector`, the pattern is only the context, and the node of that kind within it is searched.
    pub fn new(
        pattern: &str,
        language: Language,
        strictness: Strictness,
        selector: Option<&str>,
    ) -> Result<Self, QueryError> {
        let text = pattern.trim();
        if text.is_empty() {
            return Err(QueryError::Empty);
        }
        if text.len() > MAX_PATTERN {
            return Err(QueryError::TooLong(text.len()));
        }
        if let Some(name) = two_dollars(text) {
            return Err(QueryError::TwoDollars(name));
        }
        // Patterns are processed recursively.
        refuse_deep(&parse(&language.pre_process_pattern(text), language)?)?;
        let (patterns, doubt) = compile::compile(text, language, selector)?;
        let ignores_text = strictness == Strictness::Signature;
        let needed = if ignores_text { Vec::new() } else { patterns.iter().map(compile::longest_word).collect() };
        let strict = |pattern: Pattern| pattern.with_strictness(strictness.into());
        Ok(Self { patterns: patterns.into_iter().map(strict).collect(), language, doubt, needed })
    }

    /// Returns a warning if the pattern is usable but part of it is not valid code of its language.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// A quick check that avoids parsing most files: `false` if nothing can match.
    pub fn may_match(&self, source: &str) -> bool {
        self.needed.is_empty() || self.needed.iter().any(|word| source.contains(word.as_str()))
    }

    pub fn search(&self, source: &str, limits: SearchLimits) -> Result<QueryMatches, ParseError> {
        let (root, syntax_error) = tree_of(source, self.language)?;
        let (matches, cut) = self.matches(&root, limits);
        Ok(QueryMatches { matches: matches.iter().map(|(matched, _)| described(matched)).collect(), cut, syntax_error })
    }

    /// Returns whether the pattern matches anywhere.
    pub fn is_in(&self, code: &Code) -> bool {
        let root = code.0.root();
        self.patterns.iter().any(|pattern| root.find(pattern).is_some())
    }

    /// Returns matches in file order, each with its pattern; `true` if a limit was reached.
    pub(crate) fn matches<'t>(&self, root: &'t AstGrep<Doc>, limits: SearchLimits) -> (Vec<Matched<'t, '_>>, bool) {
        let deadline = Instant::now() + limits.time;
        let mut matches: Vec<Matched<'t, '_>> = Vec::new();
        let mut cut = false;
        for pattern in &self.patterns {
            let node = root.root();
            for matched in node.find_all(pattern) {
                cut = matches.len() >= limits.matches || Instant::now() >= deadline;
                if cut {
                    break;
                }
                matches.push((matched, pattern));
            }
        }
        matches.sort_by_key(|(matched, _)| (matched.range().start, std::cmp::Reverse(matched.range().end)));
        matches.dedup_by_key(|(matched, _)| matched.range());
        (matches, cut)
    }
}

type Matched<'t, 'p> = (NodeMatch<'t, Doc>, &'p Pattern);

/// Parses into the tree type of ast-grep, with the time limit.
pub(crate) fn tree_of(source: &str, language: Language) -> Result<(AstGrep<Doc>, Option<SyntaxError>), ParseError> {
    let tree = parse(source, language)?;
    refuse_deep(&tree)?;
    let error = error_in(&tree, source);
    Ok((AstGrep::doc(StrDoc { src: source.to_owned(), lang: language, tree }), error))
}

fn described(matched: &NodeMatch<'_, Doc>) -> Match {
    let (start, end) = (matched.start_pos(), matched.end_pos());
    let (first, mut last) = (start.line(), end.line());
    if last > first && end.byte_point().1 == 0 {
        last -= 1;
    }
    Match { range: matched.range(), first_line: first + 1, last_line: last + 1, captures: captures(matched) }
}

fn captures(matched: &NodeMatch<'_, Doc>) -> Vec<Capture> {
    let env = matched.get_env();
    let mut captures: Vec<Capture> = env
        .get_matched_variables()
        .filter_map(|variable| match variable {
            MetaVariable::Capture(name, _) => {
                let text = shortened(&env.get_match(&name)?.text());
                Some(Capture { name, text })
            }
            MetaVariable::MultiCapture(name) => {
                let nodes = env.get_multiple_matches(&name);
                let range = nodes.first()?.range().start..nodes.last()?.range().end;
                let text = shortened(matched.root().get_text().get(range)?);
                Some(Capture { name, text })
            }
            MetaVariable::Dropped(_) | MetaVariable::Multiple => None,
        })
        .collect();
    captures.sort_by(|a, b| a.name.cmp(&b.name));
    captures
}

fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_CAPTURE);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

/// Detects `$$NAME`, which does not have the meaning that people expect.
fn two_dollars(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    while let Some(at) = rest.find('$') {
        let dollars = rest[at..].bytes().take_while(|byte| *byte == b'$').count();
        rest = &rest[at + dollars..];
        let is_name = |c: &char| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == '_';
        let name: String = rest.chars().take_while(is_name).collect();
        if dollars == 2 && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Some(name);
        }
    }
    None
}

impl From<Strictness> for MatchStrictness {
    fn from(strictness: Strictness) -> Self {
        match strictness {
            Strictness::Cst => MatchStrictness::Cst,
            Strictness::Smart => MatchStrictness::Smart,
            Strictness::Ast => MatchStrictness::Ast,
            Strictness::Relaxed => MatchStrictness::Relaxed,
            Strictness::Signature => MatchStrictness::Signature,
            Strictness::Template => MatchStrictness::Template,
        }
    }
}

#[cfg(test)]
mod tests;
