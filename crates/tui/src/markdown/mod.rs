//! Markdown as rows, while it is still being written.
//!
//! The text is cut into units: top-level blocks, and each item of a top-level list. A unit that is closed for good keeps
//! its rows; only what is still open is parsed and laid out again when the text grows. Because units are drawn one by
//! one in any case, a text that came in pieces looks exactly like one that came at once. For the same reason a link
//! reference finds only definitions that stand before it or in its own unit: rows that have scrolled away cannot change.

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
use crate::line::Line;

/// Text that mostly grows.
#[derive(Default)]
pub struct Markdown {
    source: MarkdownSource,
    show_urls: bool,
    finished: bool,
    layout: Layout,
}

/// What has been laid out, and up to where.
#[derive(Default)]
struct Layout {
    /// Width and theme.
    key: Option<(usize, u64)>,
    lines: Vec<Line>,
    /// Rows before this one belong to what is closed for good.
    settled: usize,
    /// The text before this is closed for good.
    done: usize,
    /// Up to here complete lines were looked at.
    scanned: usize,
    /// The list that goes on at `done`.
    resume: Option<Resume>,
    /// The code block in which `done` lies.
    fence: Option<Fence>,
    definitions: Definitions,
    /// Whether the rows show the text as it is.
    fresh: bool,
}

impl Markdown {
    /// The whole text so far. Costs little when it begins with the text of the last time.
    pub fn set(&mut self, text: &str) {
        match self.source.set(text) {
            source::SourceChange::None => {}
            source::SourceChange::Grown => (self.layout.fresh, self.finished) = (false, false),
            source::SourceChange::Other => (self.layout, self.finished) = (Layout::default(), false),
        }
    }

    /// No more text will come: every row is settled.
    pub fn finish(&mut self) {
        self.layout.fresh &= self.finished;
        self.finished = true;
    }

    /// Writes the address behind a link whose text differs, for terminals that cannot follow links.
    pub fn set_show_urls(&mut self, show: bool) {
        if self.show_urls != show {
            self.show_urls = show;
            self.layout = Layout::default();
        }
    }

    pub fn draw(&mut self, space: &Space<'_>) -> &[Line] {
        let key = (space.width, space.theme.id());
        if self.layout.key != Some(key) {
            self.layout = Layout { key: Some(key), ..Layout::default() };
        }
        if !self.layout.fresh {
            let look = MarkdownLook { width: space.width.max(1), theme: space.theme, show_urls: self.show_urls };
            self.layout.lines.truncate(self.layout.settled);
            self.layout.advance(&self.source.text, look);
            self.layout.draw_open(&self.source.text, look, self.finished);
            self.layout.fresh = true;
        }
        &self.layout.lines
    }

    /// Rows of the last draw that no further text can change.
    pub fn settled_rows(&self) -> usize {
        if self.finished && self.layout.fresh { self.layout.lines.len() } else { self.layout.settled }
    }
}

impl Layout {
    /// Draws for good what is closed by the lines that are complete.
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
            if unit.kind != UnitKind::Fence {
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

    /// Draws the complete lines of the code block; says whether it was closed.
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

    /// What may still change, behind the settled rows.
    fn draw_open(&mut self, text: &str, look: MarkdownLook<'_>, finished: bool) {
        let rest = &text[self.done..];
        if let Some(fence) = &self.fence {
            // What may become the end of the block is not shown as code for a moment.
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

    /// Blocks stand apart; items, and a list behind its paragraph, only where the text has an empty line.
    fn gap_before(&mut self, text: &str, start: usize, kind: UnitKind) {
        let tight = matches!(kind, UnitKind::Item { .. }) && !source::is_behind_blank_line(text, start);
        if !self.lines.is_empty() && !tight {
            self.lines.push(Line::default());
        }
    }
}

#[cfg(test)]
mod tests;
