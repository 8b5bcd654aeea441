//! The terminal toolkit: a renderer that writes each row once, an input decoder, and screen components.
//!
//! A [`Component`] draws itself as [`Line`]s of styled text. The rows of all components, one below the other, form a
//! [`Frame`], and the renderer updates the terminal from one frame to the next. This crate knows nothing about agents or
//! sessions.

mod component;
mod diagram;
pub mod diff;
mod editor;
mod emulator;
mod frame;
pub mod highlight;
mod image;
mod input;
mod line;
mod markdown;
pub mod math;
mod screen;
mod style;
mod terminal;
pub mod text;
mod theme;
mod widgets;

pub use component::{Component, DefaultKeys, KeyNames, Reaction, Space};
pub use diagram::Diagrams;
pub use editor::{Attachment, Completion, Editor, VimMode, VimReply};
pub use emulator::Emulator;
pub use frame::{Cursor, Frame, Overlay, Rows};
pub use image::{CellSize, Cells, ImageBlock, ImageBudget, ImageWay, Picture, Pixels};
pub use input::{Decoded, Input, InputDecoder, Key, KeyCode, KeyNameError, Mods, Mouse, MouseKind, TerminalReply};
pub use line::{Line, Span};
pub use markdown::Markdown;
pub use screen::{ColorDepth, MOST_PANE_TEXT, Painted, PaneFacts, PaneText, Profile, Renderer, Size};
pub use style::{Attrs, Color, Style};
pub use terminal::{
    Capabilities, Capability, ImageProtocol, Multiplexer, Notification, NotifyBy, Signal, TermEvent, Terminal,
    TerminalEnv, TerminalId, TerminalOptions, window_size,
};
pub use theme::{Rgb, Spinner, Symbol, SymbolPreset, Symbols, Theme, ThemeError, ThemeProblem, Themes, Token};
pub use widgets::{
    Countdown, Fuzzy, FuzzyHit, InputLine, ListChoice, ListWindow, Loader, Panel, ProgressBar, RankedMatch, ScrollView,
    SelectList, Setting, SettingChange, SettingKind, SettingsList, Spacer, TabBar, TextWidget, TreeList, TreeListNode,
    horizontal_rule,
};
