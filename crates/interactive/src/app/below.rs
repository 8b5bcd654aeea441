//! Draws the rows below the transcript, and paints the screen.

use omp_tui::text::clip;
use omp_tui::{Line, Rows, Space, Token};
use tokio::time::Instant;

use super::Running;
use super::screen::Below;
use crate::chrome::{StatusBar, queue_rows, status_line, todo_rows};

impl Running {
    pub(super) fn paint(&mut self) {
        let asked = self.dialog.as_ref().and_then(|open| open.about.as_ref());
        if let Some(live) = &mut self.live {
            live.scribe.show_asked(asked);
            live.scribe.look();
        }
        let Self { screens, screen, .. } = self;
        let over = screen.with_space(|space| screens.draw(space, Instant::now()));
        let covered = over.is_some();
        self.screen.set_overlay(over);
        // A question under a command's screen is not drawn, so it does not count as seen.
        if self.screen.wants_chrome() && !covered {
            let below = self.below();
            self.screen.set_below(below);
        }
        self.screen.paint(&mut *self.tty);
    }

    fn below(&mut self) -> Below {
        let before = self.before();
        let now = Instant::now();
        let stop = self.around.keymap.shown("app.interrupt");
        let asking = self.is_asking();
        if let Some(working) = self.work.shown_mut() {
            working.asking = asking;
        }
        let working = self.work.shown();
        let working = working.map(|working| self.screen.with_space(|space| working.row(now, &stop, space)));
        let mut after = self.state();
        after.extend(self.typed());
        Below { before, working, after }
    }

    /// Draws the queued messages, below an empty row.
    fn before(&self) -> Vec<Line> {
        let mut rows = Vec::new();
        if !self.screen.log.is_empty() {
            rows.push(Line::new());
        }
        if let Some(live) = &self.live {
            let (steering, follow_up) = live.session.queued();
            let key = self.around.keymap.shown("app.message.dequeue");
            rows.extend(self.screen.with_space(|space| queue_rows(&steering, &follow_up, &key, space)));
        }
        rows
    }

    fn state(&self) -> Vec<Line> {
        let home = self.place.home.clone();
        let status = self.live.as_ref().map_or_else(StatusBar::default, |live| live.status(home, &self.status));
        let expanded = self.screen.log.is_expanded();
        self.screen.with_space(|space| {
            let mut rows = match &self.live {
                Some(live) => todo_rows(&live.phases, expanded, space),
                None => Vec::new(),
            };
            rows.push(status_line(&status, &self.status.look, space));
            if let Some(hint) = &self.work.hint {
                rows.push(clip(Line::styled(hint.clone(), space.theme.fg(Token::Warning)), space.width));
            }
            rows
        })
    }

    fn typed(&mut self) -> Vec<Line> {
        let Self { screen, dialog, prompt, around, .. } = self;
        screen.with_space(|space| match dialog {
            Some(open) => {
                let keys = around.keymap.names(open.dialog.context());
                open.dialog.draw(&Space { keys: &keys, ..*space })
            }
            None => prompt.draw(space),
        })
    }
}
