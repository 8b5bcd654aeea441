//! Tests of handwritten PDF files.

use std::time::Duration;

use omp_documents::{DocumentError, DocumentLimits, Format};

use crate::made::{convert, pdf, stream, within};

const FONT: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
const PAGE: &str = "/Type /Page /Parent 2 0 R /MediaBox [0 0 200 200]";

fn pages(pages: &[(&str, &str)]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|index| format!("{} 0 R", 4 + 2 * index)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).into_bytes(),
        FONT.as_bytes().to_vec(),
    ];
    for (index, (more, content)) in pages.iter().enumerate() {
        let resources = "/Resources << /Font << /F1 3 0 R >> >>";
        objects.push(format!("<< {PAGE} {resources} /Contents {} 0 R {more} >>", 5 + 2 * index).into_bytes());
        objects.push(stream("", content.as_bytes()));
    }
    pdf(&objects)
}

fn text(words: &str) -> String {
    format!("BT /F1 12 Tf 20 100 Td ({words}) Tj ET")
}

#[test]
fn pages_with_and_without_text() {
    let file = pages(&[("", &text("First page")), ("", "0 0 m 10 10 l S"), ("", &text("Third page"))]);
    let document = convert(Format::Pdf, file).unwrap();
    insta::assert_snapshot!(document.markdown, @"
    ## Page 1

    First page

    ## Page 3

    Third page
    ");
    assert_eq!(document.left_out, ["page 2 (no text, perhaps a picture)"]);
}

#[test]
fn pages_past_the_limit_are_counted() {
    let page = text("Page");
    let many: Vec<(&str, &str)> = (0..5).map(|_| ("", page.as_str())).collect();
    let document = within(Format::Pdf, pages(&many), DocumentLimits { pages: 2, ..DocumentLimits::default() }).unwrap();
    assert!(document.markdown.contains("## Page 2") && !document.markdown.contains("## Page 3"));
    assert_eq!(document.left_out, ["3 of 5 pages"]);
}

#[test]
fn a_page_that_makes_the_parser_panic_costs_only_itself() {
    // An operator without its operands.
    let document = convert(Format::Pdf, pages(&[("", "/Nothing Do"), ("", &text("Whole"))])).unwrap();
    assert!(document.markdown.contains("Whole"));
    assert!(document.left_out[0].starts_with("page 1 ("), "{:?}", document.left_out);
}

#[test]
fn truncated_files_are_errors() {
    let whole = pages(&[("", &text("Text"))]);
    for length in [0, 5, 9, 60, 200] {
        let result = convert(Format::Pdf, whole[..length].to_vec());
        assert!(matches!(result, Err(DocumentError::Broken(_))), "{length}: {result:?}");
    }
}

#[test]
fn a_page_that_is_its_own_grandparent() {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 4 0 R >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R >>".to_vec(),
        b"<< /Type /Pages /Parent 2 0 R >>".to_vec(),
        stream("", b""),
    ];
    let error = convert(Format::Pdf, pdf(&objects)).unwrap_err();
    assert!(error.to_string().contains("its parents form a loop"), "{error}");
}

fn forms(count: usize, form: impl Fn(usize) -> (String, String)) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!("<< {PAGE} /Resources << /XObject << /F 5 0 R >> >> /Contents 4 0 R >>").into_bytes(),
        stream("", b"/F Do"),
    ];
    for index in 0..count {
        let (resources, content) = form(index);
        objects.push(stream(&format!("/Type /XObject /Subtype /Form {resources}"), content.as_bytes()));
    }
    pdf(&objects)
}

#[test]
fn a_form_that_draws_itself() {
    let file = forms(1, |_| ("/Resources << /XObject << /F 5 0 R >> >>".into(), "/F Do".into()));
    let error = convert(Format::Pdf, file).unwrap_err();
    assert!(error.to_string().contains("nested without end"), "{error}");
    // Without its own resources it uses those of the page.
    let error = convert(Format::Pdf, forms(1, |_| (String::new(), "/F Do".into()))).unwrap_err();
    assert!(error.to_string().contains("nested without end"), "{error}");
}

#[test]
fn forms_that_double_each_other() {
    let file = forms(25, |index| {
        let next = format!("/Resources << /XObject << /F {} 0 R >> >>", 6 + index);
        (next, "/F Do /F Do".into())
    });
    let error = convert(Format::Pdf, file).unwrap_err();
    assert!(error.to_string().contains("too many forms"), "{error}");
}

#[test]
fn streams_that_unpack_to_more_than_allowed() {
    use std::io::Write as _;
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![b' '; 4 * 1024 * 1024]).unwrap();
    let packed = packer.finish().unwrap();
    assert!(packed.len() < 10_000);
    let objects = |filter: &str| {
        pdf(&[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [] /Count 0 >>".to_vec(),
            stream(filter, &packed),
        ])
    };
    let small = DocumentLimits { unpacked_bytes: 1024 * 1024, ..DocumentLimits::default() };
    let bomb = within(Format::Pdf, objects("/Filter /FlateDecode"), small);
    assert_eq!(bomb, Err(DocumentError::Bomb { most: 1024 * 1024 }));
    let twice = within(Format::Pdf, objects("/Filter [/FlateDecode /FlateDecode]"), small).unwrap_err();
    assert!(twice.to_string().contains("compressed twice"));
}

#[test]
fn the_pages_read_in_time_are_shown() {
    let words = text("Some words on a page");
    let file = pages(&vec![("", words.as_str()); 2000]);
    let limits = DocumentLimits { pages: 5000, ..DocumentLimits::default() };
    let given = Duration::from_millis(20);
    match within(Format::Pdf, file.clone(), DocumentLimits { time: given, ..limits }) {
        Ok(document) => {
            let [from, why] = &document.left_out[..] else { panic!("{:?}", document.left_out) };
            assert!(from.starts_with("pages ") && from.ends_with(" to 2000"), "{from}");
            assert_eq!(why, "it takes longer than 20 milliseconds");
            assert!(document.markdown.contains("Some words"));
        }
        Err(error) => assert_eq!(error, DocumentError::TooSlow { given }),
    }
    let error = within(Format::Pdf, file, DocumentLimits { time: Duration::ZERO, ..limits }).unwrap_err();
    assert_eq!(error, DocumentError::TooSlow { given: Duration::ZERO });
}
