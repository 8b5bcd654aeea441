//! The screen of a command that runs in a terminal: drawn over everything else, and the user's keys go to the command.
//!
//! The command runs in a task of its own and feeds the terminal emulator; the application draws it with its next frame, so
//! that a flood of output costs no more than a frame.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omp_stdx::display_width;
use omp_tui::{Emulator, Input, Key, KeyCode, Line, Mods, Size, Space, Token};
use omp_types::{CommandScreen, CommandScreens, ScreenEvent, ScreenFuture, ScreenSize};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::Running;
use super::screen::Dirty;
use crate::dialogs::{DialogStep, Quiet, one_line};

/// Two presses of escape within this time hand back to omp.
const TWICE: Duration = Duration::from_millis(500);
/// A command that ends sooner is not shown, so that it does not flicker.
const SHOWN_AFTER: Duration = Duration::from_millis(100);
/// Input that the command has not taken yet; what is typed beyond this is dropped.
const MOST_INPUT: usize = 1024 * 1024;
/// Programs expect a terminal of at least this size.
const SMALLEST: ScreenSize = ScreenSize { rows: 5, columns: 20 };
const LARGEST: ScreenSize = ScreenSize { rows: 200, columns: 400 };

/// The application's side of the screens.
pub struct Screens {
    shared: Arc<Shared>,
    /// Keys that were typed before the user could see the command.
    quiet: Quiet,
    escape: Option<Instant>,
    /// Whether the screen was open at the last check.
    was_open: bool,
}

struct Shared {
    state: Mutex<State>,
    /// One command at a time.
    turns: Arc<Semaphore>,
    /// The application has to draw.
    pulse: Arc<Notify>,
    /// The command has to take what the user did.
    user: Notify,
}

struct State {
    size: Size,
    open: Option<OpenScreen>,
}

struct OpenScreen {
    command: String,
    since: Instant,
    emulator: Emulator,
    input: Vec<u8>,
    resized: bool,
    handed_back: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Screens {
    pub fn new(size: Size, pulse: Arc<Notify>) -> Self {
        let turns = Arc::new(Semaphore::new(1));
        let state = Mutex::new(State { size, open: None });
        let shared = Arc::new(Shared { state, turns, pulse, user: Notify::new() });
        Self { shared, quiet: Quiet::default(), escape: None, was_open: false }
    }

    /// Returns where commands open their screens.
    pub fn offered(&self) -> Arc<dyn CommandScreens> {
        Arc::new(Offered { shared: self.shared.clone() })
    }

    fn is_open(&self) -> bool {
        self.shared.lock().open.is_some()
    }

    /// Returns when a screen that is not shown yet is to be shown.
    pub fn appears(&self) -> Option<Instant> {
        let state = self.shared.lock();
        let appears = state.open.as_ref()?.since + SHOWN_AFTER;
        (Instant::now() < appears).then_some(appears)
    }

    pub fn resize(&self, size: Size) {
        let mut state = self.shared.lock();
        state.size = size;
        let inner = size_for(size);
        if let Some(open) = &mut state.open {
            open.emulator.resize(emulated(inner));
            open.resized = true;
            self.shared.user.notify_one();
        }
    }

    /// Draws the screen over the whole window; `None` if there is none to show.
    pub fn draw(&mut self, space: &Space<'_>, now: Instant) -> Option<Vec<Line>> {
        let state = self.shared.lock();
        let open = state.open.as_ref().filter(|open| open.since + SHOWN_AFTER <= now)?;
        self.quiet.seen();
        let mut rows = open.emulator.lines();
        let room = space.height.saturating_sub(1);
        // In a window that is too small for any program, the rows with the cursor are shown.
        let cursor = rows.iter().position(|row| row.cursor.is_some()).unwrap_or_default();
        rows.drain(..(cursor + 1).saturating_sub(room).min(rows.len()));
        rows.truncate(room);
        rows.resize(room, Line::new());
        rows.insert(0, title(&open.command, space));
        Some(rows)
    }

    /// Sends input to the command.
    fn input(&mut self, input: &Input, now: Instant) -> DialogStep {
        if let Some(astray) = self.quiet.astray(input) {
            return astray;
        }
        let mut state = self.shared.lock();
        let Some(open) = &mut state.open else { return DialogStep::Ignored };
        let escape =
            matches!(input, Input::Key(Key { code: KeyCode::Escape, mods }) if mods.without(Mods::ALT).is_empty());
        let before = self.escape.take().filter(|before| now - *before <= TWICE);
        // Terminals that send escape twice at once are read as alt+escape.
        let at_once = matches!(input, Input::Key(key) if key.mods.has(Mods::ALT));
        if escape && (before.is_some() || at_once) {
            open.handed_back = true;
        } else {
            self.escape = escape.then_some(now);
            let bytes = open.emulator.encode(input);
            if open.input.len() + bytes.len() <= MOST_INPUT {
                open.input.extend_from_slice(&bytes);
            }
        }
        self.shared.user.notify_one();
        DialogStep::Ignored
    }
}

impl Running {
    /// Sends input to the command that has the screen. Returns `false` if none has.
    pub(super) async fn screen_input(&mut self, input: &Input) -> bool {
        self.look_at_screen();
        if !self.screens.is_open() {
            return false;
        }
        let step = self.screens.input(input, Instant::now());
        Box::pin(self.step(step)).await;
        true
    }

