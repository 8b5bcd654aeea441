//! A path inside the workspace: bytes, because names need not be UTF-8.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Relative, with `/` as the separator. Empty for the workspace itself. Displayed with `\xNN` for bytes that are not text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RelPath(Box<[u8]>);

impl RelPath {
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// Returns `None` for a path that leads out of the workspace.
    pub fn of(path: &Path) -> Option<Self> {
        let mut found = Self::root();
        for part in path.components() {
            match part {
                Component::Normal(name) => found = found.join(name.as_encoded_bytes()),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(found)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let is_inside = |name: &[u8]| !name.is_empty() && name != b"." && name != b".." && !name.contains(&0);
        (bytes.is_empty() || bytes.split(|byte| *byte == b'/').all(is_inside)).then(|| Self(bytes.into()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn join(&self, name: &[u8]) -> Self {
        let mut joined = Vec::with_capacity(self.0.len() + 1 + name.len());
        joined.extend_from_slice(&self.0);
        if !joined.is_empty() {
            joined.push(b'/');
        }
        joined.extend_from_slice(name);
        Self(joined.into())
    }

    /// Returns the parent folder and the name.
    pub(crate) fn split(&self) -> (&[u8], &[u8]) {
        match self.0.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&self.0[..at], &self.0[at + 1..]),
            None => (&[], &self.0),
        }
    }

    pub(crate) fn parent(&self) -> Self {
        Self(self.split().0.into())
    }

    pub(crate) fn depth(&self) -> usize {
        self.0.iter().filter(|byte| **byte == b'/').count()
    }

    /// Returns whether it is that path or lies below it.
    pub fn is_in(&self, folder: &RelPath) -> bool {
        folder.0.is_empty()
            || self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest.first() == Some(&b'/'))
    }

    pub fn to_path(&self) -> PathBuf {
        os_str(&self.0).into()
    }
}

#[cfg(unix)]
pub(crate) fn os_str(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

#[cfg(not(unix))]
pub(crate) fn os_str(bytes: &[u8]) -> &OsStr {
    OsStr::new(std::str::from_utf8(bytes).unwrap_or_default())
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    '\\' => f.write_str("\\\\")?,
                    control if control.is_control() => {
                        let mut room = [0; 4];
                        let bytes = control.encode_utf8(&mut room).as_bytes();
                        bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
                    }
                    plain => write!(f, "{plain}")?,
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = unescaped(&text).ok_or_else(|| serde::de::Error::custom("a broken path"))?;
        Self::from_bytes(&bytes).ok_or_else(|| serde::de::Error::custom("a path that leads out of the workspace"))
    }
}

/// Parses the displayed form of a [`RelPath`] back to bytes.
pub(crate) fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'\\', [b'\\', left @ ..]) => {
                bytes.push(b'\\');
                rest = left;
            }
            (b'\\', [b'x', high, low, left @ ..]) => {
                let digits = [*high, *low];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                rest = left;
            }
            (b'\\', _) => return None,
            (plain, _) => bytes.push(plain),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_survives_being_written() {
        for bytes in [&b"a/b c.rs"[..], b"x\\n", b"\xff\xfe/\n", "ä/☃".as_bytes(), b"\\x41", b""] {
            let path = RelPath::from_bytes(bytes).unwrap();
            let written = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<RelPath>(&written).unwrap(), path, "{written}");
        }
    }

    #[test]
    fn no_record_leads_out_of_the_workspace() {
        for text in ["../x", "a/../../x", "/etc/passwd", "a//b", "./x", "a\\x00b", "a\\x2f..\\x2f..", "a\\"] {
            let written = serde_json::to_string(text).unwrap();
            assert!(serde_json::from_str::<RelPath>(&written).is_err(), "{text}");
        }
        assert_eq!(RelPath::of(Path::new("../x")), None);
        assert_eq!(RelPath::of(Path::new("./a/./b")).unwrap().to_string(), "a/b");
    }
}
