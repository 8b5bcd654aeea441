//! Detects the type of a file from its first bytes, before decoding it.

use std::io::Read as _;

use omp_agent::ToolError;
use omp_documents::Format;
use omp_pictures::PictureFormat;
use omp_stdx::format::bytes;
use omp_workspace::{FileError, ResolvedPath};

use super::selector::Selector;
use crate::files::Files;

pub enum ContentKind {
    Picture(PictureFormat),
    Document(Format),
    /// Text, or content that cannot be shown.
    Text,
}

/// A web page is shown as source unless its text is requested; `:raw` shows every document as source.
pub fn of(name: &str, head: &[u8], selector: &Selector) -> Result<ContentKind, ToolError> {
    if let Some(kind) = PictureFormat::of(head) {
        return Ok(ContentKind::Picture(kind));
    }
    match Format::of(name, head) {
        Some(Format::Html) if selector.markdown => Ok(ContentKind::Document(Format::Html)),
        Some(format) if format != Format::Html && !selector.raw => Ok(ContentKind::Document(format)),
        None if selector.markdown => Err(ToolError::Reply(format!(
            "{name} is not a document and cannot be shown as Markdown\nhint: leave out :md"
        ))),
        _ => Ok(ContentKind::Text),
    }
}

/// Bytes needed to detect the type of a file.
const HEAD: u64 = 1024;

pub fn head_of(files: &Files, path: &ResolvedPath) -> Result<Vec<u8>, ToolError> {
    first_bytes(files, path, HEAD).map(|(head, _)| head)
}

/// Reads a whole file of at most `most` bytes.
pub fn whole(files: &Files, path: &ResolvedPath, most: u64) -> Result<Vec<u8>, ToolError> {
    let (bytes, size) = first_bytes(files, path, most + 1)?;
    if bytes.len() as u64 > most {
        return Err(too_large(&path.display, size, most));
    }
    Ok(bytes)
}

pub fn too_large(display: &str, size: u64, most: u64) -> ToolError {
    ToolError::Reply(format!(
        "{display} has {}; at most {} of its kind are read\nhint: make a smaller copy and read that",
        bytes(size),
        bytes(most)
    ))
}

fn first_bytes(files: &Files, path: &ResolvedPath, most: u64) -> Result<(Vec<u8>, u64), ToolError> {
    let shown_error = |error: FileError| ToolError::reply(error.shown_as(&path.display));
    let (file, metadata) = files.reach().open_regular(&path.absolute).map_err(shown_error)?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|error| shown_error(FileError::io(&path.absolute, error)))?;
    Ok((bytes, metadata.len()))
}
