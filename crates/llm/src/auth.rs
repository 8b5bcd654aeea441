//! Selects the credential for each provider. API keys are known without I/O; a [`CredentialSource`] may take time.
//!
//! Order of precedence: changes during the run (`/login`, `/logout`), the key given for this run (`--api-key`), the
//! credential source, `models.yml`, the provider's environment variables. A key in `models.yml` belongs to one address,
//! often a proxy; a key from the environment is the vendor's own and must not be sent there. Keys are never shown: every
//! type here that holds one prints dots instead.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use omp_types::{Env, ErrorKind, Model, ModelError, PROVIDER_KEYS, vars};

/// The credential that is sent with a request.
#[derive(Clone, PartialEq, Eq)]
pub enum Credential {
    /// The endpoint needs no credential, such as a model server on this machine.
    None,
    /// Sent in the header that the wire API uses for keys (`x-api-key`, `Authorization: Bearer`, `x-goog-api-key`).
    ApiKey(String),
    /// Always sent as `Authorization: Bearer`: OAuth tokens, gateways, `authHeader: true`.
    Bearer(String),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Credential::None => "None",
            Credential::ApiKey(_) => "ApiKey(…)",
            Credential::Bearer(_) => "Bearer(…)",
        })
    }
}

/// Source of credentials that take time to get, such as OAuth tokens that are refreshed after they expire.
pub trait CredentialSource: Send + Sync {
    /// Returns the credential for this provider, or `None` if the source has none. Awaited inside the future that opens each
    /// request.
    fn credential<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, Option<Result<Credential, ModelError>>>;

    /// Returns the credential that is known without waiting; it may have expired.
    fn known(&self, provider: &str) -> Option<Credential>;

    /// Returns every secret that the source holds, for redaction.
    fn secrets(&self) -> Vec<String>;
}

/// The keys known to this run.
#[derive(Clone, Default)]
pub struct Auth {
    env: Env,
    runtime: BTreeMap<String, String>,
    configured: BTreeMap<String, ProviderAuth>,
    source: Option<Arc<dyn CredentialSource>>,
    meanwhile: Arc<Mutex<BTreeMap<String, Meanwhile>>>,
}

/// A change of a provider's key during the run, shared by all clones.
#[derive(Clone, PartialEq, Eq)]
enum Meanwhile {
    Given(String),
    /// The key from the environment is no longer used.
    Forgotten,
}

/// Settings in `models.yml` about a provider's key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProviderAuth {
    /// Name of an environment variable, or the key itself.
    pub key: Option<String>,
    /// `auth: none`.
    pub keyless: bool,
    /// A local server that was discovered: it needs no key, but gets one if a key is set for it.
    pub discovered: bool,
    /// `authHeader: true`.
    pub bearer: bool,
}

/// Where a key was found.
enum KeySource<'a> {
    Login,
    Flag,
    Account,
    File { provider: &'a str, variable: Option<&'a str> },
    Variable(&'static str),
    Nothing,
}

impl fmt::Display for KeySource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Login => f.write_str("the key given with /login"),
            KeySource::Flag => f.write_str("--api-key"),
            KeySource::Account => f.write_str("the account that is logged in"),
            KeySource::File { provider, variable: None } => write!(f, "models.yml (providers.{provider}.apiKey)"),
            KeySource::File { provider, variable: Some(name) } => {
                write!(f, "{name} in the environment, named by models.yml (providers.{provider}.apiKey)")
            }
            KeySource::Variable(name) => write!(f, "{name} in the environment"),
            KeySource::Nothing => f.write_str("no key"),
        }
    }
}

