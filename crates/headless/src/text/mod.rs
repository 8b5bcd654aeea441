//! `--mode text`: the answer on standard output, progress on standard error.
//!
//! A pipe receives only the final answer, as scripts expect. A person at a terminal sees streaming text and a card for every
//! tool call.

mod card;
mod countdown;
mod remarks;

use std::io::{self, Write};

use omp_agent::{Outcome, ToolSet};
use omp_session::{AgentEvent, OpenSession, Refused, SessionEvent, ToldRetries, ToolOutcome};
use omp_stdx::sanitize::strip_control;
use omp_types::StreamEvent;
use omp_view::Block;

use crate::presenter::Presenter;
pub(crate) use card::{Palette, write_card};
use countdown::Countdown;
use remarks::remark;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Stream text and tool cards to `out` as they happen; otherwise only the final answer is written.
    pub live: bool,
    pub color: bool,
    /// The width of the terminal that shows progress and supports updating a line; `None` if it is not a terminal.
    pub columns: Option<usize>,
}

pub struct TextPresenter<O, E> {
    out: O,
    err: E,
    tools: ToolSet,
    style: TextStyle,
    /// The text of the newest answer.
    answer: String,
    /// Replies of commands that came after this answer, which is written first.
    later: Vec<String>,
    /// Whether the cursor is at the start of a line.
    at_line_start: bool,
    /// Whether a request was sent.
    asked: bool,
    /// The wait before a retry, while it is shown.
    countdown: Option<Countdown>,
    retries: ToldRetries,
    /// The hint of the last refused call.
    hint: Option<String>,
}

impl<O: Write + Send, E: Write + Send> TextPresenter<O, E> {
    pub fn new(out: O, err: E, tools: ToolSet, style: TextStyle) -> Self {
        Self {
            out,
            err,
            tools,
            style,
            answer: String::new(),
            later: Vec::new(),
            at_line_start: true,
            asked: false,
            countdown: None,
            retries: ToldRetries::default(),
            hint: None,
        }
    }

    fn stream(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.at_line_start = text.ends_with('\n');
        self.out.flush()
    }

    fn break_line(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            self.stream("\n")?;
        }
        Ok(())
    }

    fn write_reply(&mut self, text: &str) -> io::Result<()> {
        self.break_line()?;
        self.stream(text)?;
        self.break_line()
    }

    fn write_later(&mut self) -> io::Result<()> {
        std::mem::take(&mut self.later).iter().try_for_each(|text| self.write_reply(text))
    }

    fn card(&mut self, outcome: &ToolOutcome) -> io::Result<()> {
        let state = match &outcome.output.details {
            Some(details) => Outcome::Done { details, is_error: outcome.output.is_error },
            None => Outcome::Failed,
        };
        let Some(mut view) = self.tools.view(&outcome.name, &outcome.arguments, state) else { return Ok(()) };
        if view.shows_output() {
            view.blocks.push(Block::Text(view.for_people(omp_types::text_of(&outcome.output.content))));
        }
        self.break_line()?;
        let mut card = Vec::new();
        write_card(&mut card, &view, Palette::new(self.style.color))?;
        self.out.write_all(&card)?;
        self.out.flush()
    }

    /// Prints a hint once if several calls share it.
    fn refused(&mut self, refused: &Refused) -> io::Result<()> {
        writeln!(self.err, "omp: {}", strip_control(&refused.to_string()))?;
        if self.hint.as_ref() == Some(&refused.hint) {
            return Ok(());
        }
        writeln!(self.err, "hint: {}", strip_control(&refused.hint))?;
        self.hint = Some(refused.hint.clone());
        Ok(())
    }

    fn agent_event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::MessageUpdate { event: StreamEvent::TextDelta { delta, .. } } if self.style.live => {
                // Text of the model must not move the cursor, set titles or access the clipboard.
                self.stream(&strip_control(delta))
            }
            AgentEvent::MessageEnd { message } => {
                if let Some(answer) = message.as_assistant() {
                    self.write_later()?;
                    // A reader of the pipe must not take a partial answer for a complete one.
                    self.answer = if answer.failed() { String::new() } else { answer.text() };
                }
                if self.style.live { self.break_line() } else { Ok(()) }
            }
            AgentEvent::ToolEnd(outcome) if self.style.live => self.card(outcome),
            _ => Ok(()),
        }
    }
}

