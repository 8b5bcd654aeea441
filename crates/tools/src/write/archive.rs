//! Writes one entry of an archive.

use omp_agent::{Output, ToolError};
use omp_workspace::archive::{ArchiveError, ArchiveFormat, write_entry};

use super::Details;
use crate::details::Meta;
use crate::files::Files;

pub fn write(
    files: &Files,
    typed: &str,
    inner: &str,
    format: ArchiveFormat,
    content: &str,
) -> Result<Output<Details>, ToolError> {
    let path = files.resolve(typed)?;
    let written =
        write_entry(&path.absolute, files.reach(), format, inner, content.as_bytes()).map_err(|error| match error {
            ArchiveError::File(error) => ToolError::reply(error.shown_as(&path.display)),
            error => ToolError::reply(error),
        })?;
    files.changed(&path.absolute);
    let text = format!("Successfully wrote {} bytes to {}:{written}", content.len(), path.display);
    let resolved_path = Some(path.absolute.to_string_lossy().into_owned());
    Ok(Output::text(text, Details { resolved_path, meta: Meta::path(&path.absolute), ..Details::default() }))
}
