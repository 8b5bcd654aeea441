//! A small scanner for rustfmt'd Rust: code without comments and literals, test regions, functions.
//!
//! The rules need too little to justify a real parser.

use std::ops::Range;

use super::scan::{blanked, closing, words};

pub struct Rust {
    /// The source with comments and literals replaced by spaces, of the same length.
    pub code: String,
    /// Whether the whole file is test code.
    pub is_test: bool,
    /// Names of `#[cfg(test)] mod name;`.
    pub test_modules: Vec<String>,
    test_regions: Vec<Range<usize>>,
}

/// An item with a body in braces.
#[derive(Debug, PartialEq, Eq)]
pub struct RustItem {
    pub name: String,
    pub line: usize,
    /// Between the braces.
    pub body: Range<usize>,
}

impl Rust {
    pub fn new(text: &str, is_test: bool) -> Self {
        let code = blanked(text);
        let (test_regions, test_modules) = test_items(&code);
        Self { code, is_test, test_modules, test_regions }
    }

    pub fn is_test_at(&self, offset: usize) -> bool {
        self.is_test || self.test_regions.iter().any(|region| region.contains(&offset))
    }

    /// Lines outside of tests.
    pub fn lines_without_tests(&self) -> usize {
        if self.is_test {
            return 0;
        }
        let in_tests: usize = self.test_regions.iter().map(|region| line_count(&self.code[region.clone()])).sum();
        line_count(&self.code).saturating_sub(in_tests)
    }

    pub fn line_at(&self, offset: usize) -> usize {
        self.code[..offset].bytes().filter(|byte| *byte == b'\n').count() + 1
    }

    /// Items that begin with `keyword` and have a body, outside of tests.
    pub fn items(&self, keyword: &str) -> Vec<RustItem> {
        let heads = words(&self.code).filter(|(at, word)| *word == keyword && !self.is_test_at(*at));
        heads.filter_map(|(at, word)| self.item(at, at + word.len())).collect()
    }

    fn item(&self, start: usize, after_keyword: usize) -> Option<RustItem> {
        let (_, name) = words(&self.code[after_keyword..]).next()?;
        // `fn(…)` without a name is a type.
        if !self.code[after_keyword..].trim_start().starts_with(name) {
            return None;
        }
        let open = body_start(&self.code, after_keyword)?;
        let body = open + 1..closing(&self.code, open);
        Some(RustItem { name: name.to_owned(), line: self.line_at(start), body })
    }

    /// Names declared with `mod name;` or `mod name {`.
    pub fn modules(&self) -> Vec<(usize, &str)> {
        let mut all = words(&self.code).peekable();
        let mut names = Vec::new();
        while let Some((at, word)) = all.next() {
            if word == "mod"
                && let Some((next, name)) = all.peek()
                && self.code[at + 3..*next].trim().is_empty()
            {
                names.push((*next, *name));
            }
        }
        names
    }
}

/// Offset of the `{` that opens an item's body; `None` if it ends with `;`.
fn body_start(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' if depth == 0 => return Some(at),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Items after `#[cfg(test)]`: their regions, and the names of modules in separate files.
fn test_items(code: &str) -> (Vec<Range<usize>>, Vec<String>) {
    let (mut regions, mut modules) = (Vec::new(), Vec::new());
    for (start, _) in code.match_indices("#[cfg(") {
        let end = closing(code, start + 1);
        let attribute = &code[start..end];
        if !words(attribute).any(|(_, word)| word == "test") || attribute.contains("not(test") {
            continue;
        }
        if regions.last().is_some_and(|last: &Range<usize>| last.contains(&start)) {
            continue;
        }
        let item = skip_attributes(code, end + 1);
        let stop = match body_start(code, item) {
            Some(open) => closing(code, open),
            None => code[item..].find(';').map_or(code.len(), |at| item + at),
        };
        if let Some(name) = module_name(&code[item..stop]) {
            modules.push(name);
        }
        regions.push(start..(stop + 1).min(code.len()));
    }
    (regions, modules)
}

fn skip_attributes(code: &str, mut at: usize) -> usize {
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        if !code[at..].starts_with("#[") {
            return at;
        }
        at = (closing(code, at + 1) + 1).min(code.len());
    }
}

/// The name in `mod name` or `pub mod name`, if the item has no body.
fn module_name(item: &str) -> Option<String> {
    if item.contains('{') {
        return None;
    }
    let mut found = words(item).skip_while(|(_, word)| *word != "mod");
    found.next()?;
    found.next().map(|(_, name)| name.to_owned())
}

fn line_count(text: &str) -> usize {
    text.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! Head.\nfn a(x: [u8; 4]) -> fn(u8) {\n    if x { \"}\" }\n}\n\ntrait T {\n    fn none(&self);\n}\n\n\
                          #[cfg(test)]\nmod tests {\n    fn hidden() {\n    }\n}\n";

    #[test]
    fn functions_with_bodies_outside_tests() {
        let rust = Rust::new(SOURCE, false);
        let items: Vec<_> = rust.items("fn").into_iter().map(|item| (item.name, item.line)).collect();
        assert_eq!(items, [("a".to_owned(), 2)]);
    }

    #[test]
    fn lines_of_tests_do_not_count() {
        assert_eq!(Rust::new(SOURCE, false).lines_without_tests(), 9);
        assert_eq!(Rust::new(SOURCE, true).lines_without_tests(), 0);
    }

    #[test]
    fn test_modules_in_files() {
        let rust =
            Rust::new("#[cfg(all(test, unix))]\n#[path = \"x.rs\"]\npub mod rows;\n#[cfg(not(test))]\nmod b;", false);
        assert_eq!(rust.test_modules, ["rows"]);
        assert_eq!(rust.modules().into_iter().map(|(_, name)| name).collect::<Vec<_>>(), ["rows", "b"]);
    }
}
