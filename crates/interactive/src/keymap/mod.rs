//! Maps keys to actions: the defaults, overridden by the user's file.
//!
//! A key may have different meanings in the editor, in the list of sessions and in a tree, so every lookup includes the
//! context. Editors and lists know only the default keys: rebound keys are translated for them.

mod file;
mod table;

use omp_tui::{Key, KeyNames};
pub use table::Area;

use self::table::ROWS;
use crate::action::Action;

/// Actions of the application that dialogs do not hide.
const OVER_DIALOGS: [&str; 2] = ["app.suspend", "app.approval.cycle"];

/// The context in which a key was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyContext {
    Editor,
    List,
    Sessions,
    Tree,
}

impl KeyContext {
    /// Returns the areas that apply in this context, the most specific first.
    fn areas(self) -> &'static [Area] {
        match self {
            KeyContext::Editor => &[Area::App, Area::Edit],
            KeyContext::List => &[Area::Select, Area::Edit],
            KeyContext::Sessions => &[Area::Sessions, Area::Select, Area::Edit],
            KeyContext::Tree => &[Area::Tree, Area::Select, Area::Edit],
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
    /// The default keys of each row.
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

    /// Returns the application's action for a key in the editor.
    pub fn action(&self, key: &Key) -> Option<Action> {
        let name = self.name_in(&[Area::App], key)?;
        table::action(name)
    }

    /// Returns the name of the action of a key.
    pub fn name_of(&self, context: KeyContext, key: &Key) -> Option<&'static str> {
        self.name_in(context.areas(), key)
    }

    /// Whether this key is bound to this action, in any context.
    pub fn is(&self, name: &str, key: &Key) -> bool {
        row_named(name).is_some_and(|row| self.keys[row].contains(&key.canonical()))
    }

    /// Returns the application's action for a key while a dialog is open, unless the key has a meaning in the dialog.
    pub fn action_over(&self, context: KeyContext, key: &Key) -> Option<Action> {
        let in_dialog = self.name_of(context, key);
        let is_meant = |name: &&str| self.is(name, key) && in_dialog.is_none_or(|own| own == *name);
        OVER_DIALOGS.into_iter().find(is_meant).and_then(table::action)
    }

    /// The first key is the one to show.
    pub fn keys_of(&self, name: &str) -> Vec<Key> {
        row_named(name).map(|row| self.keys[row].clone()).unwrap_or_default()
    }

    /// For hints, such as `ctrl+o`, in the short form of dialogs. Empty when no key is bound.
    pub fn shown(&self, name: &str) -> String {
        self.keys_of(name).first().map(shown).unwrap_or_default().replace("escape", "esc")
    }

    /// Returns the names of the keys in a context, for hints that name default keys.
    pub fn names(&self, context: KeyContext) -> BoundKeys<'_> {
        BoundKeys { keymap: self, context }
    }

    /// Returns all bindings in the order of the table.
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

    /// Translates a key to the default key that an editor or a list expects. Returns `None` if the user has unbound the key
    /// there.
    pub fn for_component(&self, context: KeyContext, key: Key) -> Option<Key> {
        let rank = |row: usize| context.areas().iter().position(|area| *area == ROWS[row].area);
        let here = || (0..ROWS.len()).filter(|row| rank(*row).is_some());
        let pressed = key.canonical();
        let mut bound: Vec<usize> = here().filter(|row| self.keys[*row].contains(&pressed)).collect();
        bound.sort_by_key(|row| rank(*row));
        if bound.is_empty() {
            let has_lost_its_key = here().any(|row| self.defaults[row].contains(&pressed));
            return (!has_lost_its_key).then_some(key);
        }
        // If two actions share a default key, the more specific one gets it, so the other is shown with another key.
        let means_another =
            |row: usize, key: &Key| here().any(|other| rank(other) < rank(row) && self.defaults[other].contains(key));
        let stands_for = |row: &usize| {
            let same = self.defaults[*row].contains(&pressed).then_some(pressed);
            let candidates = same.into_iter().chain(self.defaults[*row].iter().copied());
            candidates.into_iter().find(|candidate| !means_another(*row, candidate))
        };
        let found = bound.iter().find_map(stands_for)?;
        Some(if found == pressed { key } else { found })
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

/// The keys that are bound in a context.
pub struct BoundKeys<'a> {
    keymap: &'a Keymap,
    context: KeyContext,
}

impl KeyNames for BoundKeys<'_> {
    fn shown(&self, default: &str) -> Option<String> {
        if let Some(pair) = arrows(default) {
            let keys: Vec<String> = pair.iter().filter_map(|key| self.shown(key)).collect();
            return if keys == pair { Some(default.to_owned()) } else { (!keys.is_empty()).then(|| keys.join("/")) };
        }
        // Hints may name more than keys: `type`.
        let Ok(key) = Key::parse(default) else { return Some(default.to_owned()) };
        let bound = self.bound_to(key)?;
        Some(if bound == key { default.to_owned() } else { shown(&bound) })
    }
}

impl BoundKeys<'_> {
    /// Returns the key that does what the default key does.
    fn bound_to(&self, default: Key) -> Option<Key> {
        let Self { keymap, context } = self;
        let has_default = |row: &usize| keymap.defaults[*row].contains(&default);
        if let Some(row) = OVER_DIALOGS.into_iter().filter_map(row_named).find(has_default) {
            return keymap.keys[row].first().copied();
        }
        let rows = (0..ROWS.len()).filter(|row| context.areas().contains(&ROWS[*row].area) && has_default(row));
        let keys = rows.flat_map(|row| keymap.keys[row].iter().copied());
        keys.chain([default]).find(|key| keymap.for_component(*context, *key) == Some(default))
    }
}

/// Splits a pair of arrow keys: `alt+←→`.
fn arrows(name: &str) -> Option<[String; 2]> {
    let split = |(arrows, first, second): (&str, &str, &str)| {
        name.strip_suffix(arrows).map(|modifiers| [format!("{modifiers}{first}"), format!("{modifiers}{second}")])
    };
    [("↑↓", "up", "down"), ("←→", "left", "right")].into_iter().find_map(split)
}

fn row_named(name: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.name == name)
}

/// Formats a key in lower case, even with shift.
fn shown(key: &Key) -> String {
    let name = key.to_string();
    match key.typed() {
        Some(char) if char.is_uppercase() => name.to_lowercase(),
        _ => name,
    }
}

#[cfg(test)]
mod tests;
