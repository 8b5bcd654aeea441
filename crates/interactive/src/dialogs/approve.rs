//! Asks for approval of a call. Shows what it would do, and ignores keys that were meant for something else.

mod editing;

use std::sync::Arc;

use omp_agent::Effect;
use omp_policy::{RuleLevel, RuleOffer, RuleScope};
use omp_session::{Answer, CallDetails};
use omp_stdx::sanitize::on_one_line;
use omp_stdx::truncate::rows_shown;
use omp_tui::text::clip;
use omp_tui::{Input, Key, KeyCode, Line, ListWindow, Mods, Space, Style, Token};
use serde_json::Value;
use tokio::time::Instant;

use super::card::{argument_rows, command_rows, view_rows};
use super::field::Field;
use super::letters::{Heard, Letters};
use super::quiet::Quiet;
use super::sheet::{Sheet, indented, wrapped};
use super::{Dialog, DialogStep};
use crate::action::Action;
use editing::{Edited, Editing};

/// The letters that edit and change the rule, held like an answer.
const EDIT: usize = usize::MAX;
const RESCOPE: usize = usize::MAX - 1;
/// Caps the rows of a rule below the answers that add it; a longer one is shown in the body.
const RULE_ROWS: usize = 2;
/// Aligns the rule with the text of the answers.
const RULE_INDENT: &str = "     ";
/// The minimum number of visible body rows.
const LEAST_ROWS: usize = 3;

/// A call that waits for approval.
#[derive(Clone, Debug)]
pub struct PendingApproval {
    /// The id of the question.
    pub id: u64,
    pub tool: String,
    pub arguments: Arc<Value>,
    pub reason: Option<String>,
    /// What the call would do.
    pub details: Arc<CallDetails>,
}

/// An answer that the dialog offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ApproveOption {
    Once,
    /// Adds the rule that is shown.
    With(RuleScope),
    No,
    Tell,
}

impl ApproveOption {
    fn letter(self) -> char {
        match self {
            ApproveOption::Once => 'y',
            ApproveOption::With(RuleScope::Session) => 's',
            ApproveOption::With(RuleScope::Project) => 'a',
            ApproveOption::With(RuleScope::User) => 'u',
            ApproveOption::No => 'n',
            ApproveOption::Tell => 't',
        }
    }

    fn text(self) -> &'static str {
        match self {
            ApproveOption::Once => "Yes, once",
            ApproveOption::With(RuleScope::Session) => "Yes, for this session",
            ApproveOption::With(RuleScope::Project) => "Yes, always in this project",
            ApproveOption::With(RuleScope::User) => "Yes, always in every project",
            ApproveOption::No => "No",
            ApproveOption::Tell => "No, and say what to do instead",
        }
    }

    /// Whether the answer writes a file, so that its letter only selects it and Enter confirms.
    fn is_kept(self) -> bool {
        matches!(self, ApproveOption::With(RuleScope::Project | RuleScope::User))
    }
}

#[derive(Debug)]
pub struct ApproveDialog {
    approval: PendingApproval,
    pointer: ListWindow,
    /// The user's instruction instead of the call, while it is typed.
    instead: Option<Field>,
    /// The rules that "always" can add: as offered, then as edited by the user.
    offers: Vec<RuleOffer>,
    /// The index of the selected rule.
    scope: usize,
    editing: Option<Editing>,
    quiet: Quiet,
    letters: Letters,
    /// Text that is not an answer was typed and moved to the editor.
    strayed: bool,
    fit: Fit,
    scroll: usize,
    /// The number of body rows below the visible ones.
    below: usize,
    page: usize,
}

/// How much of the question fits on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The body, and a row for each answer.
    Whole,
    /// The body, and the keys in one row. "Always" is not offered, because its rule is not visible.
    Small,
    /// Not even the body fits, so the call cannot be approved.
    Nothing,
}

impl ApproveDialog {
    /// Enter without a choice approves only calls without a warning.
    pub(crate) fn new(approval: PendingApproval, quiet: Quiet) -> Self {
        let offers = approval.details.offers.clone();
        let is_warned = approval.reason.is_some();
        let mut dialog = Self {
            approval,
            pointer: ListWindow::default(),
            instead: None,
            offers,
            scope: 0,
            editing: None,
            letters: quiet.letters(),
            quiet,
            strayed: false,
            fit: Fit::Whole,
            scroll: 0,
            below: 0,
            page: 1,
        };
        dialog.select(if is_warned { ApproveOption::No } else { ApproveOption::Once });
        dialog
    }

