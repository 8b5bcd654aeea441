//! Default models per provider and the preferred order of providers.

use std::sync::Arc;

use omp_types::Model;

use crate::registry::Registry;

/// A provider with its default model and its small model. Model vendors come before resellers.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("anthropic", "claude-sonnet-5", "claude-haiku-4-5"),
    ("openai", "gpt-5.6", "gpt-5.4-mini"),
    ("google", "gemini-3.1-pro-preview", "gemini-3.5-flash-lite"),
    ("xai", "grok-4.5", "grok-4-1-fast"),
    ("deepseek", "deepseek-v4-pro", "deepseek-v4-flash"),
    ("zai", "glm-5.2", "glm-4.7-flash"),
    ("moonshot", "kimi-k3", "kimi-k2.5"),
    ("mistral", "mistral-medium-latest", "mistral-small-latest"),
    ("minimax", "MiniMax-M3", "MiniMax-M2.5-lightning"),
    ("kimi-code", "k3", "kimi-for-coding-highspeed"),
    ("xiaomi", "mimo-v2.5-pro", "mimo-v2-flash"),
    ("openrouter", "anthropic/claude-sonnet-5", "anthropic/claude-haiku-4.5"),
    ("vercel-ai-gateway", "anthropic/claude-sonnet-5", "anthropic/claude-haiku-4.5"),
    ("opencode-zen", "claude-sonnet-5", "claude-haiku-4-5"),
    ("opencode-go", "glm-5.2", "deepseek-v4-flash"),
    ("groq", "openai/gpt-oss-120b", "openai/gpt-oss-20b"),
    ("cerebras", "zai-glm-4.7", "gpt-oss-120b"),
    ("fireworks", "glm-5.2", "gpt-oss-20b"),
    ("together", "zai-org/GLM-5.2", "openai/gpt-oss-20b"),
    ("huggingface", "zai-org/GLM-5.2", "openai/gpt-oss-20b"),
    ("synthetic", "hf:zai-org/GLM-5.2", "hf:zai-org/GLM-4.7-Flash"),
    ("zhipu-coding-plan", "glm-5.2", "glm-4.5-air"),
    ("qwen-portal", "coder-model", "coder-model"),
    ("nvidia", "deepseek-ai/deepseek-v4-pro", "deepseek-ai/deepseek-v4-flash"),
];

pub(super) fn provider_rank(provider: &str) -> usize {
    DEFAULTS.iter().position(|(name, ..)| *name == provider).unwrap_or(DEFAULTS.len())
}

impl Registry {
    /// Returns the default model of the first provider with a key.
    pub(super) fn known_default(&self) -> Option<Arc<Model>> {
        let ranked = self.options.provider_order.iter().map(String::as_str);
        let ranked = ranked.chain(DEFAULTS.iter().map(|(provider, ..)| *provider));
        ranked.into_iter().find_map(|provider| self.default_of(provider))
    }

    /// Returns the default model of a provider, if it can be used.
    pub(super) fn default_of(&self, provider: &str) -> Option<Arc<Model>> {
        let (_, id, _) = DEFAULTS.iter().find(|(name, ..)| *name == provider)?;
        self.get(provider, id).filter(|model| self.is_available(model))
    }

    pub(super) fn small_model(&self, provider: &str) -> Option<Arc<Model>> {
        let (_, _, id) = DEFAULTS.iter().find(|(name, ..)| *name == provider)?;
        self.get(provider, id).filter(|model| self.is_available(model))
    }

    pub(super) fn first_small_model(&self) -> Option<Arc<Model>> {
        DEFAULTS.iter().find_map(|(provider, ..)| self.small_model(provider))
    }

    pub(super) fn first_available(&self) -> Option<Arc<Model>> {
        self.available_candidates().next().map(|candidate| self.model(candidate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn every_default_is_in_the_catalogue_and_can_be_spoken_to() {
        for (provider, default, small) in DEFAULTS {
            for id in [default, small] {
                let entry = catalog::find(provider, id).unwrap_or_else(|| panic!("{provider}/{id}"));
                assert!(!matches!(entry.api(), omp_types::Api::Other(_)), "{provider}/{id}");
            }
        }
    }
}
