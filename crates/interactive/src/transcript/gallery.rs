//! The images of the transcript: decoded in the background, one after the other; only the newest are shown.
//!
//! Blocks hold their images and draw them; the bytes that the terminal needs in addition are collected here and written
//! before the next frame. An image is a line of text until it is decoded, and its block is not final before that, so that
//! none of its rows enters the scrollback too early.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omp_pictures::{PictureFormat, dimensions, raster};
use omp_stdx::sanitize;
use omp_tui::text::clip;
use omp_tui::{
    CellSize, Cells, Diagrams, ImageBlock, ImageBudget, ImageWay, Line, Picture, Pixels, Space, Span, Style, Token,
};
use omp_types::Setting;

use crate::settings::SETTINGS;

/// Base64 characters that are decoded to find out the size of an image.
const HEAD: usize = 64 * 1024;
/// Larger images are not drawn.
const MAX_DATA: usize = 12 * 1024 * 1024;
/// Pixels kept of the longer side: more than an image's rows can show.
const LONGEST_SIDE: u32 = 1024;
/// Caps the images shown at a time.
const MOST_LIVE: usize = 64;
/// Matches the indentation of the block's rows.
const INDENT: usize = 2;

/// The user's settings for images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureWishes {
    pub shown: bool,
    /// Images shown at a time; 0 means the maximum.
    pub live: usize,
    /// 0 means that the size of the screen decides.
    pub largest: Cells,
    /// Separates the image ids of this process from those of others in the same terminal.
    pub seed: u32,
    /// Whether Mermaid blocks are drawn.
    pub diagrams: bool,
}

impl Default for PictureWishes {
    fn default() -> Self {
        let count = |key: &str| Setting::default_of(SETTINGS, key);
        Self {
            shown: Setting::default_of(SETTINGS, "terminal.showImages"),
            live: count("tui.maxInlineImages"),
            largest: Cells { columns: count("tui.maxInlineImageColumns"), rows: count("tui.maxInlineImageRows") },
            seed: 0,
            diagrams: Setting::default_of(SETTINGS, "tui.renderMermaid"),
        }
    }
}

#[derive(Clone)]
pub struct Gallery(Rc<RefCell<Hall>>);

struct Hall {
    budget: ImageBudget,
    shown: bool,
    live: usize,
    /// The image protocol and cell size of the terminal.
    terminal: (ImageWay, CellSize),
    /// Images to decode, oldest first; the first may be in progress.
    waiting: VecDeque<Waiting>,
    busy: bool,
    number: u64,
    /// Counts images whose appearance has changed.
    changes: u64,
    diagrams: Option<Diagrams>,
}

struct Waiting {
    number: u64,
    image: Arc<str>,
    state: Rc<RefCell<State>>,
}

enum State {
    Waiting { label: String },
    Text { label: String },
    Drawn(ImageBlock),
}

/// An image in a block.
pub struct Hung {
    gallery: Gallery,
    state: Rc<RefCell<State>>,
}

/// A decoding job that can run on any thread.
pub struct Job {
    number: u64,
    image: Arc<str>,
    way: ImageWay,
}

/// The result of a job.
pub struct Developed {
    pub number: u64,
    pub picture: Option<Picture>,
}

impl Gallery {
    pub fn new(wishes: PictureWishes) -> Self {
        let live = if wishes.live == 0 { MOST_LIVE } else { wishes.live.min(MOST_LIVE) };
        let terminal = (ImageWay::Text, CellSize::default());
        let mut budget = ImageBudget::new(terminal.0, terminal.1, live, wishes.seed);
        budget.set_largest(wishes.largest);
        Self(Rc::new(RefCell::new(Hall {
            budget,
            shown: wishes.shown,
            live,
            terminal,
            waiting: VecDeque::new(),
            busy: false,
            number: 0,
            changes: 0,
            diagrams: wishes.diagrams.then(Diagrams::default),
        })))
    }

    /// Sets how the terminal shows images, as it has reported.
    pub fn set_terminal(&self, way: ImageWay, cell: CellSize) {
        let hall = &mut *self.0.borrow_mut();
        hall.terminal = (way, cell);
        hall.settle();
    }

    /// Sets whether the user wants to see images.
    pub fn set_shown(&self, shown: bool) {
        let hall = &mut *self.0.borrow_mut();
        hall.shown = shown;
        hall.settle();
    }

    /// Returns what draws Mermaid blocks, unless the user does not want that.
    pub fn diagrams(&self) -> Option<Diagrams> {
        self.0.borrow().diagrams.clone()
    }

    /// Adds an image from its base64.
    pub fn hang(&self, data: &str, mime_type: &str) -> Hung {
        let label = label(data, mime_type);
        let hall = &mut *self.0.borrow_mut();
        if hall.budget.way() == ImageWay::Text || data.len() > MAX_DATA {
            return Hung { gallery: self.clone(), state: Rc::new(RefCell::new(State::Text { label })) };
        }
        let state = Rc::new(RefCell::new(State::Waiting { label }));
        hall.number += 1;
        hall.waiting.push_back(Waiting { number: hall.number, image: data.into(), state: state.clone() });
        while hall.waiting.len() > hall.live {
            hall.give_up_oldest();
        }
        Hung { gallery: self.clone(), state }
    }

