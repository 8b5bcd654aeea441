//! The settings that choose models and the patience with their providers. `omp` reads them and hands them in.

use omp_types::Setting;
use omp_types::SettingKind::{List, Map, Number, OneOf, Text};

const LEVELS: omp_types::SettingKind = OneOf(&["off", "minimal", "low", "medium", "high", "xhigh"]);
const TIERS: omp_types::SettingKind = OneOf(&["none", "auto", "default", "flex", "scale", "priority"]);
const SECONDS: omp_types::SettingKind = Number { least: -1.0, most: 86_400.0 };

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
    ),
    Setting::new("Model", "modelProviderOrder", List, "", "which provider wins when several offer a model"),
    Setting::new("Model", "disabledProviders", List, "", "providers that are not used").by_user(),
    Setting::new("", "enabledModels", List, "", "models that are gone through with ctrl+p and tried first"),
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
