//! The current text of files: from disk, or from an editor that has unsaved changes.
//!
//! The disk decides which files exist: the editor is asked only about regular files of bounded size that hold UTF-8 text. An
//! editor may hide a byte-order mark and carriage returns. They are added to text that it returns and removed from text that
//! is sent to it, so that the bytes are those of the file in both cases.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

use crate::open::{FileError, MAX_WHOLE_FILE};
use crate::reach::{FileReach, WriteSpot};
use crate::text_file::{Eol, TextFile, binary_reason};
use crate::write::{EditPlan, target_of};

const BOM: char = '\u{feff}';

/// An editor that has files open. Calls may block until it answers.
pub trait OpenTexts: Send + Sync {
    /// Returns the text including unsaved changes, or `None` if the file on disk is current.
    fn read(&self, path: &Path) -> Option<String>;

    /// Saves a text. Returns `None` if the caller has to write to disk instead.
    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>>;
}

/// Reads and writes texts, on disk or through an editor.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    open: Option<&'a dyn OpenTexts>,
    reach: &'a FileReach,
}

impl<'a> Texts<'a> {
    /// Uses only the disk, without access restrictions.
    pub fn on_disk() -> Self {
        Self::with(None)
    }

    pub fn with(open: Option<&'a dyn OpenTexts>) -> Self {
        static EVERYWHERE: LazyLock<FileReach> = LazyLock::new(FileReach::default);
        Self { open, reach: &EVERYWHERE }
    }

    /// Restricts access to the files that `reach` allows.
    #[must_use]
    pub fn within(self, reach: &'a FileReach) -> Self {
        Self { reach, ..self }
    }

    pub(crate) fn reach(self) -> &'a FileReach {
        self.reach
    }

    /// Reads a regular file of at most [`MAX_WHOLE_FILE`] bytes.
    pub fn read_whole(self, path: &Path) -> Result<Vec<u8>, FileError> {
        self.read_by(path, path)
    }

    /// Reads the file at a held location, or returns `None` if there is none.
    pub(crate) fn read_spot(self, spot: &WriteSpot) -> Result<Option<Vec<u8>>, FileError> {
        match self.read_by(&spot.way, &spot.asked) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `way` is the path for system calls, `path` the one for the editor.
    fn read_by(self, way: &Path, path: &Path) -> Result<Vec<u8>, FileError> {
        let saved = self.reach.read_whole(way)?;
        let Some(text) = self.unsaved(path, &saved) else { return Ok(saved) };
        if text.len() as u64 > MAX_WHOLE_FILE {
            return Err(FileError::TooLarge { path: path.into(), size: text.len() as u64 });
        }
        Ok(as_in_a_file(text, saved))
    }

    /// Like [`Self::read_whole`], with `None` for a file that does not exist.
    pub fn read_if_exists(self, path: &Path) -> Result<Option<Vec<u8>>, FileError> {
        match self.read_whole(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the plan changes text to text, which an editor can apply.
    pub(crate) fn may_take(self, plan: &EditPlan) -> bool {
        self.open.is_some() && is_text(&plan.content) && plan.expected.as_deref().is_none_or(is_text)
    }

    /// Returns `None` if the caller has to write to disk instead.
    pub(crate) fn write(self, target: &Path, content: &[u8]) -> Option<Result<(), FileError>> {
        let open = self.open?;
        let text = text_of(content)?;
        let refused = |reason: String| FileError::Io {
            path: target.into(),
            error: io::Error::other(format!("the editor did not save it: {reason}")),
        };
        Some(open.write(target, &self.as_it_is_open(target, text))?.map_err(refused))
    }

    /// Removes the bytes that the editor hides from a text.
    fn as_it_is_open<'t>(self, target: &Path, text: &'t str) -> Cow<'t, str> {
        if !text.starts_with(BOM) && !text.contains('\r') {
            return Cow::Borrowed(text);
        }
        let Ok(saved) = self.reach.read_whole(target) else { return Cow::Borrowed(text) };
        match self.unsaved(target, &saved) {
            Some(open) => HiddenBytes::between(&open, &saved).out_of(text),
            None => Cow::Borrowed(text),
        }
    }

    fn unsaved(self, path: &Path, saved: &[u8]) -> Option<String> {
        let open = self.open.filter(|_| is_text(saved))?;
        // The editor knows the file by its own name: a link at the end is resolved, links in the folders are not.
        open.read(&target_of(path).ok()?)
    }
}

/// Returns the file bytes for an editor's text, given the bytes on disk.
fn as_in_a_file(text: String, saved: Vec<u8>) -> Vec<u8> {
    if text.as_bytes() == saved {
        return saved;
    }
    let hidden = HiddenBytes::between(&text, &saved);
    let unchanged = text_of(&saved).is_some_and(|saved| hidden.out_of(saved) == text);
    if unchanged {
        return saved;
    }
    let breaks_are_hidden = hidden.returns && TextFile::parse(saved).dominant_eol() == Eol::CrLf;
    let mut file = if hidden.mark { BOM.to_string() } else { String::new() };
    file.push_str(&if breaks_are_hidden { text.replace('\n', "\r\n") } else { text });
    file.into_bytes()
}

/// Bytes of a file that are missing from the editor's text.
#[derive(Clone, Copy, Default)]
struct HiddenBytes {
    mark: bool,
    /// Carriage returns before line feeds.
    returns: bool,
}

impl HiddenBytes {
    fn between(open: &str, saved: &[u8]) -> Self {
        let Some(saved) = text_of(saved) else { return Self::default() };
        Self {
            mark: saved.starts_with(BOM) && !open.starts_with(BOM),
            returns: saved.contains("\r\n") && !open.contains('\r'),
        }
    }

    fn out_of(self, text: &str) -> Cow<'_, str> {
        let text = if self.mark { text.strip_prefix(BOM).unwrap_or(text) } else { text };
        if self.returns { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
    }
}

fn is_text(bytes: &[u8]) -> bool {
    text_of(bytes).is_some()
}

fn text_of(bytes: &[u8]) -> Option<&str> {
    let fits = bytes.len() as u64 <= MAX_WHOLE_FILE && binary_reason(bytes).is_none();
    std::str::from_utf8(bytes).ok().filter(|_| fits)
}

#[cfg(test)]
mod tests;
