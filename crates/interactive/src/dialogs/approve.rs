//! Asks for approval of a call. Shows what it would do, and ignores keys that were meant for something else.

mod editing;

use std::sync::Arc;

use omp_policy::{RuleLevel, RuleOffer};
use omp_session::{Answer, CallDetails};
use omp_stdx::display_width;
use omp_stdx::sanitize::on_one_line;
use omp_tui::text::clip;
use omp_tui::{Input, Key, KeyCode, Line, ListWindow, Mods, Space, Style, Token};
use serde_json::Value;
use tokio::time::Instant;

use super::card::{argument_rows, view_rows};
use super::field::Field;
use super::letters::{Heard, Letters};
use super::quiet::Quiet;
use super::sheet::{Sheet, indented, wrapped};
use super::{Dialog, DialogStep};
use crate::action::Action;
use editing::{Edited, Editing};

const YES: usize = 0;
const NO: usize = 1;
const TELL: usize = 2;
const ALLOW: usize = 3;
const DENY: usize = 4;
/// Caps the rows of a rule below its option; a longer one is shown in the body.
const RULE_ROWS: usize = 2;
/// Aligns the rule with the text of its option.
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
        let mut pointer = ListWindow::default();
        pointer.select(if approval.reason.is_some() { NO } else { YES });
        let offers = approval.details.offers.clone();
        Self {
            approval,
            pointer,
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
        }
    }

    fn answer(&self, answer: Answer) -> DialogStep {
        DialogStep::Close(Some(Action::Answer { id: self.approval.id, answer }))
    }

    fn offer(&self) -> Option<&RuleOffer> {
        self.offers.get(self.scope)
    }

    /// Returns the options with their keys.
    fn options(&self) -> Vec<(String, &'static str)> {
        let fixed = [("1. Yes", "y"), ("2. No", "n"), ("3. No, and say what to do instead", "t")];
        let mut options: Vec<_> = fixed.map(|(option, key)| (option.to_owned(), key)).into();
        if let Some(rule) = self.offer().map(RuleOffer::text) {
            options.push((format!("4. Always allow: {}", on_one_line(&rule)), "a"));
            options.push((format!("5. Always deny: {}", on_one_line(&rule)), "d"));
        }
        options
    }

    /// Adds exactly the rule that is shown.
    fn always(&self, level: RuleLevel) -> DialogStep {
        match self.offer() {
            Some(offer) => self.answer(Answer::Always { level, rules: offer.rules.clone() }),
            None => DialogStep::Ignored,
        }
    }

    /// Changes the scope of "always": this exact command, or all commands with the same beginning.
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
                self.pointer.select(ALLOW);
            }
        }
        self.editing = None;
        DialogStep::Redraw
    }

    /// "Always" writes a setting, so its letter only selects it and Enter confirms.
    fn point(&mut self, option: usize) -> DialogStep {
        if option >= self.options().len() || self.fit != Fit::Whole {
            return DialogStep::Ignored;
        }
        self.pointer.select(option);
        DialogStep::Redraw
    }

    /// Handles an answer of one letter.
    fn hold(&mut self, option: usize) -> DialogStep {
        match self.letters.hold(option) {
            Some(option) => self.choose(option),
            None => DialogStep::Ignored,
        }
    }

    /// Moves text typed during the question to the editor. Enter at its end must not approve the call.
    fn stray(&mut self, text: String) -> DialogStep {
        self.strayed = true;
        self.pointer.select(NO);
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

    fn choose(&mut self, option: usize) -> DialogStep {
        let is_offered = match self.fit {
            Fit::Whole => option < self.options().len(),
            Fit::Small => matches!(option, YES | NO | TELL),
            Fit::Nothing => option == NO,
        };
        if !is_offered {
            return DialogStep::Ignored;
        }
        self.pointer.select(option);
        match option {
            ALLOW => self.always(RuleLevel::Allow),
            DENY => self.always(RuleLevel::Deny),
            YES => self.answer(Answer::Yes),
            TELL => {
                self.instead = Some(Field::default());
                DialogStep::Redraw
            }
            _ => self.answer(Answer::No),
        }
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
        let free = sheet.space.height.saturating_sub(self.least_rows(rule) - LEAST_ROWS);
        let page = free.min(sheet.room()).max(LEAST_ROWS);
        let rows = self.body(&sheet.space.narrower(2), rule.is_none());
        self.draw_page(sheet, rows, page);
        if self.below + self.scroll > 0 {
            sheet.muted(&format!("  … {} above, {} below (pageUp, pageDown)", self.scroll, self.below));
        }
    }

    fn draw_page(&mut self, sheet: &mut Sheet<'_>, rows: Vec<Line>, page: usize) {
        self.page = page;
        self.scroll = self.scroll.min(rows.len().saturating_sub(page));
        self.below = rows.len().saturating_sub(self.scroll + page);
        let seen = rows.into_iter().skip(self.scroll).take(page).collect();
        indented(seen, "  ", Style::PLAIN).into_iter().for_each(|row| sheet.push(row));
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
        let space = sheet.space;
        let typed = usize::from(self.instead.is_some());
        let page = space.height.saturating_sub(AROUND + typed);
        if page == 0 {
            self.fit = Fit::Nothing;
            let told = "The terminal is too small to show what is asked; make it larger, or refuse with n.";
            let mut rows = wrapped(told, space.width, space.theme.fg(Token::Warning));
            rows.truncate(space.height.max(1));
            return rows;
        }
        self.fit = Fit::Small;
        let inner = space.narrower(2);
        let reasons = self.reason_rows(&inner);
        let mut rows = self.body(&inner, false).split_off(reasons.len());
        let first = self.approval.details.lines.first();
        let first = first.map_or(1, |line| wrapped(&on_one_line(line), inner.width, Style::PLAIN).len());
        let rest = rows.split_off(first.min(rows.len()));
        rows.extend(reasons.into_iter().chain(rest));
        self.draw_page(&mut sheet, rows, page);
        if self.below + self.scroll > 0 {
            let more = format!("… {} above, {} below (↑ ↓)", self.scroll, self.below);
            sheet.push(clip(Line::styled(more, space.theme.fg(Token::Muted)), space.width));
        }
        if let Some(field) = &mut self.instead {
            sheet.push(field.draw("Instead: ", "what the model should do", space));
            return sheet.finish(&[("enter", "refuse and send"), ("esc", "back")]);
        }
        sheet.finish(&[("y", "yes"), ("n", "no"), ("t", "instead"), ("esc", "refuse")])
    }

    fn reason_rows(&self, inner: &Space<'_>) -> Vec<Line> {
        let reason = self.approval.reason.as_deref().unwrap_or_default();
        wrapped(&on_one_line(reason), inner.width, inner.theme.fg(Token::Warning))
    }

    fn body(&self, inner: &Space<'_>, with_rule: bool) -> Vec<Line> {
        let (details, text) = (&self.approval.details, inner.theme.fg(Token::Text));
        let line = |line: &str, style| wrapped(&on_one_line(line), inner.width, style);
        let mut rows = self.reason_rows(inner);
        rows.extend(details.lines.iter().flat_map(|effect| line(effect, text)));
        rows.extend(match &details.preview {
            Some(view) => view_rows(view, inner),
            None => argument_rows(&self.approval.arguments, inner),
        });
        if let Some(rule) = self.offer().map(RuleOffer::text).filter(|_| with_rule) {
            rows.extend(line(&format!("always: {rule}"), text));
        }
        rows
    }

    /// Shows a rule that does not fit in its row in full below it, so that nobody agrees to part of a rule. Returns `None`
    /// if it is too long for that.
    fn rule_rows(&self, space: &Space<'_>) -> Option<Vec<Line>> {
        let options = self.options();
        let is_cut = options.get(ALLOW).is_some_and(|(option, _)| display_width::width(option) + 5 > space.width);
        let Some(rule) = self.offer().map(RuleOffer::text).filter(|_| is_cut) else { return Some(Vec::new()) };
        let inner = space.narrower(RULE_INDENT.len());
        let rows = wrapped(&on_one_line(&rule), inner.width, space.theme.fg(Token::Muted));
        let rows = indented(rows, RULE_INDENT, Style::PLAIN);
        (rows.len() <= RULE_ROWS).then_some(rows)
    }
}

