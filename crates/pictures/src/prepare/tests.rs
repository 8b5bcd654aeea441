//! Tests with generated images of every format, valid and damaged.

use image::{ImageFormat, Rgb, Rgba, RgbaImage};

use super::*;

const SMALL: PictureLimits = PictureLimits { longest_side: 40, bytes: 4000, pixels: 100_000, takes_as_is: true };

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.into().write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 1_u32;
    RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Rgb([(state >> 24) as u8, (state >> 16) as u8, (state >> 8) as u8])
    })
}

fn plain(width: u32, height: u32) -> RgbImage {
    RgbImage::from_pixel(width, height, Rgb([10, 200, 30]))
}

#[track_caller]
fn check(bytes: Vec<u8>, limits: PictureLimits, want: (&str, (u32, u32), bool)) -> PreparedPicture {
    let picture = prepare(bytes.clone(), PictureFormat::of(&bytes).unwrap(), limits).unwrap();
    assert_eq!((picture.mime_type, picture.sent, picture.untouched), want);
    assert_eq!(PictureFormat::of(&picture.data).unwrap().mime_type(), picture.mime_type);
    assert!(picture.data.len() <= limits.bytes);
    let again = image::load_from_memory(&picture.data).unwrap();
    assert_eq!((again.width(), again.height()), picture.sent);
    picture
}

#[test]
fn what_fits_is_sent_as_it_is() {
    for (format, kind) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::Gif, "image/gif"),
        (ImageFormat::WebP, "image/webp"),
    ] {
        let bytes = encoded(plain(20, 10), format);
        assert_eq!(check(bytes.clone(), SMALL, (kind, (20, 10), true)).data, bytes);
    }
}

#[test]
fn what_models_do_not_take_is_encoded_anew() {
    check(encoded(plain(20, 10), ImageFormat::Bmp), SMALL, ("image/png", (20, 10), false));
}

#[test]
fn large_pictures_are_scaled() {
    let picture = check(encoded(plain(100, 50), ImageFormat::Png), SMALL, ("image/png", (40, 20), false));
    assert_eq!(picture.original, (100, 50));
    check(encoded(plain(50, 100), ImageFormat::Jpeg), SMALL, ("image/jpeg", (20, 40), false));
    check(encoded(plain(1000, 1), ImageFormat::Png), SMALL, ("image/png", (40, 1), false));
    check(encoded(plain(100, 50), ImageFormat::Gif), SMALL, ("image/png", (40, 20), false));
    check(encoded(plain(100, 50), ImageFormat::WebP), SMALL, ("image/png", (40, 20), false));
    check(encoded(plain(3136, 10), ImageFormat::Png), PictureLimits::default(), ("image/png", (1568, 5), false));
}

#[test]
fn what_is_too_many_bytes_becomes_jpeg_and_then_smaller() {
    check(encoded(noise(40, 40), ImageFormat::Png), SMALL, ("image/jpeg", (40, 40), false));
    let tight = PictureLimits { bytes: 800, ..SMALL };
    check(encoded(noise(40, 40), ImageFormat::Png), tight, ("image/png", (10, 10), false));
    let impossible = PictureLimits { bytes: 10, ..SMALL };
    let bytes = encoded(noise(40, 40), ImageFormat::Png);
    assert!(matches!(prepare(bytes, PictureFormat::Png, impossible), Err(PictureError::TooLarge)));
}

#[test]
fn transparent_pixels_stay_so_or_become_white() {
    let clear = RgbaImage::from_pixel(100, 100, Rgba([0, 0, 0, 0]));
    let picture = check(encoded(clear.clone(), ImageFormat::Png), SMALL, ("image/png", (40, 40), false));
    assert_eq!(image::load_from_memory(&picture.data).unwrap().into_rgba8().get_pixel(5, 5).0[3], 0);
    assert_eq!(on_white(&clear.into()).get_pixel(5, 5).0, [255, 255, 255]);
}

#[test]
fn bombs_are_refused_by_their_dimensions() {
    // A header that claims 60,000 × 60,000 pixels, without data.
    let mut bytes = encoded(plain(1, 1), ImageFormat::Png);
    bytes[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
    bytes[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
    let check_sum = crc(&bytes[12..29]).to_be_bytes();
    bytes[29..33].copy_from_slice(&check_sum);
    let error = prepare(bytes, PictureFormat::Png, PictureLimits::default()).unwrap_err();
    assert_eq!(error.to_string(), "it has 60000 × 60000 pixels, more than 64 million");

    let mut bytes = encoded(plain(1, 1), ImageFormat::Gif);
    bytes[6..10].copy_from_slice(&[0xff; 4]);
    let error = prepare(bytes, PictureFormat::Gif, PictureLimits::default()).unwrap_err();
    assert!(matches!(error, PictureError::TooManyPixels(65535, 65535, 64)), "{error}");
}

#[test]
fn broken_pictures_are_refused_wherever_they_are_cut() {
    for format in [ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Bmp] {
        let bytes = encoded(noise(20, 20), format);
        for length in [18, 30, bytes.len() / 2] {
            let kind = PictureFormat::of(&bytes).unwrap();
            let result = prepare(bytes[..length].to_vec(), kind, SMALL);
            assert!(matches!(result, Err(PictureError::Broken(_))), "{format:?} cut to {length}: {result:?}");
        }
    }
    for length in [4, 20, 100] {
        let bytes = encoded(noise(20, 20), ImageFormat::Jpeg)[..length].to_vec();
        assert!(matches!(prepare(bytes, PictureFormat::Jpeg, SMALL), Err(PictureError::Broken(_))), "{length}");
    }
}

/// The checksum of PNG chunks.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
    })
}
