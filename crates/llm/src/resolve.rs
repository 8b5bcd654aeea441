//! Resolves a user-supplied name to one model: exact names, canonical names, patterns, roles, and the initial choice.
//!
//! An exact name beats a canonical name, which beats a bare ID, which beats a loose match. Among equals, usable models come
//! first, then the provider order decides. A loose match requires that the words occur literally: a typing error leads to a
//! suggestion (`did you mean`), never to another, possibly more expensive model.

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

/// A model with the options that were given with its name.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub model: Arc<Model>,
    /// Thinking level from a `:level` suffix.
    pub thinking: Option<ThinkingLevel>,
    /// Note for the user, for example about a saved default that could not be used.
    pub note: Option<String>,
}

/// The models selected by `--models` or `enabledModels`.
#[derive(Clone, Debug, Default)]
pub struct ModelScope {
    pub models: Vec<Resolved>,
    /// Patterns that match no usable model.
    pub unmatched: Vec<String>,
}

/// Maximum number of roles that may refer to each other.
const LONGEST_ROLE_CHAIN: usize = 8;
const ROLE_PREFIX: &str = "pi/";
const ROLES: [&str; 5] = ["default", "smol", "slow", "plan", "commit"];

impl Registry {
    /// Resolves a name or pattern as used by `--model`, `modelRoles` and `/model`.
    pub fn resolve(&self, pattern: &str) -> Result<Resolved, ResolveError> {
        let pattern = pattern.trim();
        if let Some(role) = pattern.strip_prefix(ROLE_PREFIX) {
            return self.resolve_role(role, 0);
        }
        let (base, level) = split_level(pattern);
        // An ID may itself end in `:high`, so the whole text is tried before the suffix is removed.
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

    /// Returns the model with exactly this `provider/id`. A similar name would be another model, at another price.
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

    /// Returns all usable models that match the patterns, without duplicates, in the order of the patterns.
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

    /// Returns the model for a role. An unset `smol` is a small model of the current provider; other unset roles use the
    /// current model.
    pub fn role(&self, role: &str, current: &Arc<Model>) -> Result<Resolved, ResolveError> {
        if self.role_value(role).is_some() {
            return self.resolve_role(role, 0);
        }
        let small = (role == "smol").then(|| self.small_model(&current.provider)).flatten();
        Ok(resolved(small.unwrap_or_else(|| current.clone()), None))
    }

    /// Returns the model to switch to when the context of `model` overflows: its configured target, else the smallest larger
    /// sibling.
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
                format!("the role `{name}` refers to itself\nhint: check `modelRoles` in config.yml"),
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

    /// Finds `provider/id` exactly, else case-insensitively.
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

    /// Returns loose matches, best first. `provider/words` is limited to that provider.
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

    /// Returns the best of models with the same name: usable ones first, then by provider.
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

    /// A key given with `--api-key` works for any provider that is picked.
    fn is_usable(&self, candidate: ModelCandidate<'_>) -> bool {
        match self.candidate_obstacle(candidate) {
            None => true,
            Some(Obstacle::NoKey) => self.options.api_key.is_some(),
            Some(_) => false,
        }
    }

    /// Lower is preferred: `modelProviderOrder`, then model vendors, then the rest in list order.
    fn provider_rank(&self, provider: &str) -> usize {
        let order = &self.options.provider_order;
        let chosen = order.iter().position(|name| name == provider);
        chosen.unwrap_or_else(|| order.len() + defaults::provider_rank(provider))
    }
}

fn resolved(model: Arc<Model>, thinking: Option<ThinkingLevel>) -> Resolved {
    Resolved { model, thinking, note: None }
}

/// Splits `name:level`; any other text after a colon is part of the name.
fn split_level(text: &str) -> (&str, Option<ThinkingLevel>) {
    match text.rsplit_once(':').map(|(base, level)| (base, level.parse())) {
        Some((base, Ok(level))) if !base.is_empty() => (base, Some(level)),
        _ => (text, None),
    }
}