impl Auth {
    pub fn new(env: Env) -> Self {
        Self { env, ..Self::default() }
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// Returns every key of this run, including those given later, for all providers.
    pub(crate) fn keys(&self) -> Vec<String> {
        let configured = self.configured.values().filter_map(|auth| auth.key.as_deref());
        let configured = configured.map(|key| self.env.lookup(key).unwrap_or(key).to_owned());
        let meanwhile = self.meanwhile();
        let given = meanwhile.values().filter_map(|meanwhile| match meanwhile {
            Meanwhile::Given(key) => Some(key.clone()),
            Meanwhile::Forgotten => None,
        });
        let held = self.source.iter().flat_map(|source| source.secrets());
        self.runtime.values().cloned().chain(configured).chain(given).chain(held).collect()
    }

    /// Sets the key for this run; it is sent to this provider only.
    pub fn set_runtime_key(&mut self, provider: &str, key: &str) {
        self.runtime.insert(provider.to_owned(), key.to_owned());
    }

    pub fn configure(&mut self, provider: &str, auth: ProviderAuth) {
        self.configured.insert(provider.to_owned(), auth);
    }

    /// Sets the source of credentials that are not API keys.
    pub fn with_source(self, source: Arc<dyn CredentialSource>) -> Self {
        Self { source: Some(source), ..self }
    }

    /// Adds a key during the run: all sessions use it from their next request on.
    pub fn give_key(&self, provider: &str, key: &str) {
        self.meanwhile().insert(provider.to_owned(), Meanwhile::Given(key.to_owned()));
    }

    /// Stops using the key that was given or found in the environment.
    pub fn forget_key(&self, provider: &str) {
        self.meanwhile().insert(provider.to_owned(), Meanwhile::Forgotten);
    }

    fn meanwhile(&self) -> MutexGuard<'_, BTreeMap<String, Meanwhile>> {
        self.meanwhile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_credential(&self, provider: &str) -> bool {
        self.key_for(provider).is_some()
    }

    /// Returns the credential for a request. The credential source may refresh it first.
    pub async fn credential(&self, model: &Model) -> Result<Credential, ModelError> {
        let provider = &model.provider;
        if let Some(source) = self.source.as_ref().filter(|_| self.given(provider).is_none())
            && let Some(found) = source.credential(provider).await
        {
            return found;
        }
        self.known_credential(model)
    }

    /// Returns the credential without waiting; it may have expired.
    pub(crate) fn known_credential(&self, model: &Model) -> Result<Credential, ModelError> {
        self.key_for(&model.provider).ok_or_else(|| self.missing(&model.provider))
    }

    /// Returns the credential for a provider, or `None` if its key is missing.
    pub(crate) fn key_for(&self, provider: &str) -> Option<Credential> {
        self.found(provider).map(|(credential, _)| credential)
    }

    /// Describes where the key of a provider comes from. Never contains the key itself.
    pub fn source(&self, provider: &str) -> Option<String> {
        self.found(provider).map(|(_, source)| source.to_string())
    }

    fn found(&self, provider: &str) -> Option<(Credential, KeySource<'_>)> {
        if let Some(given) = self.given(provider) {
            return Some(given);
        }
        if let Some(known) = self.source.as_ref().and_then(|source| source.known(provider)) {
            return Some((known, KeySource::Account));
        }
        let configured = self.configured.get(provider);
        let wants_bearer = configured.is_some_and(|auth| auth.bearer);
        let key = |key: &str| key_credential(provider, key, wants_bearer);
        if let Some((name, ProviderAuth { key: Some(written), .. })) = self.configured.get_key_value(provider) {
            let found = self.env.lookup(written);
            let variable = found.map(|_| written.as_str());
            return Some((key(found.unwrap_or(written)), KeySource::File { provider: name, variable }));
        }
        if configured.is_some_and(|auth| auth.keyless && !auth.discovered) {
            return Some((Credential::None, KeySource::Nothing));
        }
        if !self.meanwhile().contains_key(provider)
            && let Some((name, found)) = self.env_key(provider)
        {
            let credential = key_credential(provider, found, wants_bearer || is_token_variable(name));
            return Some((credential, KeySource::Variable(name)));
        }
        configured.filter(|auth| auth.keyless).map(|_| (Credential::None, KeySource::Nothing))
    }

    /// Returns the key that the user gave for this run, which overrides all other sources.
    fn given(&self, provider: &str) -> Option<(Credential, KeySource<'_>)> {
        let wants_bearer = self.configured.get(provider).is_some_and(|auth| auth.bearer);
        let key = |key: &str| key_credential(provider, key, wants_bearer);
        if let Some(Meanwhile::Given(given)) = self.meanwhile().get(provider) {
            return Some((key(given), KeySource::Login));
        }
        self.runtime.get(provider).map(|given| (key(given), KeySource::Flag))
    }

    /// Returns the environment variable that holds the provider's key, if one is set.
    pub(crate) fn env_variable(&self, provider: &str) -> Option<&'static str> {
        self.env_key(provider).map(|(name, _)| name)
    }

    fn env_key(&self, provider: &str) -> Option<(&'static str, &str)> {
        self.key_variables(provider).into_iter().find_map(|name| Some((name, self.env.lookup(name)?)))
    }

