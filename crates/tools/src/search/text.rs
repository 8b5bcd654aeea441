//! Formats a page of matches for the model.

use omp_agent::Output;
use omp_stdx::format;
use omp_stdx::truncate::{Keep, by_bytes};
use omp_workspace::{FileHits, MatchPage, MatchedFiles, PageRequest, Pattern, StopCheck};

use super::scope::{SearchScope, walk_notes};
use super::{FileMatches, SearchDetails};
use crate::files::{Files, header};
use crate::options::SearchOptions;
use crate::output_sink::MAX_BYTES;

/// Matches on a page.
const PAGE: u64 = 100;
/// Context lines on either side of a match.
const MAX_CONTEXT: f64 = 50.0;
const MAX_COLUMNS: usize = 1024;
/// Bytes reserved for the notes below the matches.
const NOTES_BYTES: usize = 2 * 1024;

/// Lines shown around a match.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinesAround {
    before: usize,
    after: usize,
}

impl LinesAround {
    pub(super) fn of(options: &SearchOptions) -> Self {
        let lines = |wanted: f64| wanted.clamp(0.0, MAX_CONTEXT) as usize;
        Self { before: lines(options.context_before), after: lines(options.context_after) }
    }
}

pub(super) fn report(
    found: &MatchedFiles,
    pattern: &Pattern,
    scope: &SearchScope,
    (skip, context): (u64, LinesAround),
    files: &Files,
    stop: StopCheck<'_>,
) -> Output<SearchDetails> {
    let (page, body) = page_that_fits(found, pattern, (skip, context), files, stop);
    let details = details(&page, found, scope, files);
    let mut text = match (found.total_matches(), page.shown) {
        (0, _) => "No matches found".to_owned(),
        (total, 0) => format!("No more matches: there are {}, {skip} were skipped", format::grouped(total)),
        _ => body,
    };
    let notes = notes(&page, found, pattern, scope, skip, files);
    for note in &notes {
        text.push('\n');
        text.push_str(note);
    }
    Output::text(text, details).useless_if(found.total_matches() == 0 && notes.is_empty())
}

/// Reduces the number of matches until the page fits, so that `skip` stays correct.
fn page_that_fits(
    found: &MatchedFiles,
    pattern: &Pattern,
    (skip, context): (u64, LinesAround),
    files: &Files,
    stop: StopCheck<'_>,
) -> (MatchPage, String) {
    let mut limit = PAGE;
    loop {
        let request =
            PageRequest { skip, limit, before: context.before, after: context.after, max_columns: MAX_COLUMNS };
        let page = found.page(pattern, &request, stop);
        let body = page.files.iter().map(|file| file_text(file, files)).collect::<Vec<_>>().join("\n");
        if body.len() <= MAX_BYTES - NOTES_BYTES {
            page.files.iter().for_each(|file| remember(file, files));
            return (page, body);
        }
        if limit == 1 {
            let cut = by_bytes(&body, MAX_BYTES - NOTES_BYTES, Keep::Head);
            let body = cut.join(|cut| format!("… [{} more of this match]\n", format::bytes(cut.bytes as u64)));
            return (page, body.into_owned());
        }
        limit /= 2;
    }
}

fn file_text(file: &FileHits, files: &Files) -> String {
    let display = files.paths().display(&file.path);
    let mut text = match file.tag {
        Some(tag) => header(&display, tag),
        None => format!("# {display}"),
    };
    text.push('\n');
    for line in &file.lines {
        let mark = if line.is_match { '*' } else { ' ' };
        text.push_str(&format!("{mark}{}:{}\n", line.number, line.text));
    }
    text
}

/// Records the lines shown unchanged, so that they can be edited by number.
fn remember(file: &FileHits, files: &Files) {
    if let Some(tag) = file.tag {
        let whole = file.lines.iter().filter(|line| !line.altered);
        let lines = whole.filter_map(|line| Some((usize::try_from(line.number).ok()?, line.text.clone())));
        files.record_lines(&file.path, tag, lines);
    }
}

fn notes(
    page: &MatchPage,
    found: &MatchedFiles,
    pattern: &Pattern,
    scope: &SearchScope,
    skip: u64,
    files: &Files,
) -> Vec<String> {
    let mut notes = Vec::new();
    let (total, end) = (found.total_matches(), skip + page.shown);
    if page.shown > 0 && page.shown < total {
        let files = format::plural(found.total_files(), "file", "files");
        let next = if end < total { format!("; next page: skip={end}") } else { String::new() };
        notes.push(format!("[Matches {}-{end} of {} in {files}{next}]", skip + 1, format::grouped(total)));
    }
    if lines_truncated(page) {
        notes.push(format!("[Lines over {MAX_COLUMNS} characters were cut; read the file to see them in full]"));
    }
    notes.extend(pattern.mended.clone());
    notes.extend(walk_notes(&found.report, files));
    notes.extend(scope.missing_note());
    notes
}

fn lines_truncated(page: &MatchPage) -> bool {
    page.files.iter().flat_map(|file| &file.lines).any(|line| line.altered && line.text.ends_with('…'))
}

fn details(page: &MatchPage, found: &MatchedFiles, scope: &SearchScope, files: &Files) -> SearchDetails {
    let shown_of = |file: &FileHits| FileMatches { path: files.paths().display(&file.path), count: file.matches };
    SearchDetails {
        scope_path: scope.display(),
        match_count: page.shown,
        file_count: page.files.len(),
        total_matches: found.total_matches(),
        total_files: found.total_files(),
        file_matches: page.files.iter().map(shown_of).collect(),
        match_limit_reached: (page.shown < found.total_matches()).then_some(PAGE),
        lines_truncated: lines_truncated(page),
        missing_paths: scope.missing.clone(),
    }
}
