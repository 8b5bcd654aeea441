//! Detects the vendor of a model's server by its address, and builds the common request headers.

use omp_types::{Api, Model, Request};

use crate::auth::Credential;

/// Servers that need special treatment. All others are assumed to implement the plain API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerVendor {
    OpenAi,
    Copilot,
    OpenRouter,
    Groq,
    Cerebras,
    Mistral,
    DeepSeek,
    Moonshot,
    Xai,
    Zai,
    Qwen,
    Together,
    /// Ollama, llama.cpp, LM Studio, vLLM and the like on this machine or in the local network.
    Local,
    Other,
}

/// Host names (including subdomains) by vendor.
const HOSTS: &[(&str, ServerVendor)] = &[
    ("openai.com", ServerVendor::OpenAi),
    ("openai.azure.com", ServerVendor::OpenAi),
    ("cognitiveservices.azure.com", ServerVendor::OpenAi),
    ("githubcopilot.com", ServerVendor::Copilot),
    ("openrouter.ai", ServerVendor::OpenRouter),
    ("groq.com", ServerVendor::Groq),
    ("cerebras.ai", ServerVendor::Cerebras),
    ("mistral.ai", ServerVendor::Mistral),
    ("deepseek.com", ServerVendor::DeepSeek),
    ("moonshot.ai", ServerVendor::Moonshot),
    ("moonshot.cn", ServerVendor::Moonshot),
    ("kimi.com", ServerVendor::Moonshot),
    ("x.ai", ServerVendor::Xai),
    ("z.ai", ServerVendor::Zai),
    ("bigmodel.cn", ServerVendor::Zai),
    ("aliyuncs.com", ServerVendor::Qwen),
    ("portal.qwen.ai", ServerVendor::Qwen),
    ("together.xyz", ServerVendor::Together),
    ("together.ai", ServerVendor::Together),
];

/// Provider names that indicate the vendor behind a user's proxy.
const PROVIDERS: &[(&str, ServerVendor)] = &[
    ("openai", ServerVendor::OpenAi),
    ("github-copilot", ServerVendor::Copilot),
    ("openrouter", ServerVendor::OpenRouter),
    ("groq", ServerVendor::Groq),
    ("cerebras", ServerVendor::Cerebras),
    ("mistral", ServerVendor::Mistral),
    ("deepseek", ServerVendor::DeepSeek),
    ("moonshot", ServerVendor::Moonshot),
    ("kimi-code", ServerVendor::Moonshot),
    ("xai", ServerVendor::Xai),
    ("xai-oauth", ServerVendor::Xai),
    ("zai", ServerVendor::Zai),
    ("zhipu-coding-plan", ServerVendor::Zai),
    ("qwen-portal", ServerVendor::Qwen),
    ("together", ServerVendor::Together),
    ("ollama", ServerVendor::Local),
    ("llama.cpp", ServerVendor::Local),
    ("lm-studio", ServerVendor::Local),
    ("vllm", ServerVendor::Local),
];

/// Detects the vendor by host, else by the provider's name.
pub(crate) fn vendor(model: &Model) -> ServerVendor {
    let host = host(&model.base_url).to_ascii_lowercase();
    let by_host = HOSTS.iter().find(|(known, _)| is_below(&host, known)).map(|(_, vendor)| *vendor);
    let by_name = || PROVIDERS.iter().find(|(known, _)| *known == model.provider).map(|(_, vendor)| *vendor);
    by_host.or_else(by_name).unwrap_or(if is_local_host(&host) { ServerVendor::Local } else { ServerVendor::Other })
}

/// Returns whether requests to this model can set a service tier. Servers without tiers may refuse the field.
pub fn takes_service_tier(model: &Model) -> bool {
    matches!(model.api, Api::OpenaiCompletions | Api::OpenaiResponses) && vendor(model) == ServerVendor::OpenAi
}

/// Returns the service tier to send.
pub(crate) fn service_tier(request: &Request) -> Option<&'static str> {
    request.terms.tier.filter(|_| takes_service_tier(&request.model)).map(omp_types::ServiceTier::as_str)
}

