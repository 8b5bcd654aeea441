//! Lists the user's settings with their values and sources, and changes them.

use std::collections::HashMap;

use omp_stdx::display_width;
use omp_tui::text::clip;
use omp_tui::{Input, Key, KeyCode, Line, Mods, Space, Token};
use omp_types::{Setting, SettingKind};
use serde_json::{Number, Value};

use super::field::Field;
use super::picker::{Picker, Search};
use super::sheet::{Sheet, mark, one_line};
use super::{Dialog, DialogStep};
use crate::action::Action;

/// The value of a key in a file or on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSetting {
    pub value: Value,
    /// `user`, or the layer that overrides the user's file.
    pub from: &'static str,
}

/// The layer that changes are saved to.
const USER: &str = "user";
/// The group that decides what the model may do: its values are shown first and set with enter.
const CONFIRMED: &str = "Approval";
/// Caps the columns of the titles.
const MOST_LABEL: usize = 40;

#[derive(Debug)]
pub struct SettingsDialog {
    settings: Vec<Setting>,
    stored: HashMap<&'static str, StoredSetting>,
    tabs: Vec<&'static str>,
    tab: usize,
    /// Indices of the listed settings.
    listed: Vec<usize>,
    picker: Picker,
    /// A value that is being typed.
    typing: Option<Field>,
    /// A value that enter sets.
    offered: Option<Value>,
    /// An error in the value, or another note.
    note: Option<String>,
}

impl SettingsDialog {
    /// Lists the `settings` that have a group; `stored` returns the value of each key.
    pub fn new(settings: &[Setting], stored: impl Fn(&str) -> Option<StoredSetting>) -> Self {
        let settings: Vec<Setting> = settings.iter().filter(|setting| !setting.tab.is_empty()).copied().collect();
        let stored = settings.iter().filter_map(|setting| Some((setting.key, stored(setting.key)?))).collect();
        let mut tabs: Vec<&'static str> = Vec::new();
        for setting in &settings {
            if !tabs.contains(&setting.tab) {
                tabs.push(setting.tab);
            }
        }
        let picker = Picker::new([], Search::Words);
        let mut dialog = Self {
            settings,
            stored,
            tabs,
            tab: 0,
            listed: Vec::new(),
            picker,
            typing: None,
            offered: None,
            note: None,
        };
        dialog.list();
        dialog
    }

    /// A search covers all groups.
    fn list(&mut self) {
        let searching = !self.picker.typed().is_empty();
        let tab = self.tabs.get(self.tab).copied().unwrap_or_default();
        let all = &self.settings;
        self.listed = (0..all.len()).filter(|at| searching || all[*at].tab == tab).collect();
        self.picker
            .replace(self.listed.iter().map(|at| format!("{} {} {}", all[*at].title, all[*at].key, all[*at].about)));
    }

    fn pointed(&self) -> Option<Setting> {
        Some(self.settings[self.listed[self.picker.pointed()?]])
    }

    fn value(&self, setting: &Setting) -> Value {
        let value = self.stored.get(setting.key).map_or_else(|| setting.default_value(), |stored| stored.value.clone());
        setting.current_word(&value).map(Value::from).unwrap_or(value)
    }

    fn set(&mut self, setting: Setting, value: Value) -> DialogStep {
        let stronger = self.stored.get(setting.key).map(|stored| stored.from).filter(|from| *from != USER);
        self.note = stronger.map(|from| format!("Saved, but overridden here by: {from}."));
        if stronger.is_none() && value.is_null() {
            self.stored.remove(setting.key);
        } else if stronger.is_none() {
            self.stored.insert(setting.key, StoredSetting { value: value.clone(), from: USER });
        }
        DialogStep::Do(Action::SetSetting { key: setting.key.to_owned(), value })
    }