    fn select(&mut self, option: ApproveOption) {
        let at = self.options().iter().position(|offered| *offered == option);
        self.pointer.select(at.unwrap_or_default());
    }

    fn selected(&self) -> ApproveOption {
        self.options().get(self.pointer.selected()).copied().unwrap_or(ApproveOption::No)
    }

    fn answer(&self, answer: Answer) -> DialogStep {
        DialogStep::Close(Some(Action::Answer { id: self.approval.id, answer }))
    }

    fn offer(&self) -> Option<&RuleOffer> {
        self.offers.get(self.scope)
    }

    fn options(&self) -> Vec<ApproveOption> {
        let scopes: &[RuleScope] = match self.offer() {
            None => &[],
            Some(_) if self.approval.details.has_project_scope() => {
                &[RuleScope::Session, RuleScope::Project, RuleScope::User]
            }
            Some(_) => &[RuleScope::Session, RuleScope::User],
        };
        let with = scopes.iter().copied().map(ApproveOption::With);
        std::iter::once(ApproveOption::Once).chain(with).chain([ApproveOption::No, ApproveOption::Tell]).collect()
    }

    /// Adds exactly the rule that is shown.
    fn allow_with(&self, scope: RuleScope) -> DialogStep {
        match self.offer() {
            Some(offer) => self.answer(Answer::Always { level: RuleLevel::Allow, rules: offer.rules.clone(), scope }),
            None => DialogStep::Ignored,
        }
    }

    /// The row below the answers that add something: the rule, or the access that containment opens.
    fn rule_text(&self) -> Option<String> {
        let label = if self.approval.details.has_project_scope() { "Rule" } else { "Access" };
        self.offer().map(|offer| format!("{label}: {}", on_one_line(&offer.text())))
    }

    /// Changes the rule: this exact command, or all commands with the same beginning.
    fn rescope(&mut self, back: bool) -> DialogStep {
        let count = self.offers.len();
        if count < 2 {
            return DialogStep::Ignored;
        }
        self.scope = (self.scope + if back { count - 1 } else { 1 }) % count;
        DialogStep::Redraw
    }

    fn edit(&mut self) -> DialogStep {
        let Some(offer) = self.offer().filter(|_| self.approval.details.can_be_edited()) else {
            return DialogStep::Ignored;
        };
        self.editing = Some(Editing::of(offer));
        DialogStep::Redraw
    }

    fn edits(&mut self, input: &Input) -> DialogStep {
        let Some(editing) = &mut self.editing else { return DialogStep::Ignored };
        match editing.input(input, &self.approval.details) {
            Edited::Going => return DialogStep::Redraw,
            Edited::Ignored => return DialogStep::Ignored,
            Edited::Dropped => {}
            Edited::Done(offer) => {
                self.offers.truncate(self.approval.details.offers.len());
                self.offers.push(offer);
                self.scope = self.offers.len() - 1;
                self.select(ApproveOption::With(RuleScope::Session));
            }
        }
        self.editing = None;
        DialogStep::Redraw
    }

    /// Handles a letter. An answer that writes a file is only selected.
    fn letter(&mut self, letter: char) -> DialogStep {
        let letter = letter.to_ascii_lowercase();
        let is_small = self.fit != Fit::Whole;
        match self.options().iter().position(|option| option.letter() == letter) {
            Some(at) if self.options()[at].is_kept() => {
                if is_small {
                    return DialogStep::Ignored;
                }
                self.pointer.select(at);
                DialogStep::Redraw
            }
            Some(at) => self.hold(at),
            None if letter == 'e' && !is_small => self.hold(EDIT),
            None if letter == 'w' && !is_small => self.hold(RESCOPE),
            None => DialogStep::Ignored,
        }
    }

    fn hold(&mut self, option: usize) -> DialogStep {
        match self.letters.hold(option) {
            Some(option) => self.choose(option),
            None => DialogStep::Ignored,
        }
    }

