//! Which edit language a session offers: what the user says, else what the model was trained on.

use omp_types::Env;
use omp_types::vars::PI_EDIT_VARIANT;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditMode {
    #[default]
    Hashline,
    Replace,
    Patch,
    ApplyPatch,
}

/// Model ids that hold such a word were trained on another language than the default.
const MODEL_DEFAULTS: &[(&str, EditMode)] = &[("gpt-", EditMode::ApplyPatch), ("codex", EditMode::ApplyPatch)];

impl EditMode {
    /// The variable, else the setting, else the model decides. A name that is not known decides nothing.
    pub fn choose(env: &Env, setting: Option<&str>, model_id: &str) -> Self {
        let named = env.get(PI_EDIT_VARIANT).and_then(Self::from_name);
        named.or_else(|| setting.and_then(Self::from_name)).unwrap_or_else(|| Self::for_model(model_id))
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
        let id = id.to_ascii_lowercase();
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
            ("", Some("hashline"), "gpt-5", EditMode::Hashline),
            ("", Some("replace"), "claude", EditMode::Replace),
            ("", Some("vim"), "claude", EditMode::Hashline),
            ("patch", Some("replace"), "gpt-5", EditMode::Patch),
            ("apply_patch", None, "claude", EditMode::ApplyPatch),
            ("unknown", Some("patch"), "claude", EditMode::Patch),
        ] {
            let env: Env = [("PI_EDIT_VARIANT", variable)].into_iter().collect();
            assert_eq!(EditMode::choose(&env, setting, model), want, "{variable} {setting:?} {model}");
        }
    }
}