    /// Notices that a command has opened or closed its screen, or has printed something.
    pub(super) fn look_at_screen(&mut self) {
        let open = self.screens.is_open();
        if open && !self.screens.was_open {
            self.screens.escape = None;
            // The user's own command was just started, so keys are meant for it.
            let own = self.work.shell.is_some();
            self.screens.quiet = if own { Quiet::default() } else { Quiet::after(!self.prompt.is_empty()) };
            if !own && !self.presses.focused && self.around.habits.calls.asked {
                self.call("A command needs your input");
            }
        }
        if open || self.screens.was_open {
            self.screen.mark(if open { Dirty::Soon } else { Dirty::Now });
        }
        self.screens.was_open = open;
    }
}

/// A rule with the command and the way back.
fn title(command: &str, space: &Space<'_>) -> Line {
    let rule = space.theme.fg(Token::Border);
    let back = "esc esc ends it";
    // At least one column of the rule stands between them.
    let room = space.width.saturating_sub(display_width::width(back) + 9);
    let command = one_line(command);
    let name = display_width::ellipsize(&command, room).into_owned();
    if room < 4 {
        return Line::styled("─".repeat(space.width), rule);
    }
    let gap = space.width.saturating_sub(display_width::width(&name) + display_width::width(back) + 8);
    Line::styled("── ", rule)
        .with(name, space.theme.fg(Token::Accent).bold())
        .with(format!(" {} ", "─".repeat(gap)), rule)
        .with(back, space.theme.fg(Token::Muted))
        .with(" ──", rule)
}

/// The command's terminal is the window without the title.
fn size_for(size: Size) -> ScreenSize {
    let cells = |count: usize, least: u16, most: u16| u16::try_from(count).unwrap_or(most).clamp(least, most);
    ScreenSize {
        rows: cells(size.height.saturating_sub(1), SMALLEST.rows, LARGEST.rows),
        columns: cells(size.width, SMALLEST.columns, LARGEST.columns),
    }
}

fn emulated(size: ScreenSize) -> Size {
    Size { width: size.columns.into(), height: size.rows.into() }
}

/// The side of the screens that commands use.
struct Offered {
    shared: Arc<Shared>,
}

impl CommandScreens for Offered {
    fn open<'a>(&'a self, command: &'a str) -> ScreenFuture<'a, Box<dyn CommandScreen>> {
        Box::pin(async move {
            // The semaphore is never closed.
            let turn = self.shared.turns.clone().acquire_owned().await.ok();
            let mut state = self.shared.lock();
            let size = size_for(state.size);
            state.open = Some(OpenScreen {
                command: command.to_owned(),
                since: Instant::now(),
                emulator: Emulator::new(emulated(size)),
                input: Vec::new(),
                resized: false,
                handed_back: false,
            });
            drop(state);
            self.shared.pulse.notify_one();
            Box::new(ShownScreen { shared: self.shared.clone(), size, _turn: turn }) as Box<dyn CommandScreen>
        })
    }
}

struct ShownScreen {
    shared: Arc<Shared>,
    size: ScreenSize,
    _turn: Option<OwnedSemaphorePermit>,
}

impl CommandScreen for ShownScreen {
    fn size(&self) -> ScreenSize {
        self.size
    }

    fn show(&mut self, output: &[u8]) -> String {
        let mut state = self.shared.lock();
        let Some(open) = &mut state.open else { return String::new() };
        open.emulator.feed(output);
        let replies = open.emulator.take_replies();
        if !replies.is_empty() && open.input.len() + replies.len() <= MOST_INPUT {
            open.input.extend_from_slice(&replies);
            self.shared.user.notify_one();
        }
        let text = open.emulator.take_text();
        drop(state);
        self.shared.pulse.notify_one();
        text
    }

    fn next(&mut self) -> ScreenFuture<'_, ScreenEvent> {
        Box::pin(async {
            loop {
                if let Some(event) = self.done_by_user() {
                    return event;
                }
                self.shared.user.notified().await;
            }
        })
    }

    fn close(self: Box<Self>) -> String {
        let open = self.shared.lock().open.take();
        open.map_or_else(String::new, |open| open.emulator.finish())
    }
}

impl ShownScreen {
    fn done_by_user(&self) -> Option<ScreenEvent> {
        let mut state = self.shared.lock();
        let size = size_for(state.size);
        let open = state.open.as_mut()?;
        if std::mem::take(&mut open.handed_back) {
            return Some(ScreenEvent::HandedBack);
        }
        if std::mem::take(&mut open.resized) {
            return Some(ScreenEvent::Resized(size));
        }
        let input = std::mem::take(&mut open.input);
        (!input.is_empty()).then_some(ScreenEvent::Input(input))
    }
}

