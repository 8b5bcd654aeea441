//! Detects an edit that leaves a file with syntax errors, for new files and files that parsed before.

use std::path::Path;

use omp_syntax::{Language, first_error};
use omp_workspace::{FileEdit, TextFile};

/// Larger files are not checked: parsing them takes longer than the rest of the edit.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// Returns a warning with the position of the first error.
pub fn newly_broken(edit: &FileEdit) -> Option<String> {
    let after = source(edit.after.as_ref()?)?;
    let path = &edit.path.display;
    let language = Language::detect(Path::new(path), after).filter(|language| !language.is_prose())?;
    let problem = first_error(after, language).ok()??;
    let Some(before) = &edit.before else {
        return Some(format!("the new file {path} does not parse as {language}, first at {problem}"));
    };
    // A file that did not parse before may use another dialect, so nothing can be concluded.
    first_error(source(before)?, language)
        .ok()?
        .is_none()
        .then(|| format!("{path} no longer parses as {language} after this edit, first at {problem}"))
}

fn source(file: &TextFile) -> Option<&str> {
    std::str::from_utf8(file.bytes()).ok().filter(|text| text.len() <= MAX_BYTES)
}
