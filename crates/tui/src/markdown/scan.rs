//! Splits a text into units: top-level blocks, items of top-level lists, and link definitions.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

use super::definitions::Definitions;
use super::source::{has_math, is_behind_blank_line, line_start};

pub type Events<'a> = Vec<(Event<'a>, Range<usize>)>;

pub struct MarkdownScan<'a> {
    pub events: Events<'a>,
    pub units: Vec<Unit>,
    /// Units must be parsed one by one: there are definitions that only later units may see, or formulas to prepare.
    pub apart: bool,
}

#[derive(Debug)]
pub struct Unit {
    /// Offset of its first line.
    pub start: usize,
    pub end: usize,
    pub events: Range<usize>,
    pub kind: UnitKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    Block,
    /// A fenced code block.
    Fence,
    Item {
        /// The number of the list's first item.
        first: Option<u64>,
        index: u64,
    },
    Definition,
}

/// The text begins with an item that is not the first of its list.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    first: Option<u64>,
    index: u64,
}

impl Unit {
    pub fn resume(&self) -> Option<Resume> {
        match self.kind {
            UnitKind::Item { first, index } if index > 0 => Some(Resume { first, index }),
            _ => None,
        }
    }
}

impl MarkdownScan<'_> {
    /// Returns the first unit that more text may change: the last one, and definitions before it that it may turn out to
    /// belong to.
    pub fn first_open(&self, text: &str) -> Option<usize> {
        let mut open = self.units.len().checked_sub(1)?;
        while open > 0
            && self.units[open - 1].kind == UnitKind::Definition
            && !is_behind_blank_line(text, self.units[open].start)
        {
            open -= 1;
        }
        Some(open)
    }
}

pub fn scan<'a>(text: &'a str, resume: Option<Resume>, definitions: &Definitions) -> MarkdownScan<'a> {
    let parsed = parse(text, definitions);
    let mut units = Vec::new();
    let mut resume = resume;
    let mut at = 0;
    while at < parsed.events.len() {
        let end = end_of(&parsed.events, at);
        let (event, range) = &parsed.events[at];
        let unit = |kind| Unit { start: line_start(text, range.start), end: range.end, events: at..end, kind };
        match event {
            Event::Start(Tag::List(first)) => {
                let resume = resume.take().unwrap_or(Resume { first: *first, index: 0 });
                items(text, &parsed.events, at..end, resume, &mut units);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => units.push(unit(UnitKind::Fence)),
            _ => units.push(unit(UnitKind::Block)),
        }
        resume = None;
        join_same_line(&mut units);
        at = end;
    }
    let apart = !parsed.definitions.is_empty() || has_math(text);
    let blocks = units.len();
    for span in parsed.spans {
        let before = units[..blocks].partition_point(|unit| unit.start <= span.start);
        let inside = before > 0 && span.start < units[before - 1].end;
        if !inside {
            let start = line_start(text, span.start);
            units.push(Unit { start, end: span.end, events: 0..0, kind: UnitKind::Definition });
        }
    }
    units.sort_by_key(|unit| unit.start);
    MarkdownScan { events: parsed.events, units, apart }
}

/// Several footnotes may begin on one line, so they cannot be split.
fn join_same_line(units: &mut Vec<Unit>) {
    let [.., before, last] = units.as_mut_slice() else { return };
    if before.start == last.start {
        (before.end, before.events.end, before.kind) = (last.end, last.events.end, UnitKind::Block);
        units.pop();
    }
}

fn items(text: &str, events: &Events<'_>, list: Range<usize>, resume: Resume, units: &mut Vec<Unit>) {
    let mut at = list.start + 1;
    let mut index = resume.index;
    while at + 1 < list.end {
        let end = end_of(events, at);
        let range = &events[at].1;
        let kind = UnitKind::Item { first: resume.first, index };
        units.push(Unit { start: line_start(text, range.start), end: range.end, events: at..end, kind });
        index += 1;
        at = end;
    }
}

/// Returns the index after the event that ends the element at `at`.
fn end_of(events: &Events<'_>, at: usize) -> usize {
    let mut depth = 0;
    for (offset, (event, _)) in events[at..].iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + offset + 1;
        }
    }
    events.len()
}

pub struct Parsed<'a> {
    pub events: Events<'a>,
    /// Labels and addresses.
    pub definitions: Vec<(String, String)>,
    spans: Vec<Range<usize>>,
}

pub fn parse<'a>(text: &'a str, definitions: &Definitions) -> Parsed<'a> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_OLD_FOOTNOTES
        | Options::ENABLE_MATH;
    let known = |link: BrokenLink<'a>| {
        definitions.find(&link.reference).map(|address| (CowStr::from(address.to_owned()), CowStr::Borrowed("")))
    };
    let parser = Parser::new_with_broken_link_callback(text, options, Some(known));
    let mut found: Vec<(String, String, Range<usize>)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (label.to_owned(), definition.dest.to_string(), definition.span.clone()))
        .collect();
    found.sort_by_key(|(_, _, span)| span.start);
    let spans = found.iter().map(|(_, _, span)| span.clone()).collect();
    let definitions = found.into_iter().map(|(label, address, _)| (label, address)).collect();
    Parsed { events: parser.into_offset_iter().collect(), definitions, spans }
}
