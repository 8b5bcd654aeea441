//! The state behind the status line: its settings, the user's command, and when it is drawn again without a cause.

use std::time::Duration;

use omp_stdx::sanitize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::screen::Dirty;
use super::{News, Running};
use crate::chrome::{Segment, StatusLook};
use crate::transcript::Tone;

/// How often the user's command runs at most.
const SOONEST: Duration = Duration::from_millis(300);
/// The longest output of the command that is kept, in characters.
const LONGEST: usize = 200;

pub(super) struct StatusState {
    pub look: StatusLook,
    pub host: String,
    /// The last output of the command.
    pub command: Option<String>,
    running: bool,
    /// When the command ran last, and when it runs next.
    ran: Option<Instant>,
    due: Option<Instant>,
    /// Whether a failure was reported. It is not repeated every few seconds.
    told: bool,
    /// When a clock in the line is drawn next.
    tick: Option<Instant>,
}

impl StatusState {
    pub fn new(look: StatusLook, host: String) -> Self {
        let tick = look.ticks().map(|every| Instant::now() + every);
        Self { look, host, command: None, running: false, ran: None, due: None, told: false, tick }
    }

    /// Returns when something has to be done.
    pub fn wakes(&self) -> Option<Instant> {
        let due = self.due.filter(|_| !self.running);
        [due, self.tick].into_iter().flatten().min()
    }

    fn wants_command(&mut self) {
        if self.look.shows(Segment::Command) {
            let soonest = self.ran.map_or_else(Instant::now, |ran| ran + SOONEST);
            self.due = Some(self.due.map_or(soonest, |due| due.min(soonest)));
        }
    }
}

impl Running {
    /// Something that the user's command may show has changed.
    pub(super) fn status_changed(&mut self) {
        self.status.wants_command();
    }

    /// Reads the settings of the status line again.
    pub(super) fn read_status_look(&mut self) {
        let (look, problems) = match self.around.surroundings.status_look() {
            Ok(read) => read,
            Err(problem) => return self.note(Tone::Error, &problem),
        };
        let host = std::mem::take(&mut self.status.host);
        self.status = StatusState::new(look, host);
        if let Some(live) = &self.live {
            live.git_watch.set_counts(self.status.look.counts_changes());
        }
        self.status.wants_command();
        self.tell_all(&problems);
        self.screen.mark(Dirty::Now);
    }

    pub(super) fn status_tick(&mut self, now: Instant) {
        if self.status.tick.is_some_and(|tick| now >= tick) {
            self.status.tick = self.status.look.ticks().map(|every| now + every);
            self.screen.mark(Dirty::Soon);
        }
        if !self.status.running && self.status.due.is_some_and(|due| now >= due) {
            self.run_status_command(now);
        }
    }

    fn run_status_command(&mut self, now: Instant) {
        self.status.due = None;
        let Some(live) = &self.live else { return };
        let facts = self.command_facts();
        let (surroundings, folder) = (self.around.surroundings.clone(), live.folder.clone());
        self.status.running = true;
        self.status.ran = Some(now);
        self.beside(async move { News::StatusCommand(surroundings.status_command(facts, folder).await) });
    }

    pub(super) fn status_command_ran(&mut self, result: Result<String, String>) {
        self.status.running = false;
        if let Some(interval) = self.status.look.interval {
            let next = Instant::now() + interval;
            self.status.due = Some(self.status.due.map_or(next, |due| due.min(next)));
        }
        let shown = match result {
            Ok(output) => first_line(&output),
            Err(problem) => {
                if !std::mem::replace(&mut self.status.told, true) {
                    self.note(Tone::Warning, &problem);
                }
                None
            }
        };
        if shown != self.status.command {
            self.status.command = shown;
            self.screen.mark(Dirty::Soon);
        }
    }

    /// What the command gets on its standard input. The names are those of Claude Code, so that its scripts work.
    fn command_facts(&self) -> Value {
        let Some(live) = &self.live else { return Value::Null };
        let status = live.status(self.place.home.clone(), &self.status);
        let snapshot = live.session.snapshot();
        let folder = live.folder.to_string_lossy();
        json!({
            "session_id": snapshot.session_id,
            "transcript_path": snapshot.file,
            "cwd": folder,
            "workspace": {"current_dir": folder, "project_dir": folder},
            "version": self.place.version,
            "model": {"id": snapshot.model.selector(), "display_name": snapshot.model.name},
            "thinking_level": status.thinking.map(|level| level.as_str()),
            "approval_mode": status.mode.as_str(),
            "plan_mode": status.plans,
            "git_branch": status.git.as_ref().map(|git| &git.branch),
            "session_name": status.title,
            "cost": {"total_cost_usd": status.usage.cost.total},
            "context_window": {"used_tokens": status.context.tokens, "context_window_size": status.window},
        })
    }
}

/// Returns the first line that is not empty without escape codes.
fn first_line(output: &str) -> Option<String> {
    let output = sanitize::strip_ansi(output);
    let output = sanitize::strip_control(&output);
    let line = output.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_an_output_is_shown() {
        assert_eq!(first_line("\n  one \ntwo"), Some("one".to_owned()));
        assert_eq!(first_line(" \n\n"), None);
        assert_eq!(first_line("\x1b[2J\x1b[31m\n\x1b]0;title\x07\x1b[1mred\x1b[0m\n"), Some("red".to_owned()));
        assert_eq!(first_line(&"x".repeat(900)).unwrap().len(), LONGEST);
    }
}
