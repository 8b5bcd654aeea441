//! Marks where the conversation was compacted: a divider, with the summary below it when expanded.

use omp_tui::text::wrap_text;
use omp_tui::{Line, Space, Token};

use super::Block;

/// Changes only when expanded or collapsed.
pub struct Compacted {
    summary: String,
    short: Option<String>,
    expanded: bool,
}

impl Compacted {
    pub fn new(summary: &str, short: Option<&str>) -> Self {
        let plain = omp_stdx::sanitize::strip_control(summary).into_owned();
        let short = short.map(|text| omp_stdx::sanitize::strip_control(text).replace('\n', " "));
        Self { summary: plain, short, expanded: false }
    }
}

impl Block for Compacted {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let dim = space.theme.fg(Token::Dim);
        let about = self.short.as_ref().map(|short| format!(" · {short}")).unwrap_or_default();
        let room = space.width.saturating_sub(30);
        let about = omp_stdx::display_width::ellipsize(&about, room).into_owned();
        let mut rows = vec![Line::styled(format!("── compacted{about} · ctrl+o ──"), dim)];
        if self.expanded {
            rows.extend(wrap_text(self.summary.trim_end(), space.width, space.theme.fg(Token::Text)));
        }
        rows
    }

    fn version(&self) -> u64 {
        u64::from(self.expanded)
    }

    fn is_final(&self) -> bool {
        true
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.expanded = expanded;
    }
}
