//! From what a person wrote to one model: exact names, canonical names, patterns, roles, and the choice at the start.
//!
//! Exact beats canonical beats bare id beats a loose match. Among equals, models that can be used come first, then the
//! order of providers decides. A loose match needs the written words to occur as they are: a typing error leads to a
//! question (`did you mean`), never to another, perhaps dearer, model.

mod defaults;
mod initial;
mod matching;
mod refusal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use omp_types::{Model, ThinkingLevel, vars};

use crate::registry::{ModelCandidate, Obstacle, Registry};

pub(crate) use initial::HOW_TO_GET_A_MODEL;
pub use initial::InitialChoice;
pub(crate) use matching::{Matcher, ModelGlob};
pub(crate) use omp_stdx::nearest::likely as nearest;
pub use refusal::{ResolveError, ResolveErrorKind};

/// A model, and what was said with its name.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub model: Arc<Model>,
    /// From a `:level` at the end of the name.
    pub thinking: Option<ThinkingLevel>,
    /// Something the user should know, such as a saved default that could not be used.
    pub note: Option<String>,
}

/// What `--models` or `enabledModels` stands for.
#[derive(Clone, Debug, Default)]
pub struct ModelScope {
    pub models: Vec<Resolved>,
    /// Patterns that stand for no usable model.
    pub unmatched: Vec<String>,
}

/// Roles may lead to roles, but not for ever.
const LONGEST_ROLE_CHAIN: usize = 8;
const ROLE_PREFIX: &str = "pi/";
const ROLES: [&str; 5] = ["default", "smol", "slow", "plan", "commit"];

impl Registry {
    /// One model for a name or pattern as `--model`, `modelRoles` and `/model` take it.
    pub fn resolve(&self, pattern: &str) -> Result<Resolved, ResolveError> {
        let pattern = pattern.trim();
        if let Some(role) = pattern.strip_prefix(ROLE_PREFIX) {
            return self.resolve_role(role, 0);
        }
        let (base, level) = split_level(pattern);
        // An id may itself end in `:high`, so the whole text is tried before its end is taken off.
        let spellings = [(pattern, None), (base, level)];
        let spellings = &spellings[..if level.is_some() { 2 } else { 1 }];
        for (text, level) in spellings {
            if let Some(candidate) = self.by_selector(text) {
                return self.usable_or_why(pattern, &[candidate]).map(|found| resolved(self.model(found), *level));
            }
        }
        let mut blocked = Vec::new();
        for (text, level) in spellings {
            for named in [self.variants(text), self.by_bare_id(text)] {
                match self.best(&named) {
                    Some(found) => return Ok(resolved(self.model(found), *level)),
                    None => blocked.extend(named),
                }
            }
        }
        let loose = self.by_pattern(base);
        match self.usable_first(&loose) {
            Some(found) => Ok(resolved(self.model(found), level)),
            None if blocked.is_empty() && loose.is_empty() => Err(self.unknown(pattern)),
            None => {
                blocked.extend(loose);
                Err(self.blocked(pattern, &blocked))
            }
        }
    }

    /// The model with this very `provider/id`. A similar name would be another model, at another price.
    pub fn resolve_exactly(&self, selector: &str) -> Result<Resolved, ResolveError> {
        match self.by_selector(selector.trim()) {
            Some(candidate) => {
                self.usable_or_why(selector, &[candidate]).map(|found| resolved(self.model(found), None))
            }
            None => Err(self.unknown(selector)),
        }
    }

    fn lacks(&self, selector: Option<&str>) -> bool {
        selector.is_some_and(|selector| self.by_selector(selector.trim()).is_none())
    }

