//! Messages queued until the running work is done.

use std::sync::Arc;

use omp_stdx::sanitize;
use omp_stdx::truncate::rows_shown;
use omp_tui::text::clip;
use omp_tui::{Line, Space, Token};
use omp_types::{Message, text_of};

/// Caps the rows for each kind of message.
const SHOWN: usize = 3;

/// `key` moves them back into the editor.
pub fn queue_rows(steering: &[Arc<Message>], follow_up: &[Arc<Message>], key: &str, space: &Space<'_>) -> Vec<Line> {
    let mut rows = Vec::new();
    for (name, messages) in [("next", steering), ("after", follow_up)] {
        let shown = rows_shown(messages.len(), SHOWN);
        for message in messages.iter().take(shown) {
            let text = text_of(message.content());
            let text = sanitize::strip_control(&text).split_whitespace().collect::<Vec<_>>().join(" ");
            let line = Line::styled(format!("  {name}: "), space.theme.fg(Token::Muted));
            rows.push(clip(line.with(text, space.theme.fg(Token::Dim)), space.width));
        }
        if messages.len() > shown {
            rows.push(Line::styled(format!("  … {} more", messages.len() - shown), space.theme.fg(Token::Dim)));
        }
    }
    if let Some(first) = rows.first_mut()
        && !key.is_empty()
    {
        let line = std::mem::take(first);
        *first = clip(line.with(format!("  ({key} to edit)"), space.theme.fg(Token::Dim)), space.width);
    }
    rows
}
