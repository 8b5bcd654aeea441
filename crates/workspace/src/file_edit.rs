//! One file's planned edit, whatever edit language it came from: what was, what shall be, what to tell about it.

use crate::diff::FileDiff;
use crate::generated::generated_marker;
use crate::open::{FileError, read_if_exists};
use crate::path::ResolvedPath;
use crate::text_file::{TextFile, binary_reason};
use crate::write::EditPlan;

#[derive(Clone, Debug)]
pub struct FileEdit {
    pub path: ResolvedPath,
    /// `None` for a file that is made.
    pub before: Option<TextFile>,
    pub after: TextFile,
    pub warnings: Vec<String>,
}

impl FileEdit {
    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// What [`crate::commit`] needs to carry it out.
    pub fn plan(&self) -> EditPlan {
        EditPlan {
            path: self.path.absolute.clone(),
            expected: self.before.as_ref().map(|file| file.bytes().to_vec()),
            content: self.after.bytes().to_vec(),
            executable: false,
        }
    }

    pub fn diff(&self) -> (FileDiff, TextFile) {
        let before = self.before.clone().unwrap_or_else(|| TextFile::parse(&b""[..]));
        (FileDiff::between(&before, &self.after), before)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EditRefused {
    #[error(transparent)]
    File(FileError),
    #[error("{path} holds {reason}, not text that can be edited by lines\nhint: use a program made for this format")]
    NotText { path: String, reason: &'static str },
    #[error(
        "{path} is generated (\"{marker}\" on line {line}) and would be overwritten by the next run of its generator\n\
         hint: change the source it is made from and generate it again"
    )]
    Generated { path: String, marker: &'static str, line: usize },
}

/// A file's content, checked to be something that may be edited. `None` when there is no such file.
pub fn load_editable(path: &ResolvedPath, block_generated: bool) -> Result<Option<TextFile>, EditRefused> {
    let bytes = read_if_exists(&path.absolute).map_err(|error| EditRefused::File(error.shown_as(&path.display)))?;
    let Some(bytes) = bytes else { return Ok(None) };
    if let Some(reason) = binary_reason(&bytes) {
        return Err(EditRefused::NotText { path: path.display.clone(), reason });
    }
    refuse_generated(path, &bytes, block_generated)?;
    Ok(Some(TextFile::parse(bytes)))
}

/// Refuses to touch a file that says it is generated.
pub fn refuse_generated(path: &ResolvedPath, content: &[u8], block_generated: bool) -> Result<(), EditRefused> {
    match generated_marker(content).filter(|_| block_generated) {
        Some(found) => {
            Err(EditRefused::Generated { path: path.display.clone(), marker: found.marker, line: found.line })
        }
        None => Ok(()),
    }
}
