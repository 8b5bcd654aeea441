//! A paragraph, wrapped at words.

use crate::component::{Component, Space};
use crate::line::Line;
use crate::text::wrap_text;
use crate::theme::Token;

#[derive(Clone, Debug)]
pub struct TextWidget {
    text: String,
    token: Token,
    /// The cached rows with their width and theme.
    laid_out: Option<(usize, u64, Vec<Line>)>,
}

impl TextWidget {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), token: Token::Text, laid_out: None }
    }

    pub fn token(mut self, token: Token) -> Self {
        self.token = token;
        self.laid_out = None;
        self
    }

    pub fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.laid_out = None;
    }
}

impl Component for TextWidget {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let (width, theme) = (space.width, space.theme.id());
        if let Some((_, _, rows)) =
            self.laid_out.as_ref().filter(|(at, in_theme, _)| (*at, *in_theme) == (width, theme))
        {
            return rows.clone();
        }
        let rows = wrap_text(&self.text, width, space.theme.fg(self.token));
        self.laid_out = Some((width, theme, rows.clone()));
        rows
    }
}
