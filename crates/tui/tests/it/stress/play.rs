//! Plays a tape into the renderer and the emulators, and compares after every operation.

use std::collections::HashMap;
use std::time::Duration;

use omp_stdx::display_width;
use omp_tui::{Attrs, Color, Line, Profile, Renderer, Size, Style};
use serde::Serialize;

use super::bytes;
use super::emulator::{Alacritty, Avt, BLANK, Caret, Emulator, Image, Vt100, text};
use super::ops::{Op, Tape};
use super::scene::{Scene, Shown};
use super::shadow::{Mode, Shadow};

pub fn play(tape: &Tape) -> Result<(), String> {
    record(tape).map(drop)
}

/// The bytes sent to a terminal, and its final screen.
#[derive(Serialize)]
pub struct Recording {
    pub events: Vec<Event>,
    /// All rows without styles and marks.
    pub rows: Vec<String>,
    /// The terminal moved rows itself, which each terminal does differently.
    pub moved: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    Write(String),
    Resize(usize, usize),
}

pub fn record(tape: &Tape) -> Result<Recording, String> {
    let mut player = Player::new(tape);
    for (at, op) in tape.ops.iter().enumerate() {
        player.step(op).map_err(|why| format!("operation {at}, {op:?}: {why}"))?;
    }
    // Delivers a pending resize.
    player.tell();
    player.paint().map_err(|why| format!("the last frame: {why}"))?;
    let Player { mut watched, size, events, was_moved: moved, .. } = player;
    for watched in &mut watched {
        watched.compare(size, 0).map_err(|why| format!("at the end: {why}"))?;
    }
    Ok(Recording { events, rows: watched[0].texts(), moved })
}

struct Player {
    renderer: Renderer,
    scene: Scene,
    shadow: Shadow,
    size: Size,
    watched: Vec<Watched>,
    mode: Mode,
    /// The terminal has moved or wrapped the rows.
    moved: bool,
    was_moved: bool,
    events: Vec<Event>,
    resized: bool,
    hold: bool,
    /// Whether the renderer expects late resize notifications.
    lag: bool,
    /// Rows of the shell before the first frame. `None` once a frame for another size may have covered some.
    shell: Option<usize>,
    /// The new size, and the frames until the renderer is notified.
    late: Option<(Size, u8)>,
}

impl Player {
    fn new(tape: &Tape) -> Self {
        let size = Size { width: tape.width.into(), height: tape.height.into() };
        let mut emulators: Vec<Box<dyn Emulator>> =
            vec![Box::new(Alacritty::new(size.width, size.height)), Box::new(Avt::new(size.width, size.height))];
        // This emulator cannot disable wrapping, and does not rewrap on a resize.
        let resizes = |op: &Op| matches!(op, Op::Resize { .. } | Op::LateResize { .. });
        if !tape.disputed && !tape.multiplexer && !tape.ops.iter().any(resizes) {
            emulators.push(Box::new(Vt100::new(size.width, size.height)));
        }
        // Long enough for any machine, or zero.
        let resize_lag = Duration::from_secs(if tape.lag { 3600 } else { 0 });
        let (multiplexer, synchronized) = (tape.multiplexer, tape.synchronized);
        let profile = Profile { multiplexer, synchronized, resize_lag, ..Profile::default() };
        let mut player = Self {
            renderer: Renderer::new(profile, size),
            scene: Scene::new(tape.disputed),
            shadow: Shadow::default(),
            size,
            watched: emulators.into_iter().map(Watched::new).collect(),
            mode: Mode::Begin,
            moved: false,
            was_moved: false,
            events: vec![Event::Resize(size.width, size.height)],
            resized: false,
            hold: false,
            lag: tape.lag,
            shell: Some(tape.shell.into()),
            late: None,
        };
        player.foreign("$ sh", tape.shell);
        player
    }

