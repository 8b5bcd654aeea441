//! Writes lines, each once, and tracks when the last one was written.

use std::io::{self, Write};
use std::time::Duration;

use omp_stdx::format::plural;
use omp_stdx::sanitize::strip_control;
use tokio::time::Instant;

/// Seconds of silence after which a line reports that work continues; the intervals grow.
const PATIENCE: [u64; 5] = [30, 60, 120, 300, 600];

pub struct Teller<W> {
    out: W,
    /// The prompt was written at the start of the open line.
    invited: bool,
    /// The part of the streaming answer after its last line break.
    open_line: String,
    /// Whether a line of the answer was written.
    answering: bool,
    heard: Instant,
    /// How many reports were written during this silence.
    reports: usize,
}

impl<W: Write> Teller<W> {
    pub fn new(out: W) -> Self {
        Self { out, invited: false, open_line: String::new(), answering: false, heard: Instant::now(), reports: 0 }
    }

    pub fn say(&mut self, text: &str) -> io::Result<()> {
        let text = strip_control(text);
        self.write(if text.is_empty() { "\n" } else { &text })
    }

    pub fn say_all(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.say(line))
    }

    /// Writes a prompt, to which the user adds the line end.
    pub fn invite(&mut self, words: &str) -> io::Result<()> {
        if self.invited {
            return Ok(());
        }
        self.invited = true;
        write!(self.out, "{words}")?;
        self.out.flush()
    }

    /// The user has ended the line. `echo` is written if no terminal echoed it.
    pub fn heard_line(&mut self, echo: Option<&str>) -> io::Result<()> {
        if let Some(line) = echo.filter(|_| self.invited) {
            writeln!(self.out, "{}", strip_control(line))?;
        }
        self.invited = false;
        self.rest();
        Ok(())
    }

    /// Ends an open line.
    pub fn close(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.invited) {
            writeln!(self.out)?;
        }
        self.out.flush()
    }

    /// Writes a streamed answer line by line, so that a screen reader does not read partial lines.
    pub fn stream(&mut self, delta: &str) -> io::Result<()> {
        self.open_line.push_str(delta);
        while let Some(at) = self.open_line.find('\n') {
            let line: String = self.open_line.drain(..=at).collect();
            self.answer_line(line.trim_end())?;
        }
        Ok(())
    }

    pub fn end_answer(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.open_line);
        if !rest.trim().is_empty() {
            self.answer_line(rest.trim_end())?;
        }
        self.answering = false;
        Ok(())
    }

    /// Returns when the next report is due.
    pub fn next_report(&self) -> Instant {
        self.heard + Duration::from_secs(self.patience())
    }

    pub fn report(&mut self, doing: Option<&str>) -> io::Result<()> {
        let (silent, heard, reports) = (self.patience(), self.heard, self.reports);
        let time = match silent {
            0..60 => format!("{silent} seconds"),
            _ => plural((silent / 60) as usize, "minute", "minutes"),
        };
        let doing = doing.map(|doing| format!(" Running: {doing}.")).unwrap_or_default();
        self.say(&format!("Still working, {time}.{doing}"))?;
        // A report does not end the silence.
        (self.heard, self.reports) = (heard, reports + 1);
        Ok(())
    }

    /// Resets the silence although nothing is written.
    pub fn rest(&mut self) {
        (self.heard, self.reports) = (Instant::now(), 0);
    }

    fn patience(&self) -> u64 {
        let last = PATIENCE.len() - 1;
        PATIENCE[self.reports.min(last)] + PATIENCE[last] * (self.reports.saturating_sub(last) as u64)
    }

    fn answer_line(&mut self, line: &str) -> io::Result<()> {
        if self.answering {
            return self.say(line);
        }
        // Answers often begin with empty lines.
        if line.trim().is_empty() {
            return Ok(());
        }
        self.answering = true;
        self.say(&format!("omp: {line}"))
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if std::mem::take(&mut self.invited) {
            writeln!(self.out)?;
        }
        self.rest();
        self.out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            writeln!(self.out)?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tell: impl FnOnce(&mut Teller<&mut Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        tell(&mut Teller::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[tokio::test]
    async fn answers_come_in_whole_lines() {
        let text = told(|teller| {
            for delta in ["\n\nHel", "lo\nsec", "ond\x1b[2J", "\n\nlast"] {
                teller.stream(delta)?;
            }
            teller.end_answer()?;
            teller.stream("next")?;
            teller.end_answer()
        });
        assert_eq!(text, "omp: Hello\nsecond\n\nlast\nomp: next\n");
    }

    #[tokio::test]
    async fn what_is_said_meanwhile_stands_on_a_line_of_its_own() {
        let text = told(|teller| {
            teller.invite("You: ")?;
            teller.invite("You: ")?;
            teller.say("news")?;
            teller.invite("You: ")?;
            teller.heard_line(Some("hi"))?;
            teller.say("done\n")
        });
        assert_eq!(text, "You: \nnews\nYou: hi\ndone\n");
    }

    #[tokio::test]
    async fn reports_become_rare() {
        let mut text = String::new();
        let mut waits = Vec::new();
        text += &told(|teller| {
            for _ in 0..7 {
                waits.push(teller.next_report().duration_since(teller.heard).as_secs());
                teller.report(Some("bash make"))?;
            }
            Ok(())
        });
        assert_eq!(waits, [30, 60, 120, 300, 600, 1200, 1800]);
        assert!(text.starts_with("Still working, 30 seconds. Running: bash make.\nStill working, 1 minute."), "{text}");
    }
}