/// Joins the base URL and a path.
pub(crate) fn join(base: &str, path: &str) -> String {
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// Returns the headers of a streaming request, with `Authorization: Bearer` unless there is no key.
pub(crate) fn headers(model: &Model, credential: &Credential) -> Vec<(String, String)> {
    with_own_headers(model, STREAM, bearer(credential))
}

/// Returns the headers of a request that is answered with one JSON document.
pub(crate) fn json_headers(model: &Model, credential: &Credential) -> Vec<(String, String)> {
    with_own_headers(model, "application/json", bearer(credential))
}

/// The `accept` value of a streaming request.
pub(crate) const STREAM: &str = "text/event-stream";

fn bearer(credential: &Credential) -> Option<(&'static str, String)> {
    match credential {
        Credential::None => None,
        Credential::ApiKey(key) | Credential::Bearer(key) => Some(("authorization", format!("Bearer {key}"))),
    }
}

/// Returns content type, `accept`, the key, then the model's own headers, which replace those of the same name. Servers with
/// typed bodies (vLLM, anything on FastAPI or axum) refuse JSON without a content type. A header that the user left empty is
/// not sent.
pub(crate) fn with_own_headers(model: &Model, accept: &str, key: Option<(&str, String)>) -> Vec<(String, String)> {
    let replaced = |name: &str| model.headers.keys().any(|own| own.eq_ignore_ascii_case(name));
    let fixed = [("content-type", "application/json".to_owned()), ("accept", accept.to_owned())];
    let fixed = fixed.into_iter().chain(key).filter(|(name, _)| !replaced(name));
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value));
    let own = model.headers.iter().filter(|(_, value)| !value.trim().is_empty());
    fixed.chain(own.map(|(name, value)| (name.clone(), value.clone()))).collect()
}

/// Returns the host of a URL, without user, port and brackets.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host_and_port.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host_and_port.split(':').next().unwrap_or_default(),
    }
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns whether the model's server is on this machine or in the local network.
pub(crate) fn is_local(model: &Model) -> bool {
    vendor(model) == ServerVendor::Local
}

pub(crate) fn is_local_host(host: &str) -> bool {
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_unspecified(),
        Ok(std::net::IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".local") || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::Api;

    #[track_caller]
    fn check(base_url: &str, provider: &str, expect: ServerVendor) {
        let model =
            Model { base_url: base_url.into(), provider: provider.into(), ..sample::model(Api::OpenaiCompletions) };
        assert_eq!(vendor(&model), expect);
    }

    #[test]
    fn vendors_are_told_by_host_then_by_name() {
        check("https://api.openai.com/v1", "openai", ServerVendor::OpenAi);
        check("https://x.openai.azure.com/openai/v1", "azure", ServerVendor::OpenAi);
        check("https://openrouter.ai/api/v1", "mine", ServerVendor::OpenRouter);
        check("https://my-proxy.example.com/v1", "openrouter", ServerVendor::OpenRouter);
        check("https://api.x.ai/v1", "xai", ServerVendor::Xai);
        check("https://fax.ai/v1", "fax", ServerVendor::Other);
        check("https://notopenai.com/v1", "it", ServerVendor::Other);
        check("https://user:pw@api.mistral.ai:443/v1", "m", ServerVendor::Mistral);
        check("http://127.0.0.1:8080", "llama.cpp", ServerVendor::Local);
        check("http://[::1]:8000/v1", "mine", ServerVendor::Local);
        check("http://192.168.1.4:8000", "mine", ServerVendor::Local);
        check("http://localhost:1234/v1", "mine", ServerVendor::Local);
        check("", "mine", ServerVendor::Other);
        check("localhost:1234", "mine", ServerVendor::Local);
    }

    #[test]
    fn a_configured_header_replaces_the_key() {
        let mut model = sample::model(Api::OpenaiCompletions);
        model.headers =
            [("Authorization".to_owned(), "Bearer mine".to_owned()), ("X-Team".to_owned(), "a".to_owned())].into();
        let names =
            |credential| headers(&model, &credential).into_iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>();
        assert_eq!(
            names(Credential::ApiKey("k".into())),
            ["content-type=application/json", "accept=text/event-stream", "Authorization=Bearer mine", "X-Team=a"]
        );
        let bare = sample::model(Api::OpenaiCompletions);
        let pairs =
            |headers: Vec<(String, String)>| headers.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>();
        let fixed = ["content-type=application/json", "accept=text/event-stream"];
        assert_eq!(pairs(headers(&bare, &Credential::None)), fixed);
        assert_eq!(
            pairs(headers(&bare, &Credential::Bearer("t".into()))),
            [fixed[0], fixed[1], "authorization=Bearer t"]
        );
        assert_eq!(
            pairs(json_headers(&bare, &Credential::None)),
            ["content-type=application/json", "accept=application/json"]
        );
    }

    #[test]
    fn a_header_the_user_left_empty_is_not_sent() {
        let mut model = sample::model(Api::OpenaiCompletions);
        model.headers = [("accept".to_owned(), String::new()), ("X-Team".to_owned(), " ".to_owned())].into();
        let sent = headers(&model, &Credential::None);
        assert_eq!(sent, [("content-type".to_owned(), "application/json".to_owned())]);
    }

    #[test]
    fn paths_are_joined_with_one_slash() {
        assert_eq!(join("https://a/v1", "responses"), "https://a/v1/responses");
        assert_eq!(join("https://a/v1//", "responses"), "https://a/v1/responses");
    }
}