impl<O: Write + Send, E: Write + Send> Presenter for TextPresenter<O, E> {
    fn event(&mut self, event: &SessionEvent) -> io::Result<()> {
        if let Some(countdown) = self.countdown.take() {
            countdown.end(&mut self.err)?;
        }
        match event {
            SessionEvent::Agent(event) => {
                self.asked = true;
                self.agent_event(event)
            }
            SessionEvent::RetryStart { attempt, max_attempts, delay, reason } => {
                self.break_line()?;
                let countdown = Countdown::new(*delay, *attempt, *max_attempts);
                let reason = strip_control(reason);
                let Some(columns) = self.style.columns else {
                    return writeln!(self.err, "{}", countdown.once(self.retries.news(&reason)));
                };
                // The line is cleared later, so each one repeats the reason.
                let mut countdown = countdown.because(ToldRetries::short(&reason), columns);
                countdown.draw(&mut self.err)?;
                self.countdown = Some(countdown);
                Ok(())
            }
            SessionEvent::RetryEnd { .. } => {
                self.retries.over();
                Ok(())
            }
            SessionEvent::Refused(refused) => {
                self.break_line()?;
                self.refused(refused)
            }
            other => match remark(other) {
                Some(remark) => {
                    self.break_line()?;
                    writeln!(self.err, "omp: {remark}")
                }
                None => Ok(()),
            },
        }
    }

    fn next_tick(&self) -> Option<tokio::time::Instant> {
        self.countdown.as_ref()?.next_tick()
    }

    fn tick(&mut self) -> io::Result<()> {
        match &mut self.countdown {
            Some(countdown) => countdown.draw(&mut self.err),
            None => Ok(()),
        }
    }

    fn reply(&mut self, text: &str) -> io::Result<()> {
        // The answer before it is written only if no other answer follows.
        if !self.style.live && !self.answer.is_empty() {
            self.later.push(text.to_owned());
            return Ok(());
        }
        self.write_reply(text)
    }

    fn switched(&mut self, to: &OpenSession) -> io::Result<()> {
        self.tools = to.session.tools();
        for warning in &to.warnings {
            writeln!(self.err, "omp: warning: {warning}")?;
        }
        let title = to.session.snapshot().title.clone();
        let named = title.map(|title| format!(" ({title})")).unwrap_or_default();
        writeln!(self.err, "omp: session {}{named}", to.header.id)
    }

