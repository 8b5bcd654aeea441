//! Settings with their values, changed in place: enter or space selects the next value, opens a list if there are many
//! values, or opens an input line.

use omp_stdx::display_width;

use super::{Fuzzy, InputLine, ListChoice, ListRow, ListWindow, RankedMatch, SelectList, one_line};
use crate::component::{Component, Reaction, Space};
use crate::input::{Input, Key, KeyCode};
use crate::line::Line;
use crate::text::wrap_text;
use crate::theme::Token;

const DEFAULT_ROWS: usize = 12;
/// With more values, a list of them is shown.
const MOST_TO_CYCLE: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The application's identifier.
    pub id: String,
    pub label: String,
    pub value: String,
    pub description: String,
    pub kind: SettingKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingKind {
    OneOf(Vec<String>),
    Text,
    /// Typed as dots, and never shown.
    Secret,
    /// Read-only; the application handles enter.
    Fixed,
}

/// A changed value. The list already shows it; [`SettingsList::set_value`] reverts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    pub index: usize,
    pub id: String,
    pub value: String,
}

#[derive(Clone, Debug, Default)]
pub struct SettingsList {
    settings: Vec<Setting>,
    found: Vec<RankedMatch>,
    window: ListWindow,
    filter: InputLine,
    open: Option<OpenSetting>,
    change: Option<SettingChange>,
    max_rows: Option<usize>,
    label_width: usize,
}

/// The open editor of the selected setting.
#[derive(Clone, Debug)]
enum OpenSetting {
    Values(SelectList),
    Writing(InputLine),
}

impl SettingsList {
    pub fn new(settings: Vec<Setting>) -> Self {
        let label_width = settings.iter().map(|setting| display_width::width(&setting.label)).max().unwrap_or_default();
        let mut filter = InputLine::new("/ ");
        filter.set_placeholder("type to filter");
        let mut list = Self { settings, label_width, filter, ..Self::default() };
        list.search();
        list
    }

    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = Some(rows.max(1));
        self
    }

    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the index among all settings.
    pub fn selected(&self) -> Option<usize> {
        self.found.get(self.window.selected()).map(|found| found.index)
    }

    pub fn select(&mut self, index: usize) {
        if let Some(at) = self.found.iter().position(|found| found.index == index) {
            self.window.select(at);
        }
    }

    pub fn set_value(&mut self, index: usize, value: impl Into<String>) {
        if let Some(setting) = self.settings.get_mut(index) {
            setting.value = value.into();
        }
    }

    pub fn set_filter(&mut self, filter: &str) {
        self.filter.set_text(filter);
        self.search();
    }

    /// Returns the change since the last call.
    pub fn take_change(&mut self) -> Option<SettingChange> {
        self.change.take()
    }

    /// Whether a setting is open, so that escape closes it and not the list.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    fn search(&mut self) {
        let entries = self.settings.iter().map(|setting| (setting.label.as_str(), setting.description.as_str()));
        self.found = Fuzzy::new(self.filter.text()).filter(entries);
        self.window = ListWindow::default();
    }

    fn change(&mut self, value: String) {
        let Some(index) = self.selected() else { return };
        let setting = &mut self.settings[index];
        if setting.value != value {
            setting.value.clone_from(&value);
            self.change = Some(SettingChange { index, id: setting.id.clone(), value });
        }
    }

    /// Handles enter or space on the selected setting.
    fn activate(&mut self) -> Reaction {
        let Some(setting) = self.selected().map(|index| &self.settings[index]) else { return Reaction::Ignored };
        match &setting.kind {
            SettingKind::Fixed => return Reaction::Ignored,
            SettingKind::OneOf(values) if values.len() > MOST_TO_CYCLE => {
                let mut list = SelectList::new(values.iter().map(ListChoice::new).collect()).with_filter_line();
                list.select(values.iter().position(|value| *value == setting.value).unwrap_or_default());
                self.open = Some(OpenSetting::Values(list));
            }
            SettingKind::OneOf(values) => {
                let at = values.iter().position(|value| *value == setting.value).map_or(0, |at| at + 1);
                if let Some(next) = values.get(at % values.len().max(1)).cloned() {
                    self.change(next);
                }
            }
            SettingKind::Text => {
                let mut line = InputLine::new("> ");
                line.set_text(&setting.value);
                self.open = Some(OpenSetting::Writing(line));
            }
            SettingKind::Secret => {
                let mut line = InputLine::new("> ");
                line.set_secret(true);
                self.open = Some(OpenSetting::Writing(line));
            }
        }
        Reaction::Taken
    }

    fn input_open(&mut self, mut open: OpenSetting, input: &Input) {
        match (input, &mut open) {
            (Input::Key(Key { code: KeyCode::Escape, .. }), _) => return,
            (Input::Key(Key { code: KeyCode::Enter, .. }), OpenSetting::Values(list)) => {
                let chosen = list.selected().map(|index| list.choices()[index].label.clone());
                return chosen.into_iter().for_each(|value| self.change(value));
            }
            // A secret is not shown, so an empty input keeps it.
            (Input::Key(Key { code: KeyCode::Enter, .. }), OpenSetting::Writing(line))
                if line.is_secret() && line.is_empty() =>
            {
                return;
            }
            (Input::Key(Key { code: KeyCode::Enter, .. }), OpenSetting::Writing(line)) => {
                return self.change(line.take());
            }
            (_, OpenSetting::Values(list)) => _ = list.input(input),
            (_, OpenSetting::Writing(line)) => _ = line.input(input),
        }
        self.open = Some(open);
    }

    fn draw_list(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut lines = self.filter.draw(space);
        let rows = self.max_rows.unwrap_or(DEFAULT_ROWS).min(space.height.saturating_sub(6)).max(1);
        let visible = self.window.visible(self.found.len(), rows);
        for at in visible {
            let found = &self.found[at];
            let setting = &self.settings[found.index];
            let row = ListRow {
                selected: at == self.window.selected(),
                label: &setting.label,
                hits: &found.graphemes,
                detail: &setting.shown_value(),
                hint: "",
            };
            lines.push(row.draw(space, self.label_width));
        }
        if self.found.is_empty() {
            let text = display_width::ellipsize("No setting matches", space.width).into_owned();
            lines.push(Line::styled(text, space.theme.fg(Token::Muted)));
        }
        lines.extend(self.window.position(self.found.len(), space));
        lines
    }
}

