//! The settings for model selection and provider timeouts. `omp` reads them and passes them in.

use omp_types::Setting;
use omp_types::SettingKind::{List, Map, Number, OneOf, Text};

const LEVELS: omp_types::SettingKind = OneOf(&["off", "minimal", "low", "medium", "high", "xhigh"]);
const TIERS: omp_types::SettingKind = OneOf(&["none", "auto", "default", "flex", "scale", "priority"]);
const SECONDS: omp_types::SettingKind = Number { least: -1.0, most: 86_400.0 };

const fn budget(key: &'static str, default: &'static str) -> Setting {
    let about = "tokens to think with at this level, for models that take a number";
    Setting::new("", key, Number { least: 1024.0, most: 1_000_000.0 }, default, about).by_user()
}

pub const SETTINGS: &[Setting] = &[
    Setting::new("", "modelRoles", Map, "", "models by role").by_user(),
    Setting::new("Model", "modelRoles.default", Text, "", "model used when --model is not given").by_user(),
    Setting::new("Model", "modelRoles.smol", Text, "", "model behind pi/smol: quick and cheap work").by_user(),
    Setting::new("Model", "modelRoles.slow", Text, "", "model behind pi/slow: hard questions").by_user(),
    Setting::new("Model", "modelRoles.plan", Text, "", "model behind pi/plan").by_user(),
    Setting::new("Model", "modelRoles.commit", Text, "", "model behind pi/commit").by_user(),
    Setting::new("Model", "defaultThinkingLevel", LEVELS, "\"high\"", "thinking level of models that can think"),
    Setting::new(
        "Model",
        "serviceTier",
        TIERS,
        "\"none\"",
        "how soon requests are worked on, where the provider knows tiers",
    )
    .by_user(),
    Setting::new(
        "",
        "tier.openai",
        TIERS,
        "\"none\"",
        "the same for OpenAI's models alone; serviceTier goes before it",
    )
    .by_user(),
    budget("thinkingBudgets.minimal", "1024"),
    budget("thinkingBudgets.low", "2048"),
    budget("thinkingBudgets.medium", "8192"),
    budget("thinkingBudgets.high", "16384"),
    budget("thinkingBudgets.xhigh", "32768"),
    Setting::new("Model", "modelProviderOrder", List, "", "which provider wins when several offer a model").by_user(),
    Setting::new("Model", "disabledProviders", List, "", "providers that are not used").by_user(),
    Setting::new(
        "",
        "enabledModels",
        List,
        "",
        "models that /model lists, ctrl+p goes through and a session starts with",
    )
    .by_user(),
    Setting::new("", "favoriteModels", List, "", "models that /model lists first").by_user(),
    Setting::new("Messages", "providers.connectTimeoutSeconds", SECONDS, "30", "seconds to wait for a connection"),
    Setting::new(
        "Messages",
        "providers.streamFirstEventTimeoutSeconds",
        SECONDS,
        "-1",
        "seconds to wait for the first token; -1: 300",
    ),
    Setting::new(
        "Messages",
        "providers.streamIdleTimeoutSeconds",
        SECONDS,
        "-1",
        "seconds to wait for the next token; -1: 300",
    ),
];
