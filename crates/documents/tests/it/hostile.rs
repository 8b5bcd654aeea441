//! Tests of malicious and incomplete files.

use std::time::Duration;

use omp_documents::{DocumentError, DocumentLimits, Format, to_markdown};

use crate::made::{convert, within, zipped};

const ZIPPED: [Format; 4] = [Format::Word, Format::Excel, Format::PowerPoint, Format::Epub];

#[test]
fn zip_bombs() {
    let zeros = "0".repeat(4 * 1024 * 1024);
    let small = DocumentLimits { unpacked_bytes: 1024 * 1024, ..DocumentLimits::default() };
    for format in ZIPPED {
        let bomb = within(format, zipped(&[("word/document.xml", &zeros)]), small);
        assert_eq!(bomb, Err(DocumentError::Bomb { most: 1024 * 1024 }), "{format:?}");
    }
}

#[test]
fn what_is_no_document() {
    let whole = zipped(&[("a", "b")]);
    for format in ZIPPED {
        for bytes in [whole.clone(), whole[..whole.len() / 2].to_vec(), b"PK\x03\x04".to_vec(), Vec::new()] {
            let result = convert(format, bytes);
            assert!(matches!(result, Err(DocumentError::Broken(_))), "{format:?}: {result:?}");
        }
    }
}

#[test]
fn deep_nesting() {
    let deep = "<w:tbl><w:tr><w:tc>".repeat(50_000);
    let result = convert(Format::Word, zipped(&[("word/document.xml", &deep)]));
    assert_eq!(result, Err(DocumentError::TooDeep { most: 256 }));
    for tag in ["<div>", "<b><i>", "<ul><li>", "<table><tr><td>"] {
        assert_eq!(
            convert(Format::Html, tag.repeat(100_000).into()),
            Err(DocumentError::TooDeep { most: 256 }),
            "{tag}"
        );
    }
    // The maximum depth fits on the stack.
    let allowed = format!("{}text{}", "<div><p><ul><li>".repeat(120), "</ul></div>".repeat(120));
    assert!(convert(Format::Html, allowed.into()).unwrap().markdown.contains("text"));
    let flat = "<p>one<br>two<img src=x>".repeat(5000);
    assert!(convert(Format::Html, flat.into()).is_ok());
}

#[test]
fn files_and_texts_past_the_limits() {
    let small = DocumentLimits { file_bytes: 10, ..DocumentLimits::default() };
    assert_eq!(within(Format::Html, vec![b'x'; 11], small).unwrap_err().to_string(), "the file is larger than 10B");
    let short = DocumentLimits { markdown_bytes: 100, ..DocumentLimits::default() };
    let document = within(Format::Html, "<p>ä</p>".repeat(1000).into(), short).unwrap();
    assert!(document.markdown.len() <= 100);
    assert_eq!(document.left_out, ["the text is cut after 100B"]);
}

#[test]
fn every_cut_of_a_document_is_an_error_or_text() {
    let body = "<w:document><w:body><w:p><w:r><w:t>Text</w:t></w:r></w:p></w:body></w:document>";
    for length in 0..body.len() {
        // Truncated XML in a valid package: the text before the cut, or an error; never a panic.
        let _ = convert(Format::Word, zipped(&[("word/document.xml", &body[..length])]));
    }
    let whole = zipped(&[("word/document.xml", body)]);
    for length in (0..whole.len()).step_by(7) {
        assert!(convert(Format::Word, whole[..length].to_vec()).is_err(), "{length}");
    }
}

#[test]
fn documents_that_take_too_long_end_and_say_so() {
    let word = "<w:document><w:body><w:p><w:r><w:t>Text</w:t></w:r></w:p></w:body></w:document>";
    let no_time = DocumentLimits { time: Duration::ZERO, ..DocumentLimits::default() };
    for format in ZIPPED {
        let error = within(format, zipped(&[("word/document.xml", word)]), no_time).unwrap_err();
        assert_eq!(error, DocumentError::TooSlow { given: Duration::ZERO }, "{format:?}");
    }
    // Millions of elements take longer than a millisecond; the text read until then is kept.
    let long = format!("<w:document><w:body>{}", "<w:p><w:r><w:t>Text</w:t></w:r></w:p>".repeat(300_000));
    let short =
        DocumentLimits { time: Duration::from_millis(1), markdown_bytes: usize::MAX, ..DocumentLimits::default() };
    match within(Format::Word, zipped(&[("word/document.xml", &long)]), short) {
        Ok(document) => assert_eq!(document.left_out, ["the rest of the text (it takes longer than 1 milliseconds)"]),
        // The machine may not have reached the text at all.
        Err(error) => assert_eq!(error, DocumentError::TooSlow { given: Duration::from_millis(1) }),
    }
}

#[test]
fn a_document_nobody_waits_for_is_given_up() {
    let long = "<p>text".repeat(1_000_000);
    let result = to_markdown(Format::Html, long.into_bytes(), DocumentLimits::default(), &|| true);
    assert_eq!(result, Err(DocumentError::Cancelled));
}
