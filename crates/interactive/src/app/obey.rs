//! Executes the actions of keys, dialogs and commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_session::{Command, TitleSource, Wish};
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;
use tokio::time::Instant;

use super::screen::Dirty;
use super::submit::When;
use super::{Leave, News, PATIENCE, Running};
use crate::action::Action;
use crate::dialogs::levels_of;
use crate::habits::DoubleEscape;
use crate::prompt::{Copied, PromptStep, Submission};
use crate::transcript::{CostLines, Tone};

/// Two presses within this time count as a double press.
const TWICE: Duration = Duration::from_millis(500);
/// How long the exit hint is shown and a second ctrl+c exits. Long enough to read the hint.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);

impl Running {
    pub(super) async fn obey(&mut self, action: Action) {
        self.screen.mark(Dirty::Now);
        match action {
            Action::Interrupt => self.interrupt().await,
            Action::Clear => self.clear().await,
            Action::Exit => self.exit(),
            Action::Suspend => self.suspend(),
            Action::ToggleThinking => self.toggle_thinking(),
            Action::ToggleExpanded => self.toggle_expanded(),
            Action::ExternalEditor => self.external_editor().await,
            Action::Submit => self.submit().await,
            Action::FollowUp => self.follow_up().await,
            Action::Say(text) => self.say_line(text).await,
            Action::All(actions) => self.obey_all(actions).await,
            Action::TogglePlan => self.say_line("/plan".to_owned()).await,
            Action::Dequeue => self.dequeue(),
            Action::Complete => self.complete(),
            Action::Insert(text) => self.prompt.insert(&text),
            Action::SetText(text) => self.prompt.set_text(&text),
            Action::Tell(text) => self.note(Tone::Told, &text),
            Action::PasteImage => self.hint("this key has no action yet"),
            // Session actions.
            Action::CycleApproval => self.cycle_approval().await,
            Action::CycleThinking => self.cycle_thinking().await,
            Action::CycleModel { backward } => self.cycle_model(backward).await,
            Action::SetModel { model, role } => self.set_model(model, role).await,
            Action::SetThinking(level) => self.set_thinking(level).await,
            Action::SetApprovalMode(mode) => self.command(Command::SetApprovalMode(mode)).await,
            Action::Answer { id, answer } => self.command(Command::Answer { id, answer }).await,
            Action::OpenUrl { id, url } => self.open_url(id, &url).await,
            Action::Switch(wish) => self.switch(wish).await,
            Action::NewSession => self.switch(Wish::New { cwd: None, parent: None }).await,
            Action::ForkSession => self.fork().await,
            Action::GoTo(to) => self.go_to(to).await,
            Action::LeaveBranch { to, note } => self.leave_branch(to, note).await,
            Action::CorrectSummary(text) => self.correct_summary(text),
            Action::EditSummaryOutside(text) => self.edit_summary_outside(text).await,
            Action::EditDialogOutside(text) => self.edit_dialog_outside(&text).await,
            Action::RunPlan(edited) => self.run_plan(edited).await,
            Action::Label { entry, label } => self.label(&entry, label.as_deref()),
            Action::RenameSession { file, title } => self.rename(file, title),
            Action::DeleteSession(file) => self.change_list(move |host| host.delete(&file)),
            // Appearance and stored settings.
            Action::ToggleVim => self.toggle_vim(),
            Action::SetTheme { name, keep } => self.set_theme(&name, keep),
            Action::KeepKey { provider, key } => self.keep_key(&provider, &key),
            Action::SetSetting { key, value } => self.set_setting(&key, value).await,
            Action::Copy(text) => self.copy(text).await,
            Action::CopyLine => self.copy(self.prompt.line()).await,
            Action::CopyPrompt => self.copy(self.prompt.text()).await,
            // Dialogs.
            Action::SelectModel => self.offer_models(false),
            Action::SelectModelTemporary => self.offer_models(true),
            Action::ShowThinking => self.offer_thinking(),
            Action::ShowSessions => self.list_sessions(),
            Action::ShowTree => self.offer_tree(),
            Action::ShowBranchPoints => self.offer_branch_points(),
            Action::ShowHotkeys => self.offer_hotkeys(),
            Action::ShowThemes => self.offer_themes(),
            Action::ShowSettings => self.offer_settings(),
            Action::AskKey(provider) => self.ask_key(provider.as_deref()),
            Action::SearchHistory => self.offer_history(),
            Action::ReviewPlan => self.offer_plan(),
        }
    }

