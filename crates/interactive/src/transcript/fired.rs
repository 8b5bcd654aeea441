//! A line that names the rules the model broke; expanded, it shows their text.

use omp_session::RulesFired;
use omp_tui::text::wrap_text;
use omp_tui::{Line, Space, Token};
use omp_types::{CustomMessage, text_of};
use serde_json::Value;

use super::folded::Foldable;

/// Caps the rows of one rule's text.
const MOST_ROWS: usize = 40;

pub struct Fired {
    line: String,
    /// Name and text of each rule.
    rules: Vec<(String, String)>,
}

impl Fired {
    pub fn new(fired: &RulesFired) -> Self {
        let rules = fired.rules.iter().map(|rule| (rule.name.clone(), rule.content.trim().to_owned()));
        Self { line: fired.line(), rules: rules.collect() }
    }

    /// Restores the block from the message of a resumed session.
    pub fn past(told: &CustomMessage) -> Self {
        let names = told.details.as_ref().and_then(|details| details["rules"].as_array());
        let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
        let line = format!("rule broken, model reminded: {}", names.join(", "));
        Self { line, rules: vec![("the reminder".to_owned(), text_of(&told.content))] }
    }
}

impl Foldable for Fired {
    fn draw(&self, space: &Space<'_>, expanded: bool) -> Vec<Line> {
        let theme = space.theme;
        let mut rows = wrap_text(&format!("⚑ {}", self.line), space.width, theme.fg(Token::Warning));
        if !expanded {
            return rows;
        }
        for (name, text) in &self.rules {
            rows.push(Line::styled(format!("  {name}"), theme.fg(Token::Text)));
            let text = wrap_text(text, space.width.saturating_sub(4), theme.fg(Token::Muted));
            let indented = text.into_iter().take(MOST_ROWS).map(|mut row| {
                row.spans.insert(0, omp_tui::Span::new("    ", theme.fg(Token::Muted)));
                row
            });
            rows.extend(indented);
        }
        rows
    }
}