    fn step(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Hold => {
                self.hold = true;
                return Ok(());
            }
            Op::Resize { width, height } => {
                self.resize_terminals((*width).into(), (*height).into());
                self.tell();
            }
            Op::LateResize { width, height } => {
                self.resize_terminals((*width).into(), (*height).into());
                if self.mode != Mode::Update || !self.lag {
                    self.tell();
                }
            }
            Op::Replace | Op::Restart => {
                self.renderer.replace();
                self.shadow = Shadow::default();
                self.mode = if self.mode == Mode::Begin { Mode::Begin } else { Mode::Anew };
            }
            Op::Foreign(rows) => self.interrupted(*rows),
            Op::Synchronized(synchronized) => {
                let profile = Profile { synchronized: *synchronized, ..self.renderer.profile().clone() };
                self.renderer.set_profile(profile);
            }
            _ => {}
        }
        self.scene.apply(op);
        if std::mem::take(&mut self.hold) { Ok(()) } else { self.paint() }
    }

    fn resize_terminals(&mut self, width: usize, height: usize) {
        let size = Size { width, height };
        if size == self.size && self.late.is_none() {
            return;
        }
        for watched in &mut self.watched {
            watched.emulator.resize(width, height);
        }
        self.events.push(Event::Resize(width, height));
        self.late = Some((size, 2));
    }

    /// Notifies the renderer of the terminals' size.
    fn tell(&mut self) {
        let Some((size, _)) = self.late.take() else { return };
        if size == self.size {
            // The size changed and changed back. Tmux reports another size in between, so that the program is notified.
            self.renderer.resize(Size { height: size.height + 1, ..size });
        }
        for watched in &mut self.watched {
            watched.seen.clear();
            watched.paper = None;
        }
        self.renderer.resize(size);
        self.size = size;
        self.resized = true;
        self.moved |= self.renderer.profile().multiplexer || self.mode != Mode::Anew;
    }

    fn interrupted(&mut self, rows: u8) {
        self.tell();
        let mut out = Vec::new();
        self.renderer.end(&mut out);
        self.feed(&out);
        for watched in &mut self.watched {
            for row in std::mem::take(&mut watched.window) {
                let image = row.unwrap_or_else(|| watched.emulator.image(watched.tape.len()));
                watched.tape.push(image);
            }
        }
        self.foreign("! another program", rows);
        self.mode = Mode::Begin;
        self.moved |= self.resized;
    }

    fn foreign(&mut self, line: &str, rows: u8) {
        for _ in 0..rows {
            self.feed(&line.as_bytes()[..line.len().min(self.size.width)]);
            self.feed(b"\r\n");
            for watched in &mut self.watched {
                let image = watched.expected(&Line::from(line.to_owned()), self.size.width);
                watched.tape.push(image);
            }
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.watched.iter_mut().for_each(|watched| watched.emulator.feed(bytes));
        self.events.push(Event::Write(String::from_utf8_lossy(bytes).into_owned()));
    }

    fn paint(&mut self) -> Result<(), String> {
        match &mut self.late {
            Some((_, frames @ 1..)) => {
                *frames -= 1;
                return self.paint_blindly();
            }
            _ => self.tell(),
        }
        let shown = self.scene.shown(self.size.width);
        let mut out = Vec::new();
        self.renderer.paint(&shown.frame(), &mut out);
        let profile = self.renderer.profile().clone();
        let (mode, moved) = (std::mem::replace(&mut self.mode, Mode::Update), std::mem::take(&mut self.moved));
        self.resized = false;
        let wiped = mode == Mode::Anew && !profile.multiplexer;
        self.shell = if wiped { Some(0) } else { self.shell };
        bytes::check(&out, profile.synchronized, wiped)?;
        let height = self.size.height;
        let top = if moved {
            self.shadow.adopt(&shown, self.renderer.committed());
            self.renderer.committed().max(shown.rows.len().saturating_sub(height)).min(shown.rows.len())
        } else {
            let step = self.shadow.step(&shown, height, mode);
            for watched in &mut self.watched {
                watched.commit(&shown.rows[step.chunk.clone()], self.size.width, wiped);
            }
            step.top
        };
        if self.renderer.committed() > shown.rows.len() {
            return Err("more rows are committed than there are".into());
        }
        self.feed(&out);
        self.was_moved |= moved;
        for watched in &mut self.watched {
            watched.show(&shown, top, self.size);
            if wiped && !watched.emulator.forgets() {
                watched.keep_old_rows();
            }
            if moved {
                watched.adopt(&shown, top, self.renderer.committed(), self.shell)?;
            }
            let recent = watched.tape.len().saturating_sub(2 * height);
            watched
                .compare(self.size, recent)
                .map_err(|why| format!("{why}\nbytes: {:?}", String::from_utf8_lossy(&out)))?;
        }
        Ok(())
    }
}

impl Player {
    /// Paints a frame for a size that the terminals no longer have. The result does not matter if it is repaired later.
    fn paint_blindly(&mut self) -> Result<(), String> {
        let shown = self.scene.shown(self.size.width);
        let mut out = Vec::new();
        self.renderer.paint(&shown.frame(), &mut out);
        let profile = self.renderer.profile();
        let wiped = std::mem::replace(&mut self.mode, Mode::Update) == Mode::Anew && !profile.multiplexer;
        self.shell = None;
        bytes::check(&out, profile.synchronized, wiped)?;
        self.moved = true;
        self.feed(&out);
        Ok(())
    }
}