    async fn obey_all(&mut self, actions: Vec<Action>) {
        for action in actions {
            Box::pin(self.obey(action)).await;
        }
    }

    async fn submit(&mut self) {
        let step = self.prompt.submit();
        Box::pin(self.prompt_step(step)).await;
    }

    async fn follow_up(&mut self) {
        if let PromptStep::Submit(submission) = self.prompt.submit() {
            Box::pin(self.submitted(submission, When::After)).await;
        }
    }

    pub(super) async fn say_line(&mut self, text: String) {
        Box::pin(self.submitted(Submission { text, ..Submission::default() }, When::Now)).await;
    }

    async fn fork(&mut self) {
        let Some(live) = &self.live else { return };
        if let Err(problem) = live.session.write_pending() {
            return self.note(Tone::Error, &problem);
        }
        match live.session.snapshot().file.clone() {
            Some(file) => self.switch(Wish::Fork { file, cwd: None }).await,
            None => self.hint("this session is not saved, so it cannot be forked"),
        }
    }

    pub(super) fn hint(&mut self, text: &str) {
        self.work.hint = Some(text.to_owned());
    }

    /// Says that something has to be stopped first, and how.
    pub(super) fn hint_at_running(&mut self, what: &str) {
        let stop = self.around.keymap.shown("app.interrupt");
        let how = if stop.is_empty() { String::new() } else { format!("; press {stop} to stop it") };
        self.hint(&format!("{what}{how}"));
    }

    /// Whether a command of the user, the model or a compaction runs.
    fn is_busy(&self) -> bool {
        let summing_up = self.work.working.as_ref().is_some_and(|working| working.summing_up);
        let running = self.live.as_ref().map(|live| live.session.snapshot());
        let running = running.is_some_and(|now| now.running || now.compacting);
        self.work.shell.is_some() || running || summing_up
    }

    async fn interrupt(&mut self) {
        if let Some(shell) = &self.work.shell {
            return shell.cancel();
        }
        let retrying = self.work.working.as_ref().is_some_and(|working| working.retrying);
        if self.is_busy() {
            let command = if retrying { Command::AbortRetry } else { Command::Abort };
            return self.command(command).await;
        }
        if !self.prompt.is_empty() {
            return;
        }
        let opens = match self.around.habits.double_escape {
            DoubleEscape::Branch => Action::ShowBranchPoints,
            DoubleEscape::Tree => Action::ShowTree,
            DoubleEscape::Nothing => return,
        };
        if pressed_twice(&mut self.presses.escape) {
            Box::pin(self.obey(opens)).await;
        }
    }

    /// Stops what runs; otherwise empties the editor, and leaves if pressed again. What does not stop can be left, too.
    async fn clear(&mut self) {
        if self.is_busy() && !self.presses.stops_again && !self.presses.leaves {
            self.presses.stopped = true;
            return self.interrupt().await;
        }
        if std::mem::take(&mut self.presses.leaves) {
            return self.go(Leave::Wanted);
        }
        self.prompt.clear();
        self.presses.leaves_until = Some(Instant::now() + LEAVES_WITHIN);
        let clear = self.around.keymap.shown("app.clear");
        self.hint(&format!("press {clear} again to exit"));
    }

    fn exit(&mut self) {
        if self.is_busy() {
            return self.hint_at_running("a turn is running");
        }
        self.go(Leave::Wanted);
    }

    pub(super) fn suspend(&mut self) {
        self.screen.let_go(&mut *self.tty);
        self.screen.go_away();
        self.tty.suspend();
    }

    fn toggle_thinking(&mut self) {
        self.thoughts.set(!self.thoughts.get());
        self.screen.all_anew();
    }

    fn toggle_expanded(&mut self) {
        let expanded = !self.screen.log.is_expanded();
        self.screen.log.set_expanded(expanded);
        self.screen.all_anew();
    }

    async fn external_editor(&mut self) {
        let text = self.prompt.text();
        if let Some(text) = self.edit_outside(&text).await {
            self.prompt.set_text(text.trim_end_matches('\n'));
        }
    }

