//! Checks the sequences that a frame may send to the terminal.

/// `gesture` means that the user requested a full rewrite.
pub fn check(bytes: &[u8], synchronized: bool, gesture: bool) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the bytes are no text")?;
    if text.is_empty() {
        return Ok(());
    }
    let wrong = |what: &str| Err(format!("{what}: {text:?}"));
    let count = |what: &str| text.matches(what).count();
    if !gesture && ["\x1b[2J", "\x1b[3J", "\x1b[H"].iter().any(|erase| text.contains(erase)) {
        return wrong("an ordinary frame wipes the screen or goes to its first row");
    }
    let brackets = usize::from(synchronized);
    let in_order =
        text.find("\x1b[?2026h") <= text.find("\x1b[?7l") && text.find("\x1b[?7h") <= text.find("\x1b[?2026l");
    if count("\x1b[?2026h") != brackets || count("\x1b[?2026l") != brackets || (synchronized && !in_order) {
        return wrong("the brackets of a synchronized frame are not balanced");
    }
    if synchronized && !(text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l")) {
        return wrong("something is outside of the synchronized frame");
    }
    if count("\x1b[?7l") != 1 || count("\x1b[?7h") != 1 {
        return wrong("autowrap is not off exactly once");
    }
    let open = count("\x1b]8;;http");
    if count("\x1b]8;;\x1b\\") != open {
        return wrong("a link is not closed");
    }
    if text.chars().any(|char| char.is_control() && !['\x1b', '\r', '\n'].contains(&char)) {
        return wrong("a control character");
    }
    Ok(())
}
