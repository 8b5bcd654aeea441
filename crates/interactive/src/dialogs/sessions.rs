//! Lists earlier sessions to resume, rename or delete.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omp_session::{SessionListing, Wish};
use omp_stdx::display_width;
use omp_tui::{Input, Key, KeyCode, Line, Mods, Space, Token};

use super::field::Field;
use super::picker::{Picker, Search};
use super::sheet::{Sheet, one_line, start_of};
use super::{Dialog, DialogStep};
use crate::action::Action;
use crate::keymap::KeyContext;

/// Caps the characters of a first message that are searched.
const SEARCHED: usize = 300;
/// Caps the characters shown of a folder.
const LONGEST_FOLDER: usize = 20;

/// The stored sessions, the current folder and the open session.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// Sessions of all folders, newest first.
    pub listings: Vec<SessionListing>,
    pub cwd: PathBuf,
    /// The file of the open session.
    pub open: Option<PathBuf>,
    pub now: SystemTime,
}

#[derive(Debug)]
pub struct SessionsDialog {
    sessions: Sessions,
    picker: Picker,
    /// Indices of the listed sessions.
    listed: Vec<usize>,
    everywhere: bool,
    by_title: bool,
    with_folder: bool,
    doing: Doing,
}

#[derive(Debug)]
enum Doing {
    Choosing,
    Renaming(Box<Field>),
    /// Waiting for confirmation to delete.
    Deleting,
    /// The reason why something cannot be done, shown until the next key.
    Refused(&'static str),
}

impl SessionsDialog {
    /// Lists the sessions of the folder, or all if it has none.
    pub fn new(sessions: Sessions) -> Self {
        let everywhere = !sessions.listings.iter().any(|listing| listing.cwd == sessions.cwd);
        let picker = Picker::new([], Search::Words);
        let (listed, doing) = (Vec::new(), Doing::Choosing);
        let mut dialog = Self { sessions, picker, listed, everywhere, by_title: false, with_folder: everywhere, doing };
        dialog.list();
        dialog
    }

    fn list(&mut self) {
        let all = &self.sessions.listings;
        let here = |at: &usize| self.everywhere || all[*at].cwd == self.sessions.cwd;
        self.listed = (0..all.len()).filter(here).collect();
        if self.by_title {
            self.listed.sort_by_cached_key(|at| name_of(&all[*at]).to_lowercase());
        }
        self.picker.replace(self.listed.iter().map(|at| searched(&all[*at])));
    }

    fn pointed(&self) -> Option<usize> {
        Some(self.listed[self.picker.pointed()?])
    }

    fn choose(&self) -> DialogStep {
        let Some(at) = self.pointed() else { return DialogStep::Ignored };
        let file = self.sessions.listings[at].file.clone();
        if self.sessions.open.as_ref() == Some(&file) {
            return DialogStep::Close(None);
        }
        DialogStep::Close(Some(Action::Switch(Wish::Resume { file, cwd: None })))
    }

    fn rename(&mut self, input: &Input) -> DialogStep {
        let Doing::Renaming(field) = &mut self.doing else { return DialogStep::Ignored };
        let Input::Key(key) = input else { return super::picked(field.input(input)) };
        match key.code {
            _ if super::is_cancel(*key) => self.doing = Doing::Choosing,
            KeyCode::Enter => {
                let title = field.text().trim().to_owned();
                self.doing = Doing::Choosing;
                let Some(at) = self.pointed().filter(|_| !title.is_empty()) else { return DialogStep::Redraw };
                let listing = &mut self.sessions.listings[at];
                listing.title = Some(title.clone());
                let file = listing.file.clone();
                self.list();
                return DialogStep::Do(Action::RenameSession { file, title });
            }
            _ => return super::picked(field.input(input)),
        }
        DialogStep::Redraw
    }

    fn start_rename(&mut self) {
        if let Some(at) = self.pointed() {
            self.doing = Doing::Renaming(Box::new(Field::with(&name_of(&self.sessions.listings[at]))));
        }
    }

    fn start_delete(&mut self) {
        let Some(at) = self.pointed() else { return };
        let is_open = self.sessions.open.as_ref() == Some(&self.sessions.listings[at].file);
        self.doing = match is_open {
            true => Doing::Refused("This session is open, so it cannot be deleted here."),
            false => Doing::Deleting,
        };
    }

    fn confirm_delete(&mut self, key: Key) -> DialogStep {
        self.doing = Doing::Choosing;
        let sure = key == Key::plain(KeyCode::Char('y'));
        let Some(at) = self.pointed().filter(|_| sure) else { return DialogStep::Redraw };
        let gone = self.sessions.listings.remove(at);
        self.list();
        DialogStep::Do(Action::DeleteSession(gone.file))
    }

    fn row(&self, item: usize, selected: bool, space: &Space<'_>) -> Line {
        let listing = &self.sessions.listings[self.listed[item]];
        let mut name = one_line(&name_of(listing));
        if self.sessions.open.as_ref() == Some(&listing.file) {
            name.insert_str(0, "✓ ");
        }
        let age = age(self.sessions.now, listing.modified);
        let facts = match self.with_folder {
            true => format!("{}  {age:>4}", display_width::pad(&short_folder(&listing.cwd), LONGEST_FOLDER)),
            false => format!("{age:>4}"),
        };
        Sheet::item(space, selected, &name, &facts)
    }

