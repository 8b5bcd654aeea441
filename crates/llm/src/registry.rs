//! All models known to this run: built-in ones, those of `models.yml`, and those of discovered local servers.
//!
//! Nothing is built in advance. A model with an exact name is one binary search in the catalogue; the whole catalogue is
//! scanned only for a pattern or a list.

mod anthropic_env;
mod canonical;
mod list;
mod region;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use omp_types::{Api, Env, Model, is_served};

pub(crate) use canonical::without_prefix;

use crate::auth::{Auth, ProviderAuth};
use crate::catalog::{self, CatalogLine};
use crate::models_file::{AuthMode, ModelsFile, ModelsFileProblem, ProviderFields, set_header};
use crate::recording::secrets::{is_secret_header, secret_in};
use crate::wire::{host, is_local_host};

/// Options of the run that concern models.
#[derive(Clone, Default)]
pub struct LoadOptions {
    pub env: Env,
    /// Path of `models.yml`; it need not exist.
    pub models_file: Option<PathBuf>,
    /// `--api-key`; sent only to the provider of the first model of the run.
    pub api_key: Option<String>,
    /// Setting `modelProviderOrder`.
    pub provider_order: Vec<String>,
    /// Setting `disabledProviders`.
    pub disabled_providers: Vec<String>,
    /// Settings `thinkingBudgets.*` by level, those that are set.
    pub thinking_budgets: BTreeMap<String, u64>,
    /// Setting `modelRoles`, overridden by environment variables and `role_flags`.
    pub roles: BTreeMap<String, String>,
    /// `--smol`, `--slow`, `--plan`.
    pub role_flags: BTreeMap<String, String>,
}

pub struct Registry {
    pub(crate) options: LoadOptions,
    auth: Auth,
    file: ModelsFile,
    /// Models that are not plain catalogue entries: from `models.yml`, then discovered.
    own: Vec<Arc<Model>>,
    own_selectors: BTreeSet<String>,
}

/// A model that may not have been built yet.
#[derive(Clone, Copy)]
pub(crate) enum ModelCandidate<'a> {
    BuiltIn(CatalogLine),
    Own(&'a Arc<Model>),
}

/// Why a known model cannot be used, the most permanent reason first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Its API is not supported.
    Api(String),
    /// Logging in to its provider is not supported.
    Login,
    /// Its URL has placeholders that only the user can fill.
    BaseUrl(String),
    Disabled,
    NoKey,
}

impl Registry {
    pub fn load(options: LoadOptions) -> Self {
        let file = options.models_file.as_deref().map(ModelsFile::read).unwrap_or_default();
        let mut registry = Self {
            auth: Auth::new(options.env.clone()),
            options,
            file,
            own: Vec::new(),
            own_selectors: BTreeSet::new(),
        };
        registry.configure_auth();
        registry.tell_of_foreign_hosts();
        registry.add_own_models();
        registry
    }

    /// Returns the problems found in `models.yml`.
    pub fn problems(&self) -> &[ModelsFileProblem] {
        &self.file.problems
    }

    pub fn auth(&self) -> &Auth {
        &self.auth
    }

    /// Returns every key given by flag or file, and the values of headers whose names indicate a key.
    pub fn secrets(&self) -> Vec<String> {
        let headers = self.file.providers.iter().flat_map(|(_, fields)| fields.all_headers());
        let in_headers = headers.filter(|(name, _)| is_secret_header(name)).filter_map(|(_, value)| secret_in(value));
        let others = self.options.api_key.as_deref().into_iter().chain(in_headers);
        self.auth.keys().into_iter().chain(others.map(str::to_owned)).collect()
    }

    /// Returns a model by its full name, whether it can be used or not.
    pub fn get(&self, provider: &str, id: &str) -> Option<Arc<Model>> {
        self.candidate(provider, id).map(|candidate| self.model(candidate))
    }

    /// Returns every known model, built-in ones first.
    pub fn all(&self) -> Vec<Arc<Model>> {
        self.candidates().map(|candidate| self.model(candidate)).collect()
    }

    /// Returns the models that can be used now.
    pub fn available(&self) -> Vec<Arc<Model>> {
        self.available_candidates().map(|candidate| self.model(candidate)).collect()
    }

    pub fn is_available(&self, model: &Model) -> bool {
        self.obstacle(&model.provider, &model.api, &model.base_url).is_none()
    }

    /// Adds models of local servers; models that are already known are kept.
    pub fn add_discovered(&mut self, models: Vec<Model>) {
        for mut model in models {
            let keyless = ProviderAuth { keyless: true, discovered: true, ..ProviderAuth::default() };
            if self.provider_fields(&model.provider).is_none() {
                self.auth.configure(&model.provider, keyless);
            }
            self.apply_headers(&mut model);
            self.apply_override(&mut model);
            if self.own_selectors.insert(model.selector()) {
                self.own.push(Arc::new(model));
            }
        }
    }

