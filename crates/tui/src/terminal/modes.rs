//! Tracks the enabled terminal modes, so that all are disabled again, in reverse order.

/// A mode that must be off when the terminal is handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalMode {
    BracketedPaste,
    Focus,
    /// SGR reports of buttons, drags and the wheel.
    Mouse,
    /// The Kitty keyboard protocol with these flags, pushed on its stack.
    KittyKeyboard(u8),
    ModifyOtherKeys,
    /// Notifications about a dark or light appearance.
    Appearance,
    /// The terminal reports its size itself.
    InBandSize,
    /// The previous title is saved on the terminal's stack.
    Title,
}

impl TerminalMode {
    fn enter(self) -> String {
        match self {
            TerminalMode::KittyKeyboard(flags) => format!("\x1b[>{flags}u"),
            TerminalMode::BracketedPaste => "\x1b[?2004h".to_owned(),
            TerminalMode::Focus => "\x1b[?1004h".to_owned(),
            TerminalMode::Mouse => "\x1b[?1002h\x1b[?1006h".to_owned(),
            TerminalMode::ModifyOtherKeys => "\x1b[>4;2m".to_owned(),
            TerminalMode::Appearance => "\x1b[?2031h".to_owned(),
            TerminalMode::InBandSize => "\x1b[?2048h".to_owned(),
            TerminalMode::Title => "\x1b[22;0t".to_owned(),
        }
    }

    fn leave(self) -> &'static str {
        match self {
            TerminalMode::KittyKeyboard(_) => "\x1b[<u",
            TerminalMode::BracketedPaste => "\x1b[?2004l",
            TerminalMode::Focus => "\x1b[?1004l",
            TerminalMode::Mouse => "\x1b[?1006l\x1b[?1002l",
            TerminalMode::ModifyOtherKeys => "\x1b[>4;0m",
            TerminalMode::Appearance => "\x1b[?2031l",
            TerminalMode::InBandSize => "\x1b[?2048l",
            TerminalMode::Title => "\x1b[23;0t",
        }
    }
}

/// Disables all modes, for cases in which the enabled ones are unknown.
pub const ALL_OFF: &str =
    "\x1b[?2048l\x1b[?2031l\x1b[<u\x1b[>4;0m\x1b[?1006l\x1b[?1002l\x1b[?1004l\x1b[?2004l\x1b[23;0t";

/// Resets what an interrupted frame may have left: a bracket, colours, disabled wrapping, a hidden cursor.
pub const AFTER_A_FRAME: &str = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?25h";

#[derive(Debug, Default)]
pub struct Modes {
    on: Vec<TerminalMode>,
}

impl Modes {
    /// Records the mode and enables it unless it is already on.
    pub fn push(&mut self, mode: TerminalMode, out: &mut Vec<u8>) {
        if !self.on.contains(&mode) {
            out.extend_from_slice(mode.enter().as_bytes());
            self.on.push(mode);
        }
    }

    pub fn remove(&mut self, mode: TerminalMode, out: &mut Vec<u8>) {
        if let Some(at) = self.on.iter().position(|one| *one == mode) {
            out.extend_from_slice(mode.leave().as_bytes());
            self.on.remove(at);
        }
    }

    pub fn has_kitty(&self) -> bool {
        self.on.iter().any(|mode| matches!(mode, TerminalMode::KittyKeyboard(_)))
    }

    /// Disables all modes but keeps them recorded.
    pub fn leave(&self, out: &mut Vec<u8>) {
        for mode in self.on.iter().rev() {
            out.extend_from_slice(mode.leave().as_bytes());
        }
    }

    pub fn enter_again(&self, out: &mut Vec<u8>) {
        for mode in &self.on {
            out.extend_from_slice(mode.enter().as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_mirrors_the_beginning() {
        let (mut modes, mut out) = (Modes::default(), Vec::new());
        for mode in [
            TerminalMode::BracketedPaste,
            TerminalMode::Focus,
            TerminalMode::ModifyOtherKeys,
            TerminalMode::BracketedPaste,
        ] {
            modes.push(mode, &mut out);
        }
        modes.remove(TerminalMode::ModifyOtherKeys, &mut out);
        modes.remove(TerminalMode::Mouse, &mut out);
        modes.push(TerminalMode::KittyKeyboard(5), &mut out);
        let began = String::from_utf8(std::mem::take(&mut out)).unwrap();
        assert_eq!(began, "\x1b[?2004h\x1b[?1004h\x1b[>4;2m\x1b[>4;0m\x1b[>5u");
        modes.leave(&mut out);
        assert_eq!(String::from_utf8(std::mem::take(&mut out)).unwrap(), "\x1b[<u\x1b[?1004l\x1b[?2004l");
        modes.enter_again(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\x1b[?2004h\x1b[?1004h\x1b[>5u");
    }

    #[test]
    fn every_mode_is_off_in_the_end() {
        let every = [
            TerminalMode::BracketedPaste,
            TerminalMode::Focus,
            TerminalMode::Mouse,
            TerminalMode::KittyKeyboard(5),
            TerminalMode::ModifyOtherKeys,
            TerminalMode::Appearance,
            TerminalMode::InBandSize,
            TerminalMode::Title,
        ];
        for mode in every {
            assert!(ALL_OFF.contains(mode.leave()), "{mode:?}");
            assert_ne!(mode.enter(), mode.leave());
        }
    }
}