    /// Shows the first message of a session that has a title.
    fn about(&self, sheet: &mut Sheet<'_>) {
        let Some(listing) = self.pointed().map(|at| &self.sessions.listings[at]) else { return };
        let first = listing.title.as_ref().and(listing.first_message.as_deref()).map(start_of);
        let Some(first) = first.filter(|first| !first.is_empty()) else { return };
        let line = Line::styled(format!("  {first}"), sheet.inner().theme.fg(Token::Muted).italic());
        sheet.push(omp_tui::text::clip(line, sheet.inner().width));
    }
}

fn name_of(listing: &SessionListing) -> String {
    let named = listing.title.as_deref().or(listing.first_message.as_deref()).map(start_of);
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("(empty, {})", listing.id))
}

fn searched(listing: &SessionListing) -> String {
    let first = listing.first_message.as_deref().unwrap_or_default();
    let first = &first[..first.floor_char_boundary(SEARCHED)];
    format!("{} {first} {}", listing.title.as_deref().unwrap_or_default(), listing.cwd.display())
}

/// Keeps the end of a path, which is the most useful part.
fn short_folder(folder: &Path) -> String {
    let text = one_line(&folder.display().to_string());
    let chars = text.chars().count();
    match chars > LONGEST_FOLDER {
        true => std::iter::once('…').chain(text.chars().skip(chars - LONGEST_FOLDER + 1)).collect(),
        false => text,
    }
}

/// `now`, `5m`, `3h`, `2d`, `6w`, `1y`.
fn age(now: SystemTime, then: SystemTime) -> String {
    let minutes = now.duration_since(then).unwrap_or_default().as_secs() / 60;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        1440..20_160 => format!("{}d", minutes / 1440),
        20_160..525_600 => format!("{}w", minutes / 10_080),
        _ => format!("{}y", minutes / 525_600),
    }
}

impl Dialog for SessionsDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let scope = if self.everywhere { "all folders" } else { "this folder" };
        let order = if self.by_title { " · by title" } else { "" };
        let note = format!("{} of {} · {scope}{order}", self.picker.matches().len(), self.picker.total());
        let mut sheet = Sheet::new(space, "Sessions", &note);
        let space = &sheet.inner();
        let mut picker = std::mem::replace(&mut self.picker, Picker::new([], Search::Words));
        picker.draw(&mut sheet, "type to search", |item, selected| self.row(item, selected, space));
        self.picker = picker;
        match &mut self.doing {
            Doing::Renaming(field) => {
                sheet.unfocus();
                sheet.push(field.draw("Title: ", "", space));
                return sheet.finish(&[("enter", "rename"), ("esc", "back")]);
            }
            Doing::Deleting => {
                sheet.prose("Delete this session?", space.theme.fg(Token::Warning));
                return sheet.finish(&[("y", "delete"), ("any other key", "keep")]);
            }
            Doing::Refused(why) => sheet.prose(why, space.theme.fg(Token::Warning)),
            Doing::Choosing => self.about(&mut sheet),
        }
        sheet.finish_with_all(&[
            ("enter", "open"),
            ("esc", "close"),
            ("tab", "scope"),
            ("ctrl+r", "rename"),
            ("ctrl+d", "delete"),
            ("ctrl+s", "sort"),
        ])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        match (&self.doing, input) {
            (Doing::Renaming(_), _) => return self.rename(input),
            (Doing::Deleting, Input::Key(key)) => return self.confirm_delete(*key),
            (Doing::Deleting, _) => return DialogStep::Ignored,
            (Doing::Refused(_), Input::Key(_)) => self.doing = Doing::Choosing,
            _ => {}
        }
        let Input::Key(key) = input else { return super::picked(self.picker.input(input)) };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => return DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => return self.choose(),
            (Mods::NONE, KeyCode::Tab) => {
                self.everywhere = !self.everywhere;
                self.with_folder = self.everywhere;
            }
            (Mods::CTRL, KeyCode::Char('p')) => self.with_folder = !self.with_folder,
            (Mods::CTRL, KeyCode::Char('s')) => self.by_title = !self.by_title,
            (Mods::CTRL, KeyCode::Char('r')) => self.start_rename(),
            (Mods::CTRL, KeyCode::Char('d')) => self.start_delete(),
            (Mods::CTRL, KeyCode::Backspace) if self.picker.typed().is_empty() => self.start_delete(),
            _ => return super::picked(self.picker.input(input)),
        }
        if matches!((key.mods, key.code), (Mods::NONE, _) | (Mods::CTRL, KeyCode::Char('s'))) {
            self.list();
        }
        DialogStep::Redraw
    }

    fn context(&self) -> KeyContext {
        KeyContext::Sessions
    }
}

#[cfg(test)]
pub(super) mod tests;
