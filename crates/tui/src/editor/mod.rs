//! The message editor: wrapped lines, Emacs keys, undo, a kill ring, history, markers for pasted content, and a completion
//! list below. The application handles Enter.

mod buffer;
mod completion;
mod draft;
mod draw;
mod fragment;
mod history;
mod keys;
mod kill_ring;
mod layout;
mod modal;
mod paste;
mod react;
mod undo;
mod vim;
mod words;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

pub use completion::Completion;
pub use vim::{VimMode, VimReply};

pub(crate) use draft::{Did, EditorDraft};
pub(crate) use fragment::Fragment;
pub(crate) use keys::{EditingCommand, command};

use crate::component::{Component, Reaction, Space};
use crate::input::Input;
use crate::line::Line;
use crate::theme::Token;
use completion::Completions;
use fragment::MarkerMeaning;
use history::EditorHistory;
use kill_ring::CutSide;

#[derive(Clone, Debug, Default)]
pub struct Editor {
    draft: EditorDraft,
    history: EditorHistory,
    /// The previous key recalled an entry from the history.
    walked: bool,
    /// The next typed character is the target of a jump.
    jump: Option<CutSide>,
    completions: Completions,
    look: draw::EditorLook,
    view: draw::ShownRows,
    /// The number of long texts pasted into this message.
    pastes: usize,
    /// Set while modal editing is on.
    vim: Option<vim::Vim>,
}

/// An attachment in the text whose content the application holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The label shown in the text.
    pub label: String,
    /// The id that the application passed.
    pub payload: u64,
}

impl Editor {
    /// Returns the shown text, with markers for long pastes.
    pub fn text(&self) -> &str {
        self.draft.buffer().text()
    }

    /// Returns the text with pasted content in place of its markers.
    pub fn expanded_text(&self) -> String {
        self.draft.buffer().content().expanded()
    }

    /// Returns a number that changes with the text, to detect changes without comparing it.
    pub fn version(&self) -> u64 {
        self.draft.buffer().version()
    }

    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Returns the cursor position in bytes of [`Editor::text`].
    pub fn cursor(&self) -> usize {
        self.draft.buffer().cursor()
    }

    /// Moves the cursor to the nearest valid position at or after `at`.
    pub fn set_cursor(&mut self, at: usize) {
        self.draft.move_to(at);
    }

    /// Replaces the whole text, which can be undone; the cursor moves to the end.
    pub fn set_text(&mut self, text: &str) {
        self.history.leave();
        self.completions.close();
        self.draft.set(Fragment::plain(paste::clean(text)));
        self.settle_vim();
    }

    /// Inserts text at the cursor unchanged, however long.
    pub fn insert(&mut self, text: &str) {
        self.insert_fragment(Fragment::plain(paste::clean(text)));
    }

    /// Inserts text like a paste in the terminal: a long text becomes a marker.
    pub fn paste(&mut self, text: &str) {
        let clean = paste::clean(text);
        if clean.is_empty() {
            return;
        }
        if !paste::is_long(&clean) {
            return self.insert_fragment(Fragment::plain(clean));
        }
        self.pastes += 1;
        self.insert_fragment(paste::marker(clean, self.pastes));
    }

    /// Inserts a marker at the cursor that is shown as `label`, such as `[image #1]`, for content that the application holds
    /// under `payload`.
    pub fn insert_attachment(&mut self, label: &str, payload: u64) {
        let label = paste::clean(label).replace(['\n', '\t'], " ");
        if !label.is_empty() {
            self.insert_fragment(Fragment::marker(label, MarkerMeaning::Attachment(payload)));
        }
    }

    /// Returns the attachments in text order.
    pub fn attachments(&self) -> Vec<Attachment> {
        let content = self.draft.buffer().content();
        let attachment = |marker: &fragment::Marker| match marker.means {
            MarkerMeaning::Paste(_) => None,
            MarkerMeaning::Attachment(payload) => {
                Some(Attachment { label: content.text[marker.range.clone()].to_owned(), payload })
            }
        };
        content.markers.iter().filter_map(attachment).collect()
    }

