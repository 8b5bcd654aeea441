//! A border with a title around other rows.

use omp_stdx::display_width::{ellipsize, pad};

use super::one_line;
use crate::component::{Component, Reaction, Space};
use crate::input::Input;
use crate::line::Line;
use crate::style::Style;
use crate::theme::{Symbol, Token};

/// Columns of the border and its padding.
const SIDES: usize = 4;

pub struct Boxed {
    inner: Box<dyn Component + Send>,
    title: String,
    border: Token,
}

impl Boxed {
    pub fn new(inner: impl Component + Send + 'static) -> Self {
        Self { inner: Box::new(inner), title: String::new(), border: Token::Border }
    }

    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    pub fn border(mut self, token: Token) -> Self {
        self.border = token;
        self
    }

    pub fn inner_mut(&mut self) -> &mut (dyn Component + Send) {
        &mut *self.inner
    }

    fn edge(&self, space: &Space<'_>, ends: (Symbol, Symbol), title: &str) -> Line {
        let (symbols, style) = (space.theme.symbols(), space.theme.fg(self.border));
        let inside = space.width - 2;
        let mut line = Line::styled(symbols.get(ends.0).to_owned(), style);
        let title = ellipsize(title, inside.saturating_sub(3)).into_owned();
        let bar = |columns: usize| symbols.get(Symbol::RoundHorizontal).repeat(columns);
        if title.is_empty() {
            line.push(bar(inside), style);
        } else {
            line.push(bar(1), style).push(format!(" {title} "), space.theme.fg(Token::Accent));
            line.push(bar((inside + 1).saturating_sub(line.width())), style);
        }
        line.push(symbols.get(ends.1).to_owned(), style);
        line
    }
}

impl Component for Boxed {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        // Too narrow for content inside a border.
        if space.width <= SIDES + 1 {
            return self.inner.draw(space);
        }
        let style = space.theme.fg(self.border);
        let side = space.theme.symbols().get(Symbol::RoundVertical);
        let room = space.width - SIDES;
        let mut lines = vec![self.edge(space, (Symbol::RoundTopLeft, Symbol::RoundTopRight), &one_line(&self.title))];
        for inner in self.inner.draw(&space.narrower(SIDES)) {
            let missing = pad("", room.saturating_sub(inner.width())).into_owned();
            let mut line = Line::styled(format!("{side} "), style);
            line.cursor = inner.cursor.map(|column| column + 2);
            line.escape = inner.escape;
            line.spans.extend(inner.spans);
            line.push(missing, inner.fill.unwrap_or(Style::PLAIN)).push(format!(" {side}"), style);
            lines.push(line);
        }
        lines.push(self.edge(space, (Symbol::RoundBottomLeft, Symbol::RoundBottomRight), ""));
        lines
    }

    fn input(&mut self, input: &Input) -> Reaction {
        self.inner.input(input)
    }
}
