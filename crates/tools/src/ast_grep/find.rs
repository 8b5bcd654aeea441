//! Searches all files for all patterns.

use std::path::{Path, PathBuf};

use omp_agent::ToolError;
use omp_syntax::{QueryError, SearchLimits, SyntaxQuery};
use omp_workspace::{StopCheck, Tag, TextFile};

use super::AstGrepParams;
use super::sources::{PerLanguage, SearchedFiles, SourceFile, SourceFiles, no_sources, timed_out};
use crate::files::Files;
use crate::search::scope::SearchScope;

/// All matches of a call.
pub struct StructuralMatches {
    /// Files with matches, sorted by path.
    pub files: Vec<FileFound>,
    pub searched: usize,
    /// There were more matches than are counted.
    pub cut: bool,
    /// Files that were not searched, or only in part.
    pub problems: Vec<String>,
    pub notes: Vec<String>,
}

pub struct FileFound {
    pub path: PathBuf,
    /// Tag of the content that the line numbers refer to.
    pub tag: Tag,
    /// Whether the call named this file, so that its text came from the editor.
    pub named: bool,
    /// First and last line of each match, counted from 1, in order.
    pub matches: Vec<(usize, usize)>,
    cut: bool,
    problems: Vec<String>,
}

/// Limits the matches kept for one file.
const MAX_PER_FILE: usize = 10_000;

impl StructuralMatches {
    pub fn total(&self) -> usize {
        self.files.iter().map(|file| file.matches.len()).sum()
    }
}

type Queries = Vec<(String, PerLanguage<SyntaxQuery, QueryError>)>;

pub fn find(
    params: &AstGrepParams,
    scope: &SearchScope,
    files: &Files,
    stop: StopCheck<'_>,
) -> Result<StructuralMatches, ToolError> {
    let sources = SourceFiles::find(scope, params.lang.as_deref(), files, stop)?;
    let queries: Queries = params.pat.iter().map(|pattern| (pattern.clone(), PerLanguage::new())).collect();
    let looked = sources.each(files, stop, |path, source| in_file(path, &source, params, &queries));
    if stop() {
        return Err(timed_out());
    }
    if looked.searched == 0 && looked.problems.is_empty() {
        return Err(no_sources(scope));
    }
    assemble(looked, &queries, sources.notes, files)
}

fn in_file(path: &Path, source: &SourceFile, params: &AstGrepParams, queries: &Queries) -> Option<FileFound> {
    let strictness = params.strictness.map(Into::into).unwrap_or_default();
    let mut matches = Vec::new();
    let (mut cut, mut problems) = (false, Vec::new());
    for (pattern, per_language) in queries {
        let make = || SyntaxQuery::new(pattern, source.language, strictness, params.sel.as_deref());
        let Some(query) = per_language.get(source.language, make) else { continue };
        if !query.may_match(&source.text) {
            continue;
        }
        match query.search(&source.text, SearchLimits { matches: MAX_PER_FILE, ..SearchLimits::default() }) {
            Ok(found) => {
                matches.extend(found.matches.iter().map(|it| (it.first_line, it.last_line)));
                cut |= found.cut;
                problems.extend(found.syntax_error.map(|error| format!("does not parse at {error}")));
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    matches.sort_unstable();
    problems.dedup();
    let tag = TextFile::parse(source.text.as_bytes()).tag();
    let worth_telling = !matches.is_empty() || !problems.is_empty();
    worth_telling.then(|| FileFound { path: path.to_owned(), tag, named: source.named, matches, cut, problems })
}

/// Fails if a pattern is invalid in every language found; other invalid patterns are reported as problems.
fn assemble(
    looked: SearchedFiles<FileFound>,
    queries: &Queries,
    notes: Vec<String>,
    files: &Files,
) -> Result<StructuralMatches, ToolError> {
    let mut problems = Vec::new();
    for (_, per_language) in queries {
        let (mistakes, right_somewhere) = per_language.mistakes();
        match mistakes.first() {
            Some((_, error)) if !right_somewhere => return Err(ToolError::reply(error)),
            _ => problems.extend(mistakes.iter().map(|(language, error)| {
                let text = error.to_string();
                format!("{language} files were not searched: {}", text.lines().next().unwrap_or_default())
            })),
        }
        problems.extend(per_language.all().iter().filter_map(|query| query.doubt().map(str::to_owned)));
    }
    let display = |path: &Path| files.paths().display(path);
    problems.extend(looked.problems.iter().map(|(path, problem)| format!("{}: {problem}", display(path))));
    let of_files =
        looked.found.iter().flat_map(|file| file.problems.iter().map(|it| format!("{}: {it}", display(&file.path))));
    problems.extend(of_files);
    let cut = looked.found.iter().any(|file| file.cut);
    let with_matches = looked.found.into_iter().filter(|file| !file.matches.is_empty()).collect();
    Ok(StructuralMatches { files: with_matches, searched: looked.searched, cut, problems, notes })
}
