//! Images in base64, as messages contain them: checked, and converted if necessary.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD};

use crate::kind::PictureFormat;
use crate::prepare::{MAX_FILE_BYTES, PictureError, PictureLimits, prepare};
use crate::raster::dimensions;

/// Maximum side length that providers accept.
pub const MAX_SIDE: u32 = 8000;

/// Number of base64 characters at the start of an image that suffice to detect its format and, except for photos with much
/// metadata, its size. A multiple of four.
const HEAD: usize = 64 << 10;

/// Encoders differ in padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An image as it is sent, in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedPicture {
    pub data: String,
    pub mime_type: &'static str,
}

/// Decodes an image from any variant of base64 and prepares it like a file. The format is detected by its bytes.
pub fn prepare_encoded(text: &str, limits: PictureLimits) -> Result<EncodedPicture, PictureError> {
    let bytes = decoded(text)?;
    let kind = PictureFormat::of(&bytes).ok_or(PictureError::Unknown)?;
    let picture = prepare(bytes, kind, limits)?;
    Ok(EncodedPicture { data: STANDARD.encode(&picture.data), mime_type: picture.mime_type })
}

/// Returns whether an image can be sent unchanged to a server that accepts the formats in `takes`, judging by its first
/// bytes. `None` if these do not suffice.
pub fn is_fit(text: &str, mime_type: &str, takes: impl Fn(PictureFormat) -> bool) -> Option<bool> {
    if text.len() / 4 * 3 > PictureLimits::default().bytes {
        return Some(false);
    }
    let end = text.len().min(HEAD);
    let Some(head) = text.as_bytes().get(..end).and_then(|head| LENIENT.decode(head).ok()) else { return Some(false) };
    let Some(kind) = PictureFormat::of(&head) else { return Some(false) };
    if !takes(kind) || kind.mime_type() != mime_type {
        return Some(false);
    }
    dimensions(&head, kind).map(|(width, height)| width.max(height) <= MAX_SIDE)
}

/// Converts an image that [`is_fit`] refused; one of an unsupported format becomes PNG.
pub fn fit_encoded(text: &str, takes: impl Fn(PictureFormat) -> bool) -> Result<EncodedPicture, PictureError> {
    let bytes = decoded(text)?;
    let kind = PictureFormat::of(&bytes).ok_or(PictureError::Unknown)?;
    let limits = PictureLimits { longest_side: MAX_SIDE, takes_as_is: takes(kind), ..PictureLimits::default() };
    let picture = prepare(bytes, kind, limits)?;
    Ok(EncodedPicture { data: STANDARD.encode(&picture.data), mime_type: picture.mime_type })
}

fn decoded(text: &str) -> Result<Vec<u8>, PictureError> {
    // Some clients send a whole data URL, some insert line breaks.
    let text = match text.strip_prefix("data:") {
        Some(url) => url.split_once(',').map_or(url, |(_, data)| data),
        None => text,
    };
    if text.len() as u64 / 4 * 3 > MAX_FILE_BYTES {
        return Err(PictureError::TooLarge);
    }
    let decoded = match text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        true => LENIENT.decode(text.split_ascii_whitespace().collect::<String>()),
        false => LENIENT.decode(text),
    };
    decoded.map_err(|_| PictureError::NotBase64)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat};

    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> String {
        let mut bytes = Vec::new();
        DynamicImage::new_rgb8(width, height).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        STANDARD.encode(bytes)
    }

    fn not_gif(kind: PictureFormat) -> bool {
        kind != PictureFormat::Gif
    }

    #[test]
    fn what_is_fit_is_told_by_its_head() {
        let png = encoded(60, 30, ImageFormat::Png);
        assert_eq!(is_fit(&png, "image/png", not_gif), Some(true));
        assert_eq!(is_fit(&png, "image/jpeg", not_gif), Some(false));
        assert_eq!(is_fit(&encoded(60, 30, ImageFormat::Gif), "image/gif", not_gif), Some(false));
        assert_eq!(is_fit(&encoded(9000, 2, ImageFormat::Png), "image/png", not_gif), Some(false));
        assert_eq!(is_fit("***", "image/png", not_gif), Some(false));
        assert_eq!(is_fit("aGk=", "image/png", not_gif), Some(false));
        assert_eq!(is_fit(&"A".repeat(8 << 20), "image/png", not_gif), Some(false));
    }

    #[test]
    fn what_is_not_fit_is_made_so() {
        let gif = fit_encoded(&encoded(60, 30, ImageFormat::Gif), not_gif).unwrap();
        assert_eq!((gif.mime_type, is_fit(&gif.data, gif.mime_type, not_gif)), ("image/png", Some(true)));
        let wide = fit_encoded(&encoded(9000, 2, ImageFormat::Png), not_gif).unwrap();
        assert_eq!(is_fit(&wide.data, wide.mime_type, not_gif), Some(true));
        let small = encoded(60, 30, ImageFormat::Png);
        assert_eq!(fit_encoded(&small, not_gif).unwrap(), EncodedPicture { data: small, mime_type: "image/png" });
    }

    #[test]
    fn base64_is_taken_as_clients_write_it() {
        let png = encoded(4000, 3, ImageFormat::Png);
        let expect = prepare_encoded(&png, PictureLimits::default()).unwrap();
        let lines: String =
            png.as_bytes().chunks(60).map(|line| format!("{}\r\n", str::from_utf8(line).unwrap())).collect();
        for written in [format!("data:image/png;base64,{png}"), png.trim_end_matches('=').to_owned(), lines] {
            assert_eq!(prepare_encoded(&written, PictureLimits::default()).unwrap(), expect);
        }
        let sent = STANDARD.decode(expect.data).unwrap();
        assert_eq!(dimensions(&sent, PictureFormat::Png), Some((1568, 1)));
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        for (text, why) in [("***", "not base64"), ("aGk=", "not an image"), ("", "not an image")] {
            let error = prepare_encoded(text, PictureLimits::default()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let cut = encoded(60, 30, ImageFormat::Png);
        assert!(prepare_encoded(&cut[..cut.len() / 2], PictureLimits::default()).is_err());
    }
}
