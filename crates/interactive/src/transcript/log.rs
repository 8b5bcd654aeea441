//! Lays out the transcript: blocks one below the other, each laid out once and cached, with the chrome below them.

use omp_tui::{Line, Rows, Space};

use super::Block;

/// Caps the rows kept laid out. Earlier rows are in the scrollback and are not written again.
const MAX_ROWS: usize = 20_000;

/// Blocks in order. Rows are counted from the first ever drawn, even after their blocks were dropped.
#[derive(Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// Rows of the dropped blocks.
    forgotten: usize,
    /// Blocks before this one are final and laid out.
    clean: usize,
    laid_for: Option<(usize, u64)>,
    /// The version of the images at the last layout.
    pictures: u64,
    chrome: Vec<Line>,
    expanded: bool,
}

struct Entry {
    block: Box<dyn Block>,
    version: Option<u64>,
    /// The number of leading rows that were settled when it was last drawn.
    settled: usize,
    /// The index of its first row.
    start: usize,
    rows: Vec<Line>,
}

impl Log {
    /// A block that is changed later is passed as an `Rc<RefCell<_>>`.
    pub fn push(&mut self, mut block: impl Block + 'static) {
        block.set_expanded(self.expanded);
        self.entries.push(Entry { block: Box::new(block), version: None, settled: 0, start: 0, rows: Vec::new() });
    }

    pub fn clear(&mut self) {
        *self = Self { expanded: self.expanded, ..Self::default() };
    }

    /// Expands or collapses all blocks. Their rows change, so the caller must reset the renderer.
    pub fn set_expanded(&mut self, expanded: bool) {
        self.expanded = expanded;
        self.entries.iter_mut().for_each(|entry| entry.block.set_expanded(expanded));
        self.laid_for = None;
    }

    pub fn is_expanded(&self) -> bool {
        self.expanded
    }

    /// Draws everything again from the first row, before the renderer writes all of it again.
    pub fn start_over(&mut self) {
        self.forgotten = 0;
        self.laid_for = None;
    }

    /// Whether all rows can be drawn again that a scrollback with so many rows holds, also at a larger width.
    pub fn holds(&self, rows: usize) -> bool {
        self.forgotten == 0 || (self.blocks_end() - self.forgotten) / 4 >= rows
    }

    /// Lays out what has changed. `chrome` is drawn below the last block. With another version of `pictures`, final blocks
    /// may look different too, with as many rows as before.
    pub fn lay_out(&mut self, space: &Space<'_>, chrome: Vec<Line>, pictures: u64) {
        if std::mem::replace(&mut self.pictures, pictures) != pictures {
            self.clean = 0;
        }
        let wanted = Some((space.width, space.theme.id()));
        if self.laid_for != wanted {
            self.laid_for = wanted;
            self.clean = 0;
            self.entries.iter_mut().for_each(|entry| entry.version = None);
        }
        let mut start = self.entries[..self.clean].last().map_or(self.forgotten, Entry::end);
        for entry in &mut self.entries[self.clean..] {
            entry.start = start;
            let version = entry.block.version();
            if entry.version != Some(version) {
                entry.draw(space);
                entry.version = Some(version);
            }
            start = entry.end();
        }
        let unfinished = self.entries[self.clean..].iter().position(|entry| !entry.block.is_final());
        self.clean = unfinished.map_or(self.entries.len(), |at| self.clean + at);
        self.chrome = chrome;
        self.forget_oldest();
    }

    /// Returns the number of rows that never change again: those of final blocks, and the settled rows of the first other
    /// block.
    pub fn settled(&self) -> usize {
        match self.entries.get(self.clean) {
            Some(live) => live.start + (live.block.settled_rows() + live.gap()).min(live.rows.len()),
            None => self.blocks_end(),
        }
    }

    fn blocks_end(&self) -> usize {
        self.entries.last().map_or(self.forgotten, Entry::end)
    }

    fn forget_oldest(&mut self) {
        let mut rows = self.blocks_end() - self.forgotten;
        let enough = self.entries[..self.clean].iter().take_while(|entry| {
            rows -= entry.rows.len();
            rows >= MAX_ROWS
        });
        let count = enough.count();
        if count > 0 {
            self.forgotten = self.entries[count - 1].end();
            self.entries.drain(..count);
            self.clean -= count;
        }
    }
}

impl Entry {
    /// Draws only the rows that may have changed, if the block supports that.
    fn draw(&mut self, space: &Space<'_>) {
        let keeps = self.version.is_some() && self.settled > 0 && !self.block.is_final();
        let rest = if keeps { self.block.draw_from(space, self.settled) } else { None };
        match rest {
            Some(rest) => {
                self.rows.truncate(self.gap() + self.settled);
                self.rows.extend(rest);
            }
            None => self.rows = drawn(&mut *self.block, space, self.start > 0),
        }
        self.settled = self.block.settled_rows();
    }

    fn end(&self) -> usize {
        self.start + self.rows.len()
    }

    /// The empty row between two blocks.
    fn gap(&self) -> usize {
        usize::from(self.start > 0 && !self.rows.is_empty())
    }
}

fn drawn(block: &mut dyn Block, space: &Space<'_>, with_gap: bool) -> Vec<Line> {
    let mut rows = block.draw(space);
    if with_gap && !rows.is_empty() {
        rows.insert(0, Line::new());
    }
    rows
}

impl Rows for Log {
    fn len(&self) -> usize {
        self.blocks_end() + self.chrome.len()
    }

