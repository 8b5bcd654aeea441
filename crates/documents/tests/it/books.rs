//! Tests of EPUB and HTML.

use omp_documents::Format;

use crate::made::{convert, zipped};

#[test]
fn a_web_page() {
    let page = "<!doctype html><html><head><title>T</title><script>alert(1)</script></head><body><h1>Head</h1><p>Some \
                <b>bold</b> &amp; <a href=\"/x\">link</a></p><ul><li>one<li>two</ul><style>p{}</style><pre><code>a  b</code></pre>\
                <table><tr><th>k</th></tr><tr><td>v</td></tr></table></body></html>";
    let document = convert(Format::Html, page.into()).unwrap();
    insta::assert_snapshot!(document.markdown, @"
    # Head

    Some **bold** & [link](/x)

    - one
    - two

    ```
    a  b
    ```

    | k |
    | - |
    | v |
    ");
}

#[test]
fn a_book() {
    let file = zipped(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path=\"OEBPS/content.opf\"/></rootfiles></container>",
        ),
        (
            "OEBPS/content.opf",
            "<package xmlns:dc=\"dc\"><metadata><dc:title>The Book</dc:title><dc:creator>A. Writer</dc:creator></metadata>\
             <manifest><item id=\"b\" href=\"two%20.xhtml\"/><item id=\"a\" href=\"text/one.xhtml\"/><item id=\"g\" href=\"gone.xhtml\"/>\
             </manifest><spine><itemref idref=\"a\"/><itemref idref=\"b\"/><itemref idref=\"g\"/></spine></package>",
        ),
        ("OEBPS/text/one.xhtml", "<html><head><title>x</title></head><body><h2>One</h2><p>Once.</p></body></html>"),
        ("OEBPS/two .xhtml", "<html><body><h2>Two</h2><p>Twice.</p></body></html>"),
    ]);
    let document = convert(Format::Epub, file).unwrap();
    insta::assert_snapshot!(document.markdown, @"
    # The Book

    A. Writer

    ## One

    Once.

    ## Two

    Twice.
    ");
    assert_eq!(document.left_out, ["chapter 3 (OEBPS/gone.xhtml is missing)"]);
}
