//! Limits on what is read of a document, and shown.

use std::time::Duration;

use omp_stdx::format;
use omp_stdx::truncate::{Keep, by_bytes};

use crate::ConvertedDocument;

#[derive(Clone, Copy, Debug)]
pub struct DocumentLimits {
    /// Size of the file itself.
    pub file_bytes: usize,
    /// Unpacked size of everything in it.
    pub unpacked_bytes: u64,
    /// Size of the resulting text.
    pub markdown_bytes: usize,
    /// Number of pages, slides, sheets and chapters.
    pub pages: usize,
    /// Number of rows of a sheet or a table.
    pub rows: usize,
    pub columns: usize,
    /// Nesting depth of elements.
    pub depth: usize,
    /// Time for the whole conversion.
    pub time: Duration,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self {
            file_bytes: 64 * 1024 * 1024,
            unpacked_bytes: 256 * 1024 * 1024,
            markdown_bytes: 8 * 1024 * 1024,
            pages: 1000,
            rows: 10_000,
            columns: 100,
            depth: 256,
            time: Duration::from_secs(30),
        }
    }
}

/// Cuts the text to the limit and trims blank lines at its ends.
pub(crate) fn capped(document: ConvertedDocument, limits: DocumentLimits) -> ConvertedDocument {
    let ConvertedDocument { markdown, mut left_out } = document;
    let text = markdown.trim_matches('\n');
    let cut = by_bytes(text, limits.markdown_bytes, Keep::Head);
    if cut.cut.is_none() {
        return ConvertedDocument { markdown: text.to_owned(), left_out };
    }
    left_out.push(format!("the text is cut after {}", format::bytes(limits.markdown_bytes as u64)));
    ConvertedDocument { markdown: cut.head.to_owned(), left_out }
}
