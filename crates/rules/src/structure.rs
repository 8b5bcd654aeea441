//! Structural conditions: code patterns that are searched in the text a tool is about to write.

use std::path::Path;
use std::time::Duration;

use omp_syntax::{Code, Language, SearchLimits, Strictness, SyntaxQuery};

use crate::watch::Watch;

/// Size limit of a text that is parsed.
pub(crate) const MAX_SOURCE: usize = 512 * 1024;

/// The patterns of all rules for one language.
pub(crate) struct Structure {
    language: Language,
    queries: Vec<(usize, Vec<SyntaxQuery>)>,
}

impl Structure {
    /// Returns `None` if the language is unknown or no rule has a pattern for it.
    pub fn new(watch: &Watch, path: &str) -> Option<Self> {
        let language = Language::from_path(Path::new(path))?;
        let query = |pattern: &String| SyntaxQuery::new(pattern, language, Strictness::Smart, None).ok();
        let queries = watch
            .entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (at, entry.structure.iter().filter_map(query).collect::<Vec<_>>()));
        let queries: Vec<_> = queries.filter(|(_, queries)| !queries.is_empty()).collect();
        (!queries.is_empty()).then_some(Self { language, queries })
    }

    /// Returns the lines, counted from 1, on which matches of a rule's patterns start.
    pub fn lines(&self, rule: usize, source: &str) -> Vec<usize> {
        let limits = SearchLimits { matches: 1000, time: Duration::from_secs(2) };
        let queries = self.queries.iter().filter(|(at, _)| *at == rule).flat_map(|(_, queries)| queries);
        let found = queries.filter_map(|query| query.search(source, limits).ok()).flat_map(|found| found.matches);
        found.map(|matched| matched.first_line).collect()
    }

    pub fn is_for(&self, path: &str) -> bool {
        Language::from_path(Path::new(path)) == Some(self.language)
    }

    /// Returns the broken rules among those that `may` be. The text is parsed once for all of them. There is no time limit,
    /// because a rule could be missed on a busy machine.
    pub fn broken(&self, source: &str, may: impl Fn(usize) -> bool) -> Vec<usize> {
        let may_match = |queries: &[SyntaxQuery]| queries.iter().any(|query| query.may_match(source));
        let candidates = self.queries.iter().filter(|(rule, queries)| may(*rule) && may_match(queries));
        let candidates: Vec<&(usize, Vec<SyntaxQuery>)> = candidates.collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        let Ok(code) = Code::parse(source, self.language) else { return Vec::new() };
        let is_broken = |queries: &[SyntaxQuery]| queries.iter().any(|query| query.is_in(&code));
        candidates.into_iter().filter(|(_, queries)| is_broken(queries)).map(|(rule, _)| *rule).collect()
    }
}
