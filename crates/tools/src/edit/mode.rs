//! Selects the edit language of a session: the user's choice, else the one that the model was trained on.

use omp_types::Env;
use omp_types::vars::PI_EDIT_VARIANT;

use crate::options::EditOptions;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditMode {
    #[default]
    Hashline,
    Replace,
    Patch,
    ApplyPatch,
}

/// Model ids that contain such a word were trained on another language than the default, or misread the default too often.
const MODEL_DEFAULTS: &[(&str, EditMode)] = &[
    ("gpt-", EditMode::ApplyPatch),
    ("codex", EditMode::ApplyPatch),
    ("kimi", EditMode::Replace),
    ("mimo", EditMode::Replace),
    ("deepseek-v4-flash", EditMode::Replace),
    ("step-3.7-flash", EditMode::Replace),
];

impl EditMode {
    /// Uses the environment variable, else the setting for this model, else the global setting, else the model's default.
    /// Unknown names are ignored.
    pub fn choose(env: &Env, options: &EditOptions, model_id: &str) -> Self {
        let id = model_id.to_ascii_lowercase();
        let for_model = || {
            let variants = options.model_variants.iter().filter(|(word, _)| id.contains(&word.to_ascii_lowercase()));
            variants.filter_map(|(_, mode)| Self::from_name(mode)).next()
        };
        let named = env.get(PI_EDIT_VARIANT).and_then(Self::from_name).or_else(for_model);
        named.or_else(|| options.mode.as_deref().and_then(Self::from_name)).unwrap_or_else(|| Self::for_model(&id))
    }

    fn from_name(name: &str) -> Option<Self> {
        match name.trim() {
            "hashline" => Some(EditMode::Hashline),
            "replace" => Some(EditMode::Replace),
            "patch" => Some(EditMode::Patch),
            "apply_patch" => Some(EditMode::ApplyPatch),
            _ => None,
        }
    }

    fn for_model(id: &str) -> Self {
        MODEL_DEFAULTS.iter().find(|(word, _)| id.contains(word)).map_or_else(Self::default, |(_, mode)| *mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides() {
        for (variable, setting, model, want) in [
            ("", None, "claude-sonnet-4-5", EditMode::Hashline),
            ("", None, "gpt-5.2-codex", EditMode::ApplyPatch),
            ("", None, "openai/GPT-5", EditMode::ApplyPatch),
            ("", None, "moonshotai/Kimi-K2", EditMode::Replace),
            ("", Some("hashline"), "kimi-k2", EditMode::Hashline),
            ("", Some("hashline"), "gpt-5", EditMode::Hashline),
            ("", Some("replace"), "claude", EditMode::Replace),
            ("", Some("vim"), "claude", EditMode::Hashline),
            ("patch", Some("replace"), "gpt-5", EditMode::Patch),
            ("apply_patch", None, "claude", EditMode::ApplyPatch),
            ("unknown", Some("patch"), "claude", EditMode::Patch),
        ] {
            let env: Env = [("PI_EDIT_VARIANT", variable)].into_iter().collect();
            let options = EditOptions { mode: setting.map(str::to_owned), ..EditOptions::default() };
            assert_eq!(EditMode::choose(&env, &options, model), want, "{variable} {setting:?} {model}");
        }
    }

    #[test]
    fn settings_for_single_models() {
        let variants = [("sonnet", "replace"), ("Claude", "patch"), ("gpt-5", "vim"), ("gpt", "hashline")];
        let options = EditOptions {
            mode: Some("apply_patch".into()),
            model_variants: variants.map(|(word, mode)| (word.into(), mode.into())).into(),
            ..EditOptions::default()
        };
        for (variable, model, want) in [
            ("", "claude-sonnet-4-5", EditMode::Replace),
            ("", "claude-opus-4-5", EditMode::Patch),
            ("", "openai/GPT-5", EditMode::Hashline),
            ("", "gemini", EditMode::ApplyPatch),
            ("hashline", "claude-opus-4-5", EditMode::Hashline),
        ] {
            let env: Env = [("PI_EDIT_VARIANT", variable)].into_iter().collect();
            assert_eq!(EditMode::choose(&env, &options, model), want, "{variable} {model}");
        }
    }
}
