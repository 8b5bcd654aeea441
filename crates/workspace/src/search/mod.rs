//! Searches file contents with ripgrep's engine, one evenly distributed page at a time.
//!
//! There are two passes: the first counts the matches of every file, in parallel and without keeping lines; the second reads
//! only the few files on the page again. So memory does not grow with the number of matches, totals are exact, and the order
//! is the same on every run.

mod hits;
mod page;
mod pattern;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};

use crate::open::{FileError, open_without_waiting};
use crate::reach::FileReach;
use crate::scan_cache::{Met, ScanCache};
use crate::walk::{How, StopCheck, Walk, WalkReport};

pub use hits::{FileHits, HitLine};
pub use pattern::{Pattern, PatternError};

/// The requested part of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Number of matches to skip, in page order.
    pub skip: u64,
    pub limit: u64,
    /// Number of context lines before a match.
    pub before: usize,
    pub after: usize,
    /// Longer lines are cut to this number of characters.
    pub max_columns: usize,
}

/// One page of matches.
#[derive(Clone, Debug, Default)]
pub struct MatchPage {
    /// Sorted by path.
    pub files: Vec<FileHits>,
    /// Number of matches on this page.
    pub shown: u64,
}

/// Memory limit for one line, or for one file if matches may span lines. Files that need more are counted as unreadable.
const HEAP_LIMIT: usize = if cfg!(test) { 1024 * 1024 } else { 64 * 1024 * 1024 };

/// Files with matches, without their lines.
#[derive(Clone, Debug, Default)]
pub struct MatchedFiles {
    /// Path and number of matches, sorted by path.
    files: Vec<(PathBuf, u64)>,
    pub report: WalkReport,
    reach: FileReach,
}

impl MatchedFiles {
    /// Counts the matches of `pattern` in the files of `walk`.
    pub fn count(pattern: &Pattern, walk: &Walk, scans: &ScanCache, stop: StopCheck<'_>) -> Self {
        let (found, searched) = Self::count_once(pattern, walk, scans, false, stop);
        if searched == 0 && found.report.worth_a_recheck(scans) {
            return Self::count_once(pattern, walk, scans, true, stop).0;
        }
        found
    }

    /// Also returns the number of files searched.
    fn count_once(
        pattern: &Pattern,
        walk: &Walk,
        scans: &ScanCache,
        fresh: bool,
        stop: StopCheck<'_>,
    ) -> (Self, usize) {
        let found = Mutex::new(Vec::new());
        let (failed, kept, searched) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let reach = scans.reach();
        let mut report = walk.each_file(scans, How { fresh, slow: true }, stop, || {
            let mut searcher = searcher(pattern).line_number(false).build();
            // Threads that share one matcher contend for its scratch memory.
            let matcher = pattern.matcher().clone();
            let (found, failed, kept, searched) = (&found, &failed, &kept, &searched);
            move |met: &Met<'_>| {
                let mut counter = Counter::default();
                let path = met.path();
                searched.fetch_add(1, Ordering::Relaxed);
                match search_file(&mut searcher, &matcher, (&path, reach), stop, &mut counter) {
                    Ok(()) if counter.matches > 0 && !counter.binary => {
                        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                        found.push((path.into_owned(), counter.matches));
                    }
                    Ok(()) => {}
                    // The file was removed after it was listed.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) if is_kept(&error) => {
                        kept.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(_) => {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        report.unreadable += failed.into_inner();
        report.kept += kept.into_inner();
        report.stopped |= stop();
        let mut files = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.sort_unstable();
        // Targets may overlap.
        files.dedup_by(|later, earlier| later.0 == earlier.0);
        (Self { files, report, reach: reach.clone() }, searched.into_inner())
    }

    pub fn total_files(&self) -> usize {
        self.files.len()
    }

    pub fn total_matches(&self) -> u64 {
        self.files.iter().map(|(_, matches)| matches).sum()
    }

    /// Reads the lines of one page: a few matches of every file first, so that no single file fills it.
    pub fn page(&self, pattern: &Pattern, request: &PageRequest, stop: StopCheck<'_>) -> MatchPage {
        let counts: Vec<u64> = self.files.iter().map(|(_, matches)| *matches).collect();
        let mut page = MatchPage::default();
        for ((path, matches), range) in self.files.iter().zip(page::ranges(&counts, request.skip, request.limit)) {
            if !range.is_empty() && !stop() {
                page.shown += range.end - range.start;
                page.files.push(hits::collect(pattern, (path, &self.reach), *matches, range, request, stop));
            }
        }
        page
    }
}

fn searcher(pattern: &Pattern) -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        .binary_detection(BinaryDetection::quit(0))
        .multi_line(pattern.is_multiline())
        .line_terminator(pattern.line_terminator())
        .heap_limit(Some(HEAP_LIMIT));
    builder
}

fn search_file<S>(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    (path, reach): (&Path, &FileReach),
    stop: StopCheck<'_>,
    sink: S,
) -> io::Result<()>
where
    S: Sink<Error = io::Error>,
{
    // The listed file may have been replaced by a pipe.
    let file = open_without_waiting(path)?;
    reach.allow_opened(path, &file).map_err(io::Error::other)?;
    searcher.search_reader(matcher, StoppableFile { file, stop }, sink)
}

fn is_kept(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FileError>());
    matches!(inner, Some(FileError::Denied(_)))
}

/// A reader that fails as soon as the search is stopped, so that a huge file cannot delay it.
struct StoppableFile<'a> {
    file: File,
    stop: StopCheck<'a>,
}

impl Read for StoppableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() { Err(io::Error::other("stopped")) } else { self.file.read(buffer) }
    }
}

#[derive(Default)]
struct Counter {
    matches: u64,
    binary: bool,
}

impl Sink for &mut Counter {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, _found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
