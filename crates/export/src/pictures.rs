//! Embeds images in the page, with a limit per image and in total.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use omp_stdx::format::bytes;
use omp_store::BlobStore;

use crate::markup::Html;

/// Limit in characters of base64.
const LARGEST: usize = 8 * 1024 * 1024;
const ALL_TOGETHER: usize = 64 * 1024 * 1024;
/// Image types that contain only pixels.
const KINDS: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];
const REFERENCE: &str = "blob:";

/// Remaining room for images.
#[derive(Debug)]
pub(crate) struct Pictures {
    blobs: BlobStore,
    room: usize,
}

impl Pictures {
    pub fn new(blobs: BlobStore) -> Self {
        Self { blobs, room: ALL_TOGETHER }
    }

    /// Returns the image store, shared by all sessions.
    pub fn blobs(&self) -> &BlobStore {
        &self.blobs
    }

    /// Renders an image, or the reason why it is missing.
    pub fn draw(&mut self, html: &mut Html, mime_type: &str, data: &str) {
        match self.admit(mime_type, data) {
            Ok(data) => {
                let source = format!("data:{mime_type};base64,{data}");
                html.raw("<img alt=\"image\" loading=\"lazy\"").attr("src", &source).raw(">");
            }
            Err(why) => {
                html.raw("<p class=\"cut\">").text(&format!("an image is not shown: {why}")).raw("</p>");
            }
        }
    }

    /// Returns the image as clean base64.
    fn admit(&mut self, mime_type: &str, data: &str) -> Result<String, String> {
        if !KINDS.contains(&mime_type) {
            return Err("its type is not supported".to_owned());
        }
        let data = if data.starts_with(REFERENCE) {
            let bytes = self.blobs.get(data).map_err(|damage| damage.to_string())?;
            BASE64.encode(bytes)
        } else {
            BASE64.decode(data).map_err(|_| "its data is damaged".to_owned())?;
            data.to_owned()
        };
        if data.len() > LARGEST {
            return Err(format!("it has {}, and the limit is {}", size(data.len()), size(LARGEST)));
        }
        if data.len() > self.room {
            return Err(format!("the images of this page would have more than {}", size(ALL_TOGETHER)));
        }
        self.room -= data.len();
        Ok(data)
    }
}

/// Formats the size of an image, given its base64 length.
fn size(base64: usize) -> String {
    bytes((base64 / 4 * 3) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictures() -> (tempfile::TempDir, Pictures) {
        let temp = tempfile::tempdir().unwrap();
        let blobs = BlobStore::new(temp.path());
        (temp, Pictures::new(blobs))
    }

    fn drawn(pictures: &mut Pictures, mime_type: &str, data: &str) -> String {
        let mut html = Html::default();
        pictures.draw(&mut html, mime_type, data);
        html.as_str().to_owned()
    }

    #[test]
    fn pixels_become_part_of_the_page() {
        let (_temp, mut pictures) = pictures();
        assert_eq!(
            drawn(&mut pictures, "image/png", "iVBORw=="),
            "<img alt=\"image\" loading=\"lazy\" src=\"data:image/png;base64,iVBORw==\">"
        );
        let reference = pictures.blobs.put(&[1, 2, 3]).unwrap();
        assert!(drawn(&mut pictures, "image/jpeg", &reference).contains("base64,AQID\""));
    }

    #[test]
    fn what_is_no_image_is_not_drawn() {
        let (_temp, mut pictures) = pictures();
        for (mime_type, data, why) in [
            ("image/svg+xml", "PHN2Zz4=", "not supported"),
            ("text/html", "PGI+", "not supported"),
            ("image/png\" onerror=\"x", "PGI+", "not supported"),
            ("image/png", "\" onerror=\"alert(1)", "damaged"),
            ("image/png", "blob:sha256:../../etc/passwd", "missing"),
        ] {
            let shown = drawn(&mut pictures, mime_type, data);
            assert!(!shown.contains("<img") && shown.contains(why), "{shown}");
        }
    }

    #[test]
    fn there_is_room_for_only_so_much() {
        let (_temp, mut pictures) = pictures();
        let large = "AAAA".repeat(LARGEST / 4 + 1);
        assert!(drawn(&mut pictures, "image/png", &large).contains("the limit is 6"));
        pictures.room = 10;
        assert!(drawn(&mut pictures, "image/png", "AAAAAAAA").starts_with("<img"));
        assert!(drawn(&mut pictures, "image/png", "AAAA").contains("more than 48"));
    }
}
