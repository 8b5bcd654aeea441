//! Marks where the conversation was compacted: a divider, with the summary below it when expanded.

use omp_tui::{Line, Markdown, Space, Token};

use super::folded::Foldable;

pub struct Compacted {
    summary: String,
    short: Option<String>,
}

impl Compacted {
    pub fn new(summary: &str, short: Option<&str>) -> Self {
        let plain = omp_stdx::sanitize::strip_control(summary).into_owned();
        let short = short.map(|text| omp_stdx::sanitize::strip_control(text).replace('\n', " "));
        Self { summary: plain, short }
    }
}

impl Foldable for Compacted {
    fn draw(&self, space: &Space<'_>, expanded: bool) -> Vec<Line> {
        let dim = space.theme.fg(Token::Dim);
        let about = self.short.as_ref().map(|short| format!(" · {short}")).unwrap_or_default();
        let room = space.width.saturating_sub(30);
        let about = omp_stdx::display_width::ellipsize(&about, room).into_owned();
        let key = space.keys.shown("ctrl+o").map(|key| format!(" · {key}")).unwrap_or_default();
        let mut rows = vec![Line::styled(format!("── compacted{about}{key} ──"), dim)];
        if expanded {
            let mut markdown = Markdown::default();
            markdown.set(&self.summary);
            markdown.finish();
            rows.extend_from_slice(markdown.draw(space));
        }
        rows
    }
}
