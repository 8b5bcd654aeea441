//! A filtered list: the search field, the matches, and the selection.

use omp_tui::{Input, Line, ListWindow};

use super::field::Field;
use super::query::Query;
use super::sheet::Sheet;

/// How a text must match the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// Contains every word exactly; the order of the list stays.
    Words,
    /// Letters may be skipped; the best matches come first.
    Fuzzy,
}

#[derive(Debug)]
pub(super) struct Picker {
    /// The searched texts, in lower case.
    texts: Vec<String>,
    search: Search,
    field: Field,
    matches: Vec<usize>,
    pointer: ListWindow,
    /// The headings of the columns.
    heading: Option<Line>,
}

impl Picker {
    pub fn new(texts: impl IntoIterator<Item = String>, search: Search) -> Self {
        let mut picker = Self {
            texts: Vec::new(),
            search,
            field: Field::default(),
            matches: Vec::new(),
            pointer: ListWindow::default(),
            heading: None,
        };
        picker.replace(texts);
        picker
    }

    /// Replaces the items and keeps the search and the selected position.
    pub fn replace(&mut self, texts: impl IntoIterator<Item = String>) {
        self.texts = texts.into_iter().map(|text| text.to_lowercase()).collect();
        self.find();
    }

    /// Selects an item if it is among the matches.
    pub fn point_at(&mut self, item: usize) {
        if let Some(at) = self.matches.iter().position(|found| *found == item) {
            self.pointer.select(at);
        }
    }

    /// Returns the selected item.
    pub fn pointed(&self) -> Option<usize> {
        self.matches.get(self.pointer.selected()).copied()
    }

    pub fn set_heading(&mut self, heading: Option<Line>) {
        self.heading = heading;
    }

    pub fn matches(&self) -> &[usize] {
        &self.matches
    }

    pub fn total(&self) -> usize {
        self.texts.len()
    }

    pub fn typed(&self) -> &str {
        self.field.text()
    }

    /// Clears the search. Returns `false` if it was empty.
    pub fn clear(&mut self) -> bool {
        let had = !self.field.is_empty();
        self.field.clear();
        self.find();
        had
    }

    /// Moves the selection or edits the search; returns `false` for other input.
    pub fn input(&mut self, input: &Input) -> bool {
        if let Input::Key(key) = input
            && self.pointer.key(key, self.matches.len())
        {
            return true;
        }
        let before = self.field.text().to_owned();
        let taken = self.field.input(input);
        if before != self.field.text() {
            self.pointer.select(0);
            self.find();
        }
        taken
    }

    fn find(&mut self) {
        let query = Query::new(self.field.text());
        let all = self.texts.iter().enumerate();
        self.matches = match self.search {
            _ if query.is_empty() => (0..self.texts.len()).collect(),
            Search::Words => all.filter(|(_, text)| query.is_in(text)).map(|(at, _)| at).collect(),
            Search::Fuzzy => {
                let mut near: Vec<_> = all.filter_map(|(at, text)| Some((query.distance(text)?, at))).collect();
                near.sort_unstable();
                near.into_iter().map(|(_, at)| at).collect()
            }
        };
        self.pointer.select(self.pointer.selected().min(self.matches.len().saturating_sub(1)));
    }

    /// Draws the field and the rows around the selection; `row` draws an item and is told whether it is selected.
    pub fn draw(&mut self, sheet: &mut Sheet<'_>, hint: &str, mut row: impl FnMut(usize, bool) -> Line) {
        sheet.push(self.field.draw("> ", hint, &sheet.inner()));
        sheet.section();
        sheet.extend(self.heading.clone().filter(|_| !self.matches.is_empty()));
        if self.matches.is_empty() {
            sheet.muted(if self.texts.is_empty() { "  Nothing here." } else { "  No matches." });
        }
        for at in self.pointer.visible(self.matches.len(), sheet.room()) {
            let selected = at == self.pointer.selected();
            sheet.push(row(self.matches[at], selected));
        }
        sheet.section();
    }
}
