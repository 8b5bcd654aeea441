//! Tests images and documents.

use super::*;

/// Builds a PNG of one colour by hand, because this crate does not depend on an image library.
fn png(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let sum = !body.iter().fold(!0_u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 })
        });
        [&(data.len() as u32).to_be_bytes()[..], &body, &sum.to_be_bytes()].concat()
    };
    let rows: Vec<u8> = (0..height).flat_map(|_| std::iter::repeat_n(0, 1 + width as usize)).collect();
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let stored: Vec<u8> = rows
        .chunks(65_535)
        .enumerate()
        .flat_map(|(index, part)| {
            let last = u8::from((index + 1) * 65_535 >= rows.len());
            let length = part.len() as u16;
            [&[last][..], &length.to_le_bytes(), &(!length).to_le_bytes(), part].concat()
        })
        .collect();
    let (a, b) = rows.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    let zlib = [&[0x78, 1][..], &stored, &((b << 16) | a).to_be_bytes()].concat();
    [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &header), &chunk(b"IDAT", &zlib), &chunk(b"IEND", b"")].concat()
}

#[test]
fn images() {
    let scratch = Scratch::new(&[]);
    scratch.put("small.png", &png(8, 4));
    scratch.put("large.png", &png(3136, 100));
    scratch.put("broken.png", &png(8, 4)[..40]);
    let output = scratch.call(&tool(&scratch), json!({"path": "small.png"})).unwrap();
    assert_eq!(output.content[0], Content::text("small.png (image/png, 104B, 8 × 4 pixels)"));
    assert!(matches!(&output.content[1], Content::Image(image) if image.mime_type == "image/png"));

    let shown = text(&scratch, "large.png");
    assert!(shown.contains(", 3136 × 100 pixels; shown as image/png, "), "{shown}");
    assert!(shown.ends_with(", 1568 × 50; the file is unchanged)"), "{shown}");
    let as_it_is = tool(&scratch).with_options(&ReadOptions { resize_images: false, ..ReadOptions::default() });
    assert!(scratch.text(&as_it_is, json!({"path": "large.png"})).ends_with(", 3136 × 100 pixels)"));

    let shown = text(&scratch, "broken.png");
    assert!(
        shown.starts_with("error: broken.png is an image (image/png, 40B) that cannot be shown: it cannot be decoded")
    );
    std::fs::File::create(scratch.path("huge.png")).unwrap().set_len(80 * 1024 * 1024).unwrap();
    use std::io::Write as _;
    let mut file = std::fs::OpenOptions::new().write(true).open(scratch.path("huge.png")).unwrap();
    file.write_all(&png(8, 4)).unwrap();
    assert!(
        text(&scratch, "huge.png").starts_with("error: huge.png has 80MB; at most 64MB of its kind are read\nhint:")
    );
}

#[test]
fn images_that_are_blocked_are_only_named() {
    let scratch = Scratch::new(&[]);
    scratch.put("small.png", &png(8, 4));
    let blocked = tool(&scratch).with_options(&ReadOptions { block_images: true, ..ReadOptions::default() });
    let output = scratch.call(&blocked, json!({"path": "small.png"})).unwrap();
    let text = "small.png (image/png, 104B): Image reading is disabled.\n(the setting images.blockImages is on)";
    assert_eq!(output.content, [Content::text(text)]);
}

#[test]
fn a_document_is_given_up_with_the_call() {
    let scratch = Scratch::new(&[("a.html", &"<p>text</p>\n".repeat(100_000))]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let reader = ReadCall { files: scratch.files.clone(), options: ReadOptions::default(), cancel };
    let error = reader.typed("a.html:md").unwrap_err().to_string();
    assert_eq!(error, "a.html cannot be read as a HTML page: it was cancelled");
}

const PAGE: &str = "<html><body><h1>Head</h1><p>One</p><p>Two</p></body></html>\n";

#[test]
fn web_pages_are_source_until_asked_for() {
    let scratch = Scratch::new(&[("a.html", PAGE), ("a.txt", "x\n")]);
    assert!(text(&scratch, "a.html").contains("1:<html><body><h1>"));
    assert_eq!(text(&scratch, "a.html:md"), "[a.html] HTML page as Markdown\n# Head\n\nOne\n\nTwo");
    assert_eq!(
        text(&scratch, "a.html:3-3:md"),
        "[a.html] HTML page as Markdown\nOne\n(2 lines follow, up to line 5; continue with a.html:4)"
    );
    assert!(text(&scratch, "a.txt:md").starts_with("error: a.txt is not a document"));
}

#[test]
fn broken_documents_say_why() {
    let scratch = Scratch::new(&[("a.pdf", "%PDF-1.4\n"), ("plain.docx", "text\n")]);
    scratch.put("a.docx", b"PK\x03\x04nothing");
    assert!(text(&scratch, "a.pdf").starts_with("error: a.pdf cannot be read as a PDF: "));
    assert!(text(&scratch, "a.docx").starts_with("error: a.docx cannot be read as a Word document: "));
    assert!(text(&scratch, "plain.docx").ends_with("\n1:text"));
    // The source of a document can still be read.
    assert!(text(&scratch, "a.pdf:raw").starts_with("%PDF-1.4"));
}
