//! Draws Markdown as rows while it is still arriving.
//!
//! The text is split into units: top-level blocks, and each item of a top-level list. A closed unit keeps its rows; only the
//! open part is parsed and laid out again when the text grows. Units are always drawn one by one, so a text that arrived in
//! pieces looks exactly like one that arrived at once. For the same reason a link reference finds only definitions before it
//! or in its own unit: rows that have scrolled away cannot change.

mod code;
mod definitions;
mod inline;
mod list;
mod scan;
mod source;
mod table;
mod writer;

use code::Fence;
use definitions::Definitions;
use scan::{MarkdownScan, Resume, Unit, UnitKind, scan};
use source::MarkdownSource;
use writer::{MarkdownLook, MarkdownWriter};

use crate::component::Space;
use crate::diagram::Diagrams;
use crate::line::Line;

/// A Markdown text that mostly grows.
#[derive(Default)]
pub struct Markdown {
    source: MarkdownSource,
    show_urls: bool,
    diagrams: Option<Diagrams>,
    finished: bool,
    layout: Layout,
}

/// The laid out rows and the position up to which they are valid.
#[derive(Default)]
struct Layout {
    /// Width and theme.
    key: Option<(usize, u64)>,
    lines: Vec<Line>,
    /// Rows before this one belong to closed units.
    settled: usize,
    /// The text before this offset is closed.
    done: usize,
    /// Complete lines were scanned up to this offset.
    scanned: usize,
    /// The list that continues at `done`.
    resume: Option<Resume>,
    /// The code block that contains `done`.
    fence: Option<Fence>,
    definitions: Definitions,
    /// Whether the rows match the text.
    fresh: bool,
}

impl Markdown {
    /// Sets the whole text so far. Cheap if it extends the previous text.
    pub fn set(&mut self, text: &str) {
        match self.source.set(text) {
            source::SourceChange::None => {}
            source::SourceChange::Grown => (self.layout.fresh, self.finished) = (false, false),
            source::SourceChange::Other => (self.layout, self.finished) = (Layout::default(), false),
        }
    }

    /// Marks the text as complete: every row is settled.
    pub fn finish(&mut self) {
        self.layout.fresh &= self.finished;
        self.finished = true;
    }

    /// Writes the address after a link whose text differs, for terminals without link support.
    pub fn set_show_urls(&mut self, show: bool) {
        if self.show_urls != show {
            self.show_urls = show;
            self.layout = Layout::default();
        }
    }

    /// Draws Mermaid blocks as diagrams once they are complete.
    pub fn set_diagrams(&mut self, diagrams: Option<Diagrams>) {
        self.diagrams = diagrams;
        self.layout = Layout::default();
    }

    pub fn draw(&mut self, space: &Space<'_>) -> &[Line] {
        let key = (space.width, space.theme.id());
        if self.layout.key != Some(key) {
            self.layout = Layout { key: Some(key), ..Layout::default() };
        }
        if !self.layout.fresh {
            let look = MarkdownLook {
                width: space.width.max(1),
                theme: space.theme,
                show_urls: self.show_urls,
                diagrams: self.diagrams.as_ref(),
            };
            self.layout.lines.truncate(self.layout.settled);
            self.layout.advance(&self.source.text, look);
            self.layout.draw_open(&self.source.text, look, self.finished);
            self.layout.fresh = true;
        }
        &self.layout.lines
    }

    /// Returns the rows of the last draw that no further text can change.
    pub fn settled_rows(&self) -> usize {
        if self.finished && self.layout.fresh { self.layout.lines.len() } else { self.layout.settled }
    }
}

