//! The screen: the transcript, the rows below it, and when they are painted.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use omp_tui::{CellSize, Frame, ImageWay, Line, Overlay, Painted, PaneText, Profile, Renderer, Size, Space, Theme};
use tokio::time::Instant;

use crate::chrome::Working;
use crate::keymap::{KeyContext, Keymap};
use crate::transcript::{Gallery, Log};
use crate::tty::Tty;

/// Interval between two frames while an answer streams.
const FRAME: Duration = Duration::from_millis(33);
/// Interval between two animation steps.
const STEP: Duration = Duration::from_millis(80);
/// Caps the layout passes per frame. A new image may change how an older one looks, which changes no third one.
const LAYOUTS: usize = 3;

/// Called with every painted frame.
pub type Redraws = Box<dyn FnMut(&Painted)>;

/// How long the size must be stable before a frame is painted, because a window being resized changes size every few
/// milliseconds.
const SETTLES: Duration = Duration::from_millis(50);
/// How often a frame is painted during a resize that does not end.
const UNSETTLED: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dirty {
    Clean,
    /// Painted with the next frame of the stream.
    Soon,
    Now,
}

/// The rows below the transcript, cached so that the animated row can be drawn alone.
#[derive(Default)]
pub struct Below {
    pub before: Vec<Line>,
    pub working: Option<Line>,
    pub after: Vec<Line>,
}

pub struct Screen {
    renderer: Renderer,
    pub log: Log,
    pub gallery: Gallery,
    keymap: Rc<Keymap>,
    /// The theme as given, and as the terminal can show it.
    given: Arc<Theme>,
    theme: Arc<Theme>,
    below: Below,
    /// Covers the whole window.
    overlay: Option<Vec<Line>>,
    dirty: Dirty,
    /// Only the animated row has changed.
    stepped: bool,
    painted: Instant,
    stepped_at: Instant,
    bytes: Vec<u8>,
    resizing: Option<Resizing>,
    /// The shell has the terminal until the process continues.
    away: bool,
    redraws: Option<Redraws>,
}

/// Nothing is painted until the size is stable.
#[derive(Clone, Copy)]
struct Resizing {
    since: Instant,
    last: Instant,
}

impl Screen {
    pub fn new(
        tty: &dyn Tty,
        theme: Arc<Theme>,
        keymap: Rc<Keymap>,
        gallery: Gallery,
        redraws: Option<Redraws>,
    ) -> Self {
        let now = Instant::now();
        let (way, cell) = tty.images();
        gallery.set_terminal(way, cell);
        Self {
            renderer: Renderer::new(tty.profile(), tty.size()),
            log: Log::default(),
            gallery,
            keymap,
            theme: Arc::new(theme.at_depth(tty.profile().colors)),
            given: theme,
            below: Below::default(),
            overlay: None,
            dirty: Dirty::Now,
            stepped: false,
            painted: now,
            stepped_at: now,
            bytes: Vec::new(),
            resizing: None,
            away: false,
            redraws,
        }
    }

    pub fn mark(&mut self, dirty: Dirty) {
        self.dirty = self.dirty.max(dirty);
    }

    /// Returns when the next frame is due, if anything has changed.
    pub fn due(&self) -> Option<Instant> {
        match self.dirty {
            _ if self.away => None,
            _ if let Some(Resizing { since, last }) = self.resizing => Some((last + SETTLES).min(since + UNSETTLED)),
            Dirty::Clean if self.stepped => Some(self.stepped_at),
            Dirty::Clean => None,
            Dirty::Soon => Some(self.painted + FRAME),
            Dirty::Now => Some(self.painted),
        }
    }

    pub fn is_due(&self) -> bool {
        self.due().is_some_and(|due| due <= Instant::now())
    }

    /// Whether more than the animated row must be drawn.
    pub fn wants_chrome(&self) -> bool {
        self.dirty != Dirty::Clean
    }

    pub fn next_step(&self) -> Instant {
        self.stepped_at + STEP
    }

    /// Draws the animated row.
    pub fn step(&mut self, now: Instant, working: &Working, stop: &str) {
        self.stepped_at = now;
        self.stepped = true;
        let row = self.with_space(|space| working.row(now, stop, space));
        self.below.working = Some(row);
    }

    pub fn set_below(&mut self, below: Below) {
        self.below = below;
    }

    /// Covers the window with these rows, or uncovers it.
    pub fn set_overlay(&mut self, rows: Option<Vec<Line>>) {
        self.overlay = rows;
    }

    pub fn theme(&self) -> &Arc<Theme> {
        &self.theme
    }

