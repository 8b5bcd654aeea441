//! Resolves names in a Word document: which styles are headings, which lists are numbered.

use std::collections::HashMap;

use crate::DocumentLimits;
use crate::xml::{self, XmlNode};

/// Heading styles with their levels. Word translates style IDs, but not style names.
pub struct Headings(HashMap<String, usize>);

impl Headings {
    pub fn read(text: Option<&str>, limits: DocumentLimits) -> Self {
        let mut levels = HashMap::new();
        let mut current = None;
        // Data read before an error is used.
        let _ = xml::walk(text.unwrap_or_default(), limits, |node| {
            let XmlNode::Open(element) = node else { return };
            match element.name {
                "style" => current = element.attribute("styleId"),
                "name" => {
                    let level = element.attribute("val").and_then(|name| level_of(&name));
                    if let (Some(id), Some(level)) = (&current, level) {
                        levels.insert(id.clone(), level);
                    }
                }
                _ => {}
            }
        });
        Self(levels)
    }

    pub fn level(&self, id: &str) -> Option<usize> {
        self.0.get(id).copied().or_else(|| level_of(id))
    }
}

fn level_of(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(1);
    }
    let level: usize = name.strip_prefix("heading")?.trim().parse().ok()?;
    (level > 0).then_some(level.min(6))
}

/// The lists of a document, and their counters.
pub struct Numbering {
    /// The definition of each list.
    lists: HashMap<String, String>,
    /// Whether each level of a definition is numbered.
    numbered: HashMap<(String, usize), bool>,
    counts: HashMap<(String, usize), usize>,
}

impl Numbering {
    pub fn read(text: Option<&str>, limits: DocumentLimits) -> Self {
        let mut this = Self { lists: HashMap::new(), numbered: HashMap::new(), counts: HashMap::new() };
        let (mut definition, mut list, mut level) = (String::new(), String::new(), 0);
        let _ = xml::walk(text.unwrap_or_default(), limits, |node| {
            let XmlNode::Open(element) = node else { return };
            let value = || element.attribute("val").unwrap_or_default();
            match element.name {
                "abstractNum" => definition = element.attribute("abstractNumId").unwrap_or_default(),
                "lvl" => level = element.attribute("ilvl").and_then(|level| level.parse().ok()).unwrap_or(0),
                "numFmt" => {
                    let numbered = !matches!(value().as_str(), "bullet" | "none");
                    this.numbered.insert((definition.clone(), level), numbered);
                }
                "num" => list = element.attribute("numId").unwrap_or_default(),
                "abstractNumId" => {
                    this.lists.insert(list.clone(), value());
                }
                _ => {}
            }
        });
        this
    }

    /// Returns the prefix of the next item.
    pub fn next(&mut self, list: &str, level: usize) -> String {
        let numbered = self.lists.get(list).and_then(|definition| self.numbered.get(&(definition.clone(), level)));
        if !numbered.copied().unwrap_or(false) {
            return "-".into();
        }
        for deeper in level + 1..9 {
            self.counts.remove(&(list.to_owned(), deeper));
        }
        let count = self.counts.entry((list.to_owned(), level)).or_default();
        *count += 1;
        format!("{count}.")
    }
}
