//! SQLite databases: shows tables, their schemas and rows. Read-only.

use omp_agent::{Output, ToolError};
use omp_stdx::format::bytes;
use omp_workspace::ResolvedPath;
use omp_workspace::sqlite::{DatabaseAddress, SqliteSelector, look};
use tokio_util::sync::CancellationToken;

use super::Details;
use super::text::{self, Extract};
use crate::files::Files;

pub fn read(
    files: &Files,
    path: ResolvedPath,
    address: DatabaseAddress<'_>,
    cancel: CancellationToken,
) -> Result<Output<Details>, ToolError> {
    let selector = SqliteSelector::parse(address.rows, address.query).map_err(ToolError::reply)?;
    let held = files.reach().hold(&path.absolute);
    let held = held.map_err(|error| ToolError::reply(error.shown_as(&path.display)))?;
    let text = look(held.real(), &selector, move || cancel.is_cancelled()).map_err(ToolError::reply)?;
    let size = text.len() as u64;
    let (text, note) = fitted(text);
    text::show_whole(Extract { path, text, title: None, notes: note.into_iter().collect(), size })
}

/// Truncates without line numbers to continue from, because a number selects a table here.
fn fitted(text: String) -> (String, Option<String>) {
    let shown = text::fitting(&text).len();
    if shown == text.len() {
        return (text, None);
    }
    let rest = bytes((text.len() - shown) as u64);
    let note = format!("{rest} of this answer are not shown; name fewer columns, with ?q=SELECT … FROM …");
    (text[..shown].to_owned(), Some(note))
}

#[cfg(test)]
mod tests {
    use super::text::LIMITS;
    use super::*;

    #[test]
    fn long_answers_are_cut_with_a_note() {
        assert_eq!(fitted("a\nb".into()), ("a\nb".into(), None));
        for long in ["x".repeat(60_000), "x\n".repeat(10_000)] {
            let (text, note) = fitted(long);
            assert!(text.len() < LIMITS.bytes && text.lines().count() <= LIMITS.lines);
            assert!(note.is_some_and(|note| note.contains(" of this answer are not shown; name fewer columns")));
        }
    }
}