    /// Opens text in the user's own editor. Returns `None` if it is unchanged.
    pub(super) async fn edit_outside(&mut self, text: &str) -> Option<String> {
        self.screen.let_go(&mut *self.tty);
        self.tty.pause();
        let edited = self.around.outside.edit_text(text).await;
        self.tty.resume();
        self.screen.begin_again();
        self.resize(self.tty.size());
        self.read_pane().await;
        edited.unwrap_or_else(|problem| {
            self.note(Tone::Error, &problem);
            None
        })
    }

    /// The dialog takes the edited text.
    async fn edit_dialog_outside(&mut self, text: &str) {
        let edited = self.edit_outside(text).await;
        if let (Some(text), Some(open)) = (edited, &mut self.dialog) {
            open.dialog.edited(text.trim_end_matches('\n'));
        }
    }

    fn toggle_vim(&mut self) {
        let on = !self.prompt.is_vim();
        self.prompt.set_vim(on);
        if let Err(problem) = self.around.surroundings.keep_setting("editor.vimMode", on.into()) {
            return self.note(Tone::Error, &problem);
        }
        self.hint(if on { "vim mode is on: esc for normal mode, i to insert" } else { "vim mode is off" });
    }

    fn dequeue(&mut self) {
        let Some(live) = &self.live else { return };
        let back = live.session.unqueue();
        if back.is_empty() {
            return self.hint("no queued messages");
        }
        self.give_back(back.iter().map(Submission::of).collect());
    }

    /// An open question stays whatever the new mode is: only an answer runs the call.
    async fn cycle_approval(&mut self) {
        let Some(live) = &self.live else { return };
        let mode = live.session.snapshot().approval_mode.next();
        self.command(Command::SetApprovalMode(mode)).await;
        let Some(live) = &self.live else { return };
        let what = format!("approval: {}", mode.as_str());
        if live.session.snapshot().running {
            // It applies to the next call. The session may be busy, and the user does not wait for it.
            let session = live.session.clone();
            self.beside(async move {
                let changed = session.until(|snapshot| snapshot.approval_mode == mode);
                let _ = tokio::time::timeout(PATIENCE, changed).await;
                News::ModeChanged
            });
            return self.hint(&what);
        }
        self.settled(what, |snapshot| snapshot.approval_mode == mode).await;
    }

    async fn cycle_thinking(&mut self) {
        let Some(live) = &self.live else { return };
        let snapshot = live.session.snapshot();
        if !snapshot.model.reasoning {
            return self.hint("this model does not support thinking");
        }
        let levels = levels_of(&snapshot.model);
        let at = levels.iter().rposition(|level| *level <= snapshot.thinking).unwrap_or_default();
        self.set_thinking(levels[(at + 1) % levels.len()]).await;
    }

    async fn set_thinking(&mut self, level: ThinkingLevel) {
        self.command(Command::SetThinking(level)).await;
        self.settled(format!("thinking: {level}"), |snapshot| snapshot.thinking == level).await;
    }

    async fn cycle_model(&mut self, backward: bool) {
        let Some(live) = &self.live else { return };
        let current = live.session.snapshot().model.selector();
        let offered = self.around.host.offered_models();
        let models: Vec<_> = offered.into_iter().filter(|it| it.in_scope).map(|it| it.model).collect();
        if models.len() < 2 {
            return self.hint("no other model is available");
        }
        let at = models.iter().position(|model| model.selector() == current).unwrap_or_default();
        let step = if backward { models.len() - 1 } else { 1 };
        self.set_model(models[(at + step) % models.len()].clone(), None).await;
    }

    async fn set_model(&mut self, model: Arc<Model>, role: Option<String>) {
        let selector = model.selector();
        if let Some(role) = role {
            let kept = self.around.surroundings.keep_setting(&format!("modelRoles.{role}"), selector.clone().into());
            if let Err(problem) = kept {
                self.note(Tone::Error, &problem);
            }
        }
        self.command(Command::SetModel(model)).await;
        self.settled(format!("model: {selector}"), |snapshot| snapshot.model.selector() == selector).await;
    }

    /// Waits until the session has applied a change, or reports that it will after its work.
    async fn settled(&mut self, what: String, done: impl FnMut(&omp_session::Snapshot) -> bool) {
        let Some(live) = &self.live else { return };
        if live.session.snapshot().running {
            return self.hint(&format!("{what} (from the next message)"));
        }
        // A session that has ended reports that itself.
        let _ = live.session.until(done).await;
        self.hint(&what);
    }

