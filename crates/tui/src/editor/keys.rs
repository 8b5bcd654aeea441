//! What the keys do while text is written.

use crate::input::{Key, KeyCode, Mods};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
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
    /// To the character that is typed next.
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

/// The command of a key. Enter, tab, escape and everything that is not for writing has none.
pub(crate) fn command(key: &Key) -> Option<Command> {
    if let Some(char) = key.typed() {
        return Some(Command::Type(char));
    }
    let Key { code, mods } = key.canonical();
    match code {
        KeyCode::Char(char) => chord(char, mods),
        _ => named(code, mods),
    }
}

fn chord(char: char, mods: Mods) -> Option<Command> {
    let redo = Mods::CTRL.with(Mods::SHIFT);
    Some(match (mods, char) {
        (Mods::CTRL, 'a') => Command::LineStart,
        (Mods::CTRL, 'e') => Command::LineEnd,
        (Mods::CTRL, 'b') => Command::Left,
        (Mods::CTRL, 'f') => Command::Right,
        (Mods::CTRL, 'j') => Command::Newline,
        (Mods::CTRL, 'd') => Command::EraseRight,
        (Mods::CTRL, 'h') => Command::EraseLeft,
        (Mods::CTRL, 'k') => Command::KillToLineEnd,
        (Mods::CTRL, 'u') => Command::KillToLineStart,
        (Mods::CTRL, 'w') => Command::KillWordLeft,
        (Mods::CTRL, 'y') => Command::Yank,
        (Mods::CTRL, '-' | '_' | '/') => Command::Undo,
        (Mods::CTRL, ']') => Command::JumpForward,
        (mods, ']') if mods == Mods::CTRL.with(Mods::ALT) => Command::JumpBackward,
        (Mods::SUPER, 'z') => Command::Undo,
        (Mods::ALT, 'b') => Command::WordLeft,
        (Mods::ALT, 'f') => Command::WordRight,
        (Mods::ALT, 'd') => Command::KillWordRight,
        (Mods::ALT, 'y') => Command::YankPop,
        (Mods::ALT, '<') => Command::TextStart,
        (Mods::ALT, '>') => Command::TextEnd,
        (Mods::ALT, '_') => Command::Redo,
        (mods, 'z' | '-') if mods == redo || mods == Mods::SUPER.with(Mods::SHIFT) => Command::Redo,
        (mods, 'd') if mods == Mods::SUPER.with(Mods::ALT) => Command::KillWordRight,
        _ => return None,
    })
}

fn named(code: KeyCode, mods: Mods) -> Option<Command> {
    let by_word = mods.has(Mods::CTRL) || mods.has(Mods::ALT);
    // Shift would select, which there is not: the cursor moves all the same.
    let bare = mods.without(Mods::SHIFT).is_empty();
    Some(match code {
        KeyCode::Enter if mods == Mods::SHIFT || mods == Mods::ALT => Command::Newline,
        KeyCode::Left if by_word => Command::WordLeft,
        KeyCode::Right if by_word => Command::WordRight,
        KeyCode::Backspace if by_word => Command::KillWordLeft,
        KeyCode::Delete if by_word => Command::KillWordRight,
        KeyCode::Home if mods == Mods::CTRL => Command::TextStart,
        KeyCode::End if mods == Mods::CTRL => Command::TextEnd,
        KeyCode::Left if mods.has(Mods::SUPER) => Command::LineStart,
        KeyCode::Right if mods.has(Mods::SUPER) => Command::LineEnd,
        _ if !bare => return None,
        KeyCode::Left => Command::Left,
        KeyCode::Right => Command::Right,
        KeyCode::Up => Command::Up,
        KeyCode::Down => Command::Down,
        KeyCode::Home => Command::LineStart,
        KeyCode::End => Command::LineEnd,
        KeyCode::PageUp => Command::PageUp,
        KeyCode::PageDown => Command::PageDown,
        KeyCode::Backspace => Command::EraseLeft,
        KeyCode::Delete => Command::EraseRight,
        _ => return None,
    })
}
