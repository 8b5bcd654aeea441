//! Handles keys in the editor: first the completion list, then moving and writing. At the first and last row, up and down
//! recall history entries.

use super::completion::CompletionKey;
use super::kill_ring::CutSide;
use super::{Did, EditingCommand, Editor, Fragment, command};
use crate::component::Reaction;
use crate::input::Key;

impl Editor {
    pub(super) fn key(&mut self, key: &Key) -> Reaction {
        if let Some(reaction) = self.modal_key(key) {
            return reaction;
        }
        let reaction = self.plain_key(key);
        self.settle_vim();
        reaction
    }

    /// Handles a key as without modal editing.
    fn plain_key(&mut self, key: &Key) -> Reaction {
        match self.completions.key(key) {
            CompletionKey::Ignored => {}
            CompletionKey::Moved => return Reaction::Taken,
            // With nothing left to complete, Enter acts as without a list.
            CompletionKey::Accept { or_ignore } => {
                let changed = self.accept_completion();
                return if changed || !or_ignore { Reaction::Taken } else { Reaction::Ignored };
            }
        }
        let Some(command) = command(key) else { return Reaction::Ignored };
        let walked = std::mem::take(&mut self.walked);
        match (self.jump.take(), command) {
            (Some(side), EditingCommand::Type(char)) => return self.jump_to(char, side),
            (_, EditingCommand::JumpForward) => self.jump = Some(CutSide::After),
            (_, EditingCommand::JumpBackward) => self.jump = Some(CutSide::Before),
            _ => return self.obey(command, walked),
        }
        Reaction::Taken
    }

    fn obey(&mut self, command: EditingCommand, walked: bool) -> Reaction {
        match command {
            EditingCommand::Up if walked => self.older(),
            EditingCommand::Down if walked => self.newer(),
            EditingCommand::Up | EditingCommand::Down | EditingCommand::PageUp | EditingCommand::PageDown => {
                self.vertical(command)
            }
            _ => self.write(command),
        }
    }

    /// Moves to the nearest occurrence of the character on one side of the cursor.
    fn jump_to(&mut self, char: char, side: CutSide) -> Reaction {
        let (text, at) = (self.text(), self.cursor());
        let next = self.draft.buffer().next(at);
        let found = match side {
            CutSide::Before => text[..at].rfind(char),
            CutSide::After => text[next..].find(char).map(|behind| next + behind),
        };
        if let Some(to) = found {
            self.draft.move_to(to);
            self.completions.close();
        }
        Reaction::Taken
    }

    fn write(&mut self, command: EditingCommand) -> Reaction {
        let nothing_there = self.is_empty();
        match self.draft.apply(command) {
            Did::Changed => self.changed(),
            Did::Moved => self.completions.close(),
            Did::Nothing if nothing_there => return Reaction::Ignored,
            Did::Nothing => {}
        }
        Reaction::Taken
    }

    fn vertical(&mut self, command: EditingCommand) -> Reaction {
        let page = self.view.rows().saturating_sub(1).max(1) as isize;
        let rows = match command {
            EditingCommand::Up => -1,
            EditingCommand::Down => 1,
            EditingCommand::PageUp => -page,
            _ => page,
        };
        if self.draft.move_rows(rows) == Did::Moved {
            self.completions.close();
            return Reaction::Taken;
        }
        match command {
            EditingCommand::Up if self.older() == Reaction::Taken => Reaction::Taken,
            EditingCommand::Down if self.newer() == Reaction::Taken => Reaction::Taken,
            EditingCommand::Up => self.moved(0),
            EditingCommand::Down => self.moved(self.text().len()),
            _ => Reaction::Ignored,
        }
    }

    fn moved(&mut self, to: usize) -> Reaction {
        if self.draft.move_to(to) == Did::Moved { Reaction::Taken } else { Reaction::Ignored }
    }

    pub(super) fn older(&mut self) -> Reaction {
        let entry = self.history.older(self.draft.buffer().content());
        self.recall(entry)
    }

    pub(super) fn newer(&mut self) -> Reaction {
        let entry = self.history.newer();
        self.recall(entry)
    }

    fn recall(&mut self, entry: Option<Fragment>) -> Reaction {
        self.walked = self.history.is_walking();
        let Some(entry) = entry else {
            return if self.walked { Reaction::Taken } else { Reaction::Ignored };
        };
        self.completions.close();
        self.draft.set(entry);
        Reaction::Taken
    }
}
