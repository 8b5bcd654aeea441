//! Submits what was typed: a message for the model, a slash command, or a shell command.

use omp_session::Command;

use super::screen::Dirty;
use super::slash::{OWN, OwnCommand, own_names};
use super::{Leave, Running};
use crate::prompt::{CommandInfo, Submission, Typed, is_leaving, typed};
use crate::transcript::Tone;

/// When a message reaches a model that is working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After the running call.
    Now,
    /// After the running work.
    After,
}

impl Running {
    pub(super) async fn submitted(&mut self, submission: Submission, when: When) {
        let text = submission.text.trim();
        if text.is_empty() && submission.images.is_empty() {
            return;
        }
        // Exiting needs no session.
        if is_leaving(text) {
            return self.go(Leave::Wanted);
        }
        if self.live.is_none() || self.work.opening {
            self.work.waiting.push_back(submission);
            return;
        }
        self.say(submission, when).await;
    }

    pub(super) async fn say(&mut self, submission: Submission, when: When) {
        let text = submission.text.trim().to_owned();
        self.screen.mark(Dirty::Now);
        if let Some(line) = text.strip_prefix('/') {
            let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let called = self.live.as_ref().and_then(|live| live.session.commands().name_of(&text));
            if self.own_command(called.as_deref().unwrap_or(name), arguments.trim()).await {
                return;
            }
        }
        let own: Vec<&str> = own_names().collect();
        let commands = self.live.as_ref().map(|live| live.session.commands()).unwrap_or_default();
        match typed(&text, &commands, &own) {
            Typed::Run { ran_by, command, excluded } if self.run_shell(ran_by, command, excluded) => {}
            Typed::Run { .. } | Typed::Nothing if submission.images.is_empty() => self.give_back(vec![submission]),
            Typed::Command(called) => self.run_command(called, submission),
            Typed::Refused(why) => self.refused(&why, submission),
            Typed::Leave => self.go(Leave::Wanted),
            Typed::Message | Typed::Run { .. } | Typed::Nothing => self.tell_model(submission, when).await,
        }
    }

    async fn tell_model(&mut self, submission: Submission, when: When) {
        let (content, problems) = submission.content(&*self.around.outside.clone()).await;
        self.tell_all(&problems);
        self.command(match (self.is_running(), when) {
            (true, When::Now) => Command::Steer(content.into()),
            (_, When::After) => Command::FollowUp(content.into()),
            (false, When::Now) => Command::Prompt(content.into()),
        })
        .await;
    }

    pub(super) fn is_running(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.session.snapshot().running)
    }

    /// Rejects a command that cannot be run. A similar command is never run instead.
    fn refused(&mut self, why: &str, submission: Submission) {
        self.note(Tone::Error, why);
        self.done_with(submission);
    }

    /// Removes a failed command from the editor, so that new text is not appended to it; the up key recalls it. Its images
    /// are not in the history, so they stay in the editor.
    pub(super) fn done_with(&mut self, failed: Submission) {
        if !failed.images.is_empty() {
            self.give_back(vec![failed]);
        }
    }

    /// Puts submitted text back in front of the editor's text.
    pub(super) fn give_back(&mut self, sent: Vec<Submission>) {
        self.prompt.take_back(sent);
        self.screen.mark(Dirty::Now);
    }

    pub(super) fn note(&mut self, tone: Tone, text: &str) {
        match &mut self.live {
            Some(live) => live.scribe.note(&mut self.screen.log, tone, text),
            None => self.screen.log.push(crate::transcript::Note::new(tone, text)),
        }
        self.screen.mark(Dirty::Now);
    }

    pub(super) fn tell_all(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.note(Tone::Warning, warning);
        }
    }

    /// Sends a command. A session that has ended reports that itself.
    pub(super) async fn command(&mut self, command: Command) {
        if let Some(live) = &self.live {
            let _ = live.session.send(command).await;
        }
    }

    /// Updates the completions of `/`.
    pub(super) fn offer_commands(&mut self) {
        let Some(live) = &self.live else { return };
        let own = |own: &OwnCommand| CommandInfo {
            name: own.name.to_owned(),
            aliases: own.aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            description: own.description.to_owned(),
            arguments: own.arguments.map(str::to_owned),
            ..CommandInfo::default()
        };
        self.prompt.set_commands(&live.session.commands(), OWN.iter().map(own).collect());
    }
}