    pub fn set_theme(&mut self, theme: Arc<Theme>) {
        self.given = theme;
        self.fit_theme();
        self.all_anew();
    }

    fn fit_theme(&mut self) {
        self.theme = Arc::new(self.given.at_depth(self.renderer.profile().colors));
    }

    pub fn with_space<T>(&self, draw: impl FnOnce(&Space<'_>) -> T) -> T {
        let Size { width, height } = self.renderer.size();
        let keys = self.keymap.names(KeyContext::Editor);
        draw(&Space { width, height, theme: &self.theme, focused: true, keys: &keys })
    }

    pub fn resize(&mut self, size: Size) {
        self.keep_old_history();
        let rewrites = self.renderer.rewrites().is_some();
        if size == self.renderer.size() && !rewrites {
            return;
        }
        self.renderer.resize(size);
        let now = Instant::now();
        self.resizing.get_or_insert(Resizing { since: now, last: now }).last = now;
        if rewrites {
            self.log.start_over();
            self.gallery.begin_again();
        }
        self.mark(Dirty::Now);
    }

    /// Leaves the history of tmux as it is from now on if it may hold rows that can no longer be drawn.
    fn keep_old_history(&mut self) {
        if self.renderer.rewrites().is_some_and(|rows| !self.log.holds(rows)) {
            self.renderer.set_above(None);
        }
    }

    pub fn set_profile(&mut self, profile: Profile, (way, cell): (ImageWay, CellSize)) {
        self.renderer.set_profile(profile);
        self.fit_theme();
        self.gallery.set_terminal(way, cell);
        self.mark(Dirty::Now);
    }

    /// Redraws everything: for another conversation, another theme, or expanded blocks.
    pub fn all_anew(&mut self) {
        self.keep_old_history();
        self.log.start_over();
        self.gallery.begin_again();
        self.renderer.replace();
        self.mark(Dirty::Now);
    }

    /// Clears the screen for another conversation.
    pub fn clear(&mut self) {
        self.log.clear();
        self.gallery.clear();
        self.all_anew();
    }

    /// Gives the text above the next frame, in tmux.
    pub fn set_above(&mut self, above: Option<PaneText>) {
        self.renderer.set_above(above);
    }

    /// Paints from scratch after another program wrote to the terminal.
    pub fn begin_again(&mut self) {
        self.away = false;
        self.gallery.begin_again();
        self.renderer.begin_again();
        self.mark(Dirty::Now);
    }

    pub fn paint(&mut self, tty: &mut dyn Tty) {
        let Size { width, height } = self.renderer.size();
        let (theme, keymap) = (self.theme.clone(), self.keymap.clone());
        let keys = keymap.names(KeyContext::Editor);
        let space = Space { width, height, theme: &theme, focused: true, keys: &keys };
        self.lay_out(&space);
        self.bytes.clear();
        self.bytes.append(&mut self.gallery.take_bytes());
        let overlay = self.overlay.as_ref().map(|lines| Overlay { lines, top: 0, left: 0, width });
        let frame = Frame { rows: &self.log, settled: self.log.settled(), overlay };
        self.renderer.paint(&frame, &mut self.bytes);
        if !self.bytes.is_empty() {
            tty.write(&self.bytes);
            tty.set_rows_below(self.renderer.rows_below());
        }
        if let Some(redraws) = &mut self.redraws {
            redraws(&self.renderer.painted());
        }
        self.resizing = None;
        self.painted = Instant::now();
        self.dirty = Dirty::Clean;
        self.stepped = false;
    }

    fn lay_out(&mut self, space: &Space<'_>) {
        for _ in 0..LAYOUTS {
            let Below { before, working, after } = &self.below;
            let chrome = before.iter().chain(working).chain(after).cloned().collect();
            let version = self.gallery.version();
            self.log.lay_out(space, chrome, version);
            if self.gallery.version() == version {
                break;
            }
        }
    }

    /// Releases the terminal with the cursor below everything.
    pub fn let_go(&mut self, tty: &mut dyn Tty) {
        self.bytes.clear();
        self.renderer.end(&mut self.bytes);
        tty.write(&self.bytes);
    }

    /// Stops painting until [`Self::begin_again`].
    pub fn go_away(&mut self) {
        self.away = true;
    }

    /// Paints the last frame: the transcript alone.
    pub fn leave(&mut self, tty: &mut dyn Tty) {
        self.below = Below::default();
        self.gallery.clear();
        self.paint(tty);
        self.let_go(tty);
    }
}