    /// Moves text typed during the question to the editor. Enter at its end must not approve the call.
    fn stray(&mut self, text: String) -> DialogStep {
        self.strayed = true;
        self.select(ApproveOption::No);
        DialogStep::Do(Action::Insert(text))
    }

    fn enter(&mut self) -> DialogStep {
        if self.letters.is_text() {
            return DialogStep::Ignored;
        }
        match (self.letters.confirm(), self.fit) {
            (Some(option), _) => self.choose(option),
            (None, Fit::Whole) => self.choose(self.pointer.selected()),
            (None, _) => DialogStep::Ignored,
        }
    }

    fn choose(&mut self, at: usize) -> DialogStep {
        if at == EDIT {
            return self.edit();
        }
        if at == RESCOPE {
            return self.rescope(false);
        }
        let Some(option) = self.options().get(at).copied() else { return DialogStep::Ignored };
        let is_offered = match self.fit {
            Fit::Whole => true,
            Fit::Small => !matches!(option, ApproveOption::With(_)),
            Fit::Nothing => option == ApproveOption::No,
        };
        if !is_offered {
            return DialogStep::Ignored;
        }
        self.pointer.select(at);
        match option {
            ApproveOption::Once => self.answer(Answer::Yes),
            ApproveOption::With(scope) => self.allow_with(scope),
            ApproveOption::No => self.answer(Answer::No),
            ApproveOption::Tell => {
                self.instead = Some(Field::default());
                DialogStep::Redraw
            }
        }
    }

    fn tab(&mut self) -> DialogStep {
        let at = self.options().iter().position(|option| *option == ApproveOption::Tell);
        at.map_or(DialogStep::Ignored, |at| self.choose(at))
    }

    fn tell(&mut self, input: &Input) -> DialogStep {
        let Some(field) = &mut self.instead else { return DialogStep::Ignored };
        match input {
            Input::Key(Key { code: KeyCode::Enter, mods: Mods::NONE }) => match field.text().trim() {
                "" => self.answer(Answer::No),
                text => {
                    let text = text.to_owned();
                    self.answer(Answer::Text(text))
                }
            },
            Input::Key(Key { code: KeyCode::Escape, .. }) => {
                self.instead = None;
                DialogStep::Redraw
            }
            other if field.input(other) => DialogStep::Redraw,
            _ => DialogStep::Ignored,
        }
    }

    fn scrolled(&mut self, key: Key) -> bool {
        // There is no selection in the small layout.
        let arrows = if self.fit == Fit::Whole { Mods::SHIFT } else { Mods::NONE };
        let step = match (key.mods, key.code) {
            (Mods::NONE, KeyCode::PageDown) => self.page.min(self.below) as isize,
            (Mods::NONE, KeyCode::PageUp) => -(self.page.min(self.scroll) as isize),
            (mods, KeyCode::Down) if mods == arrows => 1.min(self.below) as isize,
            (mods, KeyCode::Up) if mods == arrows => -(1.min(self.scroll) as isize),
            _ => return false,
        };
        self.scroll = self.scroll.saturating_add_signed(step);
        self.below = self.below.saturating_add_signed(-step);
        true
    }

    /// Draws everything about the call; only as many rows are visible as leave room for the question.
    fn draw_body(&mut self, sheet: &mut Sheet<'_>, rule: Option<&[Line]>) {
        let space = sheet.inner();
        let free = space.height.saturating_sub(self.least_rows(rule) - LEAST_ROWS);
        let page = free.min(sheet.room()).max(LEAST_ROWS);
        let rows = self.body(&space, rule.is_none());
        self.draw_page(sheet, rows, page);
        if self.below + self.scroll > 0 {
            sheet.muted(&sheet.hidden(self.scroll, self.below, ["pageUp", "pageDown"]));
        }
    }

    /// Draws as many rows as fit above a note about the others.
    fn draw_page(&mut self, sheet: &mut Sheet<'_>, rows: Vec<Line>, page: usize) {
        let page = rows_shown(rows.len(), page);
        self.page = page;
        self.scroll = self.scroll.min(rows.len().saturating_sub(page));
        self.below = rows.len().saturating_sub(self.scroll + page);
        sheet.extend(rows.into_iter().skip(self.scroll).take(page));
    }

