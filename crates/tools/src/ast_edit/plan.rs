//! Computes the new content of every file of a rewrite.

use std::path::Path;
use std::sync::Arc;

use omp_agent::ToolError;
use omp_stdx::format;
use omp_syntax::{Rewrite, RewriteError, Rewritten, rewrite};
use omp_workspace::{FileEdit, ResolvedPath, StopCheck, TextFile, refuse_generated};

use super::AstEditParams;
use crate::ast_grep::sources::{PerLanguage, SearchedFiles, SourceFile, SourceFiles, no_sources, timed_out};
use crate::files::Files;
use crate::search::scope::SearchScope;

/// A preview with everything needed to apply it.
pub struct RewritePlan {
    /// Sorted by path.
    pub edits: Vec<PlannedEdit>,
    pub searched: usize,
    /// There were more matches than were rewritten.
    pub cut: bool,
    pub problems: Vec<String>,
    pub notes: Vec<String>,
}

pub struct PlannedEdit {
    pub edit: FileEdit,
    pub replacements: usize,
}

/// Limits the old and new content of all files of a preview, which stays in memory until the preview is resolved.
const MAX_HELD: usize = 16 * 1024 * 1024;

impl RewritePlan {
    pub fn replacements(&self) -> usize {
        self.edits.iter().map(|edit| edit.replacements).sum()
    }
}

type Rewrites = Vec<PerLanguage<Rewrite, RewriteError>>;

pub fn plan(
    params: &AstEditParams,
    scope: &SearchScope,
    files: &Files,
    block_generated: bool,
    stop: StopCheck<'_>,
) -> Result<RewritePlan, ToolError> {
    let sources = SourceFiles::find(scope, params.lang.as_deref(), files, stop)?;
    let rewrites: Rewrites = params.ops.iter().map(|_| PerLanguage::new()).collect();
    let looked =
        sources.each(files, stop, |path, source| in_file(path, source, params, &rewrites, files, block_generated));
    if stop() {
        return Err(timed_out());
    }
    if looked.searched == 0 && looked.problems.is_empty() {
        return Err(no_sources(scope));
    }
    assemble(looked, &rewrites, sources.notes, files)
}

/// The result for one file.
struct FilePlan {
    display: String,
    edit: Option<PlannedEdit>,
    cut: bool,
    problems: Vec<String>,
}

fn in_file(
    path: &Path,
    mut source: SourceFile,
    params: &AstEditParams,
    rewrites: &Rewrites,
    files: &Files,
    block_generated: bool,
) -> Option<FilePlan> {
    let made = params.ops.iter().zip(rewrites).filter_map(|(op, per_language)| {
        per_language.get(source.language, || Rewrite::new(&op.pat, &op.out, source.language))
    });
    let fitting: Vec<Arc<Rewrite>> = made.filter(|rewrite| rewrite.may_match(&source.text)).collect();
    if fitting.is_empty() {
        return None;
    }
    // The rewrite uses the editor's text of a file, also for files found in a folder.
    if files.has_editor() && !source.named {
        source.text = open_text(files, path).unwrap_or(source.text);
    }
    let fitting: Vec<&Rewrite> = fitting.iter().map(|rewrite| &**rewrite).collect();
    let path = ResolvedPath { absolute: path.to_owned(), display: files.paths().display(path) };
    let mut plan = FilePlan { display: path.display.clone(), edit: None, cut: false, problems: Vec::new() };
    match rewrite(&source.text, source.language, &fitting) {
        Err(error) => plan.problems.push(error.to_string()),
        Ok(done) if done.edits.is_empty() => {
            plan.problems.extend(done.before.map(|error| format!("does not parse at {error}")));
        }
        Ok(done) => match refuse_generated(&path, source.text.as_bytes(), block_generated) {
            Err(refused) => plan.problems.push(refused.to_string().lines().next().unwrap_or_default().to_owned()),
            Ok(()) => plan.take(path, source, done),
        },
    }
    Some(plan)
}

/// Returns `None` if the file became unreadable; the commit reports that as well.
fn open_text(files: &Files, path: &Path) -> Option<String> {
    String::from_utf8(files.read_whole(path).ok()?).ok()
}

impl FilePlan {
    fn take(&mut self, path: ResolvedPath, source: SourceFile, done: Rewritten) {
        match (&done.before, &done.after) {
            (None, Some(error)) => self.problems.push(format!("the result would not parse at {error}")),
            (Some(error), _) => self.problems.push(format!("does not parse at {error}")),
            (None, None) => {}
        }
        if done.nested > 0 {
            let nested = format::plural(done.nested, "nested match is", "nested matches are");
            self.problems.push(format!("{nested} not rewritten; run again after applying to rewrite inside"));
        }
        self.cut = done.cut;
        let (before, after) = (TextFile::parse(source.text.into_bytes()), TextFile::parse(done.text.into_bytes()));
        let edit = FileEdit::new(path, Some(before), Some(after));
        self.edit = Some(PlannedEdit { edit, replacements: done.edits.len() });
    }
}

/// Fails if an op is invalid in every language found; other invalid ops are reported as problems.
fn assemble(
    looked: SearchedFiles<FilePlan>,
    rewrites: &Rewrites,
    notes: Vec<String>,
    files: &Files,
) -> Result<RewritePlan, ToolError> {
    let mut problems = Vec::new();
    for (at, per_language) in rewrites.iter().enumerate() {
        let (mistakes, right_somewhere) = per_language.mistakes();
        match mistakes.first() {
            Some((_, error)) if !right_somewhere => return Err(ToolError::Reply(format!("ops[{at}]: {error}"))),
            _ => problems.extend(mistakes.iter().map(|(language, error)| {
                let text = error.to_string();
                format!("ops[{at}] was not used on {language} files: {}", text.lines().next().unwrap_or_default())
            })),
        }
    }
    problems
        .extend(looked.problems.iter().map(|(path, problem)| format!("{}: {problem}", files.paths().display(path))));
    let mut plan = RewritePlan { edits: Vec::new(), searched: looked.searched, cut: false, problems, notes };
    let mut held = 0;
    for file in looked.found {
        plan.problems.extend(file.problems.iter().map(|problem| format!("{}: {problem}", file.display)));
        plan.cut |= file.cut;
        if let Some(planned) = file.edit {
            let size = |side: &Option<TextFile>| side.as_ref().map_or(0, |file| file.bytes().len());
            held += size(&planned.edit.before) + size(&planned.edit.after);
            plan.edits.push(planned);
        }
    }
    if held > MAX_HELD {
        let problem = format!(
            "{} with {} would change, which is too much for one preview (limit {})\nhint: narrow `paths`",
            format::plural(plan.edits.len(), "file", "files"),
            format::bytes(held as u64),
            format::bytes(MAX_HELD as u64)
        );
        return Err(ToolError::Reply(problem));
    }
    Ok(plan)
}