    /// Assigns `--api-key` to this provider.
    pub(crate) fn bind_api_key(&mut self, provider: &str) {
        if let Some(key) = self.options.api_key.take() {
            self.auth.set_runtime_key(provider, &key);
        }
    }

    pub(crate) fn provider_fields(&self, provider: &str) -> Option<&ProviderFields> {
        self.file.providers.iter().find(|(name, _)| name == provider).map(|(_, fields)| fields)
    }

    pub(crate) fn file_providers(&self) -> impl Iterator<Item = (&str, &ProviderFields)> {
        self.file.providers.iter().map(|(name, fields)| (name.as_str(), fields))
    }

    pub(crate) fn env(&self) -> &Env {
        &self.options.env
    }

    pub(crate) fn knows_provider(&self, provider: &str) -> bool {
        catalog::provider(provider).is_some() || self.own.iter().any(|model| model.provider == provider)
    }

    pub(crate) fn candidates(&self) -> impl Iterator<Item = ModelCandidate<'_>> {
        let built_in = catalog::entries().filter(|entry| !self.own_selectors.contains(entry.selector()));
        built_in.map(ModelCandidate::BuiltIn).chain(self.own.iter().map(ModelCandidate::Own))
    }

    pub(crate) fn candidate(&self, provider: &str, id: &str) -> Option<ModelCandidate<'_>> {
        let own = self.own.iter().find(|model| model.provider == provider && model.id == id);
        own.map(ModelCandidate::Own).or_else(|| catalog::find(provider, id).map(ModelCandidate::BuiltIn))
    }

    pub(crate) fn candidates_of(&self, provider: &str) -> impl Iterator<Item = ModelCandidate<'_>> {
        let built_in = catalog::entries_of(provider).filter(|entry| !self.own_selectors.contains(entry.selector()));
        let own = self.own.iter().filter(move |model| model.provider == provider);
        built_in.map(ModelCandidate::BuiltIn).chain(own.map(ModelCandidate::Own))
    }

    /// Skips providers without a key before checking their models.
    pub(crate) fn available_candidates(&self) -> impl Iterator<Item = ModelCandidate<'_>> {
        let usable = catalog::providers().filter(|provider| self.auth.has_credential(provider.name));
        let built_in = usable.flat_map(|provider| catalog::entries_of(provider.name));
        let built_in = built_in.filter(|entry| !self.own_selectors.contains(entry.selector()));
        let all = built_in.map(ModelCandidate::BuiltIn).chain(self.own.iter().map(ModelCandidate::Own));
        all.filter(|candidate| self.candidate_obstacle(*candidate).is_none())
    }

    pub(crate) fn model(&self, candidate: ModelCandidate<'_>) -> Arc<Model> {
        match candidate {
            ModelCandidate::BuiltIn(entry) => Arc::new(self.built(entry)),
            ModelCandidate::Own(model) => model.clone(),
        }
    }

    pub(crate) fn candidate_obstacle(&self, candidate: ModelCandidate<'_>) -> Option<Obstacle> {
        match candidate {
            ModelCandidate::Own(model) => self.obstacle(&model.provider, &model.api, &model.base_url),
            ModelCandidate::BuiltIn(entry) => {
                let configured = self.provider_fields(entry.provider()).and_then(|fields| fields.base_url.as_deref());
                let url = region::filled(&self.options.env, configured.unwrap_or(entry.base_url()));
                self.obstacle(entry.provider(), &entry.api(), &url)
            }
        }
    }

    fn obstacle(&self, provider: &str, api: &Api, base_url: &str) -> Option<Obstacle> {
        if let Api::Other(name) = api {
            return Some(Obstacle::Api(name.clone()));
        }
        // A user-defined address may belong to another server with its own key.
        let own_address = self.provider_fields(provider).is_some_and(|fields| fields.base_url.is_some());
        if !is_served(provider) && !own_address {
            return Some(Obstacle::Login);
        }
        if base_url.is_empty() || base_url.contains(['{', '<']) {
            return Some(Obstacle::BaseUrl(base_url.to_owned()));
        }
        if self.options.disabled_providers.iter().any(|disabled| disabled == provider) {
            return Some(Obstacle::Disabled);
        }
        (!self.auth.has_credential(provider)).then_some(Obstacle::NoKey)
    }

    fn configure_auth(&mut self) {
        for (name, fields) in &self.file.providers {
            let auth = ProviderAuth {
                key: fields.api_key.clone(),
                keyless: fields.auth == AuthMode::None,
                bearer: fields.auth_header,
                discovered: false,
            };
            self.auth.configure(name, auth);
            if let Some(key) = fields.api_key.as_deref().filter(|key| is_variable_name(key))
                && self.options.env.lookup(key).is_none()
            {
                let message = format!(
                    "models.yml: providers.{name}: the variable {key} is not set, so `{key}` itself is used as the key\n\
                     hint: export {key}, or write the key instead"
                );
                self.file.problems.push(ModelsFileProblem { is_error: false, message });
            }
        }
    }

    /// Warns if a vendor's models are routed through another server, because the key from the environment is sent there too.
    fn tell_of_foreign_hosts(&mut self) {
        let mut told = Vec::new();
        for (name, fields) in &self.file.providers {
            let Some(url) = fields.base_url.as_deref().filter(|_| fields.api_key.is_none()) else { continue };
            let Some(vendor) = catalog::provider(name) else { continue };
            let (to, usual) = (host(url), host(vendor.base_url));
            let Some(variable) = self.auth.env_variable(name) else { continue };
            if fields.auth == AuthMode::None || usual.is_empty() || to == usual || is_local_host(to) {
                continue;
            }
            told.push(format!(
                "models.yml: providers.{name}: the key in {variable} is sent to {to}, not to {usual}\nhint: write that server's key as `apiKey:`; `apiKey: {variable}` confirms this one, `auth: none` sends no key"
            ));
        }
        let told = told.into_iter().map(|message| ModelsFileProblem { is_error: false, message });
        self.file.problems.extend(told);
    }

    /// Adds built-in models with overrides and the models of the file; the latter replace built-in ones.
    fn add_own_models(&mut self) {
        let mut own: Vec<Model> = Vec::new();
        for (name, fields) in &self.file.providers {
            let custom: Vec<Model> = fields.custom_models(name).collect();
            let overridden = fields.model_overrides.keys().filter(|id| custom.iter().all(|model| model.id != **id));
            let built_in = overridden.filter_map(|id| catalog::find(name, id));
            own.extend(built_in.map(|entry| self.built(entry)));
            own.extend(custom);
        }
        for mut model in own {
            self.apply_override(&mut model);
            self.settle_url(&mut model);
            if self.own_selectors.insert(model.selector()) {
                self.own.push(Arc::new(model));
            }
        }
    }

    fn built(&self, entry: CatalogLine) -> Model {
        let mut model = entry.to_model();
        self.apply_budgets(&mut model);
        self.apply_provider(&mut model);
        self.settle_url(&mut model);
        model
    }

    fn apply_provider(&self, model: &mut Model) {
        let Some(fields) = self.provider_fields(&model.provider) else { return };
        if let Some(base_url) = &fields.base_url {
            model.base_url.clone_from(base_url);
        }
        self.apply_headers(model);
    }

    /// User settings override the catalogue, but not `models.yml`.
    fn apply_budgets(&self, model: &mut Model) {
        if let Some(support) = &mut model.thinking {
            support.effort_budgets.extend(self.options.thinking_budgets.clone());
        }
    }

    fn apply_headers(&self, model: &mut Model) {
        let Some(fields) = self.provider_fields(&model.provider) else { return };
        for (name, value) in &fields.headers {
            set_header(&mut model.headers, name, value);
        }
    }

    fn apply_override(&self, model: &mut Model) {
        let fields = self.provider_fields(&model.provider);
        if let Some(changes) = fields.and_then(|fields| fields.model_overrides.get(&model.id)) {
            changes.apply(model);
        }
    }

    fn settle_url(&self, model: &mut Model) {
        anthropic_env::apply(&self.options.env, model);
        model.base_url = region::filled(&self.options.env, &model.base_url).into_owned();
        let mut url = model.base_url.trim_end_matches('/');
        // The wire API adds `/v1/messages` itself, and both forms of the base URL are in use.
        if model.api == Api::AnthropicMessages {
            url = url.strip_suffix("/v1").unwrap_or(url);
        }
        model.base_url.truncate(url.len());
    }
}

impl<'a> ModelCandidate<'a> {
    pub fn provider(self) -> &'a str {
        match self {
            ModelCandidate::BuiltIn(entry) => entry.provider(),
            ModelCandidate::Own(model) => &model.provider,
        }
    }

    pub fn id(self) -> &'a str {
        match self {
            ModelCandidate::BuiltIn(entry) => entry.id(),
            ModelCandidate::Own(model) => &model.id,
        }
    }

    pub fn name(self) -> &'a str {
        match self {
            ModelCandidate::BuiltIn(entry) => entry.name(),
            ModelCandidate::Own(model) => &model.name,
        }
    }

    /// `provider/id`.
    pub fn selector(self) -> std::borrow::Cow<'a, str> {
        match self {
            ModelCandidate::BuiltIn(entry) => entry.selector().into(),
            ModelCandidate::Own(model) => model.selector().into(),
        }
    }
}

fn is_variable_name(text: &str) -> bool {
    text.contains('_') && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
