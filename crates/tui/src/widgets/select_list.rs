//! A list to select one entry from. The caller handles enter and escape.

use omp_stdx::display_width;

use super::{Fuzzy, InputLine, ListRow, ListWindow, RankedMatch, one_line};
use crate::component::{Component, Reaction, Space};
use crate::input::Input;
use crate::line::Line;
use crate::theme::Token;

const DEFAULT_ROWS: usize = 10;

/// An entry. Empty fields are not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListChoice {
    pub label: String,
    /// Details, in a separate column.
    pub detail: String,
    /// Shown at the right edge: a key or a mark.
    pub hint: String,
}

#[derive(Clone, Debug, Default)]
pub struct SelectList {
    choices: Vec<ListChoice>,
    found: Vec<RankedMatch>,
    window: ListWindow,
    filter: String,
    filter_line: Option<InputLine>,
    max_rows: Option<usize>,
    label_width: usize,
    empty: String,
}

impl ListChoice {
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl SelectList {
    pub fn new(choices: Vec<ListChoice>) -> Self {
        let mut list = Self { empty: "Nothing matches".to_owned(), ..Self::default() };
        list.set_choices(choices);
        list
    }

    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = Some(rows.max(1));
        self
    }

    /// Sets the text shown for an empty list.
    pub fn empty_text(mut self, text: impl Into<String>) -> Self {
        self.empty = text.into();
        self
    }

    /// Adds a line above in which the filter is typed.
    pub fn with_filter_line(mut self) -> Self {
        let mut line = InputLine::new("/ ");
        line.set_placeholder("type to filter");
        self.filter_line = Some(line);
        self
    }

    /// Replaces the entries; the filter stays, and so does the selection if its label still exists.
    pub fn set_choices(&mut self, choices: Vec<ListChoice>) {
        let before = self.selected().map(|index| self.choices[index].label.clone());
        self.label_width = choices.iter().map(|choice| display_width::width(&choice.label)).max().unwrap_or_default();
        self.choices = choices;
        self.search();
        if let Some(index) = self.choices.iter().position(|choice| Some(&choice.label) == before.as_ref()) {
            self.select(index);
        }
    }

    pub fn choices(&self) -> &[ListChoice] {
        &self.choices
    }

    /// Selects by index among all entries; does nothing if the filter hides the entry.
    pub fn select(&mut self, index: usize) {
        if let Some(at) = self.found.iter().position(|found| found.index == index) {
            self.window.select(at);
        }
    }

    /// Returns the index among all entries.
    pub fn selected(&self) -> Option<usize> {
        self.found.get(self.window.selected()).map(|found| found.index)
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Shows only matching entries, best first, and selects the best.
    pub fn set_filter(&mut self, filter: &str) {
        if self.filter == filter {
            return;
        }
        let before = self.selected();
        self.filter = filter.to_owned();
        if let Some(line) = self.filter_line.as_mut().filter(|line| line.text() != filter) {
            line.set_text(filter);
        }
        self.search();
        if let (Some(index), true) = (before, self.filter.is_empty()) {
            self.select(index);
        }
    }

    fn search(&mut self) {
        let entries = self.choices.iter().map(|choice| (choice.label.as_str(), choice.detail.as_str()));
        self.found = Fuzzy::new(&self.filter).filter(entries);
        self.window = ListWindow::default();
    }

    fn rows(&self, space: &Space<'_>) -> usize {
        self.max_rows.unwrap_or(DEFAULT_ROWS).min(space.height.saturating_sub(4)).max(1)
    }
}

impl Component for SelectList {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut lines = self.filter_line.as_mut().map_or_else(Vec::new, |line| line.draw(space));
        let visible = self.window.visible(self.found.len(), self.rows(space));
        for (at, found) in self.found[visible.clone()].iter().zip(visible).map(|(found, at)| (at, found)) {
            let ListChoice { label, detail, hint } = &self.choices[found.index];
            let selected = at == self.window.selected();
            let row = ListRow { selected, label, hits: &found.graphemes, detail, hint };
            lines.push(row.draw(space, self.label_width));
        }
        if self.found.is_empty() {
            let text = display_width::ellipsize(&one_line(&self.empty), space.width).into_owned();
            lines.push(Line::styled(text, space.theme.fg(Token::Muted)));
        }
        lines.extend(self.window.position(self.found.len(), space));
        lines
    }

    fn input(&mut self, input: &Input) -> Reaction {
        if let Input::Key(key) = input
            && self.window.key(key, self.found.len())
        {
            return Reaction::Taken;
        }
        let Some(line) = self.filter_line.as_mut() else { return Reaction::Ignored };
        let reaction = line.input(input);
        let text = line.text().to_owned();
        self.set_filter(&text);
        reaction
    }
}