    /// Selects the next value of a setting with a fixed set of values, after the one that was offered.
    fn turn(&mut self, forward: bool, offered: Option<Value>) -> DialogStep {
        let Some(setting) = self.pointed() else { return DialogStep::Ignored };
        let Some(next) = next_value(&setting, &offered.unwrap_or_else(|| self.value(&setting)), forward) else {
            return DialogStep::Ignored;
        };
        if setting.tab != CONFIRMED {
            return self.set(setting, next);
        }
        self.note = Some(format!("{}: {}? Enter sets it.", setting.title, shown(&next)));
        self.offered = Some(next);
        DialogStep::Redraw
    }

    fn change(&mut self, offered: Option<Value>) -> DialogStep {
        let Some(setting) = self.pointed() else { return DialogStep::Ignored };
        if let Some(value) = offered {
            return self.set(setting, value);
        }
        if matches!(setting.kind, SettingKind::Bool | SettingKind::OneOf(_)) {
            return self.turn(true, None);
        }
        self.typing = Some(Field::with(&shown(&self.value(&setting))));
        DialogStep::Redraw
    }

    fn type_value(&mut self, input: &Input) -> DialogStep {
        let Some(field) = &mut self.typing else { return DialogStep::Ignored };
        let Input::Key(key) = input else { return super::picked(field.input(input)) };
        if super::is_cancel(*key) {
            (self.typing, self.note) = (None, None);
            return DialogStep::Redraw;
        }
        if *key != Key::plain(KeyCode::Enter) {
            return super::picked(field.input(input));
        }
        let Some(setting) = self.pointed() else { return DialogStep::Ignored };
        match read(&setting, self.typing.as_ref().map_or("", Field::text)) {
            Ok(value) => {
                self.typing = None;
                self.set(setting, value)
            }
            Err(problem) => {
                self.note = Some(problem);
                DialogStep::Redraw
            }
        }
    }

    /// Draws the title, the value beside it, and where the value comes from. In narrow windows the origin gives way first.
    fn row(&self, item: usize, selected: bool, space: &Space<'_>) -> Line {
        let setting = &self.settings[self.listed[item]];
        let from = self.stored.get(setting.key).map_or("", |stored| stored.from);
        let theme = space.theme;
        let style = theme.fg(if selected { Token::Accent } else { Token::Text });
        let titles = self.listed.iter().map(|at| display_width::width(self.settings[*at].title));
        let label = titles.max().unwrap_or_default().min(MOST_LABEL).min(space.width / 2);
        let title = display_width::ellipsize(setting.title, label);
        let mut line = Line::styled(mark(selected), style).with(display_width::pad(&title, label).into_owned(), style);
        let value = match shown(&self.value(setting)) {
            empty if empty.is_empty() => "–".to_owned(),
            value => one_line(&value),
        };
        let room = space.width.saturating_sub(line.width() + 2);
        line.push(format!("  {}", display_width::ellipsize(&value, room)), theme.fg(Token::Muted));
        if !from.is_empty() && line.width() + 2 + display_width::width(from) <= space.width {
            line.push(format!("  {from}"), theme.fg(Token::Dim));
        }
        line
    }

    /// Draws all groups in a row, or only the open one if there is little room.
    fn tab_row(&self, space: &Space<'_>) -> Line {
        let theme = space.theme;
        let mut row = Line::new();
        for (at, tab) in self.tabs.iter().enumerate() {
            row.push(if at == 0 { "" } else { " " }, theme.fg(Token::Muted));
            match at == self.tab {
                true => row.push(format!("[{tab}]"), theme.fg(Token::Accent).bold()),
                false => row.push(*tab, theme.fg(Token::Muted)),
            };
        }
        if row.width() <= space.width {
            return row;
        }
        let open = self.tabs.get(self.tab).copied().unwrap_or_default();
        let short = format!("[{open}] {} of {}", self.tab + 1, self.tabs.len());
        clip(Line::styled(short, theme.fg(Token::Accent).bold()), space.width)
    }
}

