//! Determines the target of a path: a file or a part of one.

use omp_agent::ToolError;
use omp_workspace::archive::{ArchiveFormat, locate_archive, new_archive_address};
use omp_workspace::conflict::ConflictUri;
use omp_workspace::sqlite::{DatabaseAddress, is_sqlite, locate_database, new_database_address};
use omp_workspace::{known_schemes, scheme_of};

use crate::files::Files;

/// Paths are stored as typed.
pub enum WriteTarget<'a> {
    Conflict(ConflictUri),
    Archive {
        typed: &'a str,
        inner: &'a str,
        format: ArchiveFormat,
    },
    Database {
        typed: &'a str,
        /// Includes the query, if any: writing refuses it.
        rows: String,
    },
    File {
        typed: &'a str,
    },
}

impl<'a> WriteTarget<'a> {
    /// Prefers archives to databases, existing targets to new ones, and a file to a part of another file.
    pub fn of(files: &Files, typed: &'a str) -> Result<Self, ToolError> {
        if let Some(uri) = ConflictUri::parse(typed) {
            return uri.map(WriteTarget::Conflict).map_err(ToolError::reply);
        }
        refuse_unknown_scheme(typed)?;
        let is_file = |path: &str| files.resolve(path).is_ok_and(|path| path.absolute.is_file());
        let is_database = |path: &str| files.resolve(path).is_ok_and(|path| is_sqlite(&path.absolute));
        let exists = is_file(typed);
        if exists && ArchiveFormat::of_name(typed).is_none() && !is_database(typed) {
            return Ok(WriteTarget::File { typed });
        }
        let whole = || ArchiveFormat::of_name(typed).map(|format| (typed, "", format));
        let archive = locate_archive(typed, &is_file).or_else(|| new_archive_address(typed));
        if let Some((typed, inner, format)) = archive.map(|it| (it.archive, it.inner, it.format)).or_else(whole) {
            return Ok(WriteTarget::Archive { typed, inner, format });
        }
        let missing = || new_database_address(typed).filter(|it| !is_file(it.database));
        match locate_database(typed, &is_database).or_else(missing) {
            Some(DatabaseAddress { database, rows, query }) => {
                let rows = query.map_or_else(|| rows.to_owned(), |query| format!("{rows}?{query}"));
                Ok(WriteTarget::Database { typed: database, rows })
            }
            None => Ok(WriteTarget::File { typed }),
        }
    }
}

/// Refuses an unknown scheme: treated as a path, it would create a folder named like the scheme.
fn refuse_unknown_scheme(typed: &str) -> Result<(), ToolError> {
    let Some(scheme) = scheme_of(typed) else { return Ok(()) };
    // Path resolution handles the known schemes.
    if scheme.eq_ignore_ascii_case("file") || crate::urls::is_address(typed) {
        return Ok(());
    }
    Err(ToolError::Reply(format!(
        "Unknown URI-like write target '{}'. Prefix the path with './' to write it as a filesystem path.\n\
         hint: the addresses are {}; of these, local:// can be written",
        typed.trim(),
        known_schemes()
    )))
}