    /// Returns the environment variables that may hold the provider's key; the first one that is set wins.
    pub fn key_variables(&self, provider: &str) -> Vec<&'static str> {
        let mut names = Vec::new();
        if provider == "anthropic" && self.env.flag(vars::CLAUDE_CODE_USE_FOUNDRY) {
            names.push(vars::ANTHROPIC_FOUNDRY_API_KEY.name);
        }
        if let Ok(index) = PROVIDER_KEYS.binary_search_by_key(&provider, |(name, _)| name) {
            names.extend(PROVIDER_KEYS[index].1);
        }
        names
    }

    pub(crate) fn missing(&self, provider: &str) -> ModelError {
        let names = self.key_variables(provider);
        let by_variable = match names.as_slice() {
            [] => String::new(),
            names => format!("set {}, ", names.join(" or ")),
        };
        let message = format!(
            "no API key for provider `{provider}`\nhint: {by_variable}give `--api-key`, or write `apiKey:` under \
             `providers: {provider}:` in models.yml"
        );
        ModelError::new(ErrorKind::Auth, message)
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runtime: Vec<_> = self.runtime.keys().collect();
        let configured: Vec<_> = self.configured.keys().collect();
        f.debug_struct("Auth").field("runtime", &runtime).field("configured", &configured).finish_non_exhaustive()
    }
}

fn key_credential(provider: &str, key: &str, bearer: bool) -> Credential {
    // Anthropic's OAuth tokens are recognized by their prefix in any source; Copilot accepts only tokens.
    let is_token = bearer || key.starts_with("sk-ant-oat") || provider == "github-copilot";
    if is_token { Credential::Bearer(key.to_owned()) } else { Credential::ApiKey(key.to_owned()) }
}

