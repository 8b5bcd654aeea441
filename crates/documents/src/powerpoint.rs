//! Presentations: the slides in order, each with its title, text, tables and notes.

use crate::package::Package;
use crate::xml::{self, Relation, XmlNode};
use crate::{ConvertedDocument, DocumentError, DocumentLimits, sealed, table};

const MAIN: &str = "ppt/presentation.xml";

pub fn convert(bytes: Vec<u8>, limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    let mut package = Package::open(bytes, limits)?;
    let slides = slides(&mut package, limits)?;
    let mut document = ConvertedDocument::default();
    for (index, part) in slides.iter().take(limits.pages).enumerate() {
        if document.markdown.len() > limits.markdown_bytes || sealed::is_over() {
            document.left_out.push(format!("{} of {} slides", slides.len() - index, slides.len()));
            return sealed::in_time(document);
        }
        match slide(&mut package, part, index + 1, limits) {
            Ok(text) => document.markdown.push_str(&text),
            Err(error) => document.left_out.push(format!("slide {} ({error})", index + 1)),
        }
    }
    if slides.len() > limits.pages {
        document.left_out.push(format!("{} of {} slides", slides.len() - limits.pages, slides.len()));
    }
    Ok(document)
}

/// Returns the parts of the slides, in presentation order.
fn slides(package: &mut Package, limits: DocumentLimits) -> Result<Vec<String>, DocumentError> {
    let relations = xml::relations(package, MAIN, limits)?;
    let mut slides = Vec::new();
    xml::walk(&package.needed_part(MAIN)?, limits, |node| {
        let XmlNode::Open(element) = node else { return };
        // `id` is a number and `r:id` the relation; only the latter names a part.
        if element.is("sldId") {
            let relation = element.attributes("id").find_map(|id| relations.get(&id));
            slides.extend(relation.map(|relation| relation.target.clone()));
        }
    })?;
    Ok(slides)
}

fn slide(package: &mut Package, part: &str, number: usize, limits: DocumentLimits) -> Result<String, DocumentError> {
    let shapes = shapes(&package.needed_part(part)?, limits)?;
    let title = shapes.iter().find(|shape| shape.is_title).map(|shape| shape.lines.join(" "));
    let mut text = match title {
        Some(title) if !title.is_empty() => format!("## Slide {number}: {title}\n\n"),
        _ => format!("## Slide {number}\n\n"),
    };
    for shape in shapes.iter().filter(|shape| !shape.is_title) {
        shape.write(&mut text);
    }
    let notes = xml::relations(package, part, limits)?.into_values().find(is_notes);
    if let Some(notes) = notes
        && let Some(notes) = package.part(&notes.target)?
    {
        let shapes = self::shapes(&notes, limits)?;
        let lines: Vec<&str> =
            shapes.iter().filter(|shape| shape.is_body).flat_map(|shape| &shape.lines).map(String::as_str).collect();
        if !lines.is_empty() {
            text.push_str(&format!("Notes: {}\n\n", lines.join("\n")));
        }
    }
    Ok(text)
}

fn is_notes(relation: &Relation) -> bool {
    relation.kind.ends_with("/notesSlide")
}

#[derive(Default)]
struct SlideShape {
    is_title: bool,
    /// The placeholder for body text; in notes, the note itself.
    is_body: bool,
    lines: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl SlideShape {
    fn write(&self, text: &mut String) {
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        if !self.lines.is_empty() {
            text.push('\n');
        }
        if let Some(table) = table::markdown(&self.rows) {
            text.push_str(&table);
            text.push('\n');
        }
    }
}

fn shapes(xml: &str, limits: DocumentLimits) -> Result<Vec<SlideShape>, DocumentError> {
    let mut shapes: Vec<SlideShape> = Vec::new();
    let mut line = String::new();
    let mut indent = 0_usize;
    let (mut in_text, mut in_cell) = (false, false);
    xml::walk(xml, limits, |node| match node {
        XmlNode::Open(element) => match element.name {
            "sp" | "graphicFrame" => shapes.push(SlideShape::default()),
            "ph" => {
                if let Some(shape) = shapes.last_mut() {
                    let kind = element.attribute("type").unwrap_or_default();
                    shape.is_title = kind == "title" || kind == "ctrTitle";
                    shape.is_body = kind == "body";
                }
            }
            "tr" => shapes.iter_mut().last().into_iter().for_each(|shape| shape.rows.push(Vec::new())),
            "tc" => {
                in_cell = true;
                if let Some(row) = shapes.last_mut().and_then(|shape| shape.rows.last_mut()) {
                    row.push(String::new());
                }
            }
            "pPr" => indent = element.attribute("lvl").and_then(|level| level.parse().ok()).unwrap_or(0).min(8),
            "t" => in_text = true,
            "br" => line.push('\n'),
            _ => {}
        },
        XmlNode::Text(text) if in_text => line.push_str(text),
        XmlNode::Text(_) => {}
        XmlNode::Close("t") => in_text = false,
        XmlNode::Close("tc") => in_cell = false,
        XmlNode::Close("p") => {
            end_line(shapes.last_mut(), std::mem::take(&mut line), std::mem::take(&mut indent), in_cell);
        }
        XmlNode::Close(_) => {}
    })?;
    Ok(shapes)
}

fn end_line(shape: Option<&mut SlideShape>, line: String, indent: usize, in_cell: bool) {
    let Some(shape) = shape.filter(|_| !line.trim().is_empty()) else { return };
    if !in_cell {
        let bullet = if indent > 0 { format!("{}- ", "  ".repeat(indent)) } else { String::new() };
        shape.lines.push(format!("{bullet}{}", line.trim()));
    } else if let Some(cell) = shape.rows.last_mut().and_then(|row| row.last_mut()) {
        if !cell.is_empty() {
            cell.push('\n');
        }
        cell.push_str(line.trim());
    }
}
