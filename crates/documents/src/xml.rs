//! XML as a flat stream of start, end and text events. Depth is bounded, and a document type is skipped, so there are only
//! the five predefined entities.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use crate::package::{Package, resolve};
use crate::{DocumentError, DocumentLimits, sealed};

pub enum XmlNode<'a> {
    Open(&'a Element<'a>),
    /// The name without its prefix.
    Close(&'a str),
    Text(&'a str),
}

pub struct Element<'a> {
    /// The name without its prefix.
    pub name: &'a str,
    start: &'a BytesStart<'a>,
}

impl Element<'_> {
    /// Returns an attribute by its name without prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.attributes(name).next()
    }

    /// Returns all attributes with the same name without prefix.
    pub fn attributes(&self, name: &str) -> impl Iterator<Item = String> {
        let mut all = self.start.attributes();
        all.with_checks(false);
        let found = all.flatten().filter(move |attribute| attribute.key.local_name().as_ref() == name);
        found.map(|found| unescape(&found.value).map_or_else(|_| found.value.to_string(), |value| value.into_owned()))
    }

    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }
}

/// Passes every node to `each`, an empty element as start and end.
pub fn walk(text: &str, limits: DocumentLimits, mut each: impl FnMut(XmlNode<'_>)) -> Result<(), DocumentError> {
    let mut reader = Reader::from_str(text);
    let mut depth = 0_usize;
    loop {
        sealed::check_time()?;
        match reader.read_event().map_err(DocumentError::broken)? {
            Event::Start(start) => {
                depth += 1;
                if depth > limits.depth {
                    return Err(DocumentError::TooDeep { most: limits.depth });
                }
                each(XmlNode::Open(&Element { name: start.local_name().as_ref(), start: &start }));
            }
            Event::Empty(start) => {
                let name = start.local_name();
                each(XmlNode::Open(&Element { name: name.as_ref(), start: &start }));
                each(XmlNode::Close(name.as_ref()));
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                each(XmlNode::Close(end.local_name().as_ref()));
            }
            Event::Text(text) => each(XmlNode::Text(&text.xml10_content())),
            Event::CData(text) => each(XmlNode::Text(&text.xml10_content())),
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let character = reference.resolve_char_ref().ok().flatten().map(String::from);
                if let Some(text) = character.or_else(|| resolve_predefined_entity(&name).map(str::to_owned)) {
                    each(XmlNode::Text(&text));
                }
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// Returns the targets of a part's relations by ID: those within the package resolved, others unchanged.
pub fn relations(
    package: &mut Package,
    part: &str,
    limits: DocumentLimits,
) -> Result<HashMap<String, Relation>, DocumentError> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let place = format!("{folder}/_rels/{name}.rels");
    let mut found = HashMap::new();
    let Some(text) = package.part(&place)? else { return Ok(found) };
    walk(&text, limits, |node| {
        let XmlNode::Open(element) = node else { return };
        let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target")) else { return };
        let outside = element.attribute("TargetMode").as_deref() == Some("External");
        let target = if outside { target } else { resolve(part, &target) };
        let kind = element.attribute("Type").unwrap_or_default();
        found.insert(id, Relation { target, kind });
    })?;
    Ok(found)
}

pub struct Relation {
    pub target: String,
    pub kind: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(xml: &str) -> Result<String, DocumentError> {
        let mut all = String::new();
        walk(xml, DocumentLimits::default(), |node| match node {
            XmlNode::Open(element) => all.push_str(&format!("<{}>", element.name)),
            XmlNode::Close(name) => all.push_str(&format!("</{name}>")),
            XmlNode::Text(text) => all.push_str(text),
        })?;
        Ok(all)
    }

    #[test]
    fn entities_are_not_expanded() {
        let laughs =
            "<!DOCTYPE a [<!ENTITY lol \"ha\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&lol;&x;&amp;&#65;<b/></a>";
        assert_eq!(text_of(laughs).unwrap(), "<a>&A<b></b></a>");
    }

    #[test]
    fn depth_is_bounded_and_broken_xml_is_an_error() {
        let deep = "<a>".repeat(100_000);
        assert_eq!(text_of(&deep), Err(DocumentError::TooDeep { most: 256 }));
        assert!(matches!(text_of("<a></b>"), Err(DocumentError::Broken(_))));
        assert!(matches!(text_of("<a"), Err(DocumentError::Broken(_))));
    }
}
