//! `--plain`: shows a session as lines that are written once, for screen readers and simple terminals.
//!
//! Nothing is redrawn, colored or animated. The terminal does its own line editing; input arrives line by line.

mod answer;
mod inbox;
mod teller;
mod words;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use omp_agent::{ArrivingCall, Outcome};
use omp_compaction::CompactionReason;
use omp_session::{
    AgentEvent, Answer, Attached, Command, EndReason, Obeyed, OpenSession, Question, QuestionKind, RanBy, RunEnd,
    SessionEvent, SessionHost, SessionSwitch, ShownInstead, SwitchFailed, SwitchedSession, TimeLimit, ToldRetries,
    ToolOutcome, Wish, with_retry_hint, words_of_refusal,
};
use omp_types::{Content, Editor, StreamEvent};
use omp_view::{Status, View};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::prompt::{Copied, PromptParts, Submission, Typed, is_leaving, typed};
use crate::transcript::DENIED;
use inbox::Inbox;
use teller::Teller;

/// A second Ctrl+C within this time exits.
const TWICE: Duration = Duration::from_secs(2);

pub struct PlainIo<'a> {
    /// Typed lines without line ends. Closed at the end of the input.
    pub lines: mpsc::Receiver<String>,
    pub out: Box<dyn Write + 'a>,
    pub signals: mpsc::Receiver<PlainSignal>,
    /// Whether a person types the lines at a terminal. Otherwise each line waits until the previous one is done.
    pub attended: bool,
    /// Reads images named with `@`, and stores the prompt history.
    pub prompt: PromptParts,
    /// The time limit of the run, which applies even to running work.
    pub limit: TimeLimit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainSignal {
    /// Ctrl+C.
    Interrupt,
    Terminate,
    HangUp,
}

impl PlainSignal {
    fn ends(self) -> Option<PlainEnd> {
        match self {
            PlainSignal::Interrupt => None,
            PlainSignal::Terminate => Some(PlainEnd::Terminated),
            PlainSignal::HangUp => Some(PlainEnd::HungUp),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainEnd {
    /// The user exited.
    Left,
    Terminated,
    HungUp,
    /// The time limit was reached.
    TimeUp,
    /// The session ended by itself; the error was printed.
    Failed,
}

/// Runs until the user exits. `first` is sent before any input is read. Fails if the output cannot be written.
pub fn run_plain(
    host: Arc<dyn SessionHost>,
    opened: OpenSession,
    first: Vec<Vec<Content>>,
    io: PlainIo<'_>,
) -> LocalBoxFuture<'_, io::Result<PlainEnd>> {
    // As in `app::run`.
    Box::pin(converse(host, opened, first, io))
}

async fn converse(
    host: Arc<dyn SessionHost>,
    opened: OpenSession,
    first: Vec<Vec<Content>>,
    io: PlainIo<'_>,
) -> io::Result<PlainEnd> {
    let PlainIo { lines, out, signals, attended, prompt, limit } = io;
    let events = opened.session.events();
    let mut plain = Plain {
        host,
        current: Some(opened),
        events,
        teller: Teller::new(out),
        first: first.into(),
        work: Work::default(),
        input: Inbox { lines, closed: false, begun: String::new(), attended },
        interrupted: None,
        prompt,
    };
    plain.greet()?;
    let end = tokio::select! {
        end = plain.talk(signals) => end,
        () = limit.reached() => Ok(PlainEnd::TimeUp),
    };
    if matches!(end, Ok(PlainEnd::Left)) {
        plain.ends_by(EndReason::Exit);
    }
    plain.let_go().await;
    plain.teller.close()?;
    end
}

struct Plain<'a> {
    host: Arc<dyn SessionHost>,
    /// `None` only while switching to another session.
    current: Option<OpenSession>,
    events: mpsc::Receiver<SessionEvent>,
    teller: Teller<Box<dyn Write + 'a>>,
    first: VecDeque<Vec<Content>>,
    work: Work,
    input: Inbox,
    interrupted: Option<Instant>,
    prompt: PromptParts,
}

#[derive(Default)]
struct Work {
    /// A prompt was sent and is not done.
    running: bool,
    aborted: bool,
    questions: VecDeque<Question>,
    /// Running calls, with their titles.
    calls: Vec<(String, String)>,
    retries: ToldRetries,
}

impl Plain<'_> {
    fn greet(&mut self) -> io::Result<()> {
        let Some(opened) = &self.current else { return Ok(()) };
        let snapshot = opened.session.snapshot();
        let warnings: Vec<String> = opened.warnings.iter().map(|warning| format!("Warning: {warning}")).collect();
        let model = &snapshot.model;
        self.teller.say(&format!("omp, plain mode. Model {}/{}.", model.provider, model.id))?;
        if snapshot.message_count > 0 {
            let title = snapshot.title.as_deref().map(|title| format!(" {title},")).unwrap_or_default();
            self.teller.say(&format!("Session{title} {} messages so far.", snapshot.message_count))?;
        }
        self.teller.say_all(&warnings)?;
        self.teller.say("Type a message and press Enter. /help lists the commands, exit quits, Ctrl+C interrupts.")
    }

