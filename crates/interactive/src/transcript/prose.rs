//! The model's text and thinking while they stream.

use std::cell::Cell;
use std::rc::Rc;

use omp_tui::{Diagrams, Line, Markdown, Space, Token};

use super::Block;

/// Streaming text. Rows that further text cannot change settle at once.
#[derive(Default)]
pub struct Prose {
    text: String,
    markdown: Markdown,
    /// The length of the text that the Markdown parser has read.
    seen: usize,
    version: u64,
    done: bool,
}

impl Prose {
    pub fn new(diagrams: Option<Diagrams>) -> Self {
        let mut prose = Self::default();
        prose.markdown.set_diagrams(diagrams);
        prose
    }

    pub fn said(text: &str, diagrams: Option<Diagrams>) -> Self {
        let mut prose = Self::new(diagrams);
        prose.push(text);
        prose.finish();
        prose
    }

    /// Copies the text of another one without its cached rows.
    #[cfg(test)]
    pub fn so_far(other: &Self) -> Self {
        let mut prose = Self::default();
        prose.push(&other.text);
        prose
    }

    pub fn push(&mut self, delta: &str) {
        self.text.push_str(delta);
        self.version += 1;
    }

    pub fn finish(&mut self) {
        self.done = true;
        self.version += 1;
    }
}

impl Prose {
    fn rows(&mut self, space: &Space<'_>) -> &[Line] {
        if self.text.trim().is_empty() {
            return &[];
        }
        if self.seen != self.text.len() {
            self.markdown.set(&self.text);
            self.seen = self.text.len();
        }
        if self.done {
            self.markdown.finish();
        }
        self.markdown.draw(space)
    }
}

impl Block for Prose {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.rows(space).to_vec()
    }

    fn draw_from(&mut self, space: &Space<'_>, row: usize) -> Option<Vec<Line>> {
        Some(self.rows(space).get(row..)?.to_vec())
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn is_final(&self) -> bool {
        self.done
    }

    fn settled_rows(&self) -> usize {
        self.markdown.settled_rows()
    }
}

/// The model's thinking in a dim style, or only a note that it thinks.
pub struct Thought {
    prose: Prose,
    shown: Rc<Cell<bool>>,
}

impl Thought {
    pub fn new(shown: Rc<Cell<bool>>) -> Self {
        Self { prose: Prose::default(), shown }
    }

    pub fn over(text: &str, shown: Rc<Cell<bool>>) -> Self {
        Self { prose: Prose::said(text, None), shown }
    }

    pub fn push(&mut self, delta: &str) {
        self.prose.push(delta);
    }

    pub fn finish(&mut self) {
        self.prose.finish();
    }
}

impl Block for Thought {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let style = space.theme.fg(Token::ThinkingText).italic();
        if self.prose.text.trim().is_empty() {
            return Vec::new();
        }
        if !self.shown.get() {
            let text = match space.keys.shown("ctrl+t") {
                _ if !self.prose.done => "Thinking…".to_owned(),
                Some(key) => format!("Thought ({key} shows it)"),
                None => "Thought".to_owned(),
            };
            return vec![Line::styled(text, style)];
        }
        let mut rows = self.prose.draw(space);
        for span in rows.iter_mut().flat_map(|row| &mut row.spans) {
            span.style = style.with(span.style.attrs);
        }
        rows
    }

    fn version(&self) -> u64 {
        self.prose.version
    }

    fn is_final(&self) -> bool {
        self.prose.done
    }

    fn settled_rows(&self) -> usize {
        if self.shown.get() { self.prose.settled_rows() } else { 0 }
    }
}
