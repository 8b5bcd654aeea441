//! Which key means what: the defaults, and what the user's file says otherwise.
//!
//! A key may mean different things in the editor, in the list of sessions and in a tree, so a question about a key says
//! where it was pressed. Editors and lists know the default keys only: what was bound anew is translated for them.

mod file;
mod table;

use omp_tui::Key;
pub use table::Area;

use self::table::ROWS;
use crate::action::Action;

/// Where a key was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyContext {
    Editor,
    List,
    Sessions,
    Tree,
}

impl KeyContext {
    /// What counts there, the nearest first.
    fn areas(self) -> &'static [Area] {
        match self {
            KeyContext::Editor => &[Area::App, Area::Edit],
            KeyContext::List => &[Area::Select],
            KeyContext::Sessions => &[Area::Sessions, Area::Select],
            KeyContext::Tree => &[Area::Tree, Area::Select],
        }
    }
}

/// One line of the help on keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpRow {
    pub area: Area,
    pub name: &'static str,
    pub keys: String,
    pub about: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    /// The keys of each row of the table.
    keys: Vec<Vec<Key>>,
    /// Those that it has without a file.
    defaults: Vec<Vec<Key>>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self::defaults()
    }
}

impl Keymap {
    pub fn defaults() -> Self {
        let keys_of = |row: &table::Row| row.keys.iter().filter_map(|name| Key::parse(name).ok()).collect();
        let defaults: Vec<Vec<Key>> = ROWS.iter().map(keys_of).collect();
        Self { keys: defaults.clone(), defaults }
    }

    /// What the application is to do when a key is pressed in the editor.
    pub fn action(&self, key: &Key) -> Option<Action> {
        let name = self.name_in(&[Area::App], key)?;
        table::action(name)
    }

    /// The name of what a key means.
    pub fn name_of(&self, context: KeyContext, key: &Key) -> Option<&'static str> {
        self.name_in(context.areas(), key)
    }

    /// Whether this key is bound to this action, wherever it was pressed.
    pub fn is(&self, name: &str, key: &Key) -> bool {
        row_named(name).is_some_and(|row| self.keys[row].contains(&key.canonical()))
    }

    /// The first is the one to tell.
    pub fn keys_of(&self, name: &str) -> Vec<Key> {
        row_named(name).map(|row| self.keys[row].clone()).unwrap_or_default()
    }

    /// For hints, such as `ctrl+o`. Empty when no key is bound.
    pub fn shown(&self, name: &str) -> String {
        self.keys_of(name).first().map(shown).unwrap_or_default()
    }

    /// All that is bound, in the order of the table.
    pub fn help(&self) -> Vec<HelpRow> {
        let bound = ROWS.iter().zip(&self.keys).filter(|(_, keys)| !keys.is_empty());
        let row = |(row, keys): (&table::Row, &Vec<Key>)| HelpRow {
            area: row.area,
            name: row.name,
            keys: keys.iter().map(shown).collect::<Vec<_>>().join(", "),
            about: row.about,
        };
        bound.map(row).collect()
    }

    /// The key that an editor or a list understands, as they know only the defaults. Nothing when the user has taken
    /// the key away from what it meant there.
    pub fn for_component(&self, context: KeyContext, key: Key) -> Option<Key> {
        let here = || (0..ROWS.len()).filter(|row| context.areas().contains(&ROWS[*row].area));
        let pressed = key.canonical();
        let bound: Vec<usize> = here().filter(|row| self.keys[*row].contains(&pressed)).collect();
        if bound.iter().any(|row| self.defaults[*row].contains(&pressed)) {
            return Some(key);
        }
        match bound.is_empty() {
            false => bound.iter().find_map(|row| self.defaults[*row].first().copied()),
            true if here().any(|row| self.defaults[row].contains(&pressed)) => None,
            true => Some(key),
        }
    }

    fn name_in(&self, areas: &[Area], key: &Key) -> Option<&'static str> {
        let key = key.canonical();
        let of_area = |area: &Area| {
            let rows = ROWS.iter().zip(&self.keys);
            rows.filter(|(row, _)| row.area == *area).find(|(_, keys)| keys.contains(&key)).map(|(row, _)| row.name)
        };
        areas.iter().find_map(of_area)
    }
}

fn row_named(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.name == name)
}

/// In lower case throughout, whatever the letter looks like with shift.
fn shown(key: &Key) -> String {
    let name = key.to_string();
    match key.typed() {
        Some(char) if char.is_uppercase() => name.to_lowercase(),
        _ => name,
    }
}

#[cfg(test)]
mod tests;
