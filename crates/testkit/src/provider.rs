//! The configuration of omp for the fake server: entries of `models.yml`, and the same model as a value.

use omp_types::{Api, InputKind, Model, Prices};

use crate::wire::Wire;

pub const MOCK_PROVIDER: &str = "mock";
pub const MOCK_MODEL: &str = "mock-model";

/// The provider `mock` with one model, `mock-model`, for a given wire API.
#[derive(Clone, Debug)]
pub struct MockProvider {
    pub base_url: String,
    pub api: Api,
    pub reasoning: bool,
    pub context_window: u64,
    pub max_tokens: u64,
}

impl MockProvider {
    /// `server` is the base URL of a server; the path of the real service is appended.
    pub fn new(server: &str, api: Api) -> Self {
        let base_url = format!("{server}{}", path_of(&api));
        Self { base_url, api, reasoning: false, context_window: 200_000, max_tokens: 32_000 }
    }

    pub fn reasoning(mut self) -> Self {
        self.reasoning = true;
        self
    }

    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = tokens;
        self
    }

    pub fn models_yml(&self) -> String {
        let Self { base_url, api, reasoning, context_window, max_tokens } = self;
        let api = api.as_str();
        format!(
            "providers:\n  {MOCK_PROVIDER}:\n    baseUrl: {base_url}\n    apiKey: mock-key\n    api: {api}\n    \
             models:\n      - id: {MOCK_MODEL}\n        name: Mock model\n        reasoning: {reasoning}\n        \
             input: [text, image]\n        contextWindow: {context_window}\n        maxTokens: {max_tokens}\n"
        )
    }

    pub fn model(&self) -> Model {
        Model {
            id: MOCK_MODEL.to_owned(),
            name: "Mock model".to_owned(),
            api: self.api.clone(),
            provider: MOCK_PROVIDER.to_owned(),
            base_url: self.base_url.clone(),
            reasoning: self.reasoning,
            input: vec![InputKind::Text, InputKind::Image],
            cost: Prices::default(),
            context_window: self.context_window,
            max_tokens: self.max_tokens,
            headers: Default::default(),
            thinking: None,
            compat: serde_json::Value::Null,
            context_promotion_target: None,
        }
    }
}

/// Returns a model for tests that need no server.
pub fn mock_model() -> Model {
    MockProvider::new("http://127.0.0.1:9", Api::Demo).model()
}

/// Returns one provider with a model for each wire API, named after it, for a manually started server.
pub fn all_apis_yml(server: &str) -> String {
    let mut yml = format!("providers:\n  {MOCK_PROVIDER}:\n    baseUrl: {server}\n    apiKey: mock-key\n    models:\n");
    for wire in Wire::ALL {
        let api = wire.api();
        let api = api.as_str();
        yml.push_str(&format!("      - id: {api}\n        api: {api}\n        contextWindow: 200000\n"));
    }
    yml
}

fn path_of(api: &Api) -> &'static str {
    match api {
        Api::OpenaiCompletions | Api::OpenaiResponses => "/v1",
        Api::GoogleGenerativeAi => "/v1beta",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_yaml_is_yaml_and_says_what_it_should() {
        let provider = MockProvider::new("http://127.0.0.1:1234", Api::OpenaiResponses).reasoning();
        let parsed: Value = serde_saphyr::from_str(&provider.models_yml()).unwrap();
        let mock = &parsed["providers"]["mock"];
        assert_eq!(mock["baseUrl"], "http://127.0.0.1:1234/v1");
        assert_eq!(mock["api"], "openai-responses");
        assert_eq!(mock["models"][0]["id"], MOCK_MODEL);
        assert_eq!(mock["models"][0]["reasoning"], true);
        assert_eq!(mock["models"][0]["contextWindow"], 200_000);
    }

    #[test]
    fn every_api_has_a_model_of_its_own() {
        let parsed: Value = serde_saphyr::from_str(&all_apis_yml("http://127.0.0.1:1")).unwrap();
        let models = parsed["providers"]["mock"]["models"].as_array().unwrap().clone();
        let apis: Vec<_> = models.iter().map(|model| model["api"].as_str().unwrap()).collect();
        assert_eq!(apis, ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"]);
    }
}
