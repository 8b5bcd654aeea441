//! Creates test documents.

use std::io::{Cursor, Write as _};

use omp_documents::{ConvertedDocument, DocumentError, DocumentLimits, Format, to_markdown};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub fn convert(format: Format, bytes: Vec<u8>) -> Result<ConvertedDocument, DocumentError> {
    within(format, bytes, DocumentLimits::default())
}

pub fn within(format: Format, bytes: Vec<u8>, limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    to_markdown(format, bytes, limits, &|| false)
}

/// Creates a PDF from the bodies of its objects, numbered from 1; the first is the catalogue.
pub fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (index, body) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n", index + 1).bytes());
        file.extend(body);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| file.extend(format!("{place:010} 00000 n \n").bytes()));
    let size = objects.len() + 1;
    file.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n").bytes());
    file
}

pub fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let mut body = format!("<< {dictionary} /Length {} >>\nstream\n", content.len()).into_bytes();
    body.extend(content);
    body.extend(b"\nendstream");
    body
}
