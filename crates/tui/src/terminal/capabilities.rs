//! The capabilities of the terminal: first guessed from the environment, then corrected by its replies.
//!
//! A wrong guess affects only appearance, never content.

use super::env::TerminalEnv;
use super::probe::{Capability, Probe};
use crate::screen::{ColorDepth, Profile};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalId {
    Kitty,
    Ghostty,
    WezTerm,
    Iterm2,
    VsCode,
    Alacritty,
    Warp,
    Apple,
    WindowsTerminal,
    /// The Linux console, or a terminal without features: no queries are sent.
    Plain,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplexer {
    Tmux,
    Screen,
    Zellij,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageProtocol {
    Kitty,
    Iterm2,
    Sixel,
}

/// How a user who is not looking at the terminal is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyBy {
    Nothing,
    Bell,
    Osc9,
    Osc99,
    Osc777,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub id: TerminalId,
    pub multiplexer: Option<Multiplexer>,
    /// Whether the terminal is reached over ssh.
    pub remote: bool,
    /// Whether rows that are too wide for a new size are known to be wrapped, not truncated.
    pub rewraps: bool,
    pub synchronized: bool,
    pub colors: ColorDepth,
    pub links: bool,
    pub images: Option<ImageProtocol>,
    pub notify: NotifyBy,
    /// The size of a cell in pixels, once the terminal has reported it.
    pub cell: Option<(u32, u32)>,
    /// Settings of the user, which replies do not override.
    forced: Forced,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Forced {
    synchronized: bool,
    images: bool,
    links: bool,
    colors: bool,
}

impl Capabilities {
    pub fn detect(env: &TerminalEnv) -> Self {
        let id = id(env);
        let multiplexer = multiplexer(env);
        let forced_sync = synchronized_by_user(env);
        let forced_images = images_by_user(env);
        let forced_links = links_by_user(env);
        let forced_colors = colors_by_user(env);
        Self {
            id,
            multiplexer,
            remote: env.has("SSH_CONNECTION"),
            rewraps: multiplexer.is_some() || !matches!(id, TerminalId::Plain | TerminalId::Other),
            synchronized: forced_sync.unwrap_or_else(|| synchronized(env, id, multiplexer)),
            colors: forced_colors.unwrap_or_else(|| colors(env, id)),
            links: forced_links.unwrap_or_else(|| links(env, id)),
            images: forced_images.unwrap_or_else(|| images(env, id, multiplexer)),
            notify: notify(env, id),
            cell: None,
            forced: Forced {
                synchronized: forced_sync.is_some(),
                images: forced_images.is_some(),
                links: forced_links.is_some(),
                colors: forced_colors.is_some(),
            },
        }
    }

    pub fn profile(&self) -> Profile {
        Profile {
            multiplexer: self.multiplexer.is_some(),
            resize_lag: if self.multiplexer.is_some() || self.remote { Profile::LATE } else { Profile::PROMPT },
            rewraps: self.rewraps,
            synchronized: self.synchronized,
            colors: self.colors,
            links: self.links,
        }
    }

    /// Returns the useful queries, in groups that each end with the sentinel.
    pub(super) fn probes(&self) -> Vec<Vec<Probe>> {
        if self.id == TerminalId::Plain {
            return Vec::new();
        }
        let mut rest = vec![Probe::Background, Probe::Synchronized, Probe::AppearanceNews, Probe::InBandSize];
        let unknown = self.id == TerminalId::Other && self.multiplexer.is_none();
        if unknown {
            rest.push(Probe::Version);
        }
        if self.notify != NotifyBy::Nothing && (unknown || self.id == TerminalId::Kitty) {
            rest.push(Probe::Notifications);
        }
        if self.images.is_some() || unknown {
            rest.push(Probe::CellPixels);
        }
        vec![vec![Probe::Keyboard], rest]
    }

    /// Returns the query that follows from a reply. Some terminals print the graphics query instead of answering it, but
    /// none of those that report their name.
    pub(super) fn follow_up(&self, capability: &Capability) -> Option<Probe> {
        let asks = matches!(capability, Capability::Version(_)) && self.images.is_none();
        (asks && !self.forced.images && self.multiplexer.is_none()).then_some(Probe::Graphics)
    }

    /// Applies a reply. Returns whether anything changed.
    pub(super) fn learn(&mut self, capability: &Capability) -> bool {
        let before = self.clone();
        match capability {
            Capability::Synchronized(supported) if !self.forced.synchronized => self.synchronized = *supported,
            Capability::Graphics(true) => self.offer_images(ImageProtocol::Kitty),
            Capability::Sixel => self.offer_images(ImageProtocol::Sixel),
            Capability::Notifications(true) if self.notify != NotifyBy::Nothing => self.notify = NotifyBy::Osc99,
            Capability::CellPixels { width, height } => self.cell = Some((*width, *height)),
            Capability::Version(version) if self.id == TerminalId::Other => {
                // Of those that report a version, only xterm truncates.
                self.rewraps = !version.to_ascii_lowercase().starts_with("xterm(");
                self.is_in_fact(by_version(version));
            }
            _ => {}
        }
        *self != before
    }

    /// The environment did not identify the terminal, as over ssh, but the terminal reported its name.
    fn is_in_fact(&mut self, id: TerminalId) {
        let nothing_set = TerminalEnv::default();
        self.id = id;
        if id == TerminalId::Other || self.multiplexer.is_some() {
            return;
        }
        if !self.forced.links {
            self.links = links(&nothing_set, id);
        }
        if !self.forced.colors {
            self.colors = self.colors.max(colors(&nothing_set, id));
        }
        if let Some(protocol) = images(&nothing_set, id, None) {
            self.offer_images(protocol);
        }
        if self.notify == NotifyBy::Bell {
            self.notify = notify(&nothing_set, id);
        }
    }

    fn offer_images(&mut self, protocol: ImageProtocol) {
        if !self.forced.images && self.images.is_none() {
            self.images = Some(protocol);
        }
    }
}

fn id(env: &TerminalEnv) -> TerminalId {
    let by_variable = [
        ("KITTY_WINDOW_ID", TerminalId::Kitty),
        ("GHOSTTY_RESOURCES_DIR", TerminalId::Ghostty),
        ("WEZTERM_PANE", TerminalId::WezTerm),
        ("ITERM_SESSION_ID", TerminalId::Iterm2),
        ("VSCODE_PID", TerminalId::VsCode),
        ("ALACRITTY_WINDOW_ID", TerminalId::Alacritty),
    ];
    let by_program = [
        ("kitty", TerminalId::Kitty),
        ("ghostty", TerminalId::Ghostty),
        ("wezterm", TerminalId::WezTerm),
        ("iterm.app", TerminalId::Iterm2),
        ("vscode", TerminalId::VsCode),
        ("alacritty", TerminalId::Alacritty),
        ("warpterminal", TerminalId::Warp),
        ("apple_terminal", TerminalId::Apple),
    ];
    let program = env.get("TERM_PROGRAM").unwrap_or_default().to_ascii_lowercase();
    let term = env.term();
    if let Some((_, id)) = by_variable.iter().find(|(name, _)| env.has(name)) {
        return *id;
    }
    if let Some((_, id)) = by_program.iter().find(|(name, _)| *name == program) {
        return *id;
    }
    match term.as_str() {
        _ if env.has("WT_SESSION") => TerminalId::WindowsTerminal,
        "dumb" | "linux" | "cons25" => TerminalId::Plain,
        // Windows has no TERM.
        "" if cfg!(unix) => TerminalId::Plain,
        // The terminal inside Emacs.
        term if term.starts_with("eterm") => TerminalId::Plain,
        term if term.contains("ghostty") => TerminalId::Ghostty,
        term if term.contains("kitty") => TerminalId::Kitty,
        term if term.starts_with("alacritty") => TerminalId::Alacritty,
        term if term.starts_with("wezterm") => TerminalId::WezTerm,
        _ => TerminalId::Other,
    }
}

fn by_version(version: &str) -> TerminalId {
    let names = [
        ("kitty", TerminalId::Kitty),
        ("ghostty", TerminalId::Ghostty),
        ("wezterm", TerminalId::WezTerm),
        ("iterm2", TerminalId::Iterm2),
        ("xterm.js", TerminalId::VsCode),
        ("alacritty", TerminalId::Alacritty),
    ];
    let version = version.to_ascii_lowercase();
    names.iter().find(|(name, _)| version.starts_with(name)).map_or(TerminalId::Other, |(_, id)| *id)
}

fn multiplexer(env: &TerminalEnv) -> Option<Multiplexer> {
    let by_variable = [
        ("TMUX", Multiplexer::Tmux),
        ("STY", Multiplexer::Screen),
        ("ZELLIJ", Multiplexer::Zellij),
        ("CMUX_WORKSPACE_ID", Multiplexer::Other),
        ("CMUX_SURFACE_ID", Multiplexer::Other),
    ];
    let term = env.term();
    // The variables may be lost through sudo or ssh; TERM is kept.
    let by_term = [("tmux", Multiplexer::Tmux), ("screen", Multiplexer::Screen)];
    let set = by_variable.iter().find(|(name, _)| env.has(name));
    set.or_else(|| by_term.iter().find(|(name, _)| term.starts_with(name))).map(|(_, one)| *one)
}

/// A setting that disables it wins over one that enables it.
fn synchronized_by_user(env: &TerminalEnv) -> Option<bool> {
    let either_way = env.get("PI_TUI_SYNC_OUTPUT");
    if env.has("PI_NO_SYNC_OUTPUT") || either_way == Some("0") {
        return Some(false);
    }
    (env.get("PI_FORCE_SYNC_OUTPUT") == Some("1") || either_way == Some("1")).then_some(true)
}

fn synchronized(env: &TerminalEnv, id: TerminalId, multiplexer: Option<Multiplexer>) -> bool {
    // `Sy` in a list of codes that each have a capital and a small letter.
    if env.get("TERM_FEATURES").is_some_and(|features| features.contains("Sy")) || env.has("WT_SESSION") {
        return true;
    }
    let known = [
        TerminalId::Kitty,
        TerminalId::Ghostty,
        TerminalId::WezTerm,
        TerminalId::Iterm2,
        TerminalId::Alacritty,
        TerminalId::VsCode,
    ];
    multiplexer.is_none() && known.contains(&id)
}

fn colors_by_user(env: &TerminalEnv) -> Option<ColorDepth> {
    match env.get("FORCE_COLOR").map(str::to_ascii_lowercase).as_deref() {
        Some("0" | "false") => Some(ColorDepth::None),
        Some("1" | "true") => Some(ColorDepth::Ansi16),
        Some("2") => Some(ColorDepth::Ansi256),
        Some("3") => Some(ColorDepth::True),
        _ => env.has("NO_COLOR").then_some(ColorDepth::None),
    }
}

fn colors(env: &TerminalEnv, id: TerminalId) -> ColorDepth {
    let term = env.term();
    let told = env.get("COLORTERM").unwrap_or_default().to_ascii_lowercase();
    match id {
        _ if term == "dumb" => ColorDepth::None,
        _ if told == "truecolor" || told == "24bit" || term.contains("direct") => ColorDepth::True,
        TerminalId::Apple => ColorDepth::Ansi256,
        TerminalId::Plain => ColorDepth::Ansi16,
        TerminalId::Other => {
            let many = ["256color", "xterm", "tmux", "screen", "rxvt-unicode"].iter().any(|name| term.contains(name));
            if many { ColorDepth::Ansi256 } else { ColorDepth::Ansi16 }
        }
        // A multiplexer may support fewer colours than the terminal it hides.
        _ if multiplexer(env).is_some() => ColorDepth::Ansi256,
        _ => ColorDepth::True,
    }
}

/// A setting that disables it wins over one that enables it.
fn links_by_user(env: &TerminalEnv) -> Option<bool> {
    let never = env.get("PI_NO_HYPERLINKS") == Some("1");
    (never || env.get("PI_FORCE_HYPERLINKS") == Some("1")).then_some(!never)
}

fn links(env: &TerminalEnv, id: TerminalId) -> bool {
    // Screen forwards no links, even if it is not the innermost multiplexer.
    if env.has("STY") {
        return false;
    }
    match multiplexer(env) {
        Some(Multiplexer::Tmux) if env.has("TMUX") => tmux_version(env).is_some_and(|version| version >= (3, 4)),
        Some(Multiplexer::Tmux | Multiplexer::Screen) => false,
        _ => !matches!(id, TerminalId::Plain | TerminalId::Other | TerminalId::Apple | TerminalId::Warp),
    }
}

fn tmux_version(env: &TerminalEnv) -> Option<(u32, u32)> {
    let version = env.get("TERM_PROGRAM_VERSION").filter(|_| env.get("TERM_PROGRAM") == Some("tmux"))?;
    let (major, minor) = version.trim().split_once('.')?;
    let digits = minor.find(|char: char| !char.is_ascii_digit()).map_or(minor, |end| &minor[..end]);
    Some((major.parse().ok()?, digits.parse().ok()?))
}

/// `Some(None)` means that the user disabled images.
fn images_by_user(env: &TerminalEnv) -> Option<Option<ImageProtocol>> {
    let wanted = match env.get("PI_FORCE_IMAGE_PROTOCOL")?.trim().to_ascii_lowercase().as_str() {
        "kitty" => Some(ImageProtocol::Kitty),
        "iterm2" | "iterm" => Some(ImageProtocol::Iterm2),
        "sixel" => Some(ImageProtocol::Sixel),
        _ => None,
    };
    Some(wanted)
}

fn images(env: &TerminalEnv, id: TerminalId, multiplexer: Option<Multiplexer>) -> Option<ImageProtocol> {
    if multiplexer.is_some() {
        return None;
    }
    match id {
        TerminalId::Kitty | TerminalId::Ghostty | TerminalId::WezTerm => Some(ImageProtocol::Kitty),
        // On Windows it prints the bytes instead.
        TerminalId::Warp if !cfg!(windows) && !env.has("WSL_DISTRO_NAME") => Some(ImageProtocol::Kitty),
        TerminalId::Iterm2 => Some(ImageProtocol::Iterm2),
        _ => None,
    }
}

fn notify(env: &TerminalEnv, id: TerminalId) -> NotifyBy {
    if matches!(env.get("PI_NOTIFICATIONS"), Some("off" | "0" | "false")) {
        return NotifyBy::Nothing;
    }
    let term = env.term();
    match id {
        TerminalId::Kitty => NotifyBy::Osc99,
        TerminalId::Ghostty | TerminalId::WezTerm | TerminalId::Iterm2 | TerminalId::Warp => NotifyBy::Osc9,
        _ if ["foot", "rxvt-unicode"].iter().any(|name| term.starts_with(name)) => NotifyBy::Osc777,
        _ => NotifyBy::Bell,
    }
}

#[cfg(test)]
mod tests;