/// Returns the next or previous value of a setting with a fixed set of values.
fn next_value(setting: &Setting, now: &Value, forward: bool) -> Option<Value> {
    let values = match setting.kind {
        SettingKind::Bool => return Some(Value::Bool(*now != Value::Bool(true))),
        SettingKind::OneOf(values) => values,
        _ => return None,
    };
    let at = values.iter().position(|value| now == value);
    let next = match (at, forward) {
        (None, _) => 0,
        (Some(at), true) => (at + 1) % values.len(),
        (Some(at), false) => (at + values.len() - 1) % values.len(),
    };
    Some(Value::from(values[next]))
}

/// Formats a value as it is typed: lists with commas.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Parses a typed value; an empty one resets the setting.
fn read(setting: &Setting, text: &str) -> Result<Value, String> {
    let text = text.trim();
    match setting.kind {
        _ if text.is_empty() => Ok(Value::Null),
        SettingKind::Number { least, most } => {
            let whole = text.parse::<i64>().ok().map(Number::from);
            let number = whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
            let number = number.map(Value::Number).filter(|number| setting.kind.accepts(number));
            number.ok_or_else(|| format!("`{text}` is not a number from {least} to {most}."))
        }
        SettingKind::List | SettingKind::ListOf(_) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            let list: Value = items.map(Value::from).collect();
            match setting.kind.wrong_item(&list) {
                Some((at, expected)) => Err(format!("`{}` is not {expected}.", list[at].as_str().unwrap_or_default())),
                None => Ok(list),
            }
        }
        _ => Ok(Value::from(text)),
    }
}

impl Dialog for SettingsDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let note = format!("{} of {}", self.picker.matches().len(), self.settings.len());
        let mut sheet = Sheet::new(space, "Settings", &note);
        let space = &sheet.inner();
        sheet.push(self.tab_row(space));
        let mut picker = std::mem::replace(&mut self.picker, Picker::new([], Search::Words));
        picker.draw(&mut sheet, "type to search all", |item, selected| self.row(item, selected, space));
        self.picker = picker;
        if let Some(setting) = self.pointed() {
            sheet.muted(&format!("  {}", setting.about));
            sheet.prose(&format!("  {}", setting.key), space.theme.fg(Token::Dim));
        }
        if let Some(note) = &self.note {
            sheet.prose(note, space.theme.fg(Token::Warning));
        }
        if let Some(field) = &mut self.typing {
            sheet.unfocus();
            sheet.push(field.draw("Value: ", "none", space));
            return sheet.finish(&[("enter", "save"), ("esc", "back")]);
        }
        sheet.finish(&[("enter", "change"), ("tab", "group"), ("del", "default"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if self.typing.is_some() {
            return self.type_value(input);
        }
        self.note = None;
        // Every other key withdraws the offer.
        let offered = self.offered.take();
        let tabs = self.tabs.len().max(1);
        if let Input::Key(key) = input {
            match (key.mods, key.code) {
                (Mods::NONE, KeyCode::Escape) if self.picker.clear() => {
                    self.list();
                    return DialogStep::Redraw;
                }
                _ if super::is_cancel(*key) => return DialogStep::Close(None),
                (Mods::NONE, KeyCode::Enter) => return self.change(offered),
                (Mods::NONE, KeyCode::Right) => return self.turn(true, offered),
                (Mods::NONE, KeyCode::Left) => return self.turn(false, offered),
                (Mods::NONE, KeyCode::Delete) => {
                    return self.pointed().map_or(DialogStep::Ignored, |setting| self.set(setting, Value::Null));
                }
                (Mods::NONE, KeyCode::Tab) => self.tab = (self.tab + 1) % tabs,
                (Mods::SHIFT, KeyCode::Tab) => self.tab = (self.tab + tabs - 1) % tabs,
                _ => {}
            }
            if key.code == KeyCode::Tab {
                self.picker.clear();
                self.list();
                return DialogStep::Redraw;
            }
        }
        let searched = self.picker.typed().to_owned();
        let taken = self.picker.input(input);
        if searched != self.picker.typed() {
            self.list();
        }
        super::picked(taken)
    }
}

#[cfg(test)]
pub(super) mod tests;
