//! Structural conditions: code patterns, looked for in what a tool is about to write.

use std::path::Path;
use std::time::Duration;

use omp_syntax::{Language, Query, SearchLimits, Strictness};

use crate::watch::Watch;

/// Longer texts are not taken apart.
pub(crate) const MAX_SOURCE: usize = 512 * 1024;
const LIMITS: SearchLimits = SearchLimits { matches: 1, time: Duration::from_millis(200) };

/// The patterns of all rules for one language.
pub(crate) struct Structure {
    language: Language,
    queries: Vec<(usize, Vec<Query>)>,
}

impl Structure {
    /// `None` when the language is not known or no rule has a pattern in it.
    pub fn new(watch: &Watch, path: &str) -> Option<Self> {
        let language = Language::from_path(Path::new(path))?;
        let query = |pattern: &String| Query::new(pattern, language, Strictness::Smart, None).ok();
        let queries = watch
            .entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (at, entry.structure.iter().filter_map(query).collect::<Vec<_>>()));
        let queries: Vec<_> = queries.filter(|(_, queries)| !queries.is_empty()).collect();
        (!queries.is_empty()).then_some(Self { language, queries })
    }

    /// The lines, counted from 1, on which a rule's patterns begin to match.
    pub fn lines(&self, rule: usize, source: &str) -> Vec<usize> {
        let limits = SearchLimits { matches: 1000, time: Duration::from_secs(2) };
        let queries = self.queries.iter().filter(|(at, _)| *at == rule).flat_map(|(_, queries)| queries);
        let found = queries.filter_map(|query| query.search(source, limits).ok()).flat_map(|found| found.matches);
        found.map(|matched| matched.first_line).collect()
    }

    pub fn is_for(&self, path: &str) -> bool {
        Language::from_path(Path::new(path)) == Some(self.language)
    }

    /// The rules that are broken, of those that `may` be.
    pub fn broken(&self, source: &str, may: impl Fn(usize) -> bool) -> Vec<usize> {
        let is_found = |query: &Query| {
            query.may_match(source) && query.search(source, LIMITS).is_ok_and(|found| !found.matches.is_empty())
        };
        let candidates = self.queries.iter().filter(|(rule, _)| may(*rule));
        candidates.filter(|(_, queries)| queries.iter().any(is_found)).map(|(rule, _)| *rule).collect()
    }
}
