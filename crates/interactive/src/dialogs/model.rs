//! Chooses the model for this session, or for one of the roles in the settings: by provider, or one row per model with its
//! providers below.

use std::sync::Arc;

use omp_session::OfferedModel;
use omp_stdx::format::compact;
use omp_tui::{Input, KeyCode, Line, Mods, Space, Token};
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;

use super::picker::{Picker, Search};
use super::sheet::{Sheet, one_line};
use super::{Dialog, DialogStep};
use crate::action::Action;

/// The roles that a model can always be stored for; the settings may name more.
pub const ROLES: [&str; 5] = ["default", "smol", "slow", "plan", "commit"];

/// The available models, and the current choice.
#[derive(Clone, Debug, Default)]
pub struct ModelChoices {
    pub models: Vec<OfferedModel>,
    /// `provider/id` of the current model.
    pub current: Option<String>,
    pub thinking: ThinkingLevel,
    /// Roles with their models from the settings: `provider/id`, optionally with `:level`.
    pub roles: Vec<(String, String)>,
    /// Applies to this session only, unless another role is selected.
    pub temporary: bool,
    /// `provider/id` of models that are listed first.
    pub favorites: Vec<String>,
}

/// One row of the list.
#[derive(Clone, Copy, Debug)]
struct ModelRow {
    /// The index of the model; of the first provider's if the row is about several.
    model: usize,
    place: RowPlace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPlace {
    Alone,
    /// The name of a model with this many providers below.
    Head(usize),
    Below,
}

#[derive(Debug)]
pub struct ModelDialog {
    choices: ModelChoices,
    providers: Vec<String>,
    /// The index of a provider; `None` shows all.
    provider: Option<usize>,
    offered: Vec<ModelRow>,
    roles: Vec<String>,
    /// One row per model, with its providers below.
    by_model: bool,
    /// Also models out of scope.
    shows_all: bool,
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
            if !providers.contains(&model.model.provider) {
                providers.push(model.model.provider.clone());
            }
        }
        let mut roles: Vec<String> = ROLES.map(str::to_owned).to_vec();
        roles
            .extend(choices.roles.iter().map(|(role, _)| role).filter(|role| !ROLES.contains(&role.as_str())).cloned());
        let role = (!choices.temporary).then_some(0);
        let picker = Picker::new([], Search::Fuzzy);
        let mut dialog = Self {
            choices,
            providers,
            provider: None,
            offered: Vec::new(),
            roles,
            by_model: false,
            shows_all: false,
            picker,
            role,
            thinking: None,
        };
        dialog.offer();
        dialog
    }

    /// Lists the models, favourites first, and selects the current one.
    fn offer(&mut self) {
        let pointed = self.pointed().map(|model| model.selector()).or_else(|| self.choices.current.clone());
        let wanted = self.provider.map(|at| &self.providers[at]);
        let fits =
            |it: &OfferedModel| wanted.is_none_or(|name| *name == it.model.provider) && (it.in_scope || self.shows_all);
        let models = self.choices.models.iter().enumerate();
        let mut shown: Vec<usize> = models.filter(|(_, it)| fits(it)).map(|(at, _)| at).collect();
        shown.sort_by_key(|at| !self.is_favorite(*at));
        self.offered = if self.by_model {
            self.grouped(&shown)
        } else {
            shown.iter().map(|at| ModelRow { model: *at, place: RowPlace::Alone }).collect()
        };
        let texts = self.offered.iter().map(|row| &self.choices.models[row.model]);
        let text = |it: &OfferedModel| format!("{} {} {}", it.model.selector(), it.model.name, it.canonical);
        self.picker.replace(texts.map(text).collect::<Vec<_>>());
        let is_pointed = |row: &ModelRow| {
            !matches!(row.place, RowPlace::Head(_))
                && pointed.as_deref() == Some(&self.choices.models[row.model].model.selector())
        };
        if let Some(at) = self.offered.iter().position(is_pointed) {
            self.picker.point_at(at);
        }
    }

    /// Puts the providers of a model below its name.
    fn grouped(&self, shown: &[usize]) -> Vec<ModelRow> {
        let name = |at: usize| &self.choices.models[at].canonical;
        let mut rows = Vec::new();
        for (at, first) in shown.iter().enumerate() {
            if shown[..at].iter().any(|before| name(*before) == name(*first)) {
                continue;
            }
            let same: Vec<usize> = shown[at..].iter().copied().filter(|other| name(*other) == name(*first)).collect();
            if same.len() == 1 {
                rows.push(ModelRow { model: *first, place: RowPlace::Alone });
                continue;
            }
            rows.push(ModelRow { model: *first, place: RowPlace::Head(same.len()) });
            rows.extend(same.into_iter().map(|model| ModelRow { model, place: RowPlace::Below }));
        }
        rows
    }

    fn is_favorite(&self, at: usize) -> bool {
        self.choices.favorites.contains(&self.choices.models[at].model.selector())
    }

    fn toggle_favorite(&mut self) -> DialogStep {
        let Some(selector) = self.pointed().map(|model| model.selector()) else { return DialogStep::Ignored };
        match self.choices.favorites.iter().position(|known| *known == selector) {
            Some(at) => drop(self.choices.favorites.remove(at)),
            None => self.choices.favorites.push(selector),
        }
        self.offer();
        let value = Value::from(self.choices.favorites.clone());
        DialogStep::Do(Action::SetSetting { key: "favoriteModels".to_owned(), value })
    }

    fn pointed(&self) -> Option<&Arc<Model>> {
        Some(&self.choices.models[self.offered[self.picker.pointed()?].model].model)
    }

    fn choose(&self) -> DialogStep {
        let Some(model) = self.pointed().cloned() else { return DialogStep::Ignored };
        let thinking = self.thinking.filter(|level| levels_of(&model).contains(level));
        let role = self.role.map(|at| self.roles[at].as_str());
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
        let ModelRow { model: at, place } = self.offered[item];
        let OfferedModel { model, canonical, .. } = &self.choices.models[at];
        if let RowPlace::Head(count) = place {
            let name = format!("{} ({count} providers)", one_line(canonical));
            return Sheet::item(space, selected, &name, "");
        }
        let selector = model.selector();
        let mut name = one_line(&selector);
        if place == RowPlace::Below {
            name.insert_str(0, "  ");
        }
        let mut marks = String::new();
        if self.is_favorite(at) {
            marks.push_str(" ★");
        }
        if self.choices.current.as_deref() == Some(&selector) {
            marks.push_str(" ✓");
        }
        for (role, value) in &self.choices.roles {
            let plain = value.rsplit_once(':').filter(|(_, level)| level.parse::<ThinkingLevel>().is_ok());
            if *value == selector || plain.is_some_and(|(model, _)| model == selector) {
                marks.push_str(&format!(" [{}]", one_line(role)));
            }
        }
        let facts = columns(&compact(model.context_window), &prices(model));
        Sheet::marked_item(space, selected, &name, &marks, &facts)
    }

    fn details(&self, sheet: &mut Sheet<'_>) {
        let theme = sheet.inner().theme;
        let target = self.role.map_or("this session only", |at| &self.roles[at]).to_owned();
        let mut line = Line::styled("for ", theme.fg(Token::Muted)).with(target, theme.fg(Token::Accent));
        if let Some(model) = self.pointed() {
            let thinking = self.thinking.unwrap_or(self.choices.thinking);
            let level = if levels_of(model).len() > 1 { thinking.as_str() } else { "none" };
            line.push(" · thinking ", theme.fg(Token::Muted)).push(level, theme.fg(Token::Accent));
        }
        sheet.push(omp_tui::text::clip(line, sheet.inner().width));
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

/// Aligns the facts of a row below their headings.
fn columns(context: &str, (input, output): &(String, String)) -> String {
    format!("{context:>7} {input:>7} {output:>7}")
}

/// Shown for a price of 0, because the tables have 0 for free and for unknown prices.
const UNKNOWN: &str = "?";

/// Formats the prices per million tokens, input and output.
fn prices(model: &Model) -> (String, String) {
    let cost = model.cost;
    if cost.input == 0.0 && cost.output == 0.0 {
        return (UNKNOWN.to_owned(), UNKNOWN.to_owned());
    }
    (format!("${}", dollars(cost.input)), format!("${}", dollars(cost.output)))
}

fn dollars(amount: f64) -> String {
    let text = format!("{amount:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Dialog for ModelDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let provider = self.provider.map_or("all providers", |at| &self.providers[at]);
        let is_model = |row: &ModelRow| !matches!(row.place, RowPlace::Head(_));
        let shown = self.picker.matches().iter().filter(|at| is_model(&self.offered[**at])).count();
        let total = self.offered.iter().filter(|row| is_model(row)).count();
        let mut count = format!("{shown} of {total} · {provider}");
        let favorites = (0..self.choices.models.len()).filter(|at| self.is_favorite(*at)).count();
        if favorites > 0 {
            count.push_str(&format!(" · {favorites} ★"));
        }
        let left_out = self.choices.models.iter().filter(|it| !it.in_scope).count();
        if left_out > 0 {
            count.push_str(if self.shows_all { " · all models" } else { " · --models or enabledModels" });
        }
        let mut sheet = Sheet::new(space, "Model", &count);
        let space = &sheet.inner();
        let heading = Sheet::item(space, false, "", &columns("context", &("$/M in".to_owned(), "$/M out".to_owned())));
        let mut picker = std::mem::replace(&mut self.picker, Picker::new([], Search::Fuzzy));
        picker.set_heading((!heading.is_blank()).then_some(heading));
        picker.draw(&mut sheet, "type to filter", |item, selected| self.row(item, selected, space));
        self.picker = picker;
        self.details(&mut sheet);
        let mut keys = vec![("enter", "choose"), ("tab", "role"), ("←→", "thinking"), ("ctrl+f", "favourite")];
        keys.push(("ctrl+g", if self.by_model { "by provider" } else { "by model" }));
        if left_out > 0 {
            keys.push(("ctrl+a", if self.shows_all { "fewer" } else { "all models" }));
        }
        keys.extend([("ctrl+←→", "provider"), ("esc", "close")]);
        sheet.finish_with_all(&keys)
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return super::picked(self.picker.input(input)) };
        let roles = self.roles.len() + 1;
        let role = self.role.map_or(0, |at| at + 1);
        let providers = self.providers.len() + 1;
        let provider = self.provider.map_or(0, |at| at + 1);
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => return DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => return self.choose(),
            (Mods::CTRL, KeyCode::Char('f')) => return self.toggle_favorite(),
            (Mods::CTRL, KeyCode::Char('g')) => self.by_model = !self.by_model,
            (Mods::CTRL, KeyCode::Char('a')) => self.shows_all = !self.shows_all,
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
