//! Symbols for states, trees and borders. They come in presets, because not every font has all of them.
//!
//! The keys are those of theme files; a file may contain keys of symbols that omp does not draw.

use std::collections::BTreeMap;

/// The set of characters that the terminal's font supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SymbolPreset {
    #[default]
    Unicode,
    /// A font patched with icons.
    Nerd,
    Ascii,
}

impl SymbolPreset {
    pub const ALL: [SymbolPreset; 3] = [SymbolPreset::Unicode, SymbolPreset::Nerd, SymbolPreset::Ascii];

    pub const fn name(self) -> &'static str {
        match self {
            SymbolPreset::Unicode => "unicode",
            SymbolPreset::Nerd => "nerd",
            SymbolPreset::Ascii => "ascii",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

macro_rules! symbols {
    ($($symbol:ident = $name:literal: $unicode:literal $nerd:literal $ascii:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Symbol { $($symbol,)* }

        impl Symbol {
            pub const ALL: &'static [Symbol] = &[$(Symbol::$symbol,)*];

            /// Returns the key in theme files.
            pub const fn name(self) -> &'static str {
                match self { $(Symbol::$symbol => $name,)* }
            }

            const fn in_preset(self, preset: SymbolPreset) -> &'static str {
                let [unicode, nerd, ascii] = match self { $(Symbol::$symbol => [$unicode, $nerd, $ascii],)* };
                match preset {
                    SymbolPreset::Unicode => unicode,
                    SymbolPreset::Nerd => nerd,
                    SymbolPreset::Ascii => ascii,
                }
            }
        }
    };
}

symbols! {
    StatusSuccess = "status.success": "✓" "\u{f00c}" "ok",
    StatusError = "status.error": "✗" "\u{f00d}" "x",
    StatusWarning = "status.warning": "▲" "\u{f071}" "!",
    StatusInfo = "status.info": "›" "\u{f129}" "i",
    StatusPending = "status.pending": "○" "\u{f254}" ".",
    StatusRunning = "status.running": "●" "\u{f110}" "*",
    StatusDisabled = "status.disabled": "◌" "\u{f05e}" "-",
    StatusEnabled = "status.enabled": "●" "\u{f111}" "*",
    StatusAborted = "status.aborted": "■" "\u{f04d}" "#",
    StatusDone = "status.done": "•" "•" "*",
    NavCursor = "nav.cursor": "❯" "\u{f054}" ">",
    NavSelected = "nav.selected": "→" "\u{f178}" ">",
    NavExpand = "nav.expand": "▸" "\u{f0da}" "+",
    NavCollapse = "nav.collapse": "▾" "\u{f0d7}" "-",
    NavBack = "nav.back": "←" "\u{f060}" "<",
    TreeBranch = "tree.branch": "├─" "├─" "|-",
    TreeLast = "tree.last": "└─" "└─" "`-",
    TreeVertical = "tree.vertical": "│" "│" "|",
    TreeHorizontal = "tree.horizontal": "─" "─" "-",
    TreeHook = "tree.hook": "└" "└" "`",
    RoundTopLeft = "boxRound.topLeft": "╭" "╭" "+",
    RoundTopRight = "boxRound.topRight": "╮" "╮" "+",
    RoundBottomLeft = "boxRound.bottomLeft": "╰" "╰" "+",
    RoundBottomRight = "boxRound.bottomRight": "╯" "╯" "+",
    RoundHorizontal = "boxRound.horizontal": "─" "─" "-",
    RoundVertical = "boxRound.vertical": "│" "│" "|",
    SharpTopLeft = "boxSharp.topLeft": "┌" "┌" "+",
    SharpTopRight = "boxSharp.topRight": "┐" "┐" "+",
    SharpBottomLeft = "boxSharp.bottomLeft": "└" "└" "+",
    SharpBottomRight = "boxSharp.bottomRight": "┘" "┘" "+",
    SharpHorizontal = "boxSharp.horizontal": "─" "─" "-",
    SharpVertical = "boxSharp.vertical": "│" "│" "|",
    SharpCross = "boxSharp.cross": "┼" "┼" "+",
    SharpTeeDown = "boxSharp.teeDown": "┬" "┬" "+",
    SharpTeeUp = "boxSharp.teeUp": "┴" "┴" "+",
    SharpTeeRight = "boxSharp.teeRight": "├" "├" "+",
    SharpTeeLeft = "boxSharp.teeLeft": "┤" "┤" "+",
    SepDot = "sep.dot": " · " " · " " - ",
    SepSlash = "sep.slash": " / " " / " " / ",
    SepPipe = "sep.pipe": " │ " " │ " " | ",
    SepBlock = "sep.block": "▌" "█" "#",
    SepPowerlineLeft = "sep.powerlineLeft": "▶" "\u{e0b0}" ">",
    SepPowerlineRight = "sep.powerlineRight": "◀" "\u{e0b2}" "<",
    SepPowerlineThinLeft = "sep.powerlineThinLeft": ">" "\u{e0b1}" ">",
    SepPowerlineThinRight = "sep.powerlineThinRight": "<" "\u{e0b3}" "<",
    IconModel = "icon.model": "" "\u{f2db} " "",
    IconFolder = "icon.folder": "" "\u{f07b} " "",
    IconBranch = "icon.branch": "" "\u{e725} " "",
    IconPi = "icon.pi": "π" "\u{e22c}" "pi",
    IconHost = "icon.host": "" "\u{f109} " "",
    IconTime = "icon.time": "" "\u{f017} " "",
    IconPlan = "icon.plan": "" "\u{f02d} " "",
    IconContext = "icon.context": "" "\u{f1c0} " "",
    IconCost = "icon.cost": "" "\u{f155} " "",
    IconInput = "icon.input": "↑" "\u{f062}" "^",
    IconOutput = "icon.output": "↓" "\u{f063}" "v",
    CheckboxChecked = "checkbox.checked": "☑" "\u{f14a}" "[x]",
    CheckboxUnchecked = "checkbox.unchecked": "☐" "\u{f096}" "[ ]",
    RadioSelected = "radio.selected": "◉" "\u{f192}" "(*)",
    RadioUnselected = "radio.unselected": "○" "\u{f10c}" "( )",
    FormatBullet = "format.bullet": "•" "•" "*",
    FormatDash = "format.dash": "—" "—" "-",
    MdQuoteBorder = "md.quoteBorder": "▏" "▏" "|",
    MdHrChar = "md.hrChar": "─" "─" "-",
    MdBullet = "md.bullet": "•" "•" "-",
}

/// The first parts of keys that theme files may contain.
pub const GROUPS: [&str; 16] = [
    "status", "nav", "tree", "boxRound", "boxSharp", "sep", "icon", "thinking", "checkbox", "radio", "format", "md",
    "advisor", "lang", "tab", "tool",
];

/// The text of each symbol, and the frames of spinners.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Symbols {
    preset: SymbolPreset,
    overrides: BTreeMap<Symbol, String>,
    status_frames: Option<Vec<String>>,
    activity_frames: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spinner {
    /// Shown beside one of several running tasks.
    Status,
    /// Shown in the activity line.
    Activity,
}

impl Symbols {
    pub fn new(preset: SymbolPreset) -> Self {
        Self { preset, ..Self::default() }
    }

