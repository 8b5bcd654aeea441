//! The zip package of office documents and books: measured as a whole before anything in it is used.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::{DocumentError, DocumentLimits, sealed};

const MAX_ENTRIES: usize = 20_000;

pub struct Package {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    most: u64,
}

impl Package {
    /// Opens a package, unless it unpacks to more than the limit. Sizes in headers are not trusted.
    pub fn open(bytes: Vec<u8>, limits: DocumentLimits) -> Result<Self, DocumentError> {
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(DocumentError::broken)?;
        if zip.len() > MAX_ENTRIES {
            return Err(DocumentError::Broken(format!("it has {} parts; at most {MAX_ENTRIES} are read", zip.len())));
        }
        let most = limits.unpacked_bytes;
        let mut left = most;
        for index in 0..zip.len() {
            sealed::check_time()?;
            // An encrypted or damaged part matters only when it is requested.
            let Ok(mut part) = zip.by_index(index) else { continue };
            left -= std::io::copy(&mut (&mut part).take(left), &mut std::io::sink()).unwrap_or_default();
            if left == 0 {
                return Err(DocumentError::Bomb { most });
            }
        }
        Ok(Self { zip, most })
    }

    /// Returns a part as text; `None` if there is no such part.
    pub fn part(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        let name = name.trim_start_matches('/');
        let part = match self.zip.by_name(name) {
            Ok(part) => part,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(DocumentError::Broken(format!("{name}: {error}"))),
        };
        let mut bytes = Vec::new();
        part.take(self.most)
            .read_to_end(&mut bytes)
            .map_err(|error| DocumentError::Broken(format!("{name}: {error}")))?;
        Ok(Some(decoded(&bytes)))
    }

    pub fn needed_part(&mut self, name: &str) -> Result<String, DocumentError> {
        self.part(name)?.ok_or_else(|| DocumentError::Broken(format!("{name} is missing")))
    }

    /// Returns the whole file, for parsers that open it themselves.
    pub fn into_bytes(self) -> Vec<u8> {
        self.zip.into_inner().into_inner()
    }
}

/// Decodes UTF-16 XML; everything else is treated as UTF-8.
pub fn decoded(bytes: &[u8]) -> String {
    let wide = |pair: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|two| pair([two[0], two[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Resolves `target` as used in the part `from`: relative to its folder, or from the root.
pub fn resolve(from: &str, target: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut path: Vec<&str> =
        if target.starts_with('/') { Vec::new() } else { folder.split('/').filter(|part| !part.is_empty()).collect() };
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        for (from, target, want) in [
            ("ppt/slides/slide1.xml", "../notes/n1.xml", "ppt/notes/n1.xml"),
            ("ppt/presentation.xml", "slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("a/b.xml", "/c/d.xml", "c/d.xml"),
            ("content.opf", "./x.html", "x.html"),
            ("a.xml", "../../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(resolve(from, target), want);
        }
    }

    #[test]
    fn encodings() {
        assert_eq!(decoded(b"\xff\xfea\0\xe4\0"), "aä");
        assert_eq!(decoded(b"\xfe\xff\0a"), "a");
        assert_eq!(decoded(b"\xef\xbb\xbfa"), "a");
        assert_eq!(decoded(b"a\xff"), "a\u{fffd}");
    }
}
