//! Detects image formats by content. File names are ignored, because they are unreliable.

use image::ImageFormat;

/// An image format that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    Png,
    Jpeg,
    Gif,
    WebP,
    Bmp,
}

impl PictureFormat {
    /// Detects the format by the first bytes; 32 are enough.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(PictureFormat::Png),
            [0xff, 0xd8, 0xff, ..] => Some(PictureFormat::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(PictureFormat::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(PictureFormat::WebP),
            _ if is_bmp(head) => Some(PictureFormat::Bmp),
            _ => None,
        }
    }

    pub fn mime_type(self) -> &'static str {
        match self {
            PictureFormat::Png => "image/png",
            PictureFormat::Jpeg => "image/jpeg",
            PictureFormat::Gif => "image/gif",
            PictureFormat::WebP => "image/webp",
            PictureFormat::Bmp => "image/bmp",
        }
    }

    /// Returns the usual file extension: `png`.
    pub fn name(self) -> &'static str {
        self.mime_type().trim_start_matches("image/")
    }

    /// Returns whether models accept it without conversion.
    pub(crate) fn is_understood(self) -> bool {
        self != PictureFormat::Bmp
    }

    pub(crate) fn format(self) -> ImageFormat {
        match self {
            PictureFormat::Png => ImageFormat::Png,
            PictureFormat::Jpeg => ImageFormat::Jpeg,
            PictureFormat::Gif => ImageFormat::Gif,
            PictureFormat::WebP => ImageFormat::WebP,
            PictureFormat::Bmp => ImageFormat::Bmp,
        }
    }
}

/// `BM` alone is the start of many texts, so the reserved bytes and the size of the next header are checked as well.
fn is_bmp(head: &[u8]) -> bool {
    head.starts_with(b"BM")
        && head.get(6..10) == Some(&[0; 4])
        && matches!(head.get(14..18), Some([12 | 16 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

#[cfg(test)]
mod tests {
    use super::PictureFormat;

    #[test]
    fn magic_bytes_decide() {
        for (head, expect) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some(PictureFormat::Png)),
            (b"\xff\xd8\xff\xe0", Some(PictureFormat::Jpeg)),
            (b"GIF89a", Some(PictureFormat::Gif)),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some(PictureFormat::WebP)),
            (b"RIFF\x10\0\0\0WAVE", None),
            (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some(PictureFormat::Bmp)),
            (b"BMW builds cars and more than that", None),
            (b"BM", None),
            (b"text", None),
            (b"", None),
        ] {
            assert_eq!(PictureFormat::of(head), expect, "{head:?}");
        }
    }
}