    fn finish(&mut self, problem: Option<&str>) -> io::Result<()> {
        let answer = std::mem::take(&mut self.answer);
        if !self.style.live && !answer.is_empty() {
            self.stream(&answer)?;
            self.break_line()?;
        }
        self.write_later()?;
        self.out.flush()?;
        match problem {
            Some(problem) => writeln!(self.err, "omp: {problem}"),
            None if answer.is_empty() && self.asked => {
                writeln!(self.err, "omp: the model ended without a final answer")
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use omp_types::{Api, AssistantMessage, Content, Message};

    use super::*;

    #[test]
    fn nothing_a_model_writes_reaches_the_terminal_as_a_command() {
        let style = TextStyle { live: true, color: false, columns: None };
        let mut out = Vec::new();
        let mut presenter = TextPresenter::new(&mut out, Vec::new(), ToolSet::default(), style);
        for delta in ["plain \x1b", "]52;c;c2VjcmV0\x07 text\r\n", "\x1b[2Jend\u{9b}5n"] {
            let event = StreamEvent::TextDelta { content_index: 0, delta: delta.to_owned() };
            presenter.event(&SessionEvent::Agent(AgentEvent::MessageUpdate { event })).unwrap();
        }
        let shown = String::from_utf8(out).unwrap();
        assert!(!shown.contains(['\x1b', '\x07', '\r', '\u{9b}']), "{shown:?}");
        assert!(shown.starts_with("plain ") && shown.contains(" text\n") && shown.contains("end"), "{shown:?}");
    }

    fn said(text: &str) -> SessionEvent {
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        answer.content = vec![Content::text(text)];
        SessionEvent::Agent(AgentEvent::MessageEnd { message: Arc::new(Message::Assistant(answer)) })
    }

    #[test]
    fn a_pipe_gets_replies_and_the_final_answer_in_order() {
        for (live, given, expect) in [
            (false, &["/one", "A", "/two", "/three"][..], "/one\nA\n/two\n/three\n"),
            (false, &["A", "/one", "B", "/two"], "/one\nB\n/two\n"),
            (false, &["A", "B"], "B\n"),
            (true, &["A", "/one"], "/one\n"),
        ] {
            let style = TextStyle { live, color: false, columns: None };
            let mut out = Vec::new();
            let mut presenter = TextPresenter::new(&mut out, Vec::new(), ToolSet::default(), style);
            for text in given {
                match text.starts_with('/') {
                    true => presenter.reply(text).unwrap(),
                    false => presenter.event(&said(text)).unwrap(),
                }
            }
            presenter.finish(None).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expect, "{given:?}");
        }
    }

    fn told(columns: Option<usize>, events: &[SessionEvent]) -> String {
        let style = TextStyle { live: false, color: false, columns };
        let mut err = Vec::new();
        let mut presenter = TextPresenter::new(Vec::new(), &mut err, ToolSet::default(), style);
        events.iter().for_each(|event| presenter.event(event).unwrap());
        presenter.finish(Some("no connection to x: refused\nhint: is it running?")).unwrap();
        String::from_utf8(err).unwrap()
    }

    #[tokio::test]
    async fn a_dead_server_is_told_in_short_while_it_is_tried_and_once_in_full() {
        let start = |attempt, seconds: u64, reason: &str| SessionEvent::RetryStart {
            attempt,
            max_attempts: 3,
            delay: std::time::Duration::from_secs(seconds),
            reason: reason.to_owned(),
        };
        let dead = "no connection to x: refused\nhint: is it running?";
        let end = SessionEvent::RetryEnd { success: false, attempt: 3, final_error: Some(dead.to_owned()) };
        let events = [start(1, 2, dead), start(2, 4, dead), start(3, 8, "busy"), end];
        assert_eq!(
            told(None, &events),
            "omp: no connection to x: refused; trying again in 2.0 s (1 of 3)\n\
             omp: trying again in 4.0 s (2 of 3)\n\
             omp: busy; trying again in 8.0 s (3 of 3)\n\
             omp: no connection to x: refused\nhint: is it running?\n"
        );
        let seen = told(Some(70), &events);
        // The final screen, without the lines that were overwritten.
        let left: String =
            seen.split('\n').map(|line| line.rsplit("\x1b[K").next().unwrap().to_owned() + "\n").collect();
        assert_eq!(left.trim_end(), "omp: no connection to x: refused\nhint: is it running?");
        assert!(seen.contains("omp: trying again in 4 s (2 of 3), Ctrl-C to stop: no connection to …\r"), "{seen:?}");
    }

    #[test]
    fn calls_that_nobody_could_be_asked_about_are_told_with_what_allows_them() {
        let refused = |tool: &str, hint: &str| {
            let (effects, why) = (vec!["runs: touch \x1b[2Jx".to_owned()], "it needs the user's approval".to_owned());
            SessionEvent::Refused(Refused { tool: tool.to_owned(), effects, why, hint: hint.to_owned() })
        };
        let seen = told(None, &[refused("bash", "allow it"), refused("bash", "allow it"), refused("write", "or this")]);
        let line = |tool: &str| {
            format!(
                "omp: `{tool}` was not run (runs: touch x): it needs the user's approval, and nobody can be asked in this mode\n"
            )
        };
        let (bash, write) = (line("bash"), line("write"));
        assert!(seen.starts_with(&format!("{bash}hint: allow it\n{bash}{write}hint: or this\n")), "{seen}");
    }
}