    /// Returns the next job unless one is in progress.
    pub fn next(&self) -> Option<Job> {
        let hall = &mut *self.0.borrow_mut();
        let first = hall.waiting.front().filter(|_| !hall.busy)?;
        hall.busy = true;
        Some(Job { number: first.number, image: first.image.clone(), way: hall.budget.way() })
    }

    pub fn developed(&self, developed: Developed) {
        let hall = &mut *self.0.borrow_mut();
        hall.busy = false;
        let Some(at) = hall.waiting.iter().position(|waiting| waiting.number == developed.number) else { return };
        let Some(waiting) = hall.waiting.remove(at) else { return };
        hall.changes += 1;
        let mut state = waiting.state.borrow_mut();
        *state = match (developed.picture, &*state) {
            (Some(picture), _) => State::Drawn(ImageBlock::indented(Arc::new(picture), INDENT)),
            (None, State::Waiting { label }) => {
                State::Text { label: format!("{} cannot be decoded]", label.trim_end_matches(']')) }
            }
            (None, _) => return,
        };
    }

    /// Changes whenever an existing image looks different.
    pub fn version(&self) -> u64 {
        let hall = self.0.borrow();
        hall.budget.version() + hall.changes
    }

    /// Returns the bytes to write before the next frame.
    pub fn take_bytes(&self) -> Vec<u8> {
        self.0.borrow_mut().budget.take_bytes()
    }

    /// Sends all images again after the terminal was cleared.
    pub fn begin_again(&self) {
        let hall = &mut *self.0.borrow_mut();
        if hall.budget.way() != ImageWay::Text {
            hall.budget.begin_again();
        }
    }

    /// Removes all images, for another conversation or at the end.
    pub fn clear(&self) {
        let hall = &mut *self.0.borrow_mut();
        hall.budget.forget_all();
        while !hall.waiting.is_empty() {
            hall.give_up_oldest();
        }
    }
}

impl Hall {
    fn settle(&mut self) {
        let (way, cell) = self.terminal;
        self.budget.set_terminal(if self.shown { way } else { ImageWay::Text }, cell);
    }

    /// If too many images wait, the oldest stays a line of text.
    fn give_up_oldest(&mut self) {
        let Some(oldest) = self.waiting.pop_front() else { return };
        let mut state = oldest.state.borrow_mut();
        if let State::Waiting { label } = &mut *state {
            *state = State::Text { label: std::mem::take(label) };
            self.changes += 1;
        }
    }
}

impl Hung {
    pub fn draw(&self, space: &Space<'_>) -> Vec<Line> {
        match &mut *self.state.borrow_mut() {
            State::Waiting { label } | State::Text { label } => {
                let mut line = Line::styled(label.clone(), space.theme.fg(Token::Muted));
                line.spans.insert(0, Span::new(" ".repeat(INDENT), Style::PLAIN));
                vec![clip(line, space.width)]
            }
            State::Drawn(block) => block.draw(space, &mut self.gallery.0.borrow_mut().budget),
        }
    }

    /// Whether its number of rows is final.
    pub fn is_settled(&self) -> bool {
        !matches!(&*self.state.borrow(), State::Waiting { .. })
    }
}

/// Returns the combined version of a block's images.
pub fn version_of(pictures: &[Hung]) -> u64 {
    pictures.first().map_or(0, |picture| picture.gallery.version())
}

impl Job {
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Decodes the image. This is slow.
    pub fn run(self) -> Developed {
        Developed { number: self.number, picture: decoded(&self.image, self.way) }
    }
}

fn decoded(data: &str, way: ImageWay) -> Option<Picture> {
    let file = STANDARD.decode(data).ok()?;
    let kind = PictureFormat::of(&file)?;
    // A broken image would leave a gap in the terminal, so it is decoded even if only the file is sent.
    let made = raster(&file, kind, LONGEST_SIDE).ok()?;
    let needs_pixels = match way {
        ImageWay::Text | ImageWay::Iterm2 => false,
        ImageWay::Kitty { .. } => kind != PictureFormat::Png,
        ImageWay::Sixel => true,
    };
    let pixels = if needs_pixels { Pixels::new(made.width, made.height, made.rgba) } else { None };
    // Sixels are made from pixels alone, so the file is not needed.
    let file = if way == ImageWay::Sixel { Arc::from([]) } else { Arc::from(file) };
    let (width, height) = made.original;
    Some(Picture { kind: kind.name().into(), width, height, file, pixels })
}

/// Returns the text for an image that cannot be shown; its first bytes contain its size.
fn label(data: &str, mime_type: &str) -> String {
    let head = data.get(..data.len().min(HEAD) / 4 * 4).unwrap_or_default();
    let head = STANDARD.decode(head).unwrap_or_default();
    let told = PictureFormat::of(&head).and_then(|kind| Some((kind, dimensions(&head, kind)?)));
    match told {
        Some((kind, (width, height))) => format!("[image {width}x{height} {}]", kind.name()),
        None => {
            let named = mime_type.trim_start_matches("image/").chars().take(40).collect::<String>();
            format!("[image {}]", sanitize::strip_control(&named).replace(['\n', '\t'], " "))
        }
    }
}

#[cfg(test)]
mod tests;
