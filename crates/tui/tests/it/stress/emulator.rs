//! Three independent terminal emulators behind one trait.

use std::num::NonZeroU16;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line as GridLine};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{Color as AlacrittyColor, Processor};

/// The visible content of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The second half of a wide character is `\0`.
    char: char,
    /// Combining marks of the character.
    marks: u32,
    style: u64,
}

pub const BLANK: Cell = Cell { char: ' ', marks: 0, style: 0 };

impl Cell {
    pub fn is_second_half(&self) -> bool {
        self.char == '\0'
    }
}

/// A row without trailing blank cells.
pub type Image = Vec<Cell>;

pub fn text(image: &Image) -> String {
    image.iter().map(|cell| cell.char).filter(|char| *char != '\0').collect()
}

#[derive(Debug, PartialEq, Eq)]
pub struct Caret {
    pub row: usize,
    pub column: usize,
    pub shown: bool,
}

/// Rows are counted from the first one in the scrollback.
pub trait Emulator {
    fn name(&self) -> &'static str;
    fn feed(&mut self, bytes: &[u8]);
    fn resize(&mut self, width: usize, height: usize);
    fn history(&self) -> usize;
    fn image(&mut self, row: usize) -> Image;
    /// Returns all rows from this one on.
    fn images(&mut self, from: usize, height: usize) -> Vec<Image> {
        (from..self.history() + height).map(|row| self.image(row)).collect()
    }
    fn caret(&self) -> Caret;
    /// Whether it can erase its scrollback.
    fn forgets(&self) -> bool {
        true
    }
    /// Whether a resize rewraps rows that are too wide instead of truncating them.
    fn wraps_again(&self) -> bool {
        true
    }
    /// Returns an empty emulator of the same kind.
    fn another(&self, width: usize, height: usize) -> Box<dyn Emulator>;
}

fn trimmed(cells: impl Iterator<Item = Cell>) -> Image {
    let mut image: Image = cells.collect();
    let end = image.iter().rposition(|cell| *cell != BLANK).map_or(0, |last| last + 1);
    image.truncate(end);
    image
}

fn style(fg: u32, bg: u32, flags: [bool; 7]) -> u64 {
    if fg == 0 && bg == 0 && flags == [false; 7] {
        return 0;
    }
    let bits = flags.iter().enumerate().map(|(at, set)| u64::from(*set) << (56 + at)).sum::<u64>();
    bits | u64::from(fg) << 28 | u64::from(bg)
}

fn indexed(index: u8) -> u32 {
    1 << 26 | u32::from(index)
}

fn rgb(red: u8, green: u8, blue: u8) -> u32 {
    1 << 27 | u32::from(red) << 16 | u32::from(green) << 8 | u32::from(blue)
}

fn marks(chars: impl Iterator<Item = char>) -> u32 {
    chars.fold(0, |sum, char| sum.wrapping_mul(31).wrapping_add(u32::from(char)))
}

pub struct Vt100(vt100::Parser);

impl Vt100 {
    pub fn new(width: usize, height: usize) -> Self {
        Self(vt100::Parser::new(nonzero(height), nonzero(width), 100_000))
    }
}

fn nonzero(value: usize) -> NonZeroU16 {
    NonZeroU16::new(u16::try_from(value).unwrap()).unwrap()
}

impl Emulator for Vt100 {
    fn name(&self) -> &'static str {
        "vt100"
    }

    fn wraps_again(&self) -> bool {
        false
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    fn resize(&mut self, width: usize, height: usize) {
        self.0.screen_mut().set_size(nonzero(height), nonzero(width));
    }

    fn history(&self) -> usize {
        self.0.screen().scrollback_len()
    }

    fn image(&mut self, row: usize) -> Image {
        let above = self.history().saturating_sub(row);
        let screen = self.0.screen_mut();
        screen.set_scrollback(above);
        let at = (row - (screen.scrollback_len() - above)) as u16;
        let width = screen.size().1.get();
        let image = trimmed((0..width).map_while(|column| screen.cell(at, column)).map(|cell| {
            let color = |color| match color {
                vt100::Color::Default => 0,
                vt100::Color::Idx(index) => indexed(index),
                vt100::Color::Rgb(red, green, blue) => rgb(red, green, blue),
            };
            let mut chars = cell.contents().chars();
            let char = if cell.is_wide_continuation() { '\0' } else { chars.next().unwrap_or(' ') };
            let flags = [cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse(), false, false];
            Cell { char, marks: marks(chars), style: style(color(cell.fgcolor()), color(cell.bgcolor()), flags) }
        }));
        screen.set_scrollback(0);
        image
    }

    fn caret(&self) -> Caret {
        let screen = self.0.screen();
        let (row, column) = screen.cursor_position();
        Caret { row: self.history() + usize::from(row), column: column.into(), shown: !screen.hide_cursor() }
    }

    fn another(&self, width: usize, height: usize) -> Box<dyn Emulator> {
        Box::new(Self::new(width, height))
    }
}

