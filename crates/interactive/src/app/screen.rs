//! The screen: the transcript, the rows below it, and when they are painted.

use std::sync::Arc;
use std::time::Duration;

use omp_tui::{CellSize, Frame, ImageWay, Line, Painted, PaneContent, Profile, Renderer, Size, Space, Theme};
use tokio::time::Instant;

use crate::chrome::Working;
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
/// How long a frame waits for the terminal to confirm the size of the one before.
const CONFIRMS_WITHIN: Duration = Duration::from_millis(100);
/// Unconfirmed frames in a row after which the terminal is no longer asked.
const UNCONFIRMED: u32 = 3;
/// How long a frame waits for the multiplexer to tell what it holds.
const TELLS_WITHIN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenJob {
    ReadPane,
    CheckPane,
    Paint,
}

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
    /// The theme as given, and as the terminal can show it.
    given: Arc<Theme>,
    theme: Arc<Theme>,
    below: Below,
    dirty: Dirty,
    /// Only the animated row has changed.
    stepped: bool,
    painted: Instant,
    stepped_at: Instant,
    bytes: Vec<u8>,
    resizing: Option<Resizing>,
    confirming: Confirming,
    pane: PaneReading,
    /// The shell has the terminal until the process continues.
    away: bool,
    redraws: Option<Redraws>,
}

/// Nothing is painted until the size is stable.
#[derive(Clone, Copy)]
struct Resizing {
    since: Instant,
    last: Instant,
    /// A frame was shown at the wrong size.
    spoiled: bool,
}

/// Frames in a terminal that may have another size already: each is confirmed before the next one.
#[derive(Default)]
struct Confirming {
    until: Option<Instant>,
    unconfirmed: u32,
}

/// Asking the multiplexer what it holds after a resize.
#[derive(PartialEq, Eq)]
enum PaneReading {
    Idle,
    /// The size changed since, so the answer does not count.
    Outdated,
    Asked {
        until: Instant,
    },
    /// Counts if the size is still the same after a while.
    Read(PaneContent),
    /// The frame is ready and waits for the terminal to report the same size.
    Checking {
        until: Instant,
    },
    /// It could not be asked.
    Unavailable,
}

impl Screen {
    pub fn new(tty: &dyn Tty, theme: Arc<Theme>, gallery: Gallery, redraws: Option<Redraws>) -> Self {
        let now = Instant::now();
        let (way, cell) = tty.images();
        gallery.set_terminal(way, cell);
        Self {
            renderer: Renderer::new(tty.profile(), tty.size()),
            log: Log::default(),
            gallery,
            theme: Arc::new(theme.at_depth(tty.profile().colors)),
            given: theme,
            below: Below::default(),
            dirty: Dirty::Now,
            stepped: false,
            painted: now,
            stepped_at: now,
            bytes: Vec::new(),
            resizing: None,
            confirming: Confirming::default(),
            pane: PaneReading::Idle,
            away: false,
            redraws,
        }
    }

    pub fn mark(&mut self, dirty: Dirty) {
        self.dirty = self.dirty.max(dirty);
    }

    /// Returns when the next frame is due, if anything has changed.
    pub fn due(&self) -> Option<Instant> {
        let due = self.next_frame()?;
        Some(self.confirming.until.map_or(due, |until| until.max(due)))
    }

    fn next_frame(&self) -> Option<Instant> {
        match self.dirty {
            _ if self.away => None,
            _ if let PaneReading::Asked { until } | PaneReading::Checking { until } = self.pane => Some(until),
            _ if let Some(Resizing { spoiled: true, last, .. }) = self.resizing => Some(last),
            _ if let Some(Resizing { since, last, .. }) = self.resizing => {
                Some((last + SETTLES).min(since + UNSETTLED))
            }
            Dirty::Clean if self.stepped => Some(self.stepped_at),
            Dirty::Clean => None,
            Dirty::Soon => Some(self.painted + FRAME),
            Dirty::Now => Some(self.painted),
        }
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
        draw(&Space { width, height, theme: &self.theme, focused: true })
    }

    pub fn resize(&mut self, size: Size) {
        if size == self.renderer.size() {
            return;
        }
        self.renderer.resize(size);
        self.wait_for_size();
        if !self.renderer.profile().multiplexer {
            self.log.start_over();
            self.gallery.begin_again();
        }
        self.mark(Dirty::Now);
    }

    /// Paints nothing until the size is stable.
    fn wait_for_size(&mut self) {
        let now = Instant::now();
        self.resizing.get_or_insert(Resizing { since: now, last: now, spoiled: false }).last = now;
        if !matches!(self.pane, PaneReading::Idle | PaneReading::Unavailable) {
            self.pane = PaneReading::Outdated;
        }
    }