/// An emulator and its expected content.
struct Watched {
    emulator: Box<dyn Emulator>,
    /// All rows above the window.
    tape: Vec<Image>,
    /// `None` for a row on which terminals disagree.
    window: Vec<Option<Image>>,
    cursor: Option<(usize, usize)>,
    /// A cache of how single rows look, and the terminal that shows them.
    seen: HashMap<Line, Image>,
    paper: Option<Box<dyn Emulator>>,
}

impl Watched {
    fn new(emulator: Box<dyn Emulator>) -> Self {
        Self { emulator, tape: Vec::new(), window: Vec::new(), cursor: None, seen: HashMap::new(), paper: None }
    }

    /// Returns how this terminal shows one row, written naively on an empty screen.
    fn expected(&mut self, line: &Line, width: usize) -> Image {
        if let Some(image) = self.seen.get(line) {
            return image.clone();
        }
        let paper = self.paper.get_or_insert_with(|| self.emulator.another(width, 1));
        paper.feed(b"\r\x1b[2K");
        paper.feed(&naive(line, width));
        let image = paper.image(0);
        self.seen.insert(line.clone(), image.clone());
        image
    }

    fn commit(&mut self, chunk: &[Line], width: usize, wiped: bool) {
        if wiped {
            self.tape.clear();
        }
        for line in chunk {
            let image = self.expected(line, width);
            self.tape.push(image);
        }
    }

    fn show(&mut self, shown: &Shown, top: usize, size: Size) {
        let rows = &shown.rows[top..];
        self.cursor = rows.iter().enumerate().rev().find_map(|(at, line)| Some((at, line.cursor?.min(size.width - 1))));
        self.window = rows.iter().map(|line| Some(self.expected(line, size.width))).collect();
        if let Some((lines, top, left, width)) = &shown.overlay {
            let needed = (top + lines.len()).min(size.height);
            self.window.resize(self.window.len().max(needed), Some(Image::new()));
            for (at, line) in (*top..self.window.len()).zip(lines) {
                let over = self.expected(line, size.width);
                let disputed = rows.get(at).is_some_and(is_disputed);
                let below = self.window[at].take().filter(|_| !disputed);
                self.window[at] = below.map(|below| laid_over(below, &over, *left, *width, size.width));
                // A covered cursor is not visible.
                self.cursor = self.cursor.filter(|(row, _)| *row != at);
            }
        }
        if self.window.is_empty() {
            self.window.push(Some(Image::new()));
        }
    }

    /// This terminal cannot erase its scrollback: its old rows stay above the new ones.
    fn keep_old_rows(&mut self) {
        let above = self.emulator.caret().row - self.row_of_cursor();
        let mut old: Vec<Image> = (0..above - self.tape.len()).map(|row| self.emulator.image(row)).collect();
        old.append(&mut self.tape);
        self.tape = old;
    }

    /// Returns the cursor row after a whole window was written.
    fn row_of_cursor(&self) -> usize {
        self.cursor.map_or(self.window.len() - 1, |(row, _)| row)
    }