impl Setting {
    fn shown_value(&self) -> String {
        match (&self.kind, self.value.is_empty()) {
            (_, true) => "—".to_owned(),
            (SettingKind::Secret, false) => "••••".to_owned(),
            _ => self.value.clone(),
        }
    }
}

impl Component for SettingsList {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let selected = self.selected().map(|index| (self.settings[index].label.clone(), index));
        let mut lines = match (&mut self.open, &selected) {
            (Some(open), Some((label, _))) => {
                let title = display_width::ellipsize(&one_line(label), space.width).into_owned();
                let mut lines = vec![Line::styled(title, space.theme.fg(Token::Accent).bold())];
                lines.extend(match open {
                    OpenSetting::Values(list) => list.draw(space),
                    OpenSetting::Writing(line) => line.draw(space),
                });
                lines
            }
            _ => self.draw_list(space),
        };
        let description = self.selected().map_or("", |index| self.settings[index].description.as_str());
        if !description.is_empty() {
            lines.push(Line::new());
            lines.extend(wrap_text(description, space.width, space.theme.fg(Token::Muted)));
        }
        lines
    }

    fn input(&mut self, input: &Input) -> Reaction {
        if let Some(open) = self.open.take() {
            self.input_open(open, input);
            return Reaction::Taken;
        }
        if let Input::Key(key) = input {
            if self.window.key(key, self.found.len()) {
                return Reaction::Taken;
            }
            if key.mods.is_empty() && matches!(key.code, KeyCode::Enter | KeyCode::Char(' ')) {
                return self.activate();
            }
        }
        let before = self.filter.text().to_owned();
        let reaction = self.filter.input(input);
        if self.filter.text() != before {
            self.search();
        }
        reaction
    }
}
