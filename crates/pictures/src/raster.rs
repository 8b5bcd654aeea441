//! An image as pixels, for callers that draw it themselves.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{ImageDecoder as _, ImageReader};

use crate::kind::PictureFormat;
use crate::prepare::{PictureError, PictureLimits, decode, scaled, turned};

/// With the orientation applied, and possibly smaller than the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Width and height of the original.
    pub original: (u32, u32),
    pub width: u32,
    pub height: u32,
    /// Four bytes for each pixel: red, green, blue, opacity.
    pub rgba: Vec<u8>,
}

/// Decodes an image with no side longer than `longest_side`. Of an animation, only the first frame.
pub fn raster(bytes: &[u8], kind: PictureFormat, longest_side: u32) -> Result<Raster, PictureError> {
    let (picture, orientation) = decode(bytes, kind, PictureLimits::default())?;
    let original = turned((picture.width(), picture.height()), orientation);
    let mut picture = scaled(picture, longest_side)?;
    picture.apply_orientation(orientation);
    let (width, height) = (picture.width(), picture.height());
    Ok(Raster { original, width, height, rgba: picture.into_rgba8().into_raw() })
}

/// Returns width and height from the first bytes of a file, if these contain them.
pub fn dimensions(head: &[u8], kind: PictureFormat) -> Option<(u32, u32)> {
    let mut decoder = ImageReader::with_format(Cursor::new(head), kind.format()).into_decoder().ok()?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Some(turned(decoder.dimensions(), orientation))
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, ImageFormat, RgbaImage};

    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let picture = RgbaImage::from_fn(width, height, |x, _| image::Rgba([x as u8, 2, 3, 255]));
        let picture = DynamicImage::from(picture);
        let picture = if format == ImageFormat::Jpeg { picture.into_rgb8().into() } else { picture };
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    #[test]
    fn every_kind_becomes_pixels_that_are_no_larger_than_asked() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp] {
            let bytes = encoded(60, 30, format);
            let kind = PictureFormat::of(&bytes).unwrap();
            assert_eq!(dimensions(&bytes, kind), Some((60, 30)), "{format:?}");
            for (longest, size) in [(100, (60, 30)), (20, (20, 10))] {
                let made = raster(&bytes, kind, longest).unwrap();
                assert_eq!((made.original, (made.width, made.height)), ((60, 30), size), "{format:?}");
                assert_eq!(made.rgba.len(), (size.0 * size.1 * 4) as usize);
            }
        }
    }

    #[test]
    fn what_is_broken_is_an_error_and_its_head_may_still_tell() {
        let bytes = encoded(60, 30, ImageFormat::Png);
        assert!(raster(&bytes[..bytes.len() / 2], PictureFormat::Png, 100).is_err());
        assert_eq!(dimensions(&bytes[..60], PictureFormat::Png), Some((60, 30)));
        assert_eq!(dimensions(&bytes[..12], PictureFormat::Png), None);
        assert!(raster(b"BM nothing", PictureFormat::Bmp, 100).is_err());
    }
}
