//! The model a run starts with.

use omp_http::Client;

use super::{ResolveError, ResolveErrorKind, Resolved, resolved};
use crate::discovery::discover;
use crate::registry::Registry;

pub(crate) const HOW_TO_GET_A_MODEL: &str = "\
hint: set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY;
      or describe a provider in ~/.omp/agent/models.yml (docs/models.md);
      or start a local server: Ollama, llama.cpp and LM Studio are found automatically;
      or try omp without a model: `omp demo`";

/// Inputs for the choice of the first model.
#[derive(Clone, Debug, Default)]
pub struct InitialChoice {
    /// `--model`.
    pub model: Option<String>,
    /// `--provider`, the older option.
    pub provider: Option<String>,
    /// `--models`, or the setting `enabledModels`.
    pub scope: Vec<String>,
    /// The model of the resumed session, as `provider/id`.
    pub recorded: Option<String>,
}

impl Registry {
    /// Like [`Registry::initial`], but queries the local model servers before it fails. The client is created only then.
    pub async fn choose(
        &mut self,
        choice: &InitialChoice,
        client: impl FnOnce() -> Client,
    ) -> Result<Resolved, ResolveError> {
        // Models of a local server are known only after the server was queried.
        let gone = choice.model.is_none() && choice.provider.is_none() && self.lacks(choice.recorded.as_deref());
        match self.initial(choice) {
            Ok(_) if gone => {
                let found = discover(&client(), self).await;
                self.add_discovered(found.models);
                self.initial(choice)
            }
            Err(error) if error.discovery_may_help() => {
                let found = discover(&client(), self).await;
                self.add_discovered(found.models);
                self.initial(choice).map_err(|error| error.with_problems(&found.problems))
            }
            outcome => outcome,
        }
    }

    /// Order: the model named by the user, the resumed session's model, the first of the scope, the saved default, the
    /// default model of a provider with a key, any usable model.
    pub fn initial(&mut self, choice: &InitialChoice) -> Result<Resolved, ResolveError> {
        let found = self.pick(choice)?;
        self.bind_api_key(&found.model.provider);
        Ok(found)
    }

    fn pick(&self, choice: &InitialChoice) -> Result<Resolved, ResolveError> {
        if let Some(named) = self.named(choice) {
            return named;
        }
        let mut notes = Vec::new();
        if let Some(recorded) = &choice.recorded {
            match self.resolve_exactly(recorded) {
                Ok(found) => return Ok(found),
                Err(error) => notes.push(format!("the session's model is not available: {error}")),
            }
        } else if !choice.scope.is_empty() {
            let mut scope = self.scope(&choice.scope);
            notes.extend(scope.unmatched.iter().map(|pattern| format!("no available model matches `{pattern}`")));
            if !scope.models.is_empty() {
                return Ok(noted(scope.models.swap_remove(0), notes));
            }
        }
        if self.options.roles.contains_key("default") {
            match self.resolve("pi/default") {
                Ok(found) => return Ok(noted(found, notes)),
                Err(error) => notes.push(format!("the default model is not available: {error}")),
            }
        }
        if self.options.api_key.is_some() {
            let message = "`--api-key` needs a model\nhint: add `--model provider/id`";
            return Err(ResolveError::new(ResolveErrorKind::KeyWithoutModel, message));
        }
        let model = self.known_default().or_else(|| self.first_available());
        match model {
            Some(model) => Ok(noted(resolved(model, None), notes)),
            None if notes.is_empty() => Err(self.nothing_available()),
            None => Err(self.nothing_available().with_problems(&notes)),
        }
    }

    /// Returns `None` if the user named neither a model nor a provider.
    fn named(&self, choice: &InitialChoice) -> Option<Result<Resolved, ResolveError>> {
        let provider = choice.provider.as_deref().map(str::trim).filter(|provider| !provider.is_empty());
        let model = choice.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        Some(match (provider, model) {
            (None, None) => return None,
            (None, Some(model)) => self.resolve(model),
            (Some(provider), Some(model)) if model.starts_with(&format!("{provider}/")) => self.resolve(model),
            (Some(provider), Some(model)) => self.resolve(&format!("{provider}/{model}")),
            (Some(provider), None) => self.any_of(provider),
        })
    }

    fn any_of(&self, provider: &str) -> Result<Resolved, ResolveError> {
        if let Some(model) = self.default_of(provider) {
            return Ok(resolved(model, None));
        }
        let all: Vec<_> = self.candidates_of(provider).collect();
        match self.usable_first(&all) {
            Some(found) => Ok(resolved(self.model(found), None)),
            None if all.is_empty() => {
                let message = format!("unknown provider `{provider}`\nhint: `omp --list-models` lists the providers");
                Err(ResolveError::new(ResolveErrorKind::Unknown, message))
            }
            None => Err(self.blocked(provider, &all)),
        }
    }
}

fn noted(mut found: Resolved, notes: Vec<String>) -> Resolved {
    if !notes.is_empty() {
        let name = found.model.selector();
        // Hints are put last.
        let (mut told, mut hints) = (Vec::new(), Vec::new());
        for note in &notes {
            let (what, hint) = note.split_once('\n').unwrap_or((note, ""));
            told.push(what);
            hints.extend(hint.lines());
        }
        let hints: String = hints.iter().map(|hint| format!("\n{hint}")).collect();
        found.note = Some(format!("{}; using {name}{hints}", told.join("; ")));
    }
    found
}