impl Drop for ShownScreen {
    fn drop(&mut self) {
        self.shared.lock().open = None;
        self.shared.pulse.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screens(width: usize, height: usize) -> Screens {
        Screens::new(Size { width, height }, Arc::new(Notify::new()))
    }

    fn drawn(screens: &mut Screens, width: usize, height: usize, now: Instant) -> Option<Vec<String>> {
        let theme = omp_tui::Theme::colorless();
        let rows =
            screens.draw(&Space { width, height, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys }, now)?;
        Some(rows.iter().map(|row| row.text().trim_end().to_owned()).collect())
    }

    fn press(screens: &mut Screens, code: KeyCode, now: Instant) {
        screens.input(&Input::Key(Key::plain(code)), now);
    }

    #[tokio::test]
    async fn a_command_is_shown_over_everything_and_gets_the_keys() {
        let mut screens = screens(40, 7);
        let mut open = screens.offered().open("vi  a\nb").await;
        assert_eq!(open.size(), ScreenSize { rows: 6, columns: 40 });
        open.show(b"\x1b[?1htext\x1b[6n");
        let soon = Instant::now() + SHOWN_AFTER;
        assert_eq!(drawn(&mut screens, 40, 7, soon - SHOWN_AFTER), None, "what ends at once does not flicker");
        let rows = drawn(&mut screens, 40, 7, soon).unwrap();
        assert_eq!(rows[..2], ["── vi  a b ────────── esc esc ends it ──", "text"]);
        assert_eq!(rows.len(), 7);
        assert_eq!(open.next().await, ScreenEvent::Input(b"\x1b[1;5R".to_vec()));
        press(&mut screens, KeyCode::Up, soon);
        press(&mut screens, KeyCode::Char('x'), soon);
        assert_eq!(open.next().await, ScreenEvent::Input(b"\x1bOAx".to_vec()));
        screens.resize(Size { width: 50, height: 12 });
        assert_eq!(open.next().await, ScreenEvent::Resized(ScreenSize { rows: 11, columns: 50 }));
        assert_eq!(open.close(), "text\n");
        assert!(!screens.is_open() && drawn(&mut screens, 40, 7, soon).is_none());
    }

    #[test]
    fn the_title_at_three_sizes_and_in_both_themes() {
        let long = format!("git rebase -i {}", "origin/a-branch ".repeat(20));
        let titles = |space: &Space<'_>| ["vim src/main.rs", &long].map(|command| title(command, space)).to_vec();
        insta::assert_snapshot!(crate::looks::looks(titles));
    }

    #[tokio::test]
    async fn escape_twice_hands_back_and_once_goes_to_the_program() {
        for (pause, between, expect) in [
            (100, None, ScreenEvent::HandedBack),
            (600, None, ScreenEvent::Input(b"\x1b\x1b".to_vec())),
            (100, Some(KeyCode::Char('j')), ScreenEvent::Input(b"\x1bj\x1b".to_vec())),
        ] {
            let mut screens = screens(40, 10);
            let mut open = screens.offered().open("vi").await;
            let now = Instant::now();
            press(&mut screens, KeyCode::Escape, now);
            between.into_iter().for_each(|key| press(&mut screens, key, now));
            press(&mut screens, KeyCode::Escape, now + Duration::from_millis(pause));
            assert_eq!(open.next().await, expect, "{pause} {between:?}");
        }
        let mut screens = screens(40, 10);
        let mut open = screens.offered().open("vi").await;
        screens.input(&Input::Key(Key::new(KeyCode::Escape, Mods::ALT)), Instant::now());
        assert_eq!(open.next().await, ScreenEvent::HandedBack, "as one sequence");
    }

    #[tokio::test]
    async fn one_command_at_a_time_has_the_screen() {
        let screens = screens(40, 10);
        let (first, offered) = (screens.offered().open("one").await, screens.offered());
        let mut second = Box::pin(offered.open("two"));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.close().is_empty());
    }

    #[tokio::test]
    async fn input_that_nobody_takes_is_bounded() {
        let mut screens = screens(40, 10);
        let mut open = screens.offered().open("sleep").await;
        for _ in 0..3 {
            screens.input(&Input::Paste("x".repeat(MOST_INPUT / 2)), Instant::now());
        }
        let ScreenEvent::Input(input) = open.next().await else { panic!("no input") };
        assert_eq!(input.len(), MOST_INPUT);
    }

    #[tokio::test]
    async fn a_tiny_window_shows_the_row_with_the_cursor() {
        let mut screens = screens(10, 3);
        let mut open = screens.offered().open("vi").await;
        assert_eq!(open.size(), SMALLEST);
        open.show(b"1\r\n2\r\n3\r\n4");
        assert_eq!(drawn(&mut screens, 10, 3, Instant::now() + SHOWN_AFTER).unwrap()[1..], ["3", "4"]);
    }
}
