//! Edits the rules of "always", one after the other.

use omp_policy::RuleOffer;
use omp_session::CallDetails;
use omp_tui::{Input, Key, KeyCode, Mods, Space, Token};

use super::super::field::Field;
use super::super::sheet::Sheet;

#[derive(Debug)]
pub(super) struct Editing {
    rules: Vec<String>,
    at: usize,
    field: Field,
    problem: Option<String>,
}

/// The result of a key.
pub(super) enum Edited {
    Going,
    Dropped,
    Done(RuleOffer),
    Ignored,
}

impl Editing {
    pub fn of(offer: &RuleOffer) -> Self {
        let first = offer.rules.first().map_or("", String::as_str);
        Self { field: Field::with(first), rules: offer.rules.clone(), at: 0, problem: None }
    }

    pub fn input(&mut self, input: &Input, details: &CallDetails) -> Edited {
        match input {
            Input::Key(Key { code: KeyCode::Enter, mods: Mods::NONE }) => self.entered(details),
            Input::Key(Key { code: KeyCode::Escape, .. }) => Edited::Dropped,
            other if self.field.input(other) => {
                self.problem = None;
                Edited::Going
            }
            _ => Edited::Ignored,
        }
    }

    /// An empty rule is removed.
    fn entered(&mut self, details: &CallDetails) -> Edited {
        self.rules[self.at] = self.field.text().trim().to_owned();
        if let Some(next) = self.rules.get(self.at + 1) {
            self.field = Field::with(next);
            self.at += 1;
            return Edited::Going;
        }
        let rules: Vec<String> = self.rules.iter().filter(|rule| !rule.is_empty()).cloned().collect();
        match details.check_edited(&rules) {
            Ok(()) => Edited::Done(RuleOffer { rules }),
            Err(problem) => {
                self.problem = Some(problem);
                self.at = 0;
                self.field = Field::with(&self.rules[0]);
                Edited::Going
            }
        }
    }

    pub fn draw(&mut self, sheet: &mut Sheet<'_>, space: &Space<'_>) {
        if let Some(problem) = &self.problem {
            sheet.prose(problem, space.theme.fg(Token::Error));
        }
        if self.rules.len() > 1 {
            sheet.muted(&format!("Rule {} of {}", self.at + 1, self.rules.len()));
        }
        sheet.push(self.field.draw("Rule: ", "bash(git push *)", space));
    }
}
