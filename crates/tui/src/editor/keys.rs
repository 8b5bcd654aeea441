//! Maps keys to editing commands.

use crate::input::{Key, KeyCode, Mods};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditingCommand {
    Type(char),
    Newline,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    /// Jumps to the next typed character.
    JumpForward,
    JumpBackward,
    Up,
    Down,
    PageUp,
    PageDown,
    EraseLeft,
    EraseRight,
    KillWordLeft,
    KillWordRight,
    KillToLineStart,
    KillToLineEnd,
    Yank,
    YankPop,
    Undo,
    Redo,
}

/// Returns the command of a key. Enter, tab, escape and keys that do not edit have none.
pub(crate) fn command(key: &Key) -> Option<EditingCommand> {
    if let Some(char) = key.typed() {
        return Some(EditingCommand::Type(char));
    }
    let Key { code, mods } = key.canonical();
    match code {
        KeyCode::Char(char) => chord(char, mods),
        _ => named(code, mods),
    }
}

fn chord(char: char, mods: Mods) -> Option<EditingCommand> {
    let redo = Mods::CTRL.with(Mods::SHIFT);
    Some(match (mods, char) {
        (Mods::CTRL, 'a') => EditingCommand::LineStart,
        (Mods::CTRL, 'e') => EditingCommand::LineEnd,
        (Mods::CTRL, 'b') => EditingCommand::Left,
        (Mods::CTRL, 'f') => EditingCommand::Right,
        (Mods::CTRL, 'j') => EditingCommand::Newline,
        (Mods::CTRL, 'd') => EditingCommand::EraseRight,
        (Mods::CTRL, 'h') => EditingCommand::EraseLeft,
        (Mods::CTRL, 'k') => EditingCommand::KillToLineEnd,
        (Mods::CTRL, 'u') => EditingCommand::KillToLineStart,
        (Mods::CTRL, 'w') => EditingCommand::KillWordLeft,
        (Mods::CTRL, 'y') => EditingCommand::Yank,
        (Mods::CTRL, '-' | '_' | '/') => EditingCommand::Undo,
        (Mods::CTRL, ']') => EditingCommand::JumpForward,
        (mods, ']') if mods == Mods::CTRL.with(Mods::ALT) => EditingCommand::JumpBackward,
        (Mods::SUPER, 'z') => EditingCommand::Undo,
        (Mods::ALT, 'b') => EditingCommand::WordLeft,
        (Mods::ALT, 'f') => EditingCommand::WordRight,
        (Mods::ALT, 'd') => EditingCommand::KillWordRight,
        (Mods::ALT, 'y') => EditingCommand::YankPop,
        (Mods::ALT, '<') => EditingCommand::TextStart,
        (Mods::ALT, '>') => EditingCommand::TextEnd,
        (Mods::ALT, '_') => EditingCommand::Redo,
        (mods, 'z' | '-') if mods == redo || mods == Mods::SUPER.with(Mods::SHIFT) => EditingCommand::Redo,
        (mods, 'd') if mods == Mods::SUPER.with(Mods::ALT) => EditingCommand::KillWordRight,
        _ => return None,
    })
}

fn named(code: KeyCode, mods: Mods) -> Option<EditingCommand> {
    let by_word = mods.has(Mods::CTRL) || mods.has(Mods::ALT);
    // There is no selection, so shift is ignored and the cursor moves.
    let bare = mods.without(Mods::SHIFT).is_empty();
    Some(match code {
        KeyCode::Enter if mods == Mods::SHIFT || mods == Mods::ALT => EditingCommand::Newline,
        KeyCode::Left if by_word => EditingCommand::WordLeft,
        KeyCode::Right if by_word => EditingCommand::WordRight,
        KeyCode::Backspace if by_word => EditingCommand::KillWordLeft,
        KeyCode::Delete if by_word => EditingCommand::KillWordRight,
        KeyCode::Home if mods == Mods::CTRL => EditingCommand::TextStart,
        KeyCode::End if mods == Mods::CTRL => EditingCommand::TextEnd,
        KeyCode::Left if mods.has(Mods::SUPER) => EditingCommand::LineStart,
        KeyCode::Right if mods.has(Mods::SUPER) => EditingCommand::LineEnd,
        _ if !bare => return None,
        KeyCode::Left => EditingCommand::Left,
        KeyCode::Right => EditingCommand::Right,
        KeyCode::Up => EditingCommand::Up,
        KeyCode::Down => EditingCommand::Down,
        KeyCode::Home => EditingCommand::LineStart,
        KeyCode::End => EditingCommand::LineEnd,
        KeyCode::PageUp => EditingCommand::PageUp,
        KeyCode::PageDown => EditingCommand::PageDown,
        KeyCode::Backspace => EditingCommand::EraseLeft,
        KeyCode::Delete => EditingCommand::EraseRight,
        _ => return None,
    })
}