    /// Returns the expanded text ([`Editor::expanded_text`]) and clears the editor. Read the attachments before.
    pub fn take(&mut self) -> String {
        self.history.leave();
        self.completions.close();
        self.pastes = 0;
        self.view = draw::ShownRows::default();
        if let Some(vim) = &mut self.vim {
            vim.begin();
        }
        self.draft.clear().expanded()
    }

    /// Turns a backslash before the cursor into a line break when Enter is pressed. Returns whether it did.
    pub fn continue_line(&mut self) -> bool {
        let at = self.cursor();
        let goes_on = self.text()[..at].ends_with('\\') && self.draft.buffer().previous(at) + 1 == at;
        if goes_on {
            self.draft.replace(at - 1..at, Fragment::plain("\n"));
            self.changed();
        }
        goes_on
    }

    /// Sets the history, newest last.
    pub fn set_history(&mut self, entries: Vec<String>) {
        self.history = EditorHistory::new(entries);
    }

    /// Adds an entry to the history.
    pub fn remember(&mut self, text: &str) {
        self.history.push(text);
    }

    /// Sets the text shown while the editor is empty.
    pub fn set_placeholder(&mut self, placeholder: impl Into<String>) {
        self.look.placeholder = placeholder.into();
    }

    /// Sets the prompt of the first row and its colour; the default is `> `.
    pub fn set_prompt(&mut self, sign: impl Into<String>, token: Token) {
        self.look.prompt = sign.into();
        self.look.prompt_token = token;
    }

    /// Sets the rows that the editor may take before it scrolls. The default is two fifths of the screen.
    pub fn set_max_rows(&mut self, rows: usize) {
        self.look.max_rows = Some(rows.max(1));
    }

    /// Shows a completion list, or closes it if the list is empty. Call it after each change of the text: until then the old
    /// list stays visible, but none of its entries can be chosen.
    pub fn set_completions(&mut self, completions: Vec<Completion>) {
        self.completions.set(completions);
    }

    /// Whether a list is open that handles up, down, tab, enter and escape.
    pub fn completing(&self) -> bool {
        self.completions.is_live()
    }

    pub fn selected_completion(&self) -> Option<&Completion> {
        self.completions.selected()
    }

    /// Inserts the selected completion. Returns whether the text changed.
    pub fn accept_completion(&mut self) -> bool {
        let Some(chosen) = self.completions.take_selected() else { return false };
        let text = self.text();
        let fits = text.get(chosen.replace.clone()).is_some() && !self.splits_marker(&chosen.replace);
        if !fits || text[chosen.replace.clone()] == chosen.insert {
            return false;
        }
        self.draft.replace(chosen.replace, Fragment::plain(paste::clean(&chosen.insert)));
        self.history.leave();
        true
    }

    fn splits_marker(&self, range: &std::ops::Range<usize>) -> bool {
        let splits = |at: usize, marker: &fragment::Marker| marker.range.start < at && at < marker.range.end;
        self.draft.buffer().markers().iter().any(|marker| splits(range.start, marker) || splits(range.end, marker))
    }

    fn insert_fragment(&mut self, fragment: Fragment) {
        self.draft.insert(fragment);
        self.changed();
    }

    fn changed(&mut self) {
        self.history.leave();
        self.completions.expire();
    }
}

impl Editor {
    /// Returns how many rows of the last drawing are text; completions follow.
    pub fn shown_rows(&self) -> usize {
        self.view.rows()
    }
}

impl Component for Editor {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.look.selected = self.vim.as_ref().and_then(|vim| vim.selection(&self.draft));
        let mut lines = draw::draw(&mut self.draft, &self.look, &mut self.view, space);
        lines.extend(self.completions.draw(space));
        lines
    }

    fn input(&mut self, input: &Input) -> Reaction {
        match input {
            Input::Key(key) => self.key(key),
            Input::Paste(text) => {
                if let Some(vim) = &mut self.vim {
                    vim.record(input);
                }
                self.paste(text);
                Reaction::Taken
            }
            Input::Mouse(_) | Input::Focus(_) => Reaction::Ignored,
        }
    }
}
