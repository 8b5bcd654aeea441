//! The log: one file a day with what sessions did, without the messages. `/debug` shows it, and reports contain it.
//!
//! A session that is not saved leaves no log either.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use omp_session::{AgentEvent, EndReason, SessionCx, SessionEvent, SessionFeature, StartSource};
use omp_stdx::plain_file::read_text;
use omp_stdx::sanitize::on_one_line;
use omp_types::{Message, Secrets};

use crate::private_file;

/// Caps the size of the file of a day; later lines of that day are dropped.
const MAX_BYTES: u64 = 5 << 20;
/// Files of older days are removed.
const MAX_DAYS: usize = 14;
/// Caps a line.
const LONGEST: usize = 2000;
const PREFIX: &str = "omp-";
const SUFFIX: &str = ".log";

/// The log of all sessions of a process.
pub struct DayLog {
    folder: PathBuf,
    secrets: Secrets,
    /// The day whose file was written last.
    day: Mutex<String>,
}

impl DayLog {
    pub fn new(folder: PathBuf, secrets: Secrets) -> Self {
        Self { folder, secrets, day: Mutex::default() }
    }

    /// Adds a line. A full disk or a missing permission does not end a session.
    pub fn add(&self, line: &str) {
        // In UTC, because local time would read the time zone database at every start.
        let _ = self.try_add(&Timestamp::now().to_zoned(TimeZone::UTC), line);
    }

    fn try_add(&self, now: &Zoned, line: &str) -> std::io::Result<()> {
        let today = now.strftime("%Y-%m-%d").to_string();
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        if *day != today {
            std::fs::create_dir_all(&self.folder)?;
            for old in self.files().into_iter().rev().skip(MAX_DAYS) {
                std::fs::remove_file(old)?;
            }
            day.clone_from(&today);
        }
        let mut file = private_file::append(&self.folder.join(format!("{PREFIX}{today}{SUFFIX}")))?;
        if file.metadata()?.len() >= MAX_BYTES {
            return Ok(());
        }
        let line = on_one_line(line);
        let line = self.secrets.redact(&line[..line.floor_char_boundary(LONGEST)]).into_owned();
        let (time, process) = (now.strftime("%H:%M:%S%.3f"), std::process::id());
        file.write_all(format!("{time} {process} {line}\n").as_bytes())
    }

    /// Returns the files of all days, the newest last.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_log = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(PREFIX) && name.ends_with(SUFFIX)
        };
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_log(path)).collect();
        files.sort();
        files
    }

    /// Returns the last lines of the two newest days.
    pub fn tail(&self, lines: usize) -> String {
        let files = self.files();
        let newest = files.iter().skip(files.len().saturating_sub(2));
        let texts: Vec<String> = newest.filter_map(|file| read_text(file, 2 * MAX_BYTES).ok()).collect();
        let all: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// Writes what a session does to the log.
pub struct LoggedSession {
    pub log: Arc<DayLog>,
    /// The beginning of the session's id.
    pub id: String,
}

impl LoggedSession {
    fn add(&self, text: &str) {
        self.log.add(&format!("{} {text}", self.id));
    }
}

impl SessionFeature for LoggedSession {
    fn start<'a>(&'a self, _: &'a SessionCx, source: StartSource) -> BoxFuture<'a, ()> {
        let (version, time) = (env!("CARGO_PKG_VERSION"), Timestamp::now());
        self.add(&format!("session begins ({source:?}), omp {version}, {time}"));
        ready(()).boxed()
    }

    fn begin_run(&self) {
        self.add("run begins");
    }

    fn after_event(&self, _: &SessionCx, event: &AgentEvent) -> Option<SessionEvent> {
        match event {
            AgentEvent::MessageEnd { message } if let Message::Assistant(answer) = &**message => {
                let usage = &answer.usage;
                let failed = answer.error_message.as_deref().map(|why| format!(", {why}")).unwrap_or_default();
                self.add(&format!(
                    "answer of {}/{}: {:?}, {} tokens in, {} out{failed}",
                    answer.provider, answer.model, answer.stop_reason, usage.input, usage.output
                ));
            }
            AgentEvent::ToolEnd(outcome) => {
                let ended = if outcome.output.is_error { "failed" } else { "ended" };
                self.add(&format!("tool {} {ended}", outcome.name));
            }
            _ => {}
        }
        None
    }

    fn end<'a>(&'a self, _: &'a SessionCx, reason: EndReason) -> BoxFuture<'a, ()> {
        self.add(&format!("session ends ({reason:?})"));
        ready(()).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_a_day_and_old_ones_go() {
        let temp = tempfile::tempdir().unwrap();
        let log = DayLog::new(temp.path().join("logs"), Secrets::default());
        let begin: Zoned = "2026-11-01T10:00:00[UTC]".parse().unwrap();
        for day in 0..20 {
            let now = begin.checked_add(jiff::Span::new().days(day)).unwrap();
            log.try_add(&now, &format!("day {day}\nsecond row")).unwrap();
        }
        let names: Vec<String> =
            log.files().iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(names.len(), MAX_DAYS + 1);
        assert_eq!(names.last().unwrap(), "omp-2026-11-20.log");
        let tail = log.tail(10);
        assert_eq!(tail.lines().count(), 2, "{tail}");
        assert!(tail.ends_with("day 19␊second row") && tail.starts_with("10:00:00.000 "), "{tail}");
    }

    #[test]
    fn a_day_is_capped() {
        let temp = tempfile::tempdir().unwrap();
        let log = DayLog::new(temp.path().to_owned(), Secrets::default());
        let now: Zoned = "2026-11-01T10:00:00[UTC]".parse().unwrap();
        let file = temp.path().join("omp-2026-11-01.log");
        std::fs::write(&file, vec![b'x'; MAX_BYTES as usize]).unwrap();
        log.try_add(&now, "more").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().len(), MAX_BYTES);
        log.try_add(&now.tomorrow().unwrap(), &"y".repeat(9000)).unwrap();
        assert!(log.tail(1).len() < LONGEST + 100);
    }
}
