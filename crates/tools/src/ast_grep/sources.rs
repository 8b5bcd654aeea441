//! The files that a structural search or rewrite scans, each with its language.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use omp_agent::ToolError;
use omp_stdx::format;
use omp_syntax::{Language, MAX_SOURCE};
use omp_workspace::{StopCheck, binary_reason};

use crate::files::Files;
use crate::search::scope::{SearchScope, walk_notes};

/// The files found by walking the scope, sorted by path.
pub(crate) struct SourceFiles {
    pub files: Vec<PathBuf>,
    /// Files that the call named directly, as opposed to files found in a folder.
    named: Vec<PathBuf>,
    wanted: Option<Language>,
    pub notes: Vec<String>,
}

/// The text of one file.
pub(crate) struct SourceFile {
    pub language: Language,
    pub text: String,
    /// Whether the call named the file. Named files are read from the editor, found files from disk.
    pub named: bool,
}

/// Limits the files scanned in one call.
const MAX_FILES: usize = 50_000;

impl SourceFiles {
    pub(crate) fn find(
        scope: &SearchScope,
        wanted: Option<&str>,
        files: &Files,
        stop: StopCheck<'_>,
    ) -> Result<Self, ToolError> {
        let wanted = wanted.map(|name| Language::from_name(name).ok_or_else(|| unknown_language(name))).transpose()?;
        let newest = scope.walk(true, true).newest(MAX_FILES, files.scans(), stop, &|_| {});
        if newest.report.stopped {
            return Err(timed_out());
        }
        let mut notes: Vec<String> = scope.missing_note().into_iter().collect();
        if newest.total > newest.files.len() {
            let left_out = newest.total - newest.files.len();
            notes.push(format!(
                "{} were not searched (limit {MAX_FILES})",
                format::plural(left_out, "older file", "older files")
            ));
        }
        notes.extend(walk_notes(&newest.report, files));
        let named =
            scope.targets.iter().map(|target| target.base.absolute.clone()).filter(|path| path.is_file()).collect();
        let mut files = newest.files;
        files.sort_unstable();
        Ok(Self { files, named, wanted, notes })
    }

    /// Returns `Ok(None)` if the file has another language or none.
    pub(crate) fn load(&self, path: &Path, files: &Files) -> Result<Option<SourceFile>, String> {
        let by_path = Language::from_path(path);
        let is_named = self.named.iter().any(|named| named == path);
        let candidate = match (by_path, self.wanted) {
            (Some(found), Some(wanted)) => is_named || same_family(wanted, found),
            (Some(_), None) => true,
            // Without an extension, only the first line of a script can identify its language.
            (None, _) => is_named || path.extension().is_none(),
        };
        if !candidate {
            return Ok(None);
        }
        let size = std::fs::metadata(path).map_or(0, |data| data.len());
        if size > MAX_SOURCE as u64 {
            let known = by_path.is_some() || is_named;
            return if known { Err(format!("{} is too large to parse", format::bytes(size))) } else { Ok(None) };
        }
        let bytes = if is_named { files.read_whole(path) } else { files.reach().read_whole(path) };
        let bytes = bytes.map_err(|error| error.to_string())?;
        self.told_apart(bytes, by_path, is_named)
    }