    async fn talk(&mut self, mut signals: mpsc::Receiver<PlainSignal>) -> io::Result<PlainEnd> {
        loop {
            if let Some(end) = self.next_turn(&mut signals).await? {
                return Ok(end);
            }
            let report = self.teller.next_report();
            tokio::select! {
                biased;
                Some(signal) = signals.recv() => {
                    if let Some(end) = self.signal(signal).await? {
                        return Ok(end);
                    }
                }
                event = self.events.recv() => match event {
                    Some(event) => self.event(event).await?,
                    None => {
                        self.teller.say("Error: the session has ended.")?;
                        return Ok(PlainEnd::Failed);
                    }
                },
                line = self.input.lines.recv(), if self.takes_lines() => match line {
                    None => self.input.closed = true,
                    Some(line) => {
                        if let Some(end) = self.line(line, &mut signals).await? {
                            return Ok(end);
                        }
                    }
                },
                () = tokio::time::sleep_until(report), if self.work.running && self.work.questions.is_empty() => {
                    let doing = self.work.calls.last().map(|(_, title)| title.clone());
                    self.teller.report(doing.as_deref())?;
                }
            }
        }
    }

    /// Sends queued prompts, asks for input, or exits if no more input can come.
    async fn next_turn(&mut self, signals: &mut mpsc::Receiver<PlainSignal>) -> io::Result<Option<PlainEnd>> {
        if let Some(question) = self.work.questions.front() {
            if self.input.closed {
                let id = question.id;
                self.work.questions.pop_front();
                self.teller.say("Nobody can answer, so the answer is no.")?;
                self.send(Command::Answer { id, answer: Answer::No }).await;
                return Ok(None);
            }
            let invitation = answer::invitation(question);
            self.teller.invite(invitation)?;
            return Ok(None);
        }
        if self.work.running {
            return Ok(None);
        }
        if let Some(prompt) = self.first.pop_front() {
            let said: String = prompt.iter().filter_map(Content::as_text).collect();
            self.teller.say(&format!("You: {said}"))?;
            // A prompt of one text may be a command; with a file it is a message.
            if let [Content::Text(line)] = prompt.as_slice() {
                return self.obey(&line.text, signals).await;
            }
            self.ask(Command::Prompt(prompt.into())).await;
        } else if self.input.closed {
            return Ok(Some(PlainEnd::Left));
        } else {
            self.teller.invite(if self.input.begun.is_empty() { "You: " } else { "More: " })?;
        }
        Ok(None)
    }

    /// Without a person at the terminal, lines are read only while the session is idle or has a question.
    fn takes_lines(&self) -> bool {
        !self.input.closed && (self.input.attended || !self.work.running || !self.work.questions.is_empty())
    }

    async fn signal(&mut self, signal: PlainSignal) -> io::Result<Option<PlainEnd>> {
        if let Some(end) = signal.ends() {
            return Ok(Some(end));
        }
        if self.work.running && !self.work.aborted {
            self.work.aborted = true;
            self.first.clear();
            self.send(Command::Abort).await;
            return Ok(None);
        }
        let again = self.interrupted.replace(Instant::now()).is_some_and(|before| before.elapsed() < TWICE);
        if again || self.work.running {
            return Ok(Some(PlainEnd::Left));
        }
        self.input.begun.clear();
        self.teller.say("Press Ctrl+C again, or type exit, to quit.")?;
        Ok(None)
    }