fn is_token_variable(name: &str) -> bool {
    name.ends_with("_OAUTH_TOKEN") || name == vars::ANTHROPIC_FOUNDRY_API_KEY.name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(env: &[(&str, &str)]) -> Auth {
        Auth::new(env.iter().copied().collect())
    }

    fn api_key(key: &str) -> Option<Credential> {
        Some(Credential::ApiKey(key.into()))
    }

    fn bearer(key: &str) -> Option<Credential> {
        Some(Credential::Bearer(key.into()))
    }

    #[track_caller]
    fn check(provider: &str, env: &[(&str, &str)], expect: Option<Credential>) {
        assert_eq!(auth(env).key_for(provider), expect);
    }

    #[test]
    fn variables_are_tried_in_order() {
        let (key, token) = (("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_OAUTH_TOKEN", "t"));
        let foundry = ("ANTHROPIC_FOUNDRY_API_KEY", "f");
        check("anthropic", &[], None);
        check("anthropic", &[key], api_key("k"));
        check("anthropic", &[key, token], bearer("t"));
        check("anthropic", &[("ANTHROPIC_API_KEY", "sk-ant-oat01-x")], bearer("sk-ant-oat01-x"));
        check("anthropic", &[key, token, foundry], bearer("t"));
        check("anthropic", &[key, token, foundry, ("CLAUDE_CODE_USE_FOUNDRY", "yes")], bearer("f"));
        check("anthropic", &[key, ("CLAUDE_CODE_USE_FOUNDRY", "1")], api_key("k"));
        check("huggingface", &[("HF_TOKEN", "b"), ("HUGGINGFACE_HUB_TOKEN", "a")], api_key("a"));
        check("huggingface", &[("HF_TOKEN", "b")], api_key("b"));
        check("qwen-portal", &[("QWEN_PORTAL_API_KEY", "k"), ("QWEN_OAUTH_TOKEN", "t")], bearer("t"));
        check("xai-oauth", &[("XAI_API_KEY", "k")], api_key("k"));
        check("github-copilot", &[("COPILOT_GITHUB_TOKEN", "t"), ("GH_TOKEN", "no")], bearer("t"));
        check("github-copilot", &[("GITHUB_TOKEN", "no")], None);
        check("openai", &[("OPENAI_API_KEY", "")], None);
        check("nowhere", &[("OPENAI_API_KEY", "k")], None);
    }

    #[track_caller]
    fn check_configured(config: ProviderAuth, env: &[(&str, &str)], expect: Option<Credential>) {
        let mut auth = auth(env);
        auth.configure("openai", config);
        assert_eq!(auth.key_for("openai"), expect);
    }

    #[test]
    fn models_file_comes_before_the_environment() {
        let key = |key: &str| ProviderAuth { key: Some(key.into()), ..ProviderAuth::default() };
        check_configured(key("MY_KEY"), &[("MY_KEY", "secret")], api_key("secret"));
        check_configured(key("MY_KEY"), &[], api_key("MY_KEY"));
        check_configured(key("MY_KEY"), &[("MY_KEY", "secret"), ("OPENAI_API_KEY", "env")], api_key("secret"));
        check_configured(key("literal"), &[("OPENAI_API_KEY", "env")], api_key("literal"));
        let keyless = ProviderAuth { keyless: true, ..ProviderAuth::default() };
        check_configured(keyless.clone(), &[("OPENAI_API_KEY", "env")], Some(Credential::None));
        let found = ProviderAuth { discovered: true, ..keyless };
        check_configured(found.clone(), &[("OPENAI_API_KEY", "env")], api_key("env"));
        check_configured(found, &[], Some(Credential::None));
        check_configured(ProviderAuth { bearer: true, ..key("k") }, &[], bearer("k"));
        check_configured(ProviderAuth { keyless: true, ..ProviderAuth::default() }, &[], Some(Credential::None));
        check_configured(ProviderAuth { bearer: true, ..ProviderAuth::default() }, &[], None);
    }

    #[test]
    fn the_key_of_this_run_wins_and_stays_with_its_provider() {
        let mut auth = auth(&[("OPENAI_API_KEY", "env")]);
        auth.set_runtime_key("openai", "run");
        assert_eq!(auth.key_for("openai"), api_key("run"));
        assert_eq!(auth.key_for("anthropic"), None);
    }

    #[test]
    fn a_key_given_or_forgotten_meanwhile_counts_in_every_copy() {
        let auth = auth(&[("OPENAI_API_KEY", "env")]);
        let copy = auth.clone();
        auth.give_key("openai", "new");
        assert_eq!(copy.key_for("openai"), api_key("new"));
        assert!(!format!("{auth:?}").contains("new"));
        auth.forget_key("openai");
        assert_eq!(copy.key_for("openai"), None);
    }

    #[test]
    fn the_source_of_a_key_is_told_and_the_key_is_not() {
        let mut auth = auth(&[("OPENAI_API_KEY", "sesame"), ("MY_KEY", "sesame")]);
        assert_eq!(auth.source("openai").unwrap(), "OPENAI_API_KEY in the environment");
        assert_eq!(auth.source("anthropic"), None);
        let key = |key: &str| ProviderAuth { key: Some(key.into()), ..ProviderAuth::default() };
        auth.configure("openai", key("sesame"));
        assert_eq!(auth.source("openai").unwrap(), "models.yml (providers.openai.apiKey)");
        auth.configure("openai", key("MY_KEY"));
        assert_eq!(
            auth.source("openai").unwrap(),
            "MY_KEY in the environment, named by models.yml (providers.openai.apiKey)"
        );
        auth.set_runtime_key("openai", "sesame");
        assert_eq!(auth.source("openai").unwrap(), "--api-key");
        auth.give_key("openai", "sesame");
        assert_eq!(auth.source("openai").unwrap(), "the key given with /login");
        auth.configure("local", ProviderAuth { keyless: true, ..ProviderAuth::default() });
        assert_eq!(auth.source("local").unwrap(), "no key");
    }

    #[test]
    fn a_missing_key_names_every_way_to_give_one() {
        let error = auth(&[]).missing("anthropic");
        assert_eq!(error.kind, ErrorKind::Auth);
        insta::assert_snapshot!(error, @"
        no API key for provider `anthropic`
        hint: set ANTHROPIC_OAUTH_TOKEN or ANTHROPIC_API_KEY, give `--api-key`, or write `apiKey:` under `providers: anthropic:` in models.yml
        ");
        insta::assert_snapshot!(auth(&[]).missing("mine"), @"
        no API key for provider `mine`
        hint: give `--api-key`, or write `apiKey:` under `providers: mine:` in models.yml
        ");
    }

    #[test]
    fn secrets_are_not_printed() {
        let mut auth = auth(&[("OPENAI_API_KEY", "sesame")]);
        auth.set_runtime_key("anthropic", "sesame");
        auth.configure("mine", ProviderAuth { key: Some("sesame".into()), ..ProviderAuth::default() });
        let shown = format!("{auth:?} {:?} {:?}", auth.key_for("openai"), Credential::Bearer("sesame".into()));
        assert!(!shown.contains("sesame"), "{shown}");
    }
}
