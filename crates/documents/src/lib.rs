//! Converts documents to Markdown: PDF, Word, Excel, PowerPoint, EPUB, HTML.
//!
//! Every document is treated as hostile: its unpacked size is measured before parsing, nesting is bounded, entities are
//! never expanded, nothing is fetched or run, time is limited, and a panic of a parser is only an error.

mod epub;
mod error;
mod excel;
mod format;
mod html;
mod limits;
mod package;
mod pdf;
mod powerpoint;
mod sealed;
mod table;
mod word;
mod xml;

pub use error::DocumentError;
pub use format::Format;
pub use limits::DocumentLimits;

/// A document as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertedDocument {
    pub markdown: String,
    /// What was left out, one sentence each.
    pub left_out: Vec<String>,
}

/// Converts the bytes of a document to Markdown. Blocks until [`DocumentLimits::time`] is over or `cancelled` returns true
/// at the latest; call it outside async threads.
pub fn to_markdown(
    format: Format,
    bytes: Vec<u8>,
    limits: DocumentLimits,
    cancelled: &dyn Fn() -> bool,
) -> Result<ConvertedDocument, DocumentError> {
    if bytes.len() > limits.file_bytes {
        return Err(DocumentError::FileTooLarge { most: limits.file_bytes });
    }
    let document = sealed::run(limits.time, cancelled, move || match format {
        Format::Pdf => pdf::convert(&bytes, limits),
        Format::Word => word::convert(bytes, limits),
        Format::Excel => excel::convert(bytes, limits),
        Format::PowerPoint => powerpoint::convert(bytes, limits),
        Format::Epub => epub::convert(bytes, limits),
        Format::Html => html::convert(&bytes, limits),
    })?;
    Ok(limits::capped(document, limits))
}
