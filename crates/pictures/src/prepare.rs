//! Converts the bytes of a file to the bytes that are sent.

use std::io::Cursor;

use fast_image_resize::images::{Image, TypedImage};
use fast_image_resize::pixels::U8x4;
use fast_image_resize::{PixelType, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageReader, RgbImage, RgbaImage};

use crate::kind::PictureFormat;

/// File size limit: an image of 64 million pixels fits.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Clone, Copy, Debug)]
pub struct PictureLimits {
    /// Maximum length of the longer side in pixels; larger images are scaled down to it.
    pub longest_side: u32,
    /// Size limit in bytes, before base64 adds a third.
    pub bytes: usize,
    /// Maximum of width times height; larger images are not decoded.
    pub pixels: u64,
    /// Send an image unchanged if it is small enough and of a supported format.
    pub takes_as_is: bool,
}

impl Default for PictureLimits {
    fn default() -> Self {
        Self { longest_side: 1568, bytes: 5 * 1024 * 1024 / 4 * 3, pixels: 64_000_000, takes_as_is: true }
    }
}

/// An image as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedPicture {
    pub data: Vec<u8>,
    pub mime_type: &'static str,
    /// Width and height of the original.
    pub original: (u32, u32),
    /// Width and height as sent.
    pub sent: (u32, u32),
    /// Whether the bytes are those of the file.
    pub untouched: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    #[error("it has {0} × {1} pixels, more than {2} million")]
    TooManyPixels(u32, u32, u64),
    #[error("it cannot be decoded: {0}")]
    Broken(String),
    #[error("it cannot be made small enough to be sent")]
    TooLarge,
    #[error("it is not an image of a supported type (PNG, JPEG, GIF, WebP, BMP)")]
    Unknown,
    #[error("its data is not base64")]
    NotBase64,
}

/// Decodes an image to verify that it is complete, and encodes it again if it is too large or of an unsupported format.
pub fn prepare(bytes: Vec<u8>, kind: PictureFormat, limits: PictureLimits) -> Result<PreparedPicture, PictureError> {
    let (picture, orientation) = decode(&bytes, kind, limits)?;
    let original = turned((picture.width(), picture.height()), orientation);
    let fits = original.0.max(original.1) <= limits.longest_side && bytes.len() <= limits.bytes;
    if fits && limits.takes_as_is && kind.is_understood() {
        return Ok(PreparedPicture {
            data: bytes,
            mime_type: kind.mime_type(),
            original,
            sent: original,
            untouched: true,
        });
    }
    drop(bytes);
    let mut picture = picture;
    let mut side = limits.longest_side;
    while side > 0 {
        picture = scaled(picture, side)?;
        picture.apply_orientation(if side == limits.longest_side { orientation } else { Orientation::NoTransforms });
        if let Some((data, encoded)) = encode(&picture, kind, limits.bytes)? {
            let sent = (picture.width(), picture.height());
            return Ok(PreparedPicture { data, mime_type: encoded.mime_type(), original, sent, untouched: false });
        }
        side /= 2;
    }
    Err(PictureError::TooLarge)
}

pub(crate) fn decode(
    bytes: &[u8],
    kind: PictureFormat,
    limits: PictureLimits,
) -> Result<(DynamicImage, Orientation), PictureError> {
    let mut decoder = ImageReader::with_format(Cursor::new(bytes), kind.format()).into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > limits.pixels {
        return Err(PictureError::TooManyPixels(width, height, limits.pixels / 1_000_000));
    }
    let mut memory = image::Limits::no_limits();
    // Four channels of two bytes per pixel, and the same amount for the decoder itself.
    memory.max_alloc = Some(limits.pixels * 16);
    decoder.set_limits(memory).map_err(broken)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(broken)?, orientation))
}

/// Returns width and height after applying the orientation.
pub(crate) fn turned((width, height): (u32, u32), orientation: Orientation) -> (u32, u32) {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    match orientation {
        Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH => (height, width),
        _ => (width, height),
    }
}

/// Converts an image to eight bits per channel, with no side longer than `side`.
pub(crate) fn scaled(picture: DynamicImage, side: u32) -> Result<DynamicImage, PictureError> {
    let has_alpha = picture.color().has_alpha();
    let (width, height) = (picture.width(), picture.height());
    let longest = width.max(height);
    if longest <= side {
        return Ok(if has_alpha { picture.into_rgba8().into() } else { picture.into_rgb8().into() });
    }
    let shrunk = |length: u32| (u64::from(length) * u64::from(side) / u64::from(longest)).max(1) as u32;
    let (small_width, small_height) = (shrunk(width), shrunk(height));
    let data = resized((width, height), picture.into_rgba8().into_raw(), (small_width, small_height), has_alpha)?;
    let small = RgbaImage::from_raw(small_width, small_height, data).ok_or(PictureError::TooLarge)?;
    let small = DynamicImage::from(small);
    Ok(if has_alpha { small } else { small.into_rgb8().into() })
}

/// One pixel type and one kind of view: the resizer is generic over both, and `Resizer::resize` with its thirteen pixel
/// types takes a minute of build time.
fn resized(from: (u32, u32), mut pixels: Vec<u8>, to: (u32, u32), has_alpha: bool) -> Result<Vec<u8>, PictureError> {
    let source = TypedImage::<U8x4>::from_buffer(from.0, from.1, &mut pixels).map_err(broken)?;
    let mut smaller = Image::new(to.0, to.1, PixelType::U8x4);
    let mut view = smaller.typed_image_mut::<U8x4>().ok_or(PictureError::TooLarge)?;
    let options = ResizeOptions::new().use_alpha(has_alpha);
    Resizer::new().resize_typed(&source, &mut view, &options).map_err(broken)?;
    Ok(smaller.into_vec())
}

/// Drawings stay lossless as long as that fits; photos, and images that do not fit, become JPEG.
fn encode(
    picture: &DynamicImage,
    from: PictureFormat,
    most: usize,
) -> Result<Option<(Vec<u8>, PictureFormat)>, PictureError> {
    if from != PictureFormat::Jpeg {
        let mut data = Vec::new();
        picture.write_to(&mut Cursor::new(&mut data), PictureFormat::Png.format()).map_err(broken)?;
        if data.len() <= most {
            return Ok(Some((data, PictureFormat::Png)));
        }
    }
    let opaque = on_white(picture);
    for quality in [85, 70, 50] {
        let mut data = Vec::new();
        opaque.write_with_encoder(JpegEncoder::new_with_quality(&mut data, quality)).map_err(broken)?;
        if data.len() <= most {
            return Ok(Some((data, PictureFormat::Jpeg)));
        }
    }
    Ok(None)
}

fn on_white(picture: &DynamicImage) -> RgbImage {
    let DynamicImage::ImageRgba8(pixels) = picture else { return picture.to_rgb8() };
    let blend = |channel: u8, alpha: u8| {
        let (channel, alpha) = (u32::from(channel), u32::from(alpha));
        ((channel * alpha + 255 * (255 - alpha)) / 255) as u8
    };
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0;
        image::Rgb([blend(red, alpha), blend(green, alpha), blend(blue, alpha)])
    })
}

fn broken(error: impl std::fmt::Display) -> PictureError {
    PictureError::Broken(error.to_string())
}

#[cfg(test)]
mod tests;
