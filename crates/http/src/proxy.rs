//! Selects the proxy of a request from the usual environment variables.

use omp_types::{Env, EnvVar, vars};
use reqwest::{NoProxy, Proxy, Url};

use crate::error::{HttpError, HttpErrorKind};

/// The proxies for `http://` and `https://` URLs, as the user wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proxies {
    http: Option<ProxySetting>,
    https: Option<ProxySetting>,
    no_proxy: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ProxySetting {
    variable: &'static str,
    url: String,
}

impl Proxies {
    pub fn from_env(env: &Env) -> Self {
        let all = setting(env, vars::ALL_PROXY);
        Self {
            http: setting(env, vars::HTTP_PROXY).or_else(|| all.clone()),
            https: setting(env, vars::HTTPS_PROXY).or(all),
            no_proxy: env.get_in_either_case(vars::NO_PROXY).map(str::to_owned),
        }
    }

    /// Whether the request uses a proxy, judged by names. Only for messages: the actual decision is made by the exceptions
    /// given to the client, which support address ranges too.
    pub fn covers(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
        let excepted = |entry: &str| {
            let name = entry.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
            let below = host.strip_suffix(&name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            name == "*" || !name.is_empty() && below
        };
        self.for_scheme(url.scheme()).is_some() && !self.entries().any(excepted)
    }

    /// Whether a URL of `scheme` requires TLS: its own, or that of the proxy.
    pub fn needs_tls(&self, scheme: &str) -> bool {
        scheme == "https" || self.for_scheme(scheme).is_some_and(|setting| setting.url.starts_with("https://"))
    }

    pub fn apply(&self, mut builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, HttpError> {
        // Otherwise reqwest would read the process environment itself.
        builder = builder.no_proxy();
        type MakeProxy = fn(String) -> reqwest::Result<Proxy>;
        let makers: [(&Option<ProxySetting>, MakeProxy); 2] = [(&self.http, Proxy::http), (&self.https, Proxy::https)];
        for (setting, make) in makers {
            let Some(setting) = setting else { continue };
            let proxy = make(setting.url.clone()).map_err(|_| setting.invalid())?;
            builder = builder.proxy(proxy.no_proxy(self.exceptions()));
        }
        Ok(builder)
    }

    fn for_scheme(&self, scheme: &str) -> Option<&ProxySetting> {
        if scheme == "https" { self.https.as_ref() } else { self.http.as_ref() }
    }

    /// Converts the exceptions to reqwest's format, in which `*` matches names but not addresses, and `*.` before a name
    /// matches nothing.
    fn exceptions(&self) -> Option<NoProxy> {
        let plain = self.entries().map(|entry| match entry {
            "*" => "*,0.0.0.0/0,::/0",
            _ => entry.trim_start_matches('*'),
        });
        NoProxy::from_string(&plain.collect::<Vec<_>>().join(","))
    }

    fn entries(&self) -> impl Iterator<Item = &str> {
        let list = self.no_proxy.as_deref().unwrap_or_default();
        list.split(|separator: char| separator == ',' || separator.is_whitespace()).filter(|entry| !entry.is_empty())
    }
}

impl ProxySetting {
    fn invalid(&self) -> HttpError {
        // The value may contain a password, so it is not repeated.
        let message =
            format!("{} is not a valid proxy URL\nhint: use http://host:port or socks5://host:port", self.variable);
        HttpError::new(HttpErrorKind::InvalidRequest, message)
    }
}

fn setting(env: &Env, var: EnvVar) -> Option<ProxySetting> {
    let value = env.get_in_either_case(var)?.trim();
    let url = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    Some(ProxySetting { variable: var.name, url })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(env: &[(&str, &str)], http: Option<&str>, https: Option<&str>) {
        let proxies = Proxies::from_env(&env.iter().copied().collect());
        let url = |setting: &Option<ProxySetting>| setting.as_ref().map(|setting| setting.url.clone());
        assert_eq!((url(&proxies.http).as_deref(), url(&proxies.https).as_deref()), (http, https));
    }

    #[test]
    fn variables_are_read_in_both_cases() {
        check(&[], None, None);
        check(&[("HTTP_PROXY", "http://p:1")], Some("http://p:1"), None);
        check(&[("https_proxy", "http://p:1")], None, Some("http://p:1"));
        check(&[("HTTPS_PROXY", "http://big:1"), ("https_proxy", "http://small:1")], None, Some("http://small:1"));
        check(&[("ALL_PROXY", "socks5h://p:1")], Some("socks5h://p:1"), Some("socks5h://p:1"));
        check(&[("all_proxy", "p:1"), ("HTTP_PROXY", "q:2")], Some("http://q:2"), Some("http://p:1"));
    }

    #[test]
    fn a_plain_url_needs_tls_only_behind_a_secure_proxy() {
        let proxies = |value: &str| Proxies::from_env(&[("HTTP_PROXY", value)].into_iter().collect());
        assert!(!proxies("http://p:1").needs_tls("http"));
        assert!(proxies("https://p:1").needs_tls("http"));
        assert!(Proxies::default().needs_tls("https"));
    }

    #[test]
    fn exceptions_are_told_by_name() {
        let env = [("ALL_PROXY", "p:1"), ("NO_PROXY", "localhost, .corp.example,127.0.0.1")];
        let proxies = Proxies::from_env(&env.into_iter().collect());
        let covers = |url: &str| proxies.covers(&Url::parse(url).unwrap());
        assert!(covers("https://api.example/") && covers("http://notlocalhost/"));
        assert!(!covers("http://localhost:1/") && !covers("https://a.corp.example/") && !covers("http://127.0.0.1/"));
        assert!(!Proxies::default().covers(&Url::parse("http://a/").unwrap()));
    }

    #[test]
    fn a_bad_proxy_is_named_without_its_value() {
        let proxies = Proxies::from_env(&[("HTTPS_PROXY", "http://user:sesame@")].into_iter().collect());
        let error = proxies.apply(reqwest::Client::builder()).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::InvalidRequest);
        assert!(error.to_string().contains("HTTPS_PROXY") && !error.to_string().contains("sesame"), "{error}");
    }
}
