//! Word documents: headings, lists, tables, emphasis, links and footnotes of the body text.

mod paragraph;
mod styles;

use std::collections::HashMap;

use crate::package::Package;
use crate::xml::{self, Element, Relation, XmlNode};
use crate::{ConvertedDocument, DocumentError, DocumentLimits, table};
use paragraph::{Paragraph, RunStyle};
use styles::{Headings, Numbering};

const MAIN: &str = "word/document.xml";

pub fn convert(bytes: Vec<u8>, limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    let mut package = Package::open(bytes, limits)?;
    let text = package.needed_part(MAIN)?;
    let headings = Headings::read(package.part("word/styles.xml")?.as_deref(), limits);
    let numbering = Numbering::read(package.part("word/numbering.xml")?.as_deref(), limits);
    let links = xml::relations(&mut package, MAIN, limits).unwrap_or_default();
    let mut writer = WordWriter::new(headings, numbering, links, limits);
    match xml::walk(&text, limits, |node| writer.node(node)) {
        Err(error @ DocumentError::TooSlow { .. }) if !writer.out.is_empty() => {
            writer.left_out.push(format!("the rest of the text ({error})"));
            return Ok(writer.finish());
        }
        walked => walked?,
    }
    if let Some(notes) = package.part("word/footnotes.xml")? {
        // A damaged part at the end does not invalidate the text.
        if xml::walk(&notes, limits, |node| writer.node(node)).is_err() {
            writer.left_out.push("the footnotes cannot be read".into());
        }
    }
    Ok(writer.finish())
}

struct WordWriter {
    headings: Headings,
    numbering: Numbering,
    links: HashMap<String, Relation>,
    limits: DocumentLimits,
    out: String,
    left_out: Vec<String>,
    /// Nested paragraphs are those of text boxes.
    paragraphs: Vec<Paragraph>,
    tables: Vec<Table>,
    /// Nesting depth in elements that repeat other content.
    skipped: usize,
    in_text: bool,
    /// Prefix of the next paragraph: the mark of a footnote.
    note_mark: Option<String>,
    /// The last block was a list item.
    after_item: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    left_out: usize,
}

impl WordWriter {
    fn new(headings: Headings, numbering: Numbering, links: HashMap<String, Relation>, limits: DocumentLimits) -> Self {
        Self {
            headings,
            numbering,
            links,
            limits,
            out: String::new(),
            left_out: Vec::new(),
            paragraphs: Vec::new(),
            tables: Vec::new(),
            skipped: 0,
            in_text: false,
            note_mark: None,
            after_item: false,
        }
    }

    fn node(&mut self, node: XmlNode<'_>) {
        match node {
            // A fallback repeats the content for readers that do not support the first form.
            XmlNode::Open(element) if element.is("Fallback") => self.skipped += 1,
            XmlNode::Close("Fallback") => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 => {}
            XmlNode::Open(element) => self.open(element),
            XmlNode::Close(name) => self.close(name),
            XmlNode::Text(text) if self.in_text => self.push(text),
            XmlNode::Text(_) => {}
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "tbl" => self.tables.push(Table::default()),
            "tr" => self.row(),
            "tc" => self.cell(),
            "t" => self.in_text = true,
            "tab" if self.paragraphs.last().is_some_and(|paragraph| paragraph.in_run) => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "footnote" => self.note(element),
            "footnoteReference" => {
                let mark = element.attribute("id").map(|id| format!("[^{id}]")).unwrap_or_default();
                self.push(&mark);
            }
            "docPr" => {
                let description = element.attribute("descr").filter(|text| !text.trim().is_empty());
                if let Some(description) = description {
                    self.push(&format!("![{}]", description.replace('\n', " ")));
                }
            }
            _ => self.property(element),
        }
    }