    /// All usable models a list of patterns stands for, each once, in the order of the patterns.
    pub fn scope<S: AsRef<str>>(&self, patterns: &[S]) -> ModelScope {
        let mut scope = ModelScope::default();
        for pattern in patterns {
            let pattern = pattern.as_ref().trim();
            if pattern.is_empty() {
                continue;
            }
            let found = self.scoped(pattern);
            if found.is_empty() {
                scope.unmatched.push(pattern.to_owned());
            }
            for one in found {
                if scope.models.iter().all(|known| known.model.selector() != one.model.selector()) {
                    scope.models.push(one);
                }
            }
        }
        scope
    }

    /// The model for a role. An unset `smol` is a small model of the current provider; other roles that are not set
    /// are played by the current model.
    pub fn role(&self, role: &str, current: &Arc<Model>) -> Result<Resolved, ResolveError> {
        if self.role_value(role).is_some() {
            return self.resolve_role(role, 0);
        }
        let small = (role == "smol").then(|| self.small_model(&current.provider)).flatten();
        Ok(resolved(small.unwrap_or_else(|| current.clone()), None))
    }

    /// Where to go on when the context of `model` overflows: its own target, else the smallest larger sibling.
    pub fn promotion_target(&self, model: &Model) -> Option<Arc<Model>> {
        if let Some(target) = &model.context_promotion_target {
            let within = self.get(&model.provider, target);
            let target = within.or_else(|| target.split_once('/').and_then(|(provider, id)| self.get(provider, id)));
            return target.filter(|target| self.is_available(target) && target.selector() != model.selector());
        }
        let siblings = self.candidates_of(&model.provider).map(|candidate| self.model(candidate));
        let larger = siblings.filter(|other| other.api == model.api && other.context_window > model.context_window);
        larger.filter(|other| self.is_available(other)).min_by_key(|other| other.context_window)
    }

