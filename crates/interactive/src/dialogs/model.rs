//! Chooses the model for this session, or for one of the roles in the settings.

use std::sync::Arc;

use omp_stdx::format::compact;
use omp_tui::{Input, KeyCode, Line, Mods, Space, Token};
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;

use super::picker::{Picker, Search};
use super::sheet::{Sheet, one_line};
use super::{Dialog, DialogStep};
use crate::action::Action;

/// The roles that a model can be stored for.
pub const ROLES: [&str; 5] = ["default", "smol", "slow", "plan", "commit"];

/// The available models, and the current choice.
#[derive(Clone, Debug, Default)]
pub struct ModelChoices {
    pub models: Vec<Arc<Model>>,
    /// `provider/id` of the current model.
    pub current: Option<String>,
    pub thinking: ThinkingLevel,
    /// Roles with their models from the settings: `provider/id`, optionally with `:level`.
    pub roles: Vec<(String, String)>,
    /// Applies to this session only, unless another role is selected.
    pub temporary: bool,
}

#[derive(Debug)]
pub struct ModelDialog {
    choices: ModelChoices,
    providers: Vec<String>,
    /// The index of a provider; `None` shows all.
    provider: Option<usize>,
    /// Indices of the models of the provider.
    offered: Vec<usize>,
    picker: Picker,
    /// The index of a role; `None` means this session.
    role: Option<usize>,
    /// Set if it was changed in this dialog.
    thinking: Option<ThinkingLevel>,
}

impl ModelDialog {
    pub fn new(choices: ModelChoices) -> Self {
        let mut providers: Vec<String> = Vec::new();
        for model in &choices.models {
            if !providers.contains(&model.provider) {
                providers.push(model.provider.clone());
            }
        }
        let role = (!choices.temporary).then_some(0);
        let picker = Picker::new([], Search::Fuzzy);
        let mut dialog = Self { choices, providers, provider: None, offered: Vec::new(), picker, role, thinking: None };
        dialog.offer();
        dialog
    }

    /// Lists the models of the provider and selects the current one.
    fn offer(&mut self) {
        let wanted = self.provider.map(|at| &self.providers[at]);
        let models = self.choices.models.iter().enumerate();
        self.offered =
            models.filter(|(_, it)| wanted.is_none_or(|name| *name == it.provider)).map(|(at, _)| at).collect();
        let texts = self.offered.iter().map(|at| &self.choices.models[*at]);
        self.picker.replace(texts.map(|model| format!("{} {}", model.selector(), model.name)));
        let is_current = |at: &usize| self.choices.current.as_deref() == Some(&self.choices.models[*at].selector());
        if let Some(at) = self.offered.iter().position(is_current) {
            self.picker.point_at(at);
        }
    }

    fn pointed(&self) -> Option<&Arc<Model>> {
        Some(&self.choices.models[self.offered[self.picker.pointed()?]])
    }

    fn choose(&self) -> DialogStep {
        let Some(model) = self.pointed().cloned() else { return DialogStep::Ignored };
        let thinking = self.thinking.filter(|level| levels_of(&model).contains(level));
        let role = self.role.map(|at| ROLES[at]);
        if let Some(role) = role.filter(|role| *role != "default") {
            let suffix = thinking.map(|level| format!(":{level}")).unwrap_or_default();
            let value = Value::String(model.selector() + &suffix);
            return DialogStep::Close(Some(Action::SetSetting { key: format!("modelRoles.{role}"), value }));
        }
        let set = Action::SetModel { model, role: role.map(str::to_owned) };
        DialogStep::Close(Some(match thinking {
            Some(level) => Action::All(vec![set, Action::SetThinking(level)]),
            None => set,
        }))
    }

    fn think(&mut self, more: bool) -> DialogStep {
        let Some(model) = self.pointed() else { return DialogStep::Ignored };
        let levels = levels_of(model);
        let now = self.thinking.unwrap_or(self.choices.thinking);
        let at = levels.iter().rposition(|level| *level <= now).unwrap_or(0);
        let next = if more { (at + 1).min(levels.len() - 1) } else { at.saturating_sub(1) };
        self.thinking = Some(levels[next]);
        DialogStep::Redraw
    }

