//! Writes one row of a SQLite database.

use omp_agent::{Output, ToolError};
use omp_workspace::sqlite::write_row;

use super::Details;
use crate::details::Meta;
use crate::files::Files;

pub fn write(files: &Files, typed: &str, rows: &str, content: &str) -> Result<Output<Details>, ToolError> {
    let path = files.resolve(typed)?;
    let real = match files.reach().writable(&path.absolute) {
        // The database code reports the missing file.
        Err(error) if error.is_not_found() => path.absolute.clone(),
        real => real.map_err(|error| ToolError::reply(error.shown_as(&path.display)))?,
    };
    let done = write_row(&real, &path.display, rows, content).map_err(ToolError::reply)?;
    files.changed(&path.absolute);
    let resolved_path = Some(path.absolute.to_string_lossy().into_owned());
    Ok(Output::text(done.text, Details { resolved_path, meta: Meta::path(&path.absolute), ..Details::default() }))
}