    pub fn preset(&self) -> SymbolPreset {
        self.preset
    }

    /// Uses another preset for symbols that the theme file does not define: `symbolPreset` wins over the preset of the file.
    pub fn with_preset(self, preset: SymbolPreset) -> Self {
        Self { preset, ..self }
    }

    pub fn get(&self, symbol: Symbol) -> &str {
        self.overrides.get(&symbol).map_or(symbol.in_preset(self.preset), String::as_str)
    }

    pub fn set(&mut self, symbol: Symbol, text: String) {
        self.overrides.insert(symbol, text);
    }

    pub fn set_frames(&mut self, spinner: Spinner, frames: Vec<String>) {
        let slot = match spinner {
            Spinner::Status => &mut self.status_frames,
            Spinner::Activity => &mut self.activity_frames,
        };
        *slot = Some(frames).filter(|frames| !frames.is_empty());
    }

    /// Returns the frame of a spinner after this many steps.
    pub fn frame(&self, spinner: Spinner, step: usize) -> &str {
        let own = match spinner {
            Spinner::Status => &self.status_frames,
            Spinner::Activity => &self.activity_frames,
        };
        match own {
            Some(frames) => &frames[step % frames.len()],
            None => {
                let frames = frames_of(self.preset, spinner);
                frames[step % frames.len()]
            }
        }
    }
}

fn frames_of(preset: SymbolPreset, spinner: Spinner) -> &'static [&'static str] {
    match (preset, spinner) {
        (SymbolPreset::Ascii, _) => &["|", "/", "-", "\\"],
        (_, Spinner::Status) => &["◐", "◓", "◑", "◒"],
        (_, Spinner::Activity) => &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
    }
}

#[cfg(test)]
mod tests {
    use omp_stdx::display_width;

    use super::*;

    #[test]
    fn ascii_is_ascii_and_a_symbol_is_no_wider_than_its_place() {
        for symbol in Symbol::ALL.iter().copied() {
            assert!(symbol.in_preset(SymbolPreset::Ascii).is_ascii(), "{}", symbol.name());
            let widths = SymbolPreset::ALL.map(|preset| display_width::width(symbol.in_preset(preset)));
            assert!(widths.iter().all(|width| *width <= 3), "{} {widths:?}", symbol.name());
            assert!(GROUPS.contains(&symbol.name().split('.').next().unwrap()));
        }
    }

    #[test]
    fn frames_turn_around() {
        let mut symbols = Symbols::new(SymbolPreset::Ascii);
        assert_eq!([0, 1, 4, 7].map(|step| symbols.frame(Spinner::Activity, step)), ["|", "/", "|", "\\"]);
        symbols.set_frames(Spinner::Activity, vec!["a".into(), "b".into()]);
        assert_eq!((symbols.frame(Spinner::Activity, 3), symbols.frame(Spinner::Status, 0)), ("b", "|"));
        symbols.set_frames(Spinner::Activity, vec![]);
        assert_eq!(symbols.frame(Spinner::Activity, 0), "|");
    }
}
