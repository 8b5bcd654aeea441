//! Images, as content that models can see.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omp_agent::{Output, ToolError};
use omp_stdx::format::bytes;
use omp_types::{Content, ImageContent};
use omp_workspace::{FileError, ResolvedPath, image_type, open_regular, read_whole};

use super::Details;
use crate::details::Meta;

/// What providers take at most.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// The image type of a file, if it is an image that models can see.
pub fn kind_of_file(path: &ResolvedPath) -> Result<Option<&'static str>, ToolError> {
    let shown_error = |error: FileError| ToolError::reply(error.shown_as(&path.display));
    let (file, _) = open_regular(&path.absolute).map_err(shown_error)?;
    let mut head = Vec::with_capacity(16);
    file.take(16).read_to_end(&mut head).map_err(|error| shown_error(FileError::io(&path.absolute, error)))?;
    Ok(image_type(&head))
}

pub fn read(path: &ResolvedPath, kind: &'static str, size: u64) -> Result<Output<Details>, ToolError> {
    if size > MAX_BYTES {
        return Err(ToolError::Reply(format!(
            "{} is an image of {}; at most {} can be shown\nhint: make a smaller copy of it and read that",
            path.display,
            bytes(size),
            bytes(MAX_BYTES)
        )));
    }
    let data = read_whole(&path.absolute).map_err(|error| ToolError::reply(error.shown_as(&path.display)))?;
    let image = ImageContent { data: STANDARD.encode(&data), mime_type: kind.into() };
    let details = Details {
        file_size: Some(size),
        mime_type: Some(kind.into()),
        meta: Meta::path(&path.absolute),
        ..Details::default()
    };
    let text = format!("{} ({kind}, {})", path.display, bytes(size));
    Ok(Output { content: vec![Content::text(text), Content::Image(image)], details, is_error: false })
}