    /// The terminal reported the size at which it shows the last frame, which may be earlier than the system reports it.
    pub fn size_reported(&mut self, reported: Size, tty: &mut dyn Tty) {
        self.confirming = Confirming::default();
        let Size { width, height } = self.renderer.size();
        // tmux before 3.4 reports the width as the height.
        if [(width, height), (height, width)].contains(&(reported.width, reported.height)) {
            self.renderer.confirm();
            if matches!(self.pane, PaneReading::Checking { .. }) {
                self.write_frame(tty);
            }
        } else if self.pane != PaneReading::Unavailable {
            self.wait_for_size();
            // The last frame was shown at the wrong size: it is repaired at once.
            if let Some(resizing) = &mut self.resizing {
                resizing.spoiled = true;
            }
            self.mark(Dirty::Now);
        }
    }

    /// Returns what is due now. After a resize in a multiplexer it is asked what it holds before the next frame.
    pub fn next_job(&self) -> Option<ScreenJob> {
        if self.due().is_none_or(|due| due > Instant::now()) {
            return None;
        }
        let resized = self.resizing.is_some() && self.renderer.profile().reports_size;
        Some(match self.pane {
            PaneReading::Idle | PaneReading::Outdated if resized => ScreenJob::ReadPane,
            PaneReading::Read(_) => ScreenJob::CheckPane,
            _ => ScreenJob::Paint,
        })
    }

    pub fn reads_pane(&mut self) {
        self.pane = PaneReading::Asked { until: Instant::now() + TELLS_WITHIN };
    }

    pub fn found_pane(&mut self, pane: Option<PaneContent>) {
        match (&self.pane, pane) {
            (PaneReading::Asked { .. }, Some(pane)) => {
                self.renderer.resize(pane.size);
                self.wait_for_size();
                self.pane = PaneReading::Read(pane);
            }
            (PaneReading::Asked { .. }, None) => self.pane = PaneReading::Unavailable,
            _ => {}
        }
        self.mark(Dirty::Now);
    }

    /// Makes the frame and asks for the size again: if it is still the same, the frame is written at once.
    pub fn check_pane(&mut self, tty: &mut dyn Tty) {
        let checking = PaneReading::Checking { until: Instant::now() + TELLS_WITHIN };
        if let PaneReading::Read(pane) = std::mem::replace(&mut self.pane, checking) {
            self.renderer.found(pane);
            self.make_frame();
            tty.ask_size();
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

    /// Paints from scratch after another program wrote to the terminal.
    pub fn begin_again(&mut self) {
        self.away = false;
        self.gallery.begin_again();
        self.renderer.begin_again();
        self.mark(Dirty::Now);
    }

    pub fn paint(&mut self, tty: &mut dyn Tty) {
        // A frame that nobody confirmed in time is written as it is.
        if !matches!(self.pane, PaneReading::Checking { .. }) {
            self.make_frame();
        }
        self.write_frame(tty);
    }

    fn make_frame(&mut self) {
        let Size { width, height } = self.renderer.size();
        let theme = self.theme.clone();
        let space = Space { width, height, theme: &theme, focused: true };
        self.lay_out(&space);
        self.bytes.clear();
        self.bytes.append(&mut self.gallery.take_bytes());
        let frame = Frame { rows: &self.log, settled: self.log.settled(), overlay: None };
        self.renderer.paint(&frame, &mut self.bytes);
        self.dirty = if self.renderer.is_behind() { Dirty::Now } else { Dirty::Clean };
        self.stepped = false;
    }

    fn write_frame(&mut self, tty: &mut dyn Tty) {
        if !self.bytes.is_empty() {
            tty.write(&self.bytes);
            tty.set_rows_below(self.renderer.rows_below());
            self.ask_to_confirm(tty);
        }
        if let Some(redraws) = &mut self.redraws {
            redraws(&self.renderer.painted());
        }
        self.resizing = None;
        if self.pane != PaneReading::Unavailable {
            self.pane = PaneReading::Idle;
        }
        self.painted = Instant::now();
    }

    fn ask_to_confirm(&mut self, tty: &mut dyn Tty) {
        let Confirming { until, unconfirmed } = &mut self.confirming;
        *unconfirmed += u32::from(until.take().is_some());
        if self.renderer.profile().reports_size && *unconfirmed < UNCONFIRMED {
            tty.ask_size();
            *until = Some(Instant::now() + CONFIRMS_WITHIN);
        }
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
