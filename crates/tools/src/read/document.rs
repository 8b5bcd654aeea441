//! Documents, converted to Markdown.

use omp_agent::{Output, ToolError};
use omp_documents::{ConvertedDocument, DocumentLimits, Format, to_markdown};
use omp_workspace::ResolvedPath;

use super::selector::Selector;
use super::text::{self, Extract};
use super::{Details, ReadCall};

pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub fn show(
    reader: &ReadCall,
    path: &ResolvedPath,
    bytes: Vec<u8>,
    format: Format,
    selector: Selector,
) -> Result<Output<Details>, ToolError> {
    let size = bytes.len() as u64;
    let document = to_markdown(format, bytes, DocumentLimits::default(), &|| reader.cancel.is_cancelled());
    let ConvertedDocument { markdown, left_out } = document.map_err(|error| {
        ToolError::Reply(format!("{} cannot be read as a {}: {error}", path.display, format.name()))
    })?;
    let text = if markdown.is_empty() { "(it has no text)".into() } else { markdown };
    let notes = match left_out.len() {
        0 => Vec::new(),
        _ => {
            vec![format!("left out: {}; a program for the format may show it, through bash", left_out.join("; "))]
        }
    };
    let title = Some(format!("[{}] {} as Markdown", path.display, format.name()));
    text::show(Extract { path: path.clone(), text, title, notes, size }, selector, &reader.options)
}
