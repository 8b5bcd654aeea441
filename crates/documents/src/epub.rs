//! EPUB books: the chapters in reading order, under the title.

use std::collections::HashMap;

use crate::package::{Package, resolve};
use crate::xml::{self, XmlNode};
use crate::{ConvertedDocument, DocumentError, DocumentLimits, html, sealed};

pub fn convert(bytes: Vec<u8>, limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    let mut package = Package::open(bytes, limits)?;
    let root = root(&package.needed_part("META-INF/container.xml")?, limits)?;
    let book = Book::read(&package.needed_part(&root)?, limits)?;
    let mut document = ConvertedDocument::default();
    if !book.title.is_empty() {
        document.markdown = format!("# {}\n\n", book.title);
    }
    if !book.author.is_empty() {
        document.markdown.push_str(&format!("{}\n\n", book.author));
    }
    let chapters: Vec<&String> = book.spine.iter().filter_map(|id| book.items.get(id)).collect();
    for (index, chapter) in chapters.iter().take(limits.pages).enumerate() {
        if document.markdown.len() > limits.markdown_bytes || sealed::is_over() {
            document.left_out.push(format!("{} of {} chapters", chapters.len() - index, chapters.len()));
            return sealed::in_time(document);
        }
        let place = resolve(&root, &decoded_url(chapter));
        let text = package.needed_part(&place).and_then(|text| html::to_markdown(&text, limits));
        match text {
            Ok(text) => document.markdown.push_str(&format!("{}\n\n", text.trim())),
            Err(error) => document.left_out.push(format!("chapter {} ({error})", index + 1)),
        }
    }
    if chapters.len() > limits.pages {
        document.left_out.push(format!("{} of {} chapters", chapters.len() - limits.pages, chapters.len()));
    }
    Ok(document)
}

/// Returns the path of the part that describes the book.
fn root(container: &str, limits: DocumentLimits) -> Result<String, DocumentError> {
    let mut root = None;
    xml::walk(container, limits, |node| {
        if let XmlNode::Open(element) = node
            && element.is("rootfile")
            && root.is_none()
        {
            root = element.attribute("full-path");
        }
    })?;
    root.ok_or_else(|| DocumentError::broken("it does not say where its contents are"))
}

#[derive(Default)]
struct Book {
    title: String,
    author: String,
    /// Files by ID.
    items: HashMap<String, String>,
    /// IDs in reading order.
    spine: Vec<String>,
}

impl Book {
    fn read(text: &str, limits: DocumentLimits) -> Result<Self, DocumentError> {
        let mut book = Self::default();
        let mut field = None;
        xml::walk(text, limits, |node| match node {
            XmlNode::Open(element) => {
                field = match element.name {
                    "title" if book.title.is_empty() => Some(true),
                    "creator" if book.author.is_empty() => Some(false),
                    _ => None,
                };
                let (id, href) = (element.attribute("id"), element.attribute("href"));
                match element.name {
                    "item" => book.items.extend(id.zip(href)),
                    "itemref" => book.spine.extend(element.attribute("idref")),
                    _ => {}
                }
            }
            XmlNode::Text(text) => match field {
                Some(true) => book.title.push_str(text),
                Some(false) => book.author.push_str(text),
                None => {}
            },
            XmlNode::Close(_) => field = None,
        })?;
        Ok(book)
    }
}

/// Decodes `%20` and the like, and drops the fragment after `#`.
fn decoded_url(address: &str) -> String {
    let address = address.split('#').next().unwrap_or_default().as_bytes();
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decoded_url;

    #[test]
    fn addresses() {
        for (address, want) in [("a%20b.html#c", "a b.html"), ("100%", "100%"), ("%zz", "%zz"), ("%C3%A4", "ä")] {
            assert_eq!(decoded_url(address), want);
        }
    }
}