pub struct Avt(avt::Terminal);

impl Avt {
    pub fn new(width: usize, height: usize) -> Self {
        Self(avt::Terminal::with_scrollback(width, height, None).unwrap())
    }
}

impl Emulator for Avt {
    fn name(&self) -> &'static str {
        "avt"
    }

    fn forgets(&self) -> bool {
        false
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(std::str::from_utf8(bytes).unwrap());
    }

    fn resize(&mut self, width: usize, height: usize) {
        self.0.resize(width, height);
    }

    fn history(&self) -> usize {
        self.0.screen().all_lines().count() - self.0.size().1
    }

    fn image(&mut self, row: usize) -> Image {
        self.0.screen().all_lines().nth(row).map(avt_image).unwrap_or_default()
    }

    fn images(&mut self, from: usize, _: usize) -> Vec<Image> {
        self.0.screen().all_lines().skip(from).map(avt_image).collect()
    }

    fn caret(&self) -> Caret {
        let cursor = self.0.cursor();
        Caret { row: self.history() + cursor.row, column: cursor.col, shown: cursor.visible }
    }

    fn another(&self, width: usize, height: usize) -> Box<dyn Emulator> {
        Box::new(Self::new(width, height))
    }
}

fn avt_image(line: &avt::Line) -> Image {
    trimmed(line.cells().iter().map(|cell| {
        let color = |color: Option<avt::Color>| match color {
            None => 0,
            Some(avt::Color::Indexed(index)) => indexed(index),
            Some(avt::Color::RGB(color)) => rgb(color.r, color.g, color.b),
        };
        let pen = cell.pen();
        let flags = [
            pen.is_bold(),
            pen.is_faint(),
            pen.is_italic(),
            pen.is_underline(),
            pen.is_inverse(),
            pen.is_strikethrough(),
            false,
        ];
        let char = if cell.width() == 0 { '\0' } else { cell.char() };
        Cell { char, marks: 0, style: style(color(pen.foreground()), color(pen.background()), flags) }
    }))
}

#[derive(Clone, Copy)]
struct Grid {
    width: usize,
    height: usize,
}

impl Dimensions for Grid {
    fn total_lines(&self) -> usize {
        self.height
    }

    fn screen_lines(&self) -> usize {
        self.height
    }

    fn columns(&self) -> usize {
        self.width
    }
}

pub struct Alacritty {
    term: Term<VoidListener>,
    parser: Processor,
}

impl Alacritty {
    pub fn new(width: usize, height: usize) -> Self {
        let config = Config { scrolling_history: 100_000, ..Config::default() };
        Self { term: Term::new(config, &Grid { width, height }, VoidListener), parser: Processor::new() }
    }
}

impl Emulator for Alacritty {
    fn name(&self) -> &'static str {
        "alacritty"
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    fn resize(&mut self, width: usize, height: usize) {
        self.term.resize(Grid { width, height });
    }

    fn history(&self) -> usize {
        self.term.grid().history_size()
    }

    fn image(&mut self, row: usize) -> Image {
        if row >= self.history() + self.term.screen_lines() {
            return Image::new();
        }
        let row = &self.term.grid()[GridLine(row as i32 - self.history() as i32)];
        trimmed((0..self.term.columns()).map(|column| {
            let cell = &row[Column(column)];
            let color = |color| match color {
                AlacrittyColor::Named(name) if name as usize >= 256 => 0,
                AlacrittyColor::Named(name) => indexed(name as u8),
                AlacrittyColor::Indexed(index) => indexed(index),
                AlacrittyColor::Spec(color) => rgb(color.r, color.g, color.b),
            };
            let has = |flag| cell.flags.contains(flag);
            let flags = [
                has(Flags::BOLD),
                has(Flags::DIM),
                has(Flags::ITALIC),
                has(Flags::UNDERLINE),
                has(Flags::INVERSE),
                has(Flags::STRIKEOUT),
                cell.hyperlink().is_some(),
            ];
            let char = if has(Flags::WIDE_CHAR_SPACER) { '\0' } else { cell.c };
            let marks = marks(cell.zerowidth().into_iter().flatten().copied());
            Cell { char, marks, style: style(color(cell.fg), color(cell.bg), flags) }
        }))
    }

    fn caret(&self) -> Caret {
        let point = self.term.grid().cursor.point;
        let shown = self.term.mode().contains(TermMode::SHOW_CURSOR);
        Caret { row: self.history() + point.line.0 as usize, column: point.column.0, shown }
    }

    fn another(&self, width: usize, height: usize) -> Box<dyn Emulator> {
        Box::new(Self::new(width, height))
    }
}