    fn scoped(&self, pattern: &str) -> Vec<Resolved> {
        let (base, level) = split_level(pattern);
        let usable = |found: Vec<ModelCandidate<'_>>, level| -> Vec<Resolved> {
            let found = found.into_iter().filter(|candidate| self.is_usable(*candidate));
            found.map(|candidate| resolved(self.model(candidate), level)).collect()
        };
        for (text, level) in [(pattern, None), (base, level)] {
            let exact = self.by_selector(text).map_or_else(|| self.variants(text), |found| vec![found]);
            if !exact.is_empty() {
                return usable(exact, level);
            }
        }
        if let Some(glob) = ModelGlob::new(base) {
            return usable(self.available_candidates().filter(|candidate| glob.matches(*candidate)).collect(), level);
        }
        self.resolve(pattern).into_iter().collect()
    }

    fn resolve_role(&self, role: &str, depth: usize) -> Result<Resolved, ResolveError> {
        let (name, level) = split_level(role);
        let Some(value) = self.role_value(name) else { return self.unset_role(name, level) };
        if depth >= LONGEST_ROLE_CHAIN {
            return Err(ResolveError::new(
                ResolveErrorKind::BadRole,
                format!("the role `{name}` leads back to itself\nhint: look at `modelRoles` in config.yml"),
            ));
        }
        let mut found = match value.trim().strip_prefix(ROLE_PREFIX) {
            Some(next) => self.resolve_role(next, depth + 1)?,
            None => self.resolve(value).map_err(|error| error.within(&format!("role `{name}`")))?,
        };
        found.thinking = level.or(found.thinking);
        Ok(found)
    }

    fn unset_role(&self, name: &str, level: Option<ThinkingLevel>) -> Result<Resolved, ResolveError> {
        if !ROLES.contains(&name) {
            let message = format!(
                "unknown role `{name}`\nhint: roles are {} and those of `modelRoles` in config.yml",
                ROLES.join(", ")
            );
            return Err(ResolveError::new(ResolveErrorKind::BadRole, message));
        }
        let model = if name == "smol" { self.first_small_model() } else { None };
        let model = model.or_else(|| self.known_default()).or_else(|| self.first_available());
        model.map(|model| resolved(model, level)).ok_or_else(|| self.nothing_available())
    }

    fn role_value(&self, role: &str) -> Option<&str> {
        let variable = match role {
            "smol" => self.env().get(vars::PI_SMOL_MODEL),
            "slow" => self.env().get(vars::PI_SLOW_MODEL),
            "plan" => self.env().get(vars::PI_PLAN_MODEL),
            _ => None,
        };
        let flag = self.options.role_flags.get(role).map(String::as_str);
        let value = flag.or(variable).or_else(|| self.options.roles.get(role).map(String::as_str));
        value.filter(|value| !value.trim().is_empty())
    }

    /// `provider/id` to the letter, else in any case.
    fn by_selector(&self, text: &str) -> Option<ModelCandidate<'_>> {
        let (provider, id) = text.split_once('/')?;
        if id.is_empty() {
            return None;
        }
        if let Some(found) = self.candidate(provider, id) {
            return Some(found);
        }
        self.candidates_of(provider).find(|candidate| candidate.id().eq_ignore_ascii_case(id))
    }

    fn by_bare_id(&self, text: &str) -> Vec<ModelCandidate<'_>> {
        self.candidates().filter(|candidate| candidate.id().eq_ignore_ascii_case(text)).collect()
    }

    /// Loose matches, best first. `provider/words` looks at that provider only.
    fn by_pattern(&self, pattern: &str) -> Vec<ModelCandidate<'_>> {
        let mut matcher = Matcher::new(pattern);
        let ranked = match pattern.split_once('/') {
            Some((provider, rest)) if !rest.is_empty() && self.knows_provider(provider) => {
                let mut matcher = Matcher::new(rest);
                self.candidates_of(provider).filter_map(|found| Some((matcher.rank(found)?, found))).collect()
            }
            _ => self.candidates().filter_map(|found| Some((matcher.rank(found)?, found))).collect::<Vec<_>>(),
        };
        let mut ranked = ranked;
        ranked.sort_by_key(|(rank, found)| (rank.class, self.provider_rank(found.provider()), rank.order));
        ranked.into_iter().map(|(_, found)| found).collect()
    }

    fn usable_first<'a>(&self, ranked: &[ModelCandidate<'a>]) -> Option<ModelCandidate<'a>> {
        ranked.iter().copied().find(|candidate| self.is_usable(*candidate))
    }

    /// Of models with the same name: usable, then by provider.
    fn best<'a>(&self, same: &[ModelCandidate<'a>]) -> Option<ModelCandidate<'a>> {
        let usable = same.iter().copied().filter(|candidate| self.is_usable(*candidate));
        usable.min_by_key(|candidate| self.provider_rank(candidate.provider()))
    }

    fn usable_or_why<'a>(
        &self,
        pattern: &str,
        named: &[ModelCandidate<'a>],
    ) -> Result<ModelCandidate<'a>, ResolveError> {
        self.usable_first(named).ok_or_else(|| self.blocked(pattern, named))
    }

    /// A key given with `--api-key` opens whichever provider is picked.
    fn is_usable(&self, candidate: ModelCandidate<'_>) -> bool {
        match self.candidate_obstacle(candidate) {
            None => true,
            Some(Obstacle::NoKey) => self.options.api_key.is_some(),
            Some(_) => false,
        }
    }

    /// Lower is preferred: `modelProviderOrder`, then makers of models, then the rest as they are listed.
    fn provider_rank(&self, provider: &str) -> usize {
        let order = &self.options.provider_order;
        let chosen = order.iter().position(|name| name == provider);
        chosen.unwrap_or_else(|| order.len() + defaults::provider_rank(provider))
    }
}

fn resolved(model: Arc<Model>, thinking: Option<ThinkingLevel>) -> Resolved {
    Resolved { model, thinking, note: None }
}

/// `name:level`; anything else after a colon is part of the name.
fn split_level(text: &str) -> (&str, Option<ThinkingLevel>) {
    match text.rsplit_once(':').map(|(base, level)| (base, level.parse())) {
        Some((base, Ok(level))) if !base.is_empty() => (base, Some(level)),
        _ => (text, None),
    }
}
