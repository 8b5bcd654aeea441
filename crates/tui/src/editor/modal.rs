//! The editor with vim's modes switched on.

use super::vim::{Vim, VimMode, VimReply, VimStep};
use super::{EditingCommand, Editor};
use crate::component::{Component, Reaction};
use crate::input::{Input, Key};

impl Editor {
    /// Switches modal editing on, in insert mode, or off.
    pub fn set_vim(&mut self, on: bool) {
        self.draft.end_step();
        self.vim = on.then(Vim::default);
    }

    /// Returns the mode, if modal editing is on.
    pub fn vim_mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    /// Returns what to show beside the text: the mode, or the `:` command that is being typed.
    pub fn vim_word(&self) -> Option<String> {
        self.vim.as_ref().map(Vim::word)
    }

    /// Whether a key is for modal editing and not for the application.
    pub fn vim_wants(&self, key: &Key) -> bool {
        self.vim.as_ref().is_some_and(|vim| vim.wants(key))
    }

    /// Handles a key that [`Self::vim_wants`].
    pub fn vim_key(&mut self, key: &Key) -> VimReply {
        let Some(vim) = &mut self.vim else { return VimReply::Ignored };
        self.completions.close();
        if vim.mode() == VimMode::Insert {
            self.leave_insert();
            return VimReply::Taken;
        }
        let version = self.draft.buffer().version();
        let step = vim.key(key, &mut self.draft);
        if self.draft.buffer().version() != version {
            self.history.leave();
        }
        match step {
            VimStep::Reply(reply) => return reply,
            VimStep::Repeat { count } => self.repeat(count),
            VimStep::Older => {
                self.older();
            }
            VimStep::Newer => {
                self.newer();
            }
        }
        self.settle_vim();
        VimReply::Taken
    }

    /// Esc in insert mode, with the repetitions of a count.
    fn leave_insert(&mut self) {
        let Some(vim) = &mut self.vim else { return };
        let (times, opens_line, inputs) = vim.insertion();
        for _ in 0..times {
            if opens_line {
                self.draft.apply(EditingCommand::LineEnd);
                self.draft.apply(EditingCommand::Newline);
            }
            for input in &inputs {
                self.input(input);
            }
        }
        if let Some(vim) = &mut self.vim {
            vim.leave_insert(&mut self.draft);
        }
    }

    /// Presses the keys of the last change again.
    fn repeat(&mut self, count: Option<usize>) {
        let Some(vim) = &mut self.vim else { return };
        let (inputs, before) = vim.last_change();
        vim.set_count(count.or(before));
        self.draft.begin_step();
        for input in &inputs {
            self.input(input);
        }
    }

    /// Keeps the cursor of normal mode on a character.
    pub(super) fn settle_vim(&mut self) {
        if let Some(vim) = &self.vim {
            vim.settle(&mut self.draft);
        }
    }

    /// Handles a key for modal editing in an editor without keys of an application.
    pub(super) fn modal_key(&mut self, key: &Key) -> Option<Reaction> {
        let wanted = self.vim_wants(key);
        if !wanted {
            if let Some(vim) = &mut self.vim {
                vim.record(&Input::Key(*key));
            }
            return None;
        }
        match self.vim_key(key) {
            VimReply::Ignored => None,
            VimReply::Taken | VimReply::Leave | VimReply::Unknown(_) => Some(Reaction::Taken),
        }
    }
}
