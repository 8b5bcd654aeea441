//! Queries to the terminal, each group followed by one that every terminal answers.
//!
//! Replies arrive in the order of the queries. If the sentinel (DA1) arrives before the reply to an earlier query, that
//! reply will not come. A queue maps each sentinel to its group, so sentinels cannot be confused. Nothing waits for replies:
//! the guessed capabilities are used until a reply corrects them.

use std::collections::VecDeque;

use crate::input::TerminalReply;
use crate::theme::Rgb;

const SENTINEL: &str = "\x1b[c";
const SYNCHRONIZED: u32 = 2026;
const APPEARANCE: u32 = 2031;
const IN_BAND_SIZE: u32 = 2048;

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    Keyboard,
    Synchronized,
    AppearanceNews,
    InBandSize,
    Background,
    Version,
    Graphics,
    Notifications,
    CellPixels,
}

impl Probe {
    fn question(self) -> String {
        match self {
            Probe::Keyboard => "\x1b[?u".to_owned(),
            Probe::Synchronized => format!("\x1b[?{SYNCHRONIZED}$p"),
            Probe::AppearanceNews => format!("\x1b[?{APPEARANCE}$p"),
            Probe::InBandSize => format!("\x1b[?{IN_BAND_SIZE}$p"),
            Probe::Background => "\x1b]11;?\x1b\\".to_owned(),
            Probe::Version => "\x1b[>0q".to_owned(),
            Probe::Graphics => "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\".to_owned(),
            Probe::Notifications => "\x1b]99;i=omp:p=?;\x1b\\".to_owned(),
            Probe::CellPixels => "\x1b[16t".to_owned(),
        }
    }

    /// Returns the capability that a missing reply implies.
    fn unanswered(self) -> Option<Capability> {
        match self {
            Probe::Keyboard => Some(Capability::KittyKeyboard(false)),
            Probe::Synchronized => Some(Capability::Synchronized(false)),
            Probe::AppearanceNews => Some(Capability::AppearanceNews(false)),
            Probe::InBandSize => Some(Capability::InBandSize(false)),
            Probe::Graphics => Some(Capability::Graphics(false)),
            Probe::Notifications => Some(Capability::Notifications(false)),
            Probe::Background | Probe::Version | Probe::CellPixels => None,
        }
    }
}

/// A capability that the terminal reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capability {
    KittyKeyboard(bool),
    /// DEC mode 2026.
    Synchronized(bool),
    /// DEC mode 2031: reports changes between dark and light.
    AppearanceNews(bool),
    /// DEC mode 2048: reports its size.
    InBandSize(bool),
    Background(Rgb),
    /// The appearance changed; the background is queried again.
    Appearance {
        dark: bool,
    },
    Version(String),
    /// Kitty graphics.
    Graphics(bool),
    Sixel,
    /// OSC 99.
    Notifications(bool),
    CellPixels {
        width: u32,
        height: u32,
    },
}

#[derive(Debug, Default)]
pub struct Prober {
    /// The queries before each outstanding sentinel.
    owners: VecDeque<Vec<Probe>>,
}

impl Prober {
    pub fn ask(&mut self, probes: &[Probe], out: &mut Vec<u8>) {
        for probe in probes {
            out.extend_from_slice(probe.question().as_bytes());
        }
        out.extend_from_slice(SENTINEL.as_bytes());
        self.owners.push_back(probes.to_vec());
    }

    /// Whether replies are outstanding.
    pub fn is_waiting(&self) -> bool {
        !self.owners.is_empty()
    }

    pub fn waits_for(&self, probe: Probe) -> bool {
        self.owners.iter().any(|owner| owner.contains(&probe))
    }

    /// Interprets a reply, even if it is late or unrequested.
    pub fn reply(&mut self, reply: TerminalReply) -> Vec<Capability> {
        let (probe, capability) = match reply {
            TerminalReply::Attributes(attributes) => return self.sentinel(&attributes),
            TerminalReply::KittyKeyboard(_) => (Probe::Keyboard, Capability::KittyKeyboard(true)),
            TerminalReply::Mode { mode: SYNCHRONIZED, state } => {
                (Probe::Synchronized, Capability::Synchronized(is_known(state)))
            }
            TerminalReply::Mode { mode: APPEARANCE, state } => {
                (Probe::AppearanceNews, Capability::AppearanceNews(is_known(state)))
            }
            TerminalReply::Mode { mode: IN_BAND_SIZE, state } => {
                (Probe::InBandSize, Capability::InBandSize(is_known(state)))
            }
            TerminalReply::Background(rgb) => (Probe::Background, Capability::Background(rgb)),
            TerminalReply::Version(version) => (Probe::Version, Capability::Version(version)),
            TerminalReply::Graphics { supported } => (Probe::Graphics, Capability::Graphics(supported)),
            TerminalReply::Notifications(_) => (Probe::Notifications, Capability::Notifications(true)),
            TerminalReply::CellPixels { width, height } => {
                (Probe::CellPixels, Capability::CellPixels { width, height })
            }
            TerminalReply::Appearance { dark } => return vec![Capability::Appearance { dark }],
            TerminalReply::Mode { .. } | TerminalReply::Size { .. } => return Vec::new(),
        };
        for owner in &mut self.owners {
            owner.retain(|one| *one != probe);
        }
        vec![capability]
    }

    fn sentinel(&mut self, attributes: &[u16]) -> Vec<Capability> {
        const SIXEL: u16 = 4;
        let Some(unanswered) = self.owners.pop_front() else { return Vec::new() };
        let mut known: Vec<Capability> = unanswered.into_iter().filter_map(Probe::unanswered).collect();
        if attributes.iter().skip(1).any(|attribute| *attribute == SIXEL) {
            known.push(Capability::Sixel);
        }
        known
    }
}

/// 0 means unknown, 4 permanently off.
fn is_known(state: u32) -> bool {
    matches!(state, 1..=3)
}

#[cfg(test)]
mod tests;