    fn label(&mut self, entry: &omp_session::EntryId, label: Option<&str>) {
        let Some(live) = &self.live else { return };
        if let Err(problem) = live.session.label(entry, label) {
            self.note(Tone::Error, &problem.to_string());
        }
    }

    fn rename(&mut self, file: PathBuf, title: String) {
        let live = self.live.as_ref();
        let Some(live) = live.filter(|live| live.session.snapshot().file.as_deref() == Some(&*file)) else {
            return self.change_list(move |host| host.rename(&file, &title));
        };
        let title = title.as_str();
        if let Err(problem) = live.session.rename(title, TitleSource::User) {
            self.note(Tone::Error, &problem.to_string());
        }
    }

    /// Applies a setting at once if possible; other settings apply from the next session on.
    async fn set_setting(&mut self, key: &str, value: Value) {
        let theme = value.as_str().filter(|_| matches!(key, "theme.dark" | "theme.light"));
        let known = theme.map_or(Ok(()), |name| self.around.surroundings.theme(name).map(drop));
        if let Err(problem) = known.and_then(|()| self.around.surroundings.keep_setting(key, value.clone())) {
            return self.note(Tone::Error, &problem);
        }
        match (key, &value) {
            ("hideThinkingBlock", Value::Bool(hidden)) => {
                self.thoughts.set(!hidden);
                self.screen.all_anew();
            }
            ("display.showTokenUsage", Value::Bool(turns)) => {
                let costs = self.around.costs.get();
                self.around.costs.set(CostLines { turns: *turns, ..costs });
            }
            ("display.cacheMissMarker", Value::Bool(misses)) => {
                let costs = self.around.costs.get();
                self.around.costs.set(CostLines { misses: *misses, ..costs });
            }
            ("terminal.showImages", Value::Bool(shown)) => self.screen.gallery.set_shown(*shown),
            ("theme.dark", Value::String(name)) if !self.presses.light => self.set_theme(name, false),
            ("theme.light", Value::String(name)) if self.presses.light => self.set_theme(name, false),
            ("tools.approvalMode", mode) if let Ok(mode) = serde_json::from_value(mode.clone()) => {
                self.command(Command::SetApprovalMode(mode)).await;
                self.settled("saved".to_owned(), |snapshot| snapshot.approval_mode == mode).await;
            }
            ("editor.vimMode", Value::Bool(on)) => self.prompt.set_vim(*on),
            ("favoriteModels", _) => {}
            (key, _) if key.starts_with("statusLine.") => self.read_status_look(),
            _ => self.hint("saved; takes effect in the next session"),
        }
    }

    fn keep_key(&mut self, provider: &str, key: &crate::action::Secret) {
        match self.around.surroundings.keep_key(provider, key) {
            Ok(told) => self.note(Tone::Told, &told),
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }

    fn set_theme(&mut self, name: &str, keep: bool) {
        match self.around.surroundings.theme(name) {
            Ok(theme) => self.screen.set_theme(theme),
            Err(problem) => return self.note(Tone::Error, &format!("{problem}\nhint: usage: /theme [name]")),
        }
        // The theme is stored for the current kind of background, which the terminal has reported.
        let key = if self.presses.light { "theme.light" } else { "theme.dark" };
        if keep && let Err(problem) = self.around.surroundings.keep_setting(key, name.into()) {
            self.note(Tone::Error, &problem);
        }
    }

    /// Copies through the terminal, which works over ssh, and through a program, for terminals that do not support it.
    async fn copy(&mut self, text: String) {
        if text.is_empty() {
            return self.hint("nothing to copy yet");
        }
        let sent = self.tty.copy(&text);
        match self.around.outside.copy(&text, sent).await {
            Ok(Copied::Surely) => self.hint("copied"),
            // A message that was shown in full before is shortened.
            Ok(Copied::Elsewhere(told)) if self.work.copied.as_ref() == Some(&told) => {
                self.hint(told.lines().next().unwrap_or_default());
            }
            Ok(Copied::Elsewhere(told)) => {
                self.note(Tone::Told, &told);
                self.work.copied = Some(told);
            }
            Err(problem) => self.note(Tone::Error, &problem),
        }
    }
}

/// Whether this press follows another closely.
fn pressed_twice(last: &mut Option<Instant>) -> bool {
    let now = Instant::now();
    let twice = last.is_some_and(|last| now.duration_since(last) < TWICE);
    *last = if twice { None } else { Some(now) };
    twice
}
