//! Finds word boundaries: letters, digits and underscores are one class, other characters another, and a marker is its own
//! word.

use super::buffer::Buffer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    Space,
    Word,
    Sign,
    Marker,
}

/// Returns the beginning of the word before `at`.
pub(crate) fn word_left(buffer: &Buffer, at: usize) -> usize {
    let mut at = at;
    let mut within = CharClass::Space;
    while at > 0 {
        let before = buffer.previous(at);
        let class = class(buffer, before);
        if within != CharClass::Space && (class != within || class == CharClass::Marker) {
            break;
        }
        within = class;
        at = before;
    }
    at
}

/// Returns the end of the word after `at`.
pub(crate) fn word_right(buffer: &Buffer, at: usize) -> usize {
    let mut at = at;
    let mut within = CharClass::Space;
    while at < buffer.text().len() {
        let class = class(buffer, at);
        if within != CharClass::Space && (class != within || class == CharClass::Marker) {
            break;
        }
        within = class;
        at = buffer.next(at);
    }
    at
}

pub(super) fn class(buffer: &Buffer, at: usize) -> CharClass {
    if buffer.markers().iter().any(|marker| marker.range.start == at) {
        return CharClass::Marker;
    }
    match buffer.text()[at..].chars().next() {
        Some(char) if char.is_alphanumeric() || char == '_' => CharClass::Word,
        Some(char) if !char.is_whitespace() => CharClass::Sign,
        _ => CharClass::Space,
    }
}
