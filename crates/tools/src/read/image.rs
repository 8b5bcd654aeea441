//! Images as content that models can see: complete, and within the size limits of providers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omp_agent::{Output, ToolError};
use omp_pictures::{MAX_SIDE, PictureFormat, PictureLimits, PreparedPicture, prepare};
use omp_stdx::format::bytes;
use omp_types::{Content, ImageContent};
use omp_workspace::ResolvedPath;

use super::Details;
use crate::details::Meta;
use crate::options::ReadOptions;

pub fn show(
    path: &ResolvedPath,
    data: Vec<u8>,
    kind: PictureFormat,
    options: &ReadOptions,
) -> Result<Output<Details>, ToolError> {
    let size = data.len() as u64;
    if options.block_images {
        return Ok(named_only(path, kind, size));
    }
    let limits = match options.resize_images {
        true => PictureLimits::default(),
        false => PictureLimits { longest_side: MAX_SIDE, ..PictureLimits::default() },
    };
    let picture = prepare(data, kind, limits).map_err(|error| {
        ToolError::Reply(format!(
            "{} is an image ({}, {}) that cannot be shown: {error}",
            path.display,
            kind.mime_type(),
            bytes(size)
        ))
    })?;
    let text = format!("{} ({})", path.display, described(&picture, kind, size));
    let details = Details {
        file_size: Some(size),
        mime_type: Some(kind.mime_type().into()),
        meta: Meta::path(&path.absolute),
        ..Details::default()
    };
    let image = ImageContent { data: STANDARD.encode(&picture.data), mime_type: picture.mime_type.into() };
    Ok(Output { content: vec![Content::text(text), Content::Image(image)], details, is_error: false, useless: false })
}

/// Names the image without sending it, for users who keep images on their machine.
fn named_only(path: &ResolvedPath, kind: PictureFormat, size: u64) -> Output<Details> {
    let what = format!("{} ({}, {})", path.display, kind.mime_type(), bytes(size));
    let text = format!("{what}: Image reading is disabled.\n(the setting images.blockImages is on)");
    let mime_type = Some(kind.mime_type().into());
    let meta = Meta::path(&path.absolute);
    Output::text(text, Details { file_size: Some(size), mime_type, meta, ..Details::default() })
}

fn described(picture: &PreparedPicture, kind: PictureFormat, size: u64) -> String {
    let (width, height) = picture.original;
    let original = format!("{}, {}, {width} × {height} pixels", kind.mime_type(), bytes(size));
    if picture.untouched {
        return original;
    }
    let (width, height) = picture.sent;
    let sent = bytes(picture.data.len() as u64);
    let moving = if kind == PictureFormat::Gif { " (only the first frame of an animation)" } else { "" };
    format!("{original}; shown as {}, {sent}, {width} × {height}{moving}; the file is unchanged", picture.mime_type)
}