    async fn line(&mut self, line: String, signals: &mut mpsc::Receiver<PlainSignal>) -> io::Result<Option<PlainEnd>> {
        let echo = Some(line.as_str()).filter(|_| !self.input.attended);
        self.teller.heard_line(echo)?;
        if let Some(question) = self.work.questions.front() {
            if is_leaving(&line) && !answer::is_option(question, line.trim()) {
                return Ok(Some(PlainEnd::Left));
            }
            let opened = match &question.kind {
                QuestionKind::OpenUrl { url, .. } if line.trim() == answer::OPENS => {
                    self.prompt.outside.open_url(url).await
                }
                _ => Ok(()),
            };
            match opened.and_then(|()| answer::answer(question, &line)) {
                Err(problem) => self.teller.say(&problem)?,
                Ok(answer) => {
                    let id = question.id;
                    self.work.questions.pop_front();
                    self.send(Command::Answer { id, answer }).await;
                }
            }
            return Ok(None);
        }
        let Some(text) = self.input.whole(line).await else { return Ok(None) };
        if matches!(text.trim(), "exit" | "quit") {
            return Ok(Some(PlainEnd::Left));
        }
        self.obey(&text, signals).await
    }

    async fn obey(&mut self, text: &str, signals: &mut mpsc::Receiver<PlainSignal>) -> io::Result<Option<PlainEnd>> {
        let Some(current) = &self.current else { return Ok(Some(PlainEnd::Failed)) };
        if self.input.attended && !text.starts_with(' ') {
            self.prompt.history.keep(text.trim());
        }
        match typed(text, &current.session.commands(), &["exit", "quit"]) {
            Typed::Nothing => {}
            Typed::Leave => return Ok(Some(PlainEnd::Left)),
            Typed::Refused(why) => self.problem(&why)?,
            Typed::Run { ran_by, command, excluded } => return self.shell(ran_by, command, excluded, signals).await,
            Typed::Message => {
                let submission = Submission::new(text, Vec::new());
                let (content, problems) = submission.content(&*self.prompt.outside).await;
                for problem in problems {
                    self.problem(&problem)?;
                }
                self.converse(content.into()).await?;
            }
            Typed::Command(called) if called.asks() => {
                let session = current.session.clone();
                tokio::spawn(async move {
                    let obeyed = called.run(&session, Attached::default()).await;
                    if let Some(told) = obeyed.map_or_else(Some, Obeyed::into_text) {
                        session.tell(told);
                    }
                });
            }
            Typed::Command(called) => match called.run(&current.session, Attached::default()).await {
                Err(problem) => self.problem(&problem)?,
                Ok(Obeyed::Show { text, instead: ShownInstead::Copy }) => {
                    // If a program sends the lines, the text is printed instead of copied.
                    let copied = match self.input.attended {
                        true => self.prompt.outside.copy(&text, false).await.ok(),
                        false => None,
                    };
                    match copied {
                        Some(Copied::Surely) => self.teller.say("Copied to the clipboard.")?,
                        Some(Copied::Elsewhere(told)) => self.teller.say(&told)?,
                        None => self.teller.say(&text)?,
                    }
                }
                Ok(Obeyed::Show { text, .. }) => self.teller.say(&text)?,
                Ok(Obeyed::Send(Command::Prompt(prompt))) => self.converse(prompt).await?,
                Ok(Obeyed::Send(_) | Obeyed::Switch(_)) if self.work.running => {
                    self.problem("the model is still working\nhint: wait, or interrupt it with Ctrl+C")?;
                }
                Ok(Obeyed::Send(command)) => self.ask(command).await,
                Ok(Obeyed::Switch(wish)) => return self.switch(wish).await,
            },
        }
        Ok(None)
    }

    async fn converse(&mut self, prompt: omp_session::Prompt) -> io::Result<()> {
        if !self.work.running {
            self.ask(Command::Prompt(prompt)).await;
            return Ok(());
        }
        self.send(Command::Steer(prompt)).await;
        self.teller.say("Sent; the model reads it at its next step.")
    }

    async fn ask(&mut self, command: Command) {
        self.work = Work { running: true, ..Work::default() };
        self.teller.rest();
        self.send(command).await;
    }

    /// A session that has ended reports that in its events.
    async fn send(&self, command: Command) {
        if let Some(current) = &self.current {
            let _ = current.session.send(command).await;
        }
    }