    /// Accepts the rows above the window as a resize left them. No row may be missing, neither of the frame nor of the
    /// shell.
    fn adopt(&mut self, shown: &Shown, top: usize, committed: usize, shell: Option<usize>) -> Result<(), String> {
        let caret = self.emulator.caret();
        let above = caret.row.checked_sub(self.row_of_cursor()).ok_or("the window begins above the first row")?;
        self.tape = self.emulator.images(0, above.saturating_sub(self.emulator.history()));
        self.tape.resize(above, Image::new());
        if !self.emulator.wraps_again() {
            return Ok(());
        }
        let kept = self.tape.iter().filter(|image| text(image) == "$ sh").count();
        if let Some(shell) = shell.filter(|shell| kept != *shell && self.emulator.forgets()) {
            return Err(format!("{kept} of {shell} rows of the shell are left\n{}", self.screen(0, above)));
        }
        let stream: String = self.tape.iter().map(text).chain(shown.rows[top..].iter().map(Line::text)).collect();
        let stream: String = stream.split_whitespace().collect();
        // A row that a terminal considers too wide may be truncated at its edge.
        let must_be_there = shown.rows[..committed.min(shown.rows.len())].iter().chain(&shown.rows[top..]);
        let must_be_there = must_be_there.filter(|line| !is_disputed(line));
        let mut from = 0;
        for word in must_be_there.flat_map(|line| line.text().split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        {
            let Some((word, _)) = word.strip_prefix('w').and_then(|word| word.split_once('.')) else { continue };
            let word = format!("w{word}.");
            match stream[from..].find(&word) {
                Some(at) => from += at + word.len(),
                None => return Err(format!("{}: {word} was lost\n{}", self.emulator.name(), self.screen(0, above))),
            }
        }
        Ok(())
    }

    fn compare(&mut self, size: Size, from: usize) -> Result<(), String> {
        let name = self.emulator.name();
        let found = self.emulator.images(from, size.height);
        let wanted = self.tape.iter().map(Some).chain(self.window.iter().map(Option::as_ref)).skip(from);
        let blank = Image::new();
        let wanted: Vec<Option<&Image>> = wanted.collect();
        for at in 0..found.len().max(wanted.len()) {
            let found = found.get(at).unwrap_or(&blank);
            let Some(wanted) = wanted.get(at).copied().unwrap_or(Some(&blank)) else { continue };
            if found != wanted {
                let (row, found, wanted) = (from + at, text(found), text(wanted));
                let screen = self.screen(from, self.tape.len());
                return Err(format!("{name}: row {row} is {found:?} rather than {wanted:?}\n{screen}"));
            }
        }
        if self.window.is_empty() {
            return Ok(());
        }
        if self.emulator.history() > self.tape.len() {
            return Err(format!("{name}: rows of the window are in the scrollback"));
        }
        self.compare_cursor()
    }

    fn texts(&mut self) -> Vec<String> {
        let window = self.window.iter().enumerate().map(|(at, image)| match image {
            Some(image) => text(image),
            None => text(&self.emulator.image(self.tape.len() + at)),
        });
        self.tape.iter().map(text).chain(window.collect::<Vec<_>>()).collect()
    }

    fn compare_cursor(&self) -> Result<(), String> {
        let caret = self.emulator.caret();
        let fits = match self.cursor {
            Some((row, column)) => caret == Caret { row: self.tape.len() + row, column, shown: true },
            None => !caret.shown,
        };
        let wanted = self.cursor.map(|(row, column)| (self.tape.len() + row, column));
        if fits {
            Ok(())
        } else {
            Err(format!("{}: the cursor is {caret:?} rather than {wanted:?}", self.emulator.name()))
        }
    }

    fn screen(&mut self, from: usize, window: usize) -> String {
        let end = self.emulator.caret().row + 4;
        let rows = (from..end.min(self.emulator.history() + 1)).map(|row| (row, text(&self.emulator.image(row))));
        let rows: Vec<String> =
            rows.map(|(row, text)| format!("{row:>4}{}{text}", if row >= window { '>' } else { '|' })).collect();
        format!("expected window at {window}, history {}\n{}", self.emulator.history(), rows.join("\n"))
    }
}

/// Whether terminals disagree on the row's width.
fn is_disputed(line: &Line) -> bool {
    line.text().chars().any(|char| !char.is_ascii() && !('\u{3000}'..'\u{e000}').contains(&char))
}

fn laid_over(mut below: Image, over: &Image, left: usize, width: usize, screen: usize) -> Image {
    let (left, right) = (left.min(screen), (left + width).min(screen));
    below.resize(screen + 1, BLANK);
    // Half of a wide character cannot be shown.
    if left > 0 && below[left].is_second_half() {
        below[left - 1] = BLANK;
    }
    if below[right].is_second_half() {
        below[right] = BLANK;
    }
    for (column, cell) in below[left..right].iter_mut().enumerate() {
        *cell = over.get(column).copied().unwrap_or(BLANK);
    }
    let end = below[..screen].iter().rposition(|cell| *cell != BLANK).map_or(0, |last| last + 1);
    below.truncate(end);
    below
}

/// Encodes a row in the simplest way.
fn naive(line: &Line, width: usize) -> Vec<u8> {
    let mut out = String::from("\x1b[?7l");
    if let Some(fill) = line.fill {
        out += &format!("{}\x1b[K\x1b[m", sgr(fill));
    }
    let mut left = width;
    for span in &line.spans {
        let (text, used) = display_width::clip(&span.text, left);
        let link = span.link.as_deref().unwrap_or_default();
        out += &format!("\x1b]8;;{link}\x1b\\{}{text}\x1b[m\x1b]8;;\x1b\\", sgr(span.style));
        left -= used;
        if text.len() < span.text.len() {
            break;
        }
    }
    out.into_bytes()
}

fn sgr(style: Style) -> String {
    let mut out = String::new();
    for (attr, code) in [(Attrs::BOLD, 1), (Attrs::DIM, 2), (Attrs::ITALIC, 3)] {
        if style.attrs.has(attr) {
            out += &format!("\x1b[{code}m");
        }
    }
    for (color, base) in [(style.fg, 30), (style.bg, 40)] {
        match color {
            Color::Default => {}
            Color::Indexed(index @ 0..8) => out += &format!("\x1b[{}m", base + index),
            Color::Indexed(index @ 8..16) => out += &format!("\x1b[{}m", base + 52 + index),
            Color::Indexed(index) => out += &format!("\x1b[{};5;{index}m", base + 8),
            Color::Rgb(red, green, blue) => out += &format!("\x1b[{};2;{red};{green};{blue}m", base + 8),
        }
    }
    out
}
