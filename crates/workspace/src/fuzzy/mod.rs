//! Fuzzy search for files and folders, for the `@` picker: scored, best first, using the scan that `find` and `search`
//! share.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::scan_cache::{Met, ScanCache, ScanKey, Visit};
use crate::walk::{StopCheck, WalkReport};

/// The best matches in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuzzyFound {
    /// Best first; of equally good ones, the shorter path first.
    pub matches: Vec<FuzzyMatch>,
    /// Total number of matches.
    pub total: usize,
    pub report: WalkReport,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzyMatch {
    /// Relative to the folder, with `/` as the separator.
    pub path: String,
    pub is_folder: bool,
    pub score: u32,
}

/// Longer queries are truncated: nobody types them, and matching time grows with both lengths.
const MAX_QUERY: usize = 256;
/// Limit on matches; no picker shows more.
const MAX_MATCHES: usize = 1000;

/// Returns the `limit` best matches of `query` among the files and folders below `root`. Letters must occur in order but
/// need not be adjacent; words may occur in any order. Case matters only if the query has capitals. Ignored files are left
/// out, hidden ones are not. With an empty query, the outermost entries come first.
pub fn fuzzy_files(scans: &ScanCache, root: &Path, query: &str, limit: usize, stop: StopCheck<'_>) -> FuzzyFound {
    let query: String = query.trim().chars().take(MAX_QUERY).collect();
    let lookup = FuzzyLookup { scans, root, query: &query, limit: limit.min(MAX_MATCHES) };
    let found = lookup.run(false, stop);
    if found.total == 0 && !query.is_empty() && found.report.worth_a_recheck(scans) {
        return lookup.run(true, stop);
    }
    found
}

struct FuzzyLookup<'a> {
    scans: &'a ScanCache,
    root: &'a Path,
    query: &'a str,
    limit: usize,
}

impl FuzzyLookup<'_> {
    fn run(&self, fresh: bool, stop: StopCheck<'_>) -> FuzzyFound {
        if !self.root.is_dir() {
            return FuzzyFound::default();
        }
        let (total, best) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let make = || {
            let mut scorer = Scorer::new(self.query);
            let mut part = Best { limit: self.limit, heap: BinaryHeap::new(), all: &best };
            let total = &total;
            let visitor = move |met: &Met<'_>| {
                let path = with_slashes(&met.entry.relative);
                if let Some(score) = scorer.score(&path) {
                    total.fetch_add(1, Ordering::Relaxed);
                    let path = path.into_owned();
                    part.offer(Ranked { rank: (Reverse(score), path.len(), path), is_folder: met.entry.is_folder });
                }
            };
            Box::new(visitor) as Box<dyn FnMut(&Met<'_>) + Send + '_>
        };
        let key = ScanKey::new(self.root, true, true);
        let report =
            self.scans.each(self.root, &key, fresh, stop, &Visit { slow: false, wants: &|_| true, make: &make });
        let mut best = best.into_inner().unwrap_or_else(PoisonError::into_inner);
        best.sort_unstable();
        best.truncate(self.limit);
        FuzzyFound { matches: best.into_iter().map(Ranked::shown).collect(), total: total.into_inner(), report }
    }
}

struct Scorer {
    pattern: Pattern,
    matcher: Matcher,
    scratch: Vec<char>,
}

impl Scorer {
    fn new(query: &str) -> Self {
        let pattern = Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        Self { pattern, matcher: Matcher::new(Config::DEFAULT.match_paths()), scratch: Vec::new() }
    }

    /// Adds the score of the file name to the score of the path, because people type names.
    fn score(&mut self, path: &str) -> Option<u32> {
        if self.pattern.atoms.is_empty() {
            let depth = path.bytes().filter(|byte| *byte == b'/').count();
            return Some(u32::MAX - u32::try_from(depth).unwrap_or(u32::MAX));
        }
        let whole = self.pattern.score(Utf32Str::new(path, &mut self.scratch), &mut self.matcher)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let named = self.pattern.score(Utf32Str::new(name, &mut self.scratch), &mut self.matcher);
        Some(whole + named.unwrap_or(0))
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    /// Score, length, path: smaller is better.
    rank: (Reverse<u32>, usize, String),
    is_folder: bool,
}

impl Ranked {
    fn shown(self) -> FuzzyMatch {
        let (Reverse(score), _, path) = self.rank;
        FuzzyMatch { path, is_folder: self.is_folder, score }
    }
}

/// The best matches of one thread, merged into the result when the thread ends.
struct Best<'a> {
    limit: usize,
    /// The worst of the kept matches is on top.
    heap: BinaryHeap<Ranked>,
    all: &'a Mutex<Vec<Ranked>>,
}

impl Best<'_> {
    fn offer(&mut self, match_: Ranked) {
        self.heap.push(match_);
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }
}

impl Drop for Best<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).extend(self.heap.drain());
    }
}

fn with_slashes(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/").into() } else { text }
}

#[cfg(test)]
mod tests;