    /// Returns the smallest terminal height that shows all answers below the body.
    fn least_rows(&self, rule: Option<&[Line]>) -> usize {
        const ABOVE_AND_BELOW: usize = 6;
        self.options().len() + rule.map_or(0, <[Line]>::len) + ABOVE_AND_BELOW + LEAST_ROWS
    }

    /// Shows what the call does before the reason for the question.
    fn draw_small(&mut self, mut sheet: Sheet<'_>) -> Vec<Line> {
        /// The title, the number of hidden rows, and the keys.
        const AROUND: usize = 3;
        let space = &sheet.inner();
        let typed = usize::from(self.instead.is_some());
        let page = space.height.saturating_sub(AROUND + typed);
        if page == 0 {
            self.fit = Fit::Nothing;
            let told = "The terminal is too small to show this request. Make it larger, or press n to deny.";
            let mut rows = wrapped(told, space.width, space.theme.fg(Token::Warning));
            rows.truncate(space.height.max(1));
            return rows;
        }
        self.fit = Fit::Small;
        let rows = self.body(space, false);
        self.draw_page(&mut sheet, rows, page);
        if self.below + self.scroll > 0 {
            let more = sheet.hidden(self.scroll, self.below, ["↑", "↓"]);
            sheet.push(clip(Line::styled(more, space.theme.fg(Token::Muted)), space.width));
        }
        if let Some(field) = &mut self.instead {
            sheet.push(field.draw("Instead: ", "tell the model what to do instead", space));
            return sheet.finish(&[("enter", "deny and send"), ("esc", "back")]);
        }
        sheet.finish(&[("y", "yes"), ("n", "no"), ("t", "instead"), ("esc", "refuse")])
    }

    /// What would run, then why that is asked, then what it would change.
    fn body(&self, inner: &Space<'_>, with_rule: bool) -> Vec<Line> {
        let (details, text) = (&self.approval.details, inner.theme.fg(Token::Text));
        let line = |line: &str, style| wrapped(&on_one_line(line), inner.width, style);
        let mut rows = match (&details.preview, &details.command) {
            (Some(view), _) => view_rows(view, inner),
            (None, Some(command)) => command_rows(command, &self.approval.arguments, inner),
            (None, None) => argument_rows(&self.approval.arguments, inner),
        };
        rows.extend(line(&self.why(), inner.theme.fg(Token::Warning)));
        rows.extend(self.changes().flat_map(|effect| line(effect, text)));
        if let Some(rule) = self.rule_text().filter(|_| with_rule) {
            rows.extend(line(&rule, text));
        }
        rows
    }

    /// The reason as a sentence.
    fn why(&self) -> String {
        let reason = self.approval.reason.as_deref().unwrap_or_default();
        let needs_access = !self.approval.details.denied.is_empty();
        let reason = if needs_access { format!("it would {reason}") } else { reason.to_owned() };
        let mut chars = reason.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
    }

    /// The effects that are not said already.
    fn changes(&self) -> impl Iterator<Item = &String> {
        let details = &self.approval.details;
        let is_new = |at: usize| details.effects.get(at).is_none_or(|effect| !is_said(effect, details));
        details.lines.iter().enumerate().filter(move |(at, _)| is_new(*at)).map(|(_, line)| line)
    }

    /// Shows the rule in full, so that nobody agrees to part of a rule. Returns `None` if it is too long for that.
    fn rule_rows(&self, space: &Space<'_>) -> Option<Vec<Line>> {
        let Some(rule) = self.rule_text() else { return Some(Vec::new()) };
        let inner = space.narrower(RULE_INDENT.len());
        let rows = wrapped(&rule, inner.width, space.theme.fg(Token::Muted));
        let rows = indented(rows, RULE_INDENT, Style::PLAIN);
        (rows.len() <= RULE_ROWS).then_some(rows)
    }
}