    fn property(&mut self, element: &Element<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let value = element.attribute("val");
        let is_on = !matches!(value.as_deref(), Some("0" | "false" | "none"));
        match element.name {
            "r" => {
                paragraph.in_run = true;
                paragraph.style = RunStyle { link: paragraph.style.link.take(), ..RunStyle::default() };
            }
            "b" => paragraph.style.bold = is_on,
            "i" => paragraph.style.italic = is_on,
            "pStyle" => paragraph.heading = value.and_then(|id| self.headings.level(&id)),
            "ilvl" => paragraph.list_level = value.and_then(|level| level.parse().ok()).unwrap_or(0).min(8),
            "numId" => paragraph.list = value.filter(|id| id != "0"),
            "hyperlink" => {
                let relation = element.attribute("id").and_then(|id| self.links.get(&id));
                paragraph.style.link = relation.map(|relation| relation.target.clone());
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "r" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.in_run = false;
                }
            }
            "hyperlink" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.style.link = None;
                }
            }
            "p" => self.end_paragraph(),
            "tbl" => self.end_table(),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.push(text);
        }
    }

    fn row(&mut self) {
        let most = self.limits.rows;
        let Some(table) = self.tables.last_mut() else { return };
        if table.rows.len() < most { table.rows.push(Vec::new()) } else { table.left_out += 1 }
    }

    fn cell(&mut self) {
        if let Some(row) = self.tables.last_mut().and_then(|table| table.rows.last_mut()) {
            row.push(String::new());
        }
    }

    fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        let text = paragraph.text();
        if text.is_empty() {
            return;
        }
        let heading = paragraph.heading;
        let in_list = paragraph.list.as_ref().filter(|_| heading.is_none() && self.tables.is_empty());
        let bullet = in_list.map(|list| self.numbering.next(list, paragraph.list_level));
        if self.tables.is_empty() && !self.paragraphs.is_empty() {
            // A text box is placed at its anchor.
            self.push(&format!("{text}\n"));
        } else if let (Some(heading), true) = (heading, self.tables.is_empty()) {
            self.block(&format!("{} {}", "#".repeat(heading), paragraph.plain().replace('\n', " ")), "\n\n");
        } else if let Some(bullet) = bullet {
            let indent = "  ".repeat(paragraph.list_level);
            let gap = if self.after_item { "\n" } else { "\n\n" };
            self.block(&format!("{indent}{bullet} {}", text.replace('\n', "\n  ")), gap);
            self.after_item = true;
        } else {
            let mark = self.note_mark.take().unwrap_or_default();
            self.block(&format!("{mark}{text}"), "\n\n");
        }
    }

    /// Adds a block to the innermost table cell, or to the end of the text.
    fn block(&mut self, text: &str, gap: &str) {
        self.after_item = false;
        let Some(table) = self.tables.last_mut() else {
            let end = self.out.len() - self.out.trim_end_matches('\n').len();
            self.out.push_str(if self.out.is_empty() { "" } else { gap.get(end..).unwrap_or_default() });
            self.out.push_str(text);
            return;
        };
        let Some(cell) = table.rows.last_mut().and_then(|row| row.last_mut()) else { return };
        if !cell.is_empty() {
            cell.push('\n');
        }
        cell.push_str(text);
    }

    fn end_table(&mut self) {
        let Some(table) = self.tables.pop() else { return };
        if table.left_out > 0 {
            self.left_out.push(format!("{} rows of a table", table.left_out));
        }
        if let Some(text) = table::markdown(&table.rows) {
            self.block(text.trim_end(), "\n\n");
        }
    }

    fn note(&mut self, element: &Element<'_>) {
        // Word stores its separator lines as notes.
        let is_note = element.attribute("type").is_none();
        self.note_mark = element.attribute("id").filter(|_| is_note).map(|id| format!("[^{id}]: "));
    }

    fn finish(self) -> ConvertedDocument {
        ConvertedDocument { markdown: self.out, left_out: self.left_out }
    }
}