impl Layout {
    /// Draws the units that are closed by complete lines; their rows are final.
    fn advance(&mut self, text: &str, look: MarkdownLook<'_>) {
        let complete = text.rfind('\n').map_or(0, |at| at + 1);
        loop {
            if self.fence.is_some() && !self.advance_fence(&text[..complete], look) {
                break;
            }
            if complete <= self.scanned.max(self.done) {
                break;
            }
            self.scanned = complete;
            let found = scan(&text[self.done..complete], self.resume, &self.definitions);
            let Some(open) = found.first_open(&text[self.done..complete]) else { break };
            let base = self.done;
            for unit in &found.units[..open] {
                self.draw_unit(text, base, unit, &found, look);
            }
            let unit = &found.units[open];
            self.done = base + unit.start;
            self.resume = unit.resume();
            if unit.kind != UnitKind::Fence || code::waits_for_its_end(&text[self.done..], look) {
                break;
            }
            self.open_fence(text, look);
            self.scanned = 0;
        }
        self.settled = self.lines.len();
    }

    /// Begins the code block at `done`.
    fn open_fence(&mut self, text: &str, look: MarkdownLook<'_>) {
        let line = source::first_line(&text[self.done..]);
        self.gap_before(text, self.done, UnitKind::Fence);
        let fence = Fence::open(line);
        self.lines.extend(fence.heading(look));
        self.fence = Some(fence);
        self.resume = None;
        self.done += line.len();
    }

    /// Draws the complete lines of the code block; returns whether it was closed.
    fn advance_fence(&mut self, complete: &str, look: MarkdownLook<'_>) -> bool {
        let Some(fence) = &mut self.fence else { return true };
        while self.done < complete.len() {
            let line = source::first_line(&complete[self.done..]);
            self.done += line.len();
            if fence.closes(line) {
                self.fence = None;
                return true;
            }
            self.lines.extend(fence.line(line, look));
        }
        false
    }

    /// Draws the part that may still change, after the settled rows.
    fn draw_open(&mut self, text: &str, look: MarkdownLook<'_>, finished: bool) {
        let rest = &text[self.done..];
        if let Some(fence) = &self.fence {
            // A line that may become the closing fence is not shown as code.
            if !rest.is_empty() && !fence.closes(rest) && (finished || !fence.may_close(rest)) {
                let rows = fence.clone().line(rest, look);
                self.lines.extend(rows);
            }
            return;
        }
        let known = self.definitions.len();
        let found = scan(rest, self.resume, &self.definitions);
        for unit in &found.units {
            self.draw_unit(text, self.done, unit, &found, look);
        }
        self.definitions.truncate(known);
    }

    fn draw_unit(&mut self, text: &str, base: usize, unit: &Unit, found: &MarkdownScan<'_>, look: MarkdownLook<'_>) {
        let start = base + unit.start;
        let slice = &text[start..base + unit.end];
        if unit.kind != UnitKind::Definition {
            self.gap_before(text, start, unit.kind);
        }
        if unit.kind == UnitKind::Fence {
            return self.lines.extend(code::draw_fence(slice, look));
        }
        if !found.apart {
            return MarkdownWriter::new(text, base, look, &mut self.lines)
                .unit(&found.events[unit.events.clone()], unit.kind);
        }
        let prepared = source::with_math(slice);
        let parsed = scan::parse(&prepared, &self.definitions);
        let events = match unit.kind {
            UnitKind::Item { .. } => parsed.events.get(1..parsed.events.len().saturating_sub(1)).unwrap_or_default(),
            _ => &parsed.events,
        };
        MarkdownWriter::new(text, start, look, &mut self.lines).unit(events, unit.kind);
        self.definitions.extend(parsed.definitions);
    }

    /// Adds an empty row between blocks; between items, or between a paragraph and its list, only if the text has an empty
    /// line.
    fn gap_before(&mut self, text: &str, start: usize, kind: UnitKind) {
        let tight = matches!(kind, UnitKind::Item { .. }) && !source::is_behind_blank_line(text, start);
        if !self.lines.is_empty() && !tight {
            self.lines.push(Line::default());
        }
    }
}

#[cfg(test)]
mod tests;