/// Whether an effect is clear from the command, from the files that the call names, or from the reason.
fn is_said(effect: &Effect, details: &CallDetails) -> bool {
    let is_reason = details.denied.contains(effect);
    match effect {
        Effect::Run { .. } => details.command.is_some(),
        Effect::Read(_) => details.command.is_some() || is_reason,
        Effect::Write(path) => details.files.contains(path) || is_reason,
        Effect::Use(_) => is_reason,
        Effect::Connect { .. } | Effect::Follow { .. } | Effect::Unknown(_) => false,
    }
}

impl Dialog for ApproveDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        let origin = self.approval.details.origin.map(|origin| format!("origin: {origin}")).unwrap_or_default();
        let mut sheet = Sheet::wide(space, &format!("Allow {}?", self.approval.tool), &origin);
        let space = &sheet.inner();
        let rule = self.rule_rows(space);
        if space.height < self.least_rows(rule.as_deref()) && self.editing.is_none() {
            return self.draw_small(sheet);
        }
        self.fit = Fit::Whole;
        self.draw_body(&mut sheet, rule.as_deref());
        sheet.section();
        if let Some(field) = &mut self.instead {
            sheet.push(field.draw("Instead: ", "tell the model what to do instead", space));
            return sheet.finish(&[("enter", "deny and send"), ("esc", "back")]);
        }
        if let Some(editing) = &mut self.editing {
            editing.draw(&mut sheet, space);
            return sheet.finish(&[("enter", "use this rule"), ("esc", "back")]);
        }
        let options = self.options();
        let last_with = options.iter().rposition(|option| matches!(option, ApproveOption::With(_)));
        for (at, option) in options.iter().enumerate() {
            let text = format!("{}  {}", option.letter(), option.text());
            sheet.push(Sheet::item(space, at == self.pointer.selected(), &text, ""));
            if Some(at) == last_with {
                rule.iter().flatten().for_each(|row| sheet.push(row.clone()));
            }
        }
        if self.strayed {
            sheet.muted("Typing goes to the editor. Answer with one key.");
        }
        let enter = match self.selected() {
            ApproveOption::With(RuleScope::Project) => "save this rule for this project",
            ApproveOption::With(RuleScope::User) => "save this rule in config.yml",
            _ => "choose",
        };
        let mut keys = vec![("enter", enter), ("esc", "refuse")];
        keys.extend((self.offers.len() > 1).then_some(("w", "wider or narrower rule")));
        keys.extend(
            (!self.offers.is_empty() && self.approval.details.can_be_edited()).then_some(("e", "edit the rule")),
        );
        keys.push(("shift+tab", "mode"));
        sheet.finish_with_all(&keys)
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Some(step) = self.quiet.astray(input) {
            return step;
        }
        if self.instead.is_some() {
            return self.tell(input);
        }
        if self.editing.is_some() {
            return self.edits(input);
        }
        let key = match input {
            Input::Key(key) => key,
            Input::Paste(text) => return self.stray(text.clone()),
            Input::Mouse(_) | Input::Focus(_) => return DialogStep::Ignored,
        };
        if let Some(letter) = key.typed() {
            match self.letters.hear(letter) {
                Heard::Alone => self.letters.drop_held(),
                Heard::Again => return DialogStep::Ignored,
                Heard::Text(text) => return self.stray(text),
            }
        } else if key.code != KeyCode::Enter {
            self.letters.drop_held();
        }
        let points = self.fit == Fit::Whole;
        if self.scrolled(*key) || (points && self.pointer.key(key, self.options().len())) {
            return DialogStep::Redraw;
        }
        match (key.mods, key.code) {
            (Mods::NONE, KeyCode::Enter) => self.enter(),
            (Mods::NONE, KeyCode::Escape) | (Mods::CTRL, KeyCode::Char('c')) => self.answer(Answer::No),
            (Mods::NONE | Mods::SHIFT, KeyCode::Char(letter)) => self.letter(letter),
            (Mods::NONE, KeyCode::Tab) => self.tab(),
            (Mods::NONE, KeyCode::Right) if points => self.rescope(false),
            (Mods::NONE, KeyCode::Left) if points => self.rescope(true),
            _ => DialogStep::Ignored,
        }
    }

    fn wakes(&self) -> Option<Instant> {
        self.letters.due()
    }

    fn woken(&mut self) -> DialogStep {
        match self.letters.take_due() {
            Some(option) => self.choose(option),
            None => DialogStep::Ignored,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
