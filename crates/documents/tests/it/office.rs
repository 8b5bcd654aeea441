//! Tests of Word, Excel and PowerPoint.

use omp_documents::{DocumentLimits, Format};

use crate::made::{convert, within, zipped};

fn word(body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let main = format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>");
    let mut parts = vec![("word/document.xml", main.as_str())];
    parts.extend(more);
    zipped(&parts)
}

fn paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

#[test]
fn a_word_document() {
    let item = |list, level, text| {
        paragraph(&format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"), text)
    };
    let cell = |text| format!("<w:tc>{}</w:tc>", paragraph("", text));
    let body = [
        paragraph("<w:pStyle w:val=\"Title\"/>", "Report &amp; more"),
        paragraph("<w:pStyle w:val=\"berschrift2\"/>", "Part"),
        "<w:p><w:r><w:t>Some </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bo</w:t></w:r><w:r><w:rPr><w:b/></w:rPr>\
         <w:t xml:space=\"preserve\">ld </w:t></w:r><w:r><w:rPr><w:b w:val=\"0\"/><w:i/></w:rPr><w:t>words</w:t></w:r>\
         <w:hyperlink r:id=\"rId7\"><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id=\"2\"/></w:r></w:p>"
            .into(),
        item(1, 0, "one"),
        item(1, 1, "below"),
        item(2, 0, "first"),
        item(2, 0, "second"),
        format!("<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>", cell("A"), cell("B"), cell("1"), cell("x|y")),
        paragraph("", "After"),
        "<w:p><w:r><w:drawing><wp:docPr descr=\"A cat\"/></w:drawing></w:r></w:p>".into(),
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:t>once</w:t></mc:Choice><mc:Fallback><w:t>twice</w:t>\
         </mc:Fallback></mc:AlternateContent></w:r></w:p>"
            .into(),
    ]
    .concat();
    let file = word(
        &body,
        &[
            (
                "word/styles.xml",
                "<w:styles><w:style w:styleId=\"berschrift2\"><w:name w:val=\"heading 2\"/></w:style></w:styles>",
            ),
            (
                "word/numbering.xml",
                "<w:numbering><w:abstractNum w:abstractNumId=\"9\"><w:lvl w:ilvl=\"0\"><w:numFmt w:val=\"decimal\"/></w:lvl>\
                 </w:abstractNum><w:num w:numId=\"2\"><w:abstractNumId w:val=\"9\"/></w:num></w:numbering>",
            ),
            (
                "word/_rels/document.xml.rels",
                "<Relationships><Relationship Id=\"rId7\" Target=\"https://example.com/\" TargetMode=\"External\"/></Relationships>",
            ),
            (
                "word/footnotes.xml",
                "<w:footnotes><w:footnote w:type=\"separator\" w:id=\"0\"><w:p/></w:footnote><w:footnote w:id=\"2\"><w:p><w:r>\
                 <w:t>The note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
            ),
        ],
    );
    let document = convert(Format::Word, file).unwrap();
    insta::assert_snapshot!(document.markdown, @r"
    # Report & more

    ## Part

    Some **bold** *words*[here](https://example.com/)[^2]

    - one
      - below
    1. first
    2. second

    | A | B |
    |---|---|
    | 1 | x\|y |

    After

    ![A cat]

    once

    [^2]: The note.
    ");
    assert!(document.left_out.is_empty());
}

const CONTENT_TYPES: &str = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>";

fn excel(sheet: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    zipped(&[
        ("[Content_Types].xml", CONTENT_TYPES),
        (
            "_rels/.rels",
            &format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
                 <Relationship Id=\"rId1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"Costs\" sheetId=\"1\" r:id=\"rId1\"/>\
                 <sheet name=\"Nothing\" sheetId=\"2\" r:id=\"rId2\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
                 <Relationship Id=\"rId1\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
                 <Relationship Id=\"rId2\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet2.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            &format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
            ),
        ),
        ("xl/sharedStrings.xml", &format!("<sst xmlns=\"{main}\"><si><t>Item</t></si><si><t>Price</t></si></sst>")),
        (
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{sheet}</sheetData></worksheet>"),
        ),
        ("xl/worksheets/sheet2.xml", &format!("<worksheet xmlns=\"{main}\"><sheetData/></worksheet>")),
    ])
}

#[test]
fn a_workbook() {
    let file = excel(
        "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"s\"><v>1</v></c></row>\
         <row r=\"7\"><c r=\"A7\" t=\"inlineStr\"><is><t>Tea</t></is></c><c r=\"B7\" s=\"1\"><v>45000</v></c>\
         <c r=\"C7\"><v>2.5</v></c></row>",
    );
    let document = convert(Format::Excel, file).unwrap();
    insta::assert_snapshot!(document.markdown, @"
    ## Sheet: Costs

    |  | A | B | C |
    |---|---|---|---|
    | 1 | Item |  | Price |
    | 7 | Tea | 2023-03-15 | 2.5 |

    ## Sheet: Nothing

    (empty)
    ");
}

#[test]
fn a_sheet_that_claims_to_be_huge_costs_only_what_it_holds() {
    let file =
        excel("<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>");
    let document = convert(Format::Excel, file).unwrap();
    assert!(document.markdown.contains("| 1 | 1 |"));
    assert_eq!(document.left_out, ["1 cells of sheet Costs in columns further right"]);
}

#[test]
fn rows_past_the_limit_are_counted() {
    let rows: String = (1..=20).map(|row| format!("<row r=\"{row}\"><c r=\"A{row}\"><v>{row}</v></c></row>")).collect();
    let document =
        within(Format::Excel, excel(&rows), DocumentLimits { rows: 5, ..DocumentLimits::default() }).unwrap();
    assert!(document.markdown.contains("| 5 | 5 |") && !document.markdown.contains("| 6 |"));
    assert_eq!(document.left_out, ["15 more rows of sheet Costs"]);
}

#[test]
fn a_presentation() {
    let shape = |kind: &str, paragraphs: &[(&str, &str)]| {
        let lines: String = paragraphs
            .iter()
            .map(|(level, text)| format!("<a:p><a:pPr lvl=\"{level}\"/><a:r><a:t>{text}</a:t></a:r></a:p>"))
            .collect();
        format!("<p:sp><p:nvPr><p:ph type=\"{kind}\"/></p:nvPr><p:txBody>{lines}</p:txBody></p:sp>")
    };
    let cell = |text: &str| format!("<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>");
    let first = format!(
        "<p:sld>{}{}</p:sld>",
        shape("ctrTitle", &[("0", "Plan")]),
        shape("body", &[("0", "Why"), ("1", "because")])
    );
    let second = format!(
        "<p:sld><p:graphicFrame><a:tbl><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></p:graphicFrame></p:sld>",
        cell("k"),
        cell("v"),
        cell("a"),
        cell("1")
    );
    let notes = format!("<p:notes>{}{}</p:notes>", shape("sldNum", &[("0", "1")]), shape("body", &[("0", "Speak up")]));
    let file = zipped(&[
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId2\"/><p:sldId id=\"257\" r:id=\"rId1\"/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<Relationships><Relationship Id=\"rId1\" Target=\"slides/slide1.xml\"/><Relationship Id=\"rId2\" Target=\"slides/slide2.xml\"/></Relationships>",
        ),
        ("ppt/slides/slide2.xml", &first),
        ("ppt/slides/slide1.xml", &second),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            "<Relationships><Relationship Id=\"r1\" Type=\"x/notesSlide\" Target=\"../notesSlides/n1.xml\"/></Relationships>",
        ),
        ("ppt/notesSlides/n1.xml", &notes),
    ]);
    let document = convert(Format::PowerPoint, file).unwrap();
    insta::assert_snapshot!(document.markdown, @"
    ## Slide 1: Plan

    Why
      - because

    Notes: Speak up

    ## Slide 2

    | k | v |
    |---|---|
    | a | 1 |
    ");
}
