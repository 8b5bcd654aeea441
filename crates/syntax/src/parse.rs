//! Bounded parsing: every file is accepted, and none takes forever.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ast_grep_core::tree_sitter::LanguageExt as _;
use tree_sitter::{ParseOptions, Parser, Tree};

use crate::Language;

/// Size limit; larger files are data rather than code.
pub const MAX_SOURCE: usize = 2 * 1024 * 1024;
/// Time limit for one file.
pub const PARSE_TIME: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("{} is too large to parse (limit {})", omp_stdx::format::bytes(*.0 as u64), omp_stdx::format::bytes(MAX_SOURCE as u64))]
    TooLarge(usize),
    #[error("parsing took longer than {} s", PARSE_TIME.as_secs())]
    TooSlow,
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("the {0} grammar cannot be used: {1}")]
    Grammar(&'static str, String),
}

/// Depth limit: comparing two nodes recurses, and deeper trees could overflow the stack.
pub(crate) const MAX_DEPTH: usize = 1500;

pub(crate) fn parse(source: &str, language: Language) -> Result<Tree, ParseError> {
    parse_within(source, language, PARSE_TIME)
}

pub(crate) fn parse_within(source: &str, language: Language, time: Duration) -> Result<Tree, ParseError> {
    if source.len() > MAX_SOURCE {
        return Err(ParseError::TooLarge(source.len()));
    }
    let deadline = Instant::now() + time;
    let mut watch = |_: &tree_sitter::ParseState| match Instant::now() < deadline {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let bytes = source.as_bytes();
    let mut from = |at: usize, _| bytes.get(at..).unwrap_or_default();
    with_parser(language, |parser| {
        let options = ParseOptions::new().progress_callback(&mut watch);
        parser.parse_with_options(&mut from, None, Some(options)).ok_or(ParseError::TooSlow)
    })
}

thread_local! {
    /// One parser per thread; switching its language is cheap.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

fn with_parser<T>(
    language: Language,
    work: impl FnOnce(&mut Parser) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    PARSER.with_borrow_mut(|parser| {
        // Otherwise an interrupted parse would be continued.
        parser.reset();
        let set = parser.set_language(&language.get_ts_language());
        set.map_err(|error| ParseError::Grammar(language.name(), error.to_string()))?;
        work(parser)
    })
}

/// Refuses trees that are too deep to be compared.
pub(crate) fn refuse_deep(tree: &Tree) -> Result<(), ParseError> {
    let mut cursor = tree.walk();
    let mut depth = 0;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(ParseError::TooDeep);
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(());
            }
            depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust() -> Language {
        Language::from_name("rust").unwrap()
    }

    #[test]
    fn what_is_too_large_slow_or_deep_is_refused() {
        let large = "a".repeat(MAX_SOURCE + 1);
        assert_eq!(parse(&large, rust()).map(|_| ()), Err(ParseError::TooLarge(MAX_SOURCE + 1)));
        let long = "fn a() { b(c, d) }\n".repeat(50_000);
        assert_eq!(parse_within(&long, rust(), Duration::ZERO).map(|_| ()), Err(ParseError::TooSlow));
        // The parser works for the next file.
        assert!(!parse("fn a() {}", rust()).unwrap().root_node().has_error());
        let deep = format!("fn a() {{ {}1{} }}", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(refuse_deep(&parse(&deep, rust()).unwrap()), Err(ParseError::TooDeep));
        assert_eq!(refuse_deep(&parse("fn a() {}", rust()).unwrap()), Ok(()));
    }
}
