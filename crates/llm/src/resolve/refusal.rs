//! Errors for names without a usable model, with hints on what to do next.

use std::collections::BTreeSet;
use std::fmt;

use omp_types::vars;

use super::{HOW_TO_GET_A_MODEL, nearest};
use crate::registry::{ModelCandidate, Obstacle, Registry, without_prefix};

/// Maximum number of key variables named in one sentence.
const MOST_KEYS: usize = 3;
/// Minimum length of a word that is checked for typing errors.
const LEAST_NEAR: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveError {
    pub kind: ResolveErrorKind,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveErrorKind {
    /// No model has that name.
    Unknown,
    /// The model is known, but its key is missing.
    NoKey,
    /// The model is known but cannot be used because of its API or its URL, or because it is disabled.
    Unusable,
    /// No model can be used.
    NothingAvailable,
    /// An unknown role, or one that refers to itself.
    BadRole,
    /// `--api-key` without a model to use it for.
    KeyWithoutModel,
}

impl ResolveError {
    pub(super) fn new(kind: ResolveErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Adds where the name was used.
    pub(super) fn within(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Adds the problems that occurred before.
    pub(super) fn with_problems(mut self, problems: &[String]) -> Self {
        for problem in problems {
            self.message = format!("{problem}\n{}", self.message);
        }
        self
    }

    /// Returns whether querying the local model servers may resolve the error.
    pub fn discovery_may_help(&self) -> bool {
        matches!(self.kind, ResolveErrorKind::Unknown | ResolveErrorKind::NoKey | ResolveErrorKind::NothingAvailable)
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ResolveError {}

impl Registry {
    pub(super) fn unknown(&self, pattern: &str) -> ResolveError {
        if let Some((base, level)) = pattern.rsplit_once(':')
            && !base.is_empty()
            && self.knows(base)
        {
            let message = format!(
                "`{base}` is a model, but `{level}` is not a thinking level\nhint: use off, minimal, low, medium, high or xhigh"
            );
            return ResolveError::new(ResolveErrorKind::Unknown, message);
        }
        let local = pattern.split_once('/').and_then(|(provider, _)| local_server(provider));
        let hint = local.map_or_else(
            || self.suggestion(pattern),
            |(server, variable)| {
                format!("hint: check that {server} is running and has that model; {variable} sets its address")
            },
        );
        ResolveError::new(ResolveErrorKind::Unknown, format!("unknown model `{pattern}`\n{hint}"))
    }

    fn knows(&self, name: &str) -> bool {
        self.by_selector(name).is_some() || !self.by_bare_id(name).is_empty() || !self.by_pattern(name).is_empty()
    }

    /// Returns hints: similar names, or words that match something, and how to list all names.
    pub(crate) fn suggestion(&self, pattern: &str) -> String {
        let near = self.near_names(pattern);
        if !near.is_empty() {
            return format!("hint: did you mean {}?", listed(&near, "or"));
        }
        let known = self.candidates().count();
        let all = format!(
            "hint: `omp --list-models` lists the models you can use now, `omp --list-models '*'` all {known} that omp knows"
        );
        match self.word_that_finds(pattern) {
            Some(word) => format!("hint: try `omp --list-models {word}`\n{all}"),
            None => all,
        }
    }

    /// Returns a word of the pattern that model names contain, or nearly contain.
    fn word_that_finds(&self, pattern: &str) -> Option<String> {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(|sign: char| !sign.is_alphabetic()).filter(|word| word.len() > 2);
            words.map(str::to_lowercase).collect()
        };
        let names = self.candidates().flat_map(|candidate| words(&candidate.selector()));
        let names: BTreeSet<String> = names.collect();
        let wanted = words(pattern);
        let known = wanted.iter().find(|word| names.contains(*word) && *word != pattern).cloned();
        // Every short word is similar to some unrelated name.
        let mut long = wanted.iter().filter(|word| word.len() >= LEAST_NEAR);
        known.or_else(|| long.find_map(|word| nearest(word, &names, 1).pop()).map(str::to_owned))
    }

    /// Returns the variables whose keys would make some of these models usable, those of the best known providers first.
    pub(crate) fn unlocking_keys<'a>(
        &'a self,
        found: impl IntoIterator<Item = ModelCandidate<'a>>,
    ) -> Vec<&'static str> {
        let mut providers: Vec<&str> = Vec::new();
        for candidate in found {
            let keyless = !providers.contains(&candidate.provider())
                && matches!(self.candidate_obstacle(candidate), Some(Obstacle::NoKey));
            if keyless {
                providers.push(candidate.provider());
            }
        }
        providers.sort_by_key(|provider| self.provider_rank(provider));
        let variables = providers.iter().filter_map(|provider| self.auth().key_variables(provider).last().copied());
        variables.take(MOST_KEYS).collect()
    }

    /// Returns up to three `provider/id`, usable ones first.
    fn near_names(&self, pattern: &str) -> Vec<String> {
        let (base, _) = super::split_level(pattern);
        if let Some((provider, id)) = base.split_once('/')
            && self.knows_provider(provider)
        {
            let ids = nearest(id, self.candidates_of(provider).map(ModelCandidate::id), 3);
            return ids.into_iter().map(|id| format!("{provider}/{id}")).collect();
        }
        let usable = nearest(base, self.available_candidates().map(ModelCandidate::id), 3);
        let ids = if usable.is_empty() {
            let possible = self.candidates().filter(|candidate| self.may_become_usable(*candidate));
            nearest(base, possible.map(|candidate| without_prefix(candidate.id())), 3)
        } else {
            usable
        };
        ids.into_iter().map(|id| self.full_name(id)).collect()
    }

    /// Returns whether the model lacks only a key or a setting.
    fn may_become_usable(&self, candidate: ModelCandidate<'_>) -> bool {
        !matches!(self.candidate_obstacle(candidate), Some(Obstacle::Api(_) | Obstacle::Login))
    }

    fn full_name(&self, id: &str) -> String {
        let mut named = self.by_bare_id(id);
        named.retain(|candidate| self.may_become_usable(*candidate));
        named.sort_by_key(|candidate| (!self.is_usable(*candidate), self.provider_rank(candidate.provider())));
        named.first().map_or_else(|| id.to_owned(), |candidate| candidate.selector().into_owned())
    }

    /// Error for matches of which none is usable. Reports the obstacle that is easiest to remove.
    pub(super) fn blocked(&self, pattern: &str, found: &[ModelCandidate<'_>]) -> ResolveError {
        let with = |wanted: fn(&Obstacle) -> bool| {
            let pairs = found.iter().filter_map(|candidate| Some((*candidate, self.candidate_obstacle(*candidate)?)));
            pairs.filter(|(_, obstacle)| wanted(obstacle)).collect::<Vec<_>>()
        };
        let keyless = with(|obstacle| matches!(obstacle, Obstacle::NoKey));
        if !keyless.is_empty() {
            return self.no_key(pattern, &keyless.iter().map(|(candidate, _)| *candidate).collect::<Vec<_>>());
        }
        let others = with(|obstacle| !matches!(obstacle, Obstacle::NoKey));
        let Some((candidate, obstacle)) = others.last() else { return self.unknown(pattern) };
        let (selector, provider) = (candidate.selector(), candidate.provider());
        let message = match obstacle {
            Obstacle::Api(api) => format!(
                "`{selector}` uses the API `{api}`, which omp does not support\nhint: find another provider with `omp --list-models {}`",
                without_prefix(candidate.id())
            ),
            Obstacle::Login => format!(
                "`{selector}` is not available: omp cannot log in to {provider} yet\nhint: find another provider with `omp --list-models {}`",
                without_prefix(candidate.id())
            ),
            Obstacle::BaseUrl(_) => {
                format!("`{selector}` has no URL\nhint: set `baseUrl:` under `providers: {provider}:` in models.yml")
            }
            _ => format!("`{selector}` is disabled\nhint: remove `{provider}` from `disabledProviders` in config.yml"),
        };
        ResolveError::new(ResolveErrorKind::Unusable, message)
    }

    fn no_key(&self, pattern: &str, found: &[ModelCandidate<'_>]) -> ResolveError {
        let mut providers: Vec<&str> = Vec::new();
        for candidate in found {
            if !providers.contains(&candidate.provider()) {
                providers.push(candidate.provider());
            }
        }
        providers.sort_by_key(|provider| self.provider_rank(provider));
        if let [provider] = providers[..] {
            let missing = self.auth().missing(provider);
            return ResolveError::new(ResolveErrorKind::NoKey, format!("model `{pattern}`: {missing}"));
        }
        let variables = self.unlocking_keys(found.iter().copied());
        let some: Vec<String> = providers.iter().take(5).map(|provider| (*provider).to_owned()).collect();
        let more = if providers.len() > some.len() { ", …" } else { "" };
        let message = format!(
            "no API key for model `{pattern}`, which {}{more} have\nhint: set {} (or another provider's key), or give \
             `--model provider/id` with `--api-key`",
            some.join(", "),
            variables.join(", ")
        );
        ResolveError::new(ResolveErrorKind::NoKey, message)
    }

    pub(super) fn nothing_available(&self) -> ResolveError {
        let message = format!("no model is available\n{HOW_TO_GET_A_MODEL}");
        ResolveError::new(ResolveErrorKind::NothingAvailable, message)
    }
}

/// Returns the server if its models are known only while it runs.
fn local_server(provider: &str) -> Option<(&'static str, &'static str)> {
    match provider {
        "ollama" => Some(("Ollama", vars::OLLAMA_BASE_URL.name)),
        "llama.cpp" => Some(("the llama.cpp server", vars::LLAMA_CPP_BASE_URL.name)),
        "lm-studio" => Some(("LM Studio", vars::LM_STUDIO_BASE_URL.name)),
        _ => None,
    }
}

fn listed(names: &[String], last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, start)) => format!("{} {last} {end}", start.join(", ")),
        None => String::new(),
    }
}