    async fn shell(
        &mut self,
        ran_by: RanBy,
        command: &str,
        excluded: bool,
        signals: &mut mpsc::Receiver<PlainSignal>,
    ) -> io::Result<Option<PlainEnd>> {
        let Some(current) = &self.current else { return Ok(None) };
        let session = current.session.clone();
        let shell = match ran_by {
            RanBy::Shell => Some(current.shell.clone()),
            RanBy::Python => current.python.clone(),
        };
        let Some(shell) = shell else { return self.problem("Python is not available").map(|()| None) };
        let cancel = CancellationToken::new();
        let mut run = shell.run(command, &|_| {}, cancel.clone());
        self.teller.rest();
        let mut told = None;
        let ran = loop {
            tokio::select! {
                ran = &mut run => break ran,
                Some(signal) = signals.recv() => {
                    cancel.cancel();
                    told = told.or(signal.ends());
                }
                () = tokio::time::sleep_until(self.teller.next_report()) => self.teller.report(Some(command))?,
            }
        };
        let ran = match ran {
            Ok(ran) => ran,
            Err(problem) => return self.problem(&problem).map(|()| told),
        };
        if !ran.output.is_empty() {
            self.teller.say(&ran.output)?;
        }
        self.teller.say_all(&ran.notices)?;
        self.teller.say(&match ran.exit_code {
            _ if ran.cancelled => "Command interrupted.".to_owned(),
            Some(0) => "Command done.".to_owned(),
            Some(code) => format!("Command failed with exit code {code}."),
            None => "Command was killed.".to_owned(),
        })?;
        // A session that has ended reports that in its events.
        let _ = session.send(Command::Append(Arc::new(ran.message(ran_by, command, excluded)))).await;
        Ok(told)
    }

    /// Switches to another session. If it cannot be opened, the old one continues.
    async fn switch(&mut self, wish: Wish) -> io::Result<Option<PlainEnd>> {
        let cwd = self.current.as_ref().map(|current| PathBuf::from(&current.header.cwd));
        let switch = SessionSwitch::new(wish, cwd).after(self.current.as_ref().map(|current| &current.session));
        let host = self.host.clone();
        let let_go = async {
            self.let_go().await;
            Ok(())
        };
        match switch.run(&*host, Editor::default(), let_go).await {
            Ok(SwitchedSession { opened, ends }) => {
                self.ends_by(ends);
                self.let_go().await;
                self.take_up(opened);
                self.greet()?;
            }
            Err(SwitchFailed { problem, reopened }) => {
                self.problem(&problem)?;
                if let Some(again) = reopened {
                    self.take_up(*again);
                }
            }
        }
        Ok(self.current.is_none().then_some(PlainEnd::Failed))
    }

    fn take_up(&mut self, opened: OpenSession) {
        self.events = opened.session.events();
        self.current = Some(opened);
        self.work = Work::default();
    }

    fn ends_by(&self, reason: EndReason) {
        if let Some(open) = &self.current {
            open.session.ends_by(reason);
        }
    }

    async fn let_go(&mut self) {
        if self.work.running {
            self.send(Command::Abort).await;
        }
        let Some(OpenSession { session, actor, shell, .. }) = self.current.take() else { return };
        drop((session, shell));
        // Closed so that the session does not wait for a reader.
        self.events.close();
        let _ = actor.await;
    }

