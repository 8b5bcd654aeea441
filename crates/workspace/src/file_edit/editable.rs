//! The editable form of a file: its text, or for a notebook the text of its cells, which is written back as a notebook.

use std::path::Path;

use super::{EditRefused, FileEdit};
use crate::notebook::NotebookFile;
use crate::path::ResolvedPath;
use crate::snapshot::Tag;
use crate::text_file::TextFile;

/// A file that was read for editing.
#[derive(Clone, Debug)]
pub(crate) struct Editable {
    /// The text in the form that is shown and edited.
    pub text: TextFile,
    cells_of: Option<CellsOf>,
}

/// The notebook file that the cell text was derived from.
#[derive(Clone, Debug)]
struct CellsOf {
    file: TextFile,
    notebook: NotebookFile,
}

impl Editable {
    /// A file that only has the name of a notebook is treated as plain text.
    pub fn new(path: &ResolvedPath, bytes: Vec<u8>) -> Self {
        let notebook = is_notebook(&path.absolute).then(|| NotebookFile::parse(&bytes).ok()).flatten();
        let file = TextFile::parse(bytes);
        match notebook {
            Some(notebook) => {
                let text = TextFile::parse(notebook.to_text().into_bytes());
                Self { text, cells_of: Some(CellsOf { file, notebook }) }
            }
            None => Self { text: file, cells_of: None },
        }
    }

    /// Returns the content on disk.
    pub fn file(&self) -> &TextFile {
        self.cells_of.as_ref().map_or(&self.text, |cells| &cells.file)
    }

    /// Selects the form that the tag refers to: searches show the lines of the notebook file itself and give their tag.
    pub fn under(self, tag: Option<Tag>) -> Self {
        match self.cells_of {
            Some(cells) if tag.is_some_and(|tag| tag != self.text.tag() && tag == cells.file.tag()) => {
                Self { text: cells.file, cells_of: None }
            }
            _ => self,
        }
    }

    /// Returns whether either form has this tag.
    pub fn is(&self, tag: Tag) -> bool {
        self.text.tag() == tag || self.file().tag() == tag
    }

    /// Returns the edit that creates a file. Cell text under a notebook name becomes a notebook; notebook JSON is written as
    /// it is.
    pub fn created(path: ResolvedPath, text: Option<TextFile>) -> Result<FileEdit, EditRefused> {
        match text {
            Some(text) if is_notebook(&path.absolute) && text.bytes().starts_with(b"# %% [") => {
                let cells = CellsOf { file: TextFile::parse(&b""[..]), notebook: NotebookFile::empty() };
                let (file, text) = cells.written(&path, &text)?;
                Ok(FileEdit::new(path, None, Some(text)).stored_as(None, Some(file)))
            }
            text => Ok(FileEdit::new(path, None, text)),
        }
    }

    /// Returns the edit that changes this file to `text` under `path`, which differs from the old path if the file is moved.
    pub fn becomes(&self, path: ResolvedPath, text: Option<TextFile>) -> Result<FileEdit, EditRefused> {
        let Some(cells) = &self.cells_of else {
            return Ok(FileEdit::new(path, Some(self.text.clone()), text));
        };
        let file = match &text {
            None => None,
            Some(text) if text.bytes() == self.text.bytes() => Some((cells.file.clone(), text.clone())),
            Some(text) => Some(cells.written(&path, text)?),
        };
        let (after_file, after) = file.unzip();
        if !is_notebook(&path.absolute) {
            return Ok(FileEdit::new(path, Some(cells.file.clone()), after_file));
        }
        Ok(FileEdit::new(path, Some(self.text.clone()), after).stored_as(Some(cells.file.clone()), after_file))
    }
}

impl CellsOf {
    /// Returns the notebook file for an edited cell text, and the cell text as the next read shows it.
    fn written(&self, path: &ResolvedPath, text: &TextFile) -> Result<(TextFile, TextFile), EditRefused> {
        let refused = |reason: String| {
            EditRefused::edit(format!(
                "{} cannot be written back as a notebook: {reason}. Nothing was written.\nhint: a cell begins with its line \
                 '# %% [code] cell:3'; a new one with '# %% [code]', '# %% [markdown]' or '# %% [raw]', without a number",
                path.display
            ))
        };
        let text = std::str::from_utf8(text.bytes()).map_err(|error| refused(error.to_string()))?;
        let changed = self.notebook.with_text(text).map_err(|error| refused(error.to_string()))?;
        let file = changed.to_bytes_over(self.file.bytes());
        Ok((TextFile::parse(file), TextFile::parse(changed.to_text().into_bytes())))
    }
}

fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}