    fn row(&self, at: usize) -> &Line {
        static LET_GO: Line = Line { spans: Vec::new(), fill: None, cursor: None, escape: None };
        let end = self.blocks_end();
        if at >= end {
            return &self.chrome[at - end];
        }
        if at < self.forgotten {
            return &LET_GO;
        }
        let entry = self.entries.partition_point(|entry| entry.end() <= at);
        &self.entries[entry].rows[at - self.entries[entry].start]
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use omp_tui::Theme;

    use super::*;

    #[derive(Default)]
    struct Said {
        text: Vec<&'static str>,
        version: u64,
        done: bool,
        settled: usize,
        drawn: usize,
    }

    impl Said {
        fn done(text: &[&'static str]) -> Rc<RefCell<Said>> {
            Rc::new(RefCell::new(Said { text: text.to_vec(), done: true, ..Said::default() }))
        }
    }

    impl Block for Said {
        fn draw(&mut self, _: &Space<'_>) -> Vec<Line> {
            self.drawn += 1;
            self.text.iter().map(|text| Line::from(*text)).collect()
        }

        fn version(&self) -> u64 {
            self.version
        }

        fn is_final(&self) -> bool {
            self.done
        }

        fn settled_rows(&self) -> usize {
            self.settled
        }
    }

    fn lay_out(log: &mut Log, width: usize) {
        let theme = Theme::colorless();
        let space = Space { width, height: 10, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        log.lay_out(&space, vec![Line::from(">")], 0);
    }

    fn texts(log: &Log) -> Vec<String> {
        (0..log.len()).map(|at| log.row(at).text()).collect()
    }

    #[test]
    fn blocks_stand_one_below_the_other_with_the_chrome_at_the_end() {
        let mut log = Log::default();
        lay_out(&mut log, 20);
        assert_eq!((texts(&log), log.settled()), (vec![">".to_owned()], 0));
        log.push(Said::done(&["a", "b"]));
        log.push(Said::done(&[]));
        log.push(Said::done(&["c"]));
        lay_out(&mut log, 20);
        assert_eq!(texts(&log), ["a", "b", "", "c", ">"]);
        assert_eq!(log.settled(), 4);
    }

    #[test]
    fn only_what_changed_is_drawn_again() {
        let mut log = Log::default();
        let first = Said::done(&["a"]);
        let live = Rc::new(RefCell::new(Said { text: vec!["x", "y"], settled: 1, ..Said::default() }));
        let below = Said::done(&["z"]);
        log.push(first.clone());
        log.push(live.clone());
        log.push(below.clone());
        lay_out(&mut log, 20);
        lay_out(&mut log, 20);
        assert_eq!((first.borrow().drawn, live.borrow().drawn), (1, 1));
        assert_eq!(log.settled(), 3, "what is below a live block is not settled");
        {
            let mut live = live.borrow_mut();
            live.text.push("new");
            live.version += 1;
        }
        lay_out(&mut log, 20);
        assert_eq!(texts(&log), ["a", "", "x", "y", "new", "", "z", ">"]);
        assert_eq!((first.borrow().drawn, live.borrow().drawn, below.borrow().drawn), (1, 2, 1));
        live.borrow_mut().done = true;
        lay_out(&mut log, 20);
        assert_eq!(log.settled(), 7);
        lay_out(&mut log, 30);
        assert_eq!((first.borrow().drawn, live.borrow().drawn), (2, 3), "another width lays out everything");
    }

    #[test]
    fn text_that_streams_looks_as_if_it_had_come_at_once() {
        use crate::transcript::prose::Prose;
        let text = "# Title\n\nSome *words* that wrap at a narrow width.\n\n- one\n- two\n  more\n\n```rust\nfn main() {}\n\
            let x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.";
        let mut log = Log::default();
        let streamed = Rc::new(RefCell::new(Prose::default()));
        log.push(Said::done(&["before"]));
        log.push(streamed.clone());
        for piece in text.as_bytes().chunks(5) {
            let before = (log.settled(), texts(&log));
            streamed.borrow_mut().push(std::str::from_utf8(piece).unwrap());
            lay_out(&mut log, 24);
            assert_eq!(texts(&log)[..before.0], before.1[..before.0], "settled rows stay");
            let mut whole = Log::default();
            whole.push(Said::done(&["before"]));
            whole.push(Prose::so_far(&streamed.borrow()));
            lay_out(&mut whole, 24);
            assert_eq!(texts(&log), texts(&whole));
        }
        assert!(log.settled() > 10, "{}", log.settled());
        streamed.borrow_mut().finish();
        lay_out(&mut log, 24);
        assert_eq!(log.settled() + 1, log.len());
    }

    #[test]
    fn old_blocks_are_let_go_and_rows_keep_their_numbers() {
        let mut log = Log::default();
        for _ in 0..(MAX_ROWS / 100 + 20) {
            log.push(Said::done(&["row"; 100]));
            lay_out(&mut log, 20);
        }
        assert!(log.entries.len() <= MAX_ROWS / 100 + 1, "{}", log.entries.len());
        // A small history needs no more, even if rows are wrapped less.
        assert!(log.holds(MAX_ROWS / 4) && !log.holds(MAX_ROWS / 2));
        let rows = (MAX_ROWS / 100 + 20) * 101 - 1;
        assert_eq!((log.settled(), log.len()), (rows, rows + 1));
        assert!(log.row(0).is_blank() && log.row(rows - 1).text() == "row");
        log.start_over();
        lay_out(&mut log, 20);
        assert!(log.len() <= MAX_ROWS + 102 && log.row(0).text() == "row");
    }
}
