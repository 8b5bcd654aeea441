//! Prefixes of the rows of quotes, list items and footnotes.

use crate::line::{Line, Span};
use crate::text::append;
use crate::theme::{Theme, Token};

const BAR: &str = "│ ";

pub struct Container {
    kind: ContainerKind,
    /// The prefix of the first row; the other rows are indented by its width.
    mark: String,
    columns: usize,
    /// The mark has not been written yet.
    unmarked: bool,
    /// The container has content.
    filled: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerKind {
    Quote,
    Item,
    Footnote,
}

impl Container {
    pub fn quote() -> Self {
        Self::new(ContainerKind::Quote, BAR.to_owned())
    }

    pub fn item(number: Option<u64>) -> Self {
        Self::new(ContainerKind::Item, number.map_or_else(|| "• ".to_owned(), |number| format!("{number}. ")))
    }

    pub fn footnote(label: &str) -> Self {
        let label: String = label.chars().filter(|char| !char.is_control()).take(30).collect();
        Self::new(ContainerKind::Footnote, format!("[{label}] "))
    }

    fn new(kind: ContainerKind, mark: String) -> Self {
        let columns = omp_stdx::display_width::width(&mark);
        Self { kind, mark, columns, unmarked: kind != ContainerKind::Quote, filled: false }
    }
}

/// The open containers, outermost first.
#[derive(Default)]
pub struct Containers(Vec<Container>);

impl Containers {
    /// A container that would leave too little width is not indented further.
    pub fn push(&mut self, mut container: Container, width: usize) {
        let limit = width * 2 / 3;
        if self.width() + container.columns > limit {
            container.columns = 0;
            container.mark = match container.kind {
                ContainerKind::Quote => String::new(),
                _ => container.mark,
            };
        }
        self.0.push(container);
    }

    pub fn pop(&mut self) {
        self.0.pop();
    }

    pub fn width(&self) -> usize {
        self.0.iter().map(|container| container.columns).sum()
    }

    pub fn is_quote(&self) -> bool {
        self.0.iter().any(|container| container.kind == ContainerKind::Quote)
    }

    /// Marks the innermost container as filled; returns whether it was filled before.
    pub fn fill(&mut self) -> bool {
        self.0.last_mut().is_some_and(|container| std::mem::replace(&mut container.filled, true))
    }

    /// Replaces the bullet by a check box, or adds one after the number.
    pub fn set_task(&mut self, done: bool) {
        let Some(item) = self.0.last_mut().filter(|container| container.kind == ContainerKind::Item) else { return };
        let bullets = item.mark.starts_with('•');
        let check = if done { "☑ " } else { "☐ " };
        let mark = if bullets { check.to_owned() } else { format!("{}{check}", item.mark) };
        if item.columns > 0 {
            item.columns = omp_stdx::display_width::width(&mark);
        }
        item.mark = mark;
    }

    pub fn before(&mut self, row: Line, theme: &Theme) -> Line {
        if self.0.is_empty() {
            return row;
        }
        let mut whole = Line::default();
        for container in &mut self.0 {
            let (token, mark) = match container.kind {
                ContainerKind::Quote => (Token::MdQuoteBorder, container.mark.as_str()),
                _ => (Token::MdListBullet, container.mark.as_str()),
            };
            let marked = container.kind == ContainerKind::Quote || std::mem::take(&mut container.unmarked);
            if marked && container.columns > 0 {
                append(&mut whole, mark, theme.fg(token), None);
            } else {
                append(&mut whole, &" ".repeat(container.columns), crate::style::Style::PLAIN, None);
            }
        }
        let (fill, escape) = (row.fill, row.escape);
        whole.spans.extend(row.spans);
        Line { fill, escape, ..whole }
    }

    /// Returns the row between two blocks, with the bars of the quotes.
    pub fn empty_row(&mut self, theme: &Theme) -> Line {
        let pending: Vec<bool> = self.0.iter_mut().map(|container| std::mem::take(&mut container.unmarked)).collect();
        let mut row = self.before(Line::default(), theme);
        for (container, unmarked) in self.0.iter_mut().zip(pending) {
            container.unmarked = unmarked;
        }
        while let Some(last) = row.spans.last_mut() {
            let kept = last.text.trim_end().len();
            if kept > 0 {
                let text = last.text[..kept].to_owned();
                *last = Span::new(text, last.style);
                break;
            }
            row.spans.pop();
        }
        row
    }

    /// Returns the row of an item without text.
    pub fn mark_left_over(&mut self, theme: &Theme) -> Option<Line> {
        let pending = self.0.last().is_some_and(|container| container.unmarked && container.columns > 0);
        pending.then(|| self.before(Line::default(), theme))
    }
}