impl Dialog for ApproveDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        let mut sheet = Sheet::new(space, &format!("Allow {}?", self.approval.tool), "");
        let rule = self.rule_rows(space);
        if space.height < self.least_rows(rule.as_deref()) && self.editing.is_none() {
            return self.draw_small(sheet);
        }
        self.fit = Fit::Whole;
        if let Some(origin) = self.approval.details.origin {
            sheet.muted(&format!("Origin: {origin}"));
        }
        self.draw_body(&mut sheet, rule.as_deref());
        if let Some(field) = &mut self.instead {
            sheet.push(field.draw("Instead: ", "what the model should do", space));
            return sheet.finish(&[("enter", "refuse and send"), ("esc", "back")]);
        }
        if let Some(editing) = &mut self.editing {
            editing.draw(&mut sheet, space);
            return sheet.finish(&[("enter", "take this rule"), ("esc", "back")]);
        }
        for (at, (option, key)) in self.options().iter().enumerate() {
            sheet.push(Sheet::item(space, at == self.pointer.selected(), option, key));
            if at == ALLOW {
                rule.iter().flatten().for_each(|row| sheet.push(row.clone()));
            }
        }
        if self.strayed {
            sheet.muted("What you type goes to the editor. Answer with one key.");
        }
        let enter = match self.pointer.selected() {
            ALLOW | DENY => "write this rule to config.yml",
            _ => "choose",
        };
        let mut keys = vec![("enter", enter), ("esc", "refuse")];
        keys.extend((self.offers.len() > 1).then_some(("s", "other scope of always")));
        keys.extend(
            (!self.offers.is_empty() && self.approval.details.can_be_edited()).then_some(("e", "edit the rule")),
        );
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
            (Mods::NONE | Mods::SHIFT, KeyCode::Char('1' | 'y' | 'Y')) => self.hold(YES),
            (Mods::NONE | Mods::SHIFT, KeyCode::Char('2' | 'n' | 'N')) => self.hold(NO),
            (Mods::NONE, KeyCode::Char('3' | 't') | KeyCode::Tab) => self.choose(TELL),
            (Mods::NONE, KeyCode::Char('4' | 'a')) => self.point(ALLOW),
            (Mods::NONE, KeyCode::Char('5' | 'd')) => self.point(DENY),
            (Mods::NONE, KeyCode::Char('s') | KeyCode::Right) if points => self.rescope(false),
            (Mods::NONE, KeyCode::Left) if points => self.rescope(true),
            (Mods::NONE, KeyCode::Char('e')) if points => self.edit(),
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