    fn row(&self, item: usize, selected: bool, space: &Space<'_>) -> Line {
        let model = &self.choices.models[self.offered[item]];
        let selector = model.selector();
        let mut name = one_line(&selector);
        let current = self.choices.current.as_deref() == Some(&selector);
        if current {
            name.push_str(" ✓");
        }
        for (role, value) in &self.choices.roles {
            let plain = value.rsplit_once(':').filter(|(_, level)| level.parse::<ThinkingLevel>().is_ok());
            if *value == selector || plain.is_some_and(|(model, _)| model == selector) {
                name.push_str(&format!(" [{}]", one_line(role)));
            }
        }
        let facts = format!("{:>5} {:>9}", compact(model.context_window), price(model));
        Sheet::item(space, selected, &name, &facts)
    }

    fn details(&self, sheet: &mut Sheet<'_>) {
        let theme = sheet.space.theme;
        let target = self.role.map_or("this session only", |at| ROLES[at]);
        let mut line = Line::styled("for ", theme.fg(Token::Muted)).with(target, theme.fg(Token::Accent));
        if let Some(model) = self.pointed() {
            let thinking = self.thinking.unwrap_or(self.choices.thinking);
            let level = if levels_of(model).len() > 1 { thinking.as_str() } else { "none" };
            line.push(" · thinking ", theme.fg(Token::Muted)).push(level, theme.fg(Token::Accent));
        }
        sheet.push(omp_tui::text::clip(line, sheet.space.width));
    }
}

/// Returns the thinking levels that the model supports.
pub(crate) fn levels_of(model: &Model) -> Vec<ThinkingLevel> {
    if !model.reasoning {
        return vec![ThinkingLevel::Off];
    }
    let Some(support) = model.thinking.as_ref().filter(|support| !support.efforts.is_empty()) else {
        return ThinkingLevel::ALL[..5].to_vec();
    };
    let known = |level: &ThinkingLevel| {
        let name = level.as_str();
        *level == ThinkingLevel::Off
            || support.efforts.iter().any(|effort| effort == name)
            || support.effort_map.contains_key(name)
    };
    ThinkingLevel::ALL.into_iter().filter(known).collect()
}

/// Formats the price per million tokens, input and output.
fn price(model: &Model) -> String {
    let cost = model.cost;
    if cost.input == 0.0 && cost.output == 0.0 {
        return "free".to_owned();
    }
    format!("${}/${}", dollars(cost.input), dollars(cost.output))
}

fn dollars(amount: f64) -> String {
    let text = format!("{amount:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Dialog for ModelDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let provider = self.provider.map_or("all providers", |at| &self.providers[at]);
        let count = format!("{} of {} · {provider}", self.picker.matches().len(), self.picker.total());
        let mut sheet = Sheet::new(space, "Model", &count);
        let mut picker = std::mem::replace(&mut self.picker, Picker::new([], Search::Fuzzy));
        picker.draw(&mut sheet, "type to filter", |item, selected| self.row(item, selected, space));
        self.picker = picker;
        self.details(&mut sheet);
        let keys =
            [("enter", "choose"), ("tab", "role"), ("←→", "thinking"), ("ctrl+←→", "provider"), ("esc", "close")];
        sheet.finish(&keys)
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return super::picked(self.picker.input(input)) };
        let roles = ROLES.len() + 1;
        let role = self.role.map_or(0, |at| at + 1);
        let providers = self.providers.len() + 1;
        let provider = self.provider.map_or(0, |at| at + 1);
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => return DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => return self.choose(),
            (Mods::NONE, KeyCode::Left) => return self.think(false),
            (Mods::NONE, KeyCode::Right) => return self.think(true),
            (Mods::NONE, KeyCode::Tab) => self.role = ((role + 1) % roles).checked_sub(1),
            (Mods::SHIFT, KeyCode::Tab) => self.role = ((role + roles - 1) % roles).checked_sub(1),
            (Mods::CTRL, KeyCode::Right) => self.provider = ((provider + 1) % providers).checked_sub(1),
            (Mods::CTRL, KeyCode::Left) => self.provider = ((provider + providers - 1) % providers).checked_sub(1),
            _ => return super::picked(self.picker.input(input)),
        }
        if key.code != KeyCode::Tab {
            self.offer();
        }
        DialogStep::Redraw
    }
}

#[cfg(test)]
pub(super) mod tests;
