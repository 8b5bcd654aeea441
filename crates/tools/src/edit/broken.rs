//! Tells when an edit turned a file that its grammar understood into one that it does not.

use std::path::Path;

use omp_syntax::{Language, first_error};
use omp_workspace::{FileEdit, TextFile};

/// Larger files are not looked at: the edit is not to wait for it.
const MAX_BYTES: usize = 1024 * 1024;

/// What to say about it, with the place.
pub fn newly_broken(edit: &FileEdit) -> Option<String> {
    let (before, after) = (source(edit.before.as_ref()?)?, source(edit.after.as_ref()?)?);
    let language = Language::detect(Path::new(&edit.path.display), after).filter(|language| !language.is_prose())?;
    let problem = first_error(after, language).ok()??;
    // A file that did not parse before may be of another dialect: nothing is known then.
    first_error(before, language).ok()?.is_none().then(|| {
        format!("{} does not parse as {language} any more since this edit, first at {problem}", edit.path.display)
    })
}

fn source(file: &TextFile) -> Option<&str> {
    std::str::from_utf8(file.bytes()).ok().filter(|text| text.len() <= MAX_BYTES)
}
