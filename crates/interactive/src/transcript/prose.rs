//! What the model says and thinks, while it says it.

use std::cell::Cell;
use std::rc::Rc;

use omp_tui::{Line, Markdown, Space, Token};

use super::Block;

/// Text that grows. Rows that no further text can change settle at once.
#[derive(Default)]
pub struct Prose {
    text: String,
    markdown: Markdown,
    /// How much of the text the Markdown has seen.
    seen: usize,
    version: u64,
    done: bool,
}

impl Prose {
    pub fn said(text: &str) -> Self {
        let mut prose = Self::default();
        prose.push(text);
        prose.finish();
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

impl Block for Prose {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        if self.text.trim().is_empty() {
            return Vec::new();
        }
        if self.seen != self.text.len() {
            self.markdown.set(&self.text);
            self.seen = self.text.len();
        }
        if self.done {
            self.markdown.finish();
        }
        self.markdown.draw(space).to_vec()
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

/// What the model thinks, in a quiet style, or only that it thinks.
pub struct Thought {
    prose: Prose,
    shown: Rc<Cell<bool>>,
}

impl Thought {
    pub fn new(shown: Rc<Cell<bool>>) -> Self {
        Self { prose: Prose::default(), shown }
    }

    pub fn over(text: &str, shown: Rc<Cell<bool>>) -> Self {
        Self { prose: Prose::said(text), shown }
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
            let text = if self.prose.done { "Thought (ctrl+t shows it)" } else { "Thinking…" };
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
