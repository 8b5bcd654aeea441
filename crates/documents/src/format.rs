//! The supported document formats, detected by name and first bytes.

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Pdf,
    Word,
    Excel,
    PowerPoint,
    Epub,
    Html,
}

impl Format {
    /// Detects the format by name and first bytes. The name alone is not sufficient.
    pub fn of(name: &str, head: &[u8]) -> Option<Self> {
        if head.starts_with(b"%PDF-") {
            return Some(Format::Pdf);
        }
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        let zipped = head.starts_with(b"PK\x03\x04");
        match extension.as_str() {
            "docx" | "docm" | "dotx" if zipped => Some(Format::Word),
            "xlsx" | "xlsm" if zipped => Some(Format::Excel),
            "pptx" | "pptm" | "ppsx" if zipped => Some(Format::PowerPoint),
            "epub" if zipped => Some(Format::Epub),
            "html" | "htm" | "xhtml" if !head.contains(&0) => Some(Format::Html),
            _ => None,
        }
    }

    /// Returns the common name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pdf => "PDF",
            Format::Word => "Word document",
            Format::Excel => "Excel workbook",
            Format::PowerPoint => "PowerPoint presentation",
            Format::Epub => "EPUB book",
            Format::Html => "HTML page",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn name_and_bytes_have_to_agree() {
        for (name, head, want) in [
            ("a.pdf", &b"%PDF-1.4"[..], Some(Format::Pdf)),
            ("no-extension", b"%PDF-1.4", Some(Format::Pdf)),
            ("a.pdf", b"text", None),
            ("A.DOCX", b"PK\x03\x04..", Some(Format::Word)),
            ("a.docx", b"text", None),
            ("a.xlsx", b"PK\x03\x04", Some(Format::Excel)),
            ("a.pptx", b"PK\x03\x04", Some(Format::PowerPoint)),
            ("a.epub", b"PK\x03\x04", Some(Format::Epub)),
            ("a.zip", b"PK\x03\x04", None),
            ("a.html", b"<p>", Some(Format::Html)),
            ("a.html", b"\0\0", None),
            ("a.rs", b"<p>", None),
        ] {
            assert_eq!(Format::of(name, head), want, "{name}");
        }
    }
}