    async fn event(&mut self, event: SessionEvent) -> io::Result<()> {
        match event {
            SessionEvent::Agent(event) => self.agent_event(event),
            SessionEvent::RetryStart { attempt, max_attempts, delay, reason } => {
                self.teller.end_answer()?;
                let why = self.work.retries.news(&reason).map(|why| format!("No answer: {why}. ")).unwrap_or_default();
                let seconds = delay.as_secs_f64().ceil();
                self.teller
                    .say(&format!("{why}Trying again in {seconds} seconds, attempt {attempt} of {max_attempts}."))
            }
            SessionEvent::RetryEnd { .. } => {
                self.work.retries.over();
                Ok(())
            }
            // Sent only in unattended sessions; the end of the call reports it.
            SessionEvent::Refused(_) => Ok(()),
            SessionEvent::Question(question) => {
                let call = match &question.kind {
                    QuestionKind::Approve { call_id, tool, arguments, .. } => self.preview(call_id, tool, arguments),
                    QuestionKind::Choose(_) | QuestionKind::OpenUrl { .. } => None,
                };
                self.teller.end_answer()?;
                self.teller.say_all(&words::question_lines(&question, call.as_ref()))?;
                self.work.questions.push_back(question);
                Ok(())
            }
            SessionEvent::Dismissed { id } => {
                self.work.questions.retain(|question| question.id != id);
                Ok(())
            }
            SessionEvent::Notice { text, .. } => self.teller.say(&text),
            SessionEvent::JobEnded(ended) => self.teller.say(&format!("{ended}.")),
            SessionEvent::CompactionStart { .. } => {
                self.teller.end_answer()?;
                self.teller.say("Compacting the conversation.")
            }
            SessionEvent::CompactionEnd { result, error, reason, .. } => match (result, error) {
                // The result of a requested compaction is reported by its command.
                _ if reason == CompactionReason::Manual => Ok(()),
                (Some(result), _) => self.teller.say(result.told().lines().next().unwrap_or_default()),
                (None, Some(error)) => self.teller.say(&error),
                (None, None) => Ok(()),
            },
            SessionEvent::Quarantined(told) => self.teller.say(&told.to_string()),
            SessionEvent::RulesFired(fired) => {
                self.teller.end_answer()?;
                self.teller.say(&fired.line())
            }
            SessionEvent::Spent(spent) => match spent.unexpected_break() {
                Some(broken) => self.teller.say(&format!("Warning: {broken}.")),
                None => Ok(()),
            },
            SessionEvent::Reminded(reminded) => self.teller.say(&format!("The model was reminded: {}.", reminded.kind)),
            SessionEvent::Moved => self.teller.say("The conversation continues from another point."),
            SessionEvent::Idle { end, undelivered } => {
                self.teller.end_answer()?;
                self.work = Work::default();
                self.ended(end)?;
                for prompt in undelivered {
                    self.teller.say(&format!("Not delivered: {}", prompt.typed().0))?;
                }
                Ok(())
            }
            SessionEvent::AgentEnd { .. }
            | SessionEvent::Renamed { .. }
            | SessionEvent::Queued { .. }
            | SessionEvent::CommandsChanged => Ok(()),
        }
    }

    fn agent_event(&mut self, event: AgentEvent) -> io::Result<()> {
        match event {
            AgentEvent::MessageUpdate { event: StreamEvent::TextDelta { delta, .. } } => self.teller.stream(&delta),
            AgentEvent::MessageEnd { .. } => self.teller.end_answer(),
            AgentEvent::ToolStart { call_id, name, arguments } => {
                let view = self.preview(&call_id, &name, &arguments);
                let title = view.map_or(name, |view| words::clean(&view.title));
                self.work.calls.push((call_id, title));
                Ok(())
            }
            AgentEvent::ToolEnd(outcome) => {
                self.work.calls.retain(|(call, _)| *call != outcome.call_id);
                self.teller.say_all(&words::tool_lines(&self.card(&outcome)))
            }
            _ => Ok(()),
        }
    }

    fn preview(&self, id: &str, tool: &str, arguments: &Value) -> Option<View> {
        let session = &self.current.as_ref()?.session;
        let preview = session.preview(tool, ArrivingCall { id, arguments, is_whole: true });
        preview.or_else(|| session.view(tool, arguments, Outcome::Running))
    }

    fn card(&self, done: &ToolOutcome) -> View {
        let state = match &done.output.details {
            Some(details) => Outcome::Done { details, is_error: done.output.is_error },
            None => Outcome::Failed,
        };
        let session = self.current.as_ref().map(|current| &current.session);
        let view = session.and_then(|session| session.view(&done.name, &done.arguments, state));
        let mut view = view.unwrap_or_else(|| View::new(done.name.clone(), Status::Failed));
        if view.shows_output() && view.status == Status::Failed {
            let said = view.for_people(omp_types::text_of(&done.output.content));
            let words = words_of_refusal(&said).filter(|_| done.output.details.is_none()).map(str::to_owned);
            view.notes.extend(words.is_some().then(|| DENIED.to_owned()));
            view.blocks.push(omp_view::Block::Text(words.unwrap_or(said)));
        }
        view
    }

    fn ended(&mut self, end: RunEnd) -> io::Result<()> {
        match end {
            RunEnd::Aborted => self.teller.say("Interrupted."),
            RunEnd::Failed(error) => self.problem(&with_retry_hint(&error.message)),
            end => end.problem().map_or(Ok(()), |problem| self.problem(problem)),
        }
    }

    fn problem(&mut self, text: &str) -> io::Result<()> {
        self.teller.say(&format!("Error: {text}"))
    }
}
