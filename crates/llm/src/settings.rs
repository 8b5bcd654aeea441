//! The settings for model selection and provider timeouts. `omp` reads them and passes them in.

use omp_types::Setting;
use omp_types::SettingKind::{List, Map, Number, OneOf, Text};

const LEVELS: omp_types::SettingKind = OneOf(&["off", "minimal", "low", "medium", "high", "xhigh"]);
const TIERS: omp_types::SettingKind = OneOf(&["none", "auto", "default", "flex", "scale", "priority"]);
const SECONDS: omp_types::SettingKind = Number { least: -1.0, most: 86_400.0 };

const fn budget(key: &'static str, default: &'static str) -> Setting {
    let about = "Thinking tokens at this level, for models that take a number.";
    Setting::new("", key, Number { least: 1024.0, most: 1_000_000.0 }, default, about).by_user()
}

pub const SETTINGS: &[Setting] = &[
    Setting::new("", "modelRoles", Map, "", "The model for each role.").titled("Model roles").by_user(),
    Setting::new("Model", "modelRoles.default", Text, "", "Model to use if --model is not given.")
        .titled("Default model")
        .by_user(),
    Setting::new("Model", "modelRoles.smol", Text, "", "Model for quick and cheap work; `pi/smol` refers to it.")
        .titled("Fast model")
        .by_user(),
    Setting::new("Model", "modelRoles.slow", Text, "", "Model for hard questions; `pi/slow` refers to it.")
        .titled("Strong model")
        .by_user(),
    Setting::new("Model", "modelRoles.plan", Text, "", "Model for plans; `pi/plan` refers to it.")
        .titled("Planning model")
        .by_user(),
    Setting::new("Model", "modelRoles.commit", Text, "", "Model for commit messages; `pi/commit` refers to it.")
        .titled("Commit message model")
        .by_user(),
    Setting::new(
        "Model",
        "defaultThinkingLevel",
        LEVELS,
        "\"high\"",
        "Thinking level of models that support thinking.",
    )
    .titled("Thinking level"),
    Setting::new(
        "Model",
        "serviceTier",
        TIERS,
        "\"none\"",
        "Processing priority of requests, for providers that have service tiers.",
    )
    .titled("Service tier")
    .by_user(),
    Setting::new(
        "",
        "tier.openai",
        TIERS,
        "\"none\"",
        "Service tier for OpenAI models only; serviceTier overrides it.",
    )
    .titled("OpenAI service tier")
    .by_user(),
    budget("thinkingBudgets.minimal", "1024").titled("Thinking budget: minimal"),
    budget("thinkingBudgets.low", "2048").titled("Thinking budget: low"),
    budget("thinkingBudgets.medium", "8192").titled("Thinking budget: medium"),
    budget("thinkingBudgets.high", "16384").titled("Thinking budget: high"),
    budget("thinkingBudgets.xhigh", "32768").titled("Thinking budget: xhigh"),
    Setting::new("Model", "modelProviderOrder", List, "", "Which provider to prefer if several offer a model.")
        .titled("Provider order")
        .by_user(),
    Setting::new("Model", "disabledProviders", List, "", "Providers not to use.")
        .titled("Disabled providers")
        .by_user(),
    Setting::new(
        "",
        "enabledModels",
        List,
        "",
        "Models that /model lists, ctrl+p cycles through and sessions start with.",
    )
    .titled("Enabled models")
    .by_user(),
    Setting::new("", "favoriteModels", List, "", "Models that /model lists first.")
        .titled("Favourite models")
        .by_user(),
    Setting::new("Messages", "providers.connectTimeoutSeconds", SECONDS, "30", "Seconds to wait for a connection.")
        .titled("Connection timeout"),
    Setting::new(
        "Messages",
        "providers.streamFirstEventTimeoutSeconds",
        SECONDS,
        "-1",
        "Seconds to wait for the first token; -1 means 300.",
    )
    .titled("First token timeout"),
    Setting::new(
        "Messages",
        "providers.streamIdleTimeoutSeconds",
        SECONDS,
        "-1",
        "Seconds to wait for the next token; -1 means 300.",
    )
    .titled("Next token timeout"),
];