    fn told_apart(
        &self,
        bytes: Vec<u8>,
        by_path: Option<Language>,
        is_named: bool,
    ) -> Result<Option<SourceFile>, String> {
        let language = by_path.or_else(|| {
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
            Language::detect(Path::new("script"), &head)
        });
        let language = match (language, self.wanted) {
            (Some(found), Some(wanted)) if same_family(wanted, found) => found,
            (_, Some(wanted)) if is_named => wanted,
            (Some(found), None) => found,
            (None, None) if is_named => return Err("its language is unknown; set one with `lang`".into()),
            _ => return Ok(None),
        };
        if let Some(reason) = binary_reason(&bytes) {
            return Err(format!("contains {reason}"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
        Ok(Some(SourceFile { language, text, named: is_named }))
    }

    /// Runs `work` on every file of a known language, on several threads. Results are in the order of the files.
    pub(crate) fn each<T: Send>(
        &self,
        files: &Files,
        stop: StopCheck<'_>,
        work: impl Fn(&Path, SourceFile) -> Option<T> + Sync,
    ) -> SearchedFiles<T> {
        let (next, searched) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results = Mutex::new((Vec::new(), Vec::new()));
        let worker = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = self.files.get(at).filter(|_| !stop()) else { return };
                let outcome = match self.load(path, files) {
                    Ok(None) => continue,
                    Ok(Some(source)) => {
                        searched.fetch_add(1, Ordering::Relaxed);
                        work(path, source).map(Ok)
                    }
                    Err(problem) => Some(Err(problem)),
                };
                let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Some(Ok(result)) => results.0.push((at, result)),
                    Some(Err(problem)) => results.1.push((at, problem)),
                    None => {}
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads() {
                scope.spawn(worker);
            }
            worker();
        });
        let (mut found, mut problems) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(at, _)| *at);
        problems.sort_by_key(|(at, _)| *at);
        SearchedFiles {
            found: found.into_iter().map(|(_, result)| result).collect(),
            problems: problems.into_iter().map(|(at, problem)| (self.files[at].clone(), problem)).collect(),
            searched: searched.into_inner(),
        }
    }
}

/// The results of scanning all files.
pub(crate) struct SearchedFiles<T> {
    pub found: Vec<T>,
    /// Files that could not be scanned, with the reason.
    pub problems: Vec<(PathBuf, String)>,
    pub searched: usize,
}

/// A pattern compiled once per language; compile errors are kept.
pub(crate) struct PerLanguage<T, E> {
    made: Mutex<HashMap<Language, Result<Arc<T>, E>>>,
}

impl<T, E: Clone> PerLanguage<T, E> {
    pub(crate) fn new() -> Self {
        Self { made: Mutex::default() }
    }

    pub(crate) fn get(&self, language: Language, make: impl FnOnce() -> Result<T, E>) -> Option<Arc<T>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(language).or_insert_with(|| make().map(Arc::new)).as_ref().ok().cloned()
    }

    /// Returns the patterns that compiled.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.values().filter_map(|result| result.as_ref().ok().cloned()).collect()
    }

    /// Returns the compile errors by language, and whether the pattern compiled for any language.
    pub(crate) fn mistakes(&self) -> (Vec<(Language, E)>, bool) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mistakes: Vec<(Language, E)> =
            made.iter().filter_map(|(language, result)| Some((*language, result.as_ref().err()?.clone()))).collect();
        mistakes.sort_by_key(|(language, _)| language.name());
        (mistakes, made.values().any(Result::is_ok))
    }
}

/// The error for a scope without a file that can be parsed.
pub(crate) fn no_sources(scope: &SearchScope) -> ToolError {
    ToolError::Reply(format!(
        "No files of a known language in {}\nhint: to parse a file of another kind, name it and set `lang`",
        scope.display()
    ))
}

pub(crate) fn timed_out() -> ToolError {
    ToolError::reply("timed out after 30s\nhint: give fewer or more specific `paths`")
}

/// Lists the first problems and counts the rest.
pub(crate) fn listed(title: &str, lines: &[String]) -> Option<String> {
    const SHOWN: usize = 20;
    if lines.is_empty() {
        return None;
    }
    let mut text = format!("{title}:\n{}", lines[..lines.len().min(SHOWN)].join("\n"));
    if lines.len() > SHOWN {
        text.push_str(&format!("\n… and {} more", lines.len() - SHOWN));
    }
    Some(text)
}

fn unknown_language(name: &str) -> ToolError {
    let known: Vec<&str> = Language::all().map(Language::name).collect();
    ToolError::Reply(format!("`{name}` is not a language that can be parsed\nhint: one of {}", known.join(", ")))
}

/// TypeScript and TSX are two grammars of one language.
fn same_family(wanted: Language, found: Language) -> bool {
    wanted == found || (wanted.name() == "typescript" && found.name() == "tsx")
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(8)
}
