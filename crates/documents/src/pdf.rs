//! PDF: the text of each page.

mod guard;
mod output;

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document as Pdf, output_doc_page};

use crate::{ConvertedDocument, DocumentError, DocumentLimits, sealed};
use guard::PdfGuard;
use output::Bounded;

pub fn convert(bytes: &[u8], limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    guard::measure_raw(bytes, limits)?;
    let mut pdf = Pdf::load_mem(bytes).map_err(DocumentError::broken)?;
    if pdf.is_encrypted() {
        pdf.decrypt("").map_err(|_| DocumentError::Encrypted)?;
        guard::measure(&pdf, limits)?;
    }
    let guard = PdfGuard::new(&pdf);
    let pages = pdf.page_iter().take(limits.pages + 1).count();
    let total = if pages > limits.pages { pdf.get_pages().len() } else { pages };
    let mut document = ConvertedDocument::default();
    let mut broken = Vec::new();
    for (number, id) in (1..).zip(pdf.page_iter().take(limits.pages)) {
        if document.markdown.len() > limits.markdown_bytes || sealed::is_over() {
            document.left_out.extend(broken);
            document.left_out = shortened(document.left_out);
            document.left_out.push(format!("pages {number} to {total}"));
            return sealed::in_time(document);
        }
        match guard.check(id).and_then(|()| page(&pdf, number, limits)) {
            Ok(text) if text.trim().is_empty() => {
                document.left_out.push(format!("page {number} (no text, perhaps a picture)"))
            }
            Ok(text) => document.markdown.push_str(&format!("## Page {number}\n\n{}\n\n", tidy(&text))),
            Err(reason) => broken.push(format!("page {number} ({reason})")),
        }
    }
    if document.markdown.is_empty() && !broken.is_empty() {
        return Err(DocumentError::Broken(format!("none of its pages can be read: {}", broken[0])));
    }
    document.left_out.extend(broken);
    if total > limits.pages {
        document.left_out.push(format!("{} of {total} pages", total - limits.pages));
    }
    Ok(ConvertedDocument { left_out: shortened(document.left_out), ..document })
}

/// Extracts the text of a page. The parser panics on unexpected input, which must only affect this page.
fn page(pdf: &Pdf, number: u32, limits: DocumentLimits) -> Result<String, String> {
    let work = || {
        let mut text = String::new();
        let result = output_doc_page(pdf, &mut Bounded::new(&mut text, limits.markdown_bytes), number);
        result.map(|()| text).map_err(|error| error.to_string())
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(sealed::reason(&*panic).to_owned()))
}

/// Removes trailing blanks and repeated empty lines.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.trim().lines().map(str::trim_end) {
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Merges repeated notes: a scanned book has no text on any page.
fn shortened(mut left_out: Vec<String>) -> Vec<String> {
    const MOST: usize = 5;
    if left_out.len() > MOST + 1 {
        let more = left_out.len() - MOST;
        left_out.truncate(MOST);
        left_out.push(format!("{more} more pages, for reasons like these"));
    }
    left_out
}
