//! Selects the built-in text for a model from a table of facts about models.
//!
//! Only facts that stay the same during a session are used, so switching to another model and back gives the same bytes.

use omp_types::Model;
use serde_json::Value;

/// Context windows up to this size have no room for the long text beside the tools and the work.
const SMALL_WINDOW: u64 = 32_768;
/// Local model servers, which are slow at reading a prompt.
const LOCAL: [&str; 3] = ["ollama", "llama.cpp", "lm-studio"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Use the short text instead of the long one.
    pub short: bool,
    /// Whether the text asks for several calls at once.
    pub parallel: bool,
}

impl Shape {
    pub const ALL: [Self; 4] = [
        Self { short: false, parallel: false },
        Self { short: false, parallel: true },
        Self { short: true, parallel: false },
        Self { short: true, parallel: true },
    ];

    pub fn of(model: &Model) -> Self {
        let usual = Self { short: false, parallel: true };
        ADJUSTMENTS.iter().filter(|row| (row.when)(model)).fold(usual, |shape, row| (row.then)(shape))
    }

    pub fn index(self) -> usize {
        usize::from(self.short) * 2 + usize::from(self.parallel)
    }
}

struct Adjustment {
    when: fn(&Model) -> bool,
    then: fn(Shape) -> Shape,
}

const ADJUSTMENTS: &[Adjustment] = &[
    Adjustment {
        when: |model| (1..=SMALL_WINDOW).contains(&model.context_window),
        then: |shape| Shape { short: true, ..shape },
    },
    Adjustment { when: |model| LOCAL.contains(&model.provider.as_str()), then: |shape| Shape { short: true, ..shape } },
    Adjustment {
        when: |model| model.compat.get("supportsParallelToolCalls") == Some(&Value::Bool(false)),
        then: |shape| Shape { parallel: false, ..shape },
    },
];

#[cfg(test)]
mod tests {
    use omp_types::{Api, Prices};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(provider: &str, window: u64, compat: Value, short: bool, parallel: bool) {
        let model = Model {
            id: "m".into(),
            name: "M".into(),
            api: Api::Demo,
            provider: provider.into(),
            base_url: String::new(),
            reasoning: false,
            input: Vec::new(),
            cost: Prices::default(),
            context_window: window,
            max_tokens: 0,
            headers: Default::default(),
            thinking: None,
            compat,
            context_promotion_target: None,
        };
        assert_eq!(Shape::of(&model), Shape { short, parallel }, "{provider} {window}");
    }

    #[test]
    fn facts_decide() {
        check("anthropic", 200_000, Value::Null, false, true);
        check("openai", 0, Value::Null, false, true);
        check("openai", SMALL_WINDOW, Value::Null, true, true);
        check("openai", SMALL_WINDOW + 1, Value::Null, false, true);
        check("ollama", 131_072, Value::Null, true, true);
        check("groq", 131_072, json!({"supportsParallelToolCalls": false}), false, false);
        check("groq", 131_072, json!({"supportsParallelToolCalls": true}), false, true);
        check("lm-studio", 8_192, json!({"supportsParallelToolCalls": false}), true, false);
    }

    #[test]
    fn every_shape_has_its_place() {
        assert!(Shape::ALL.iter().enumerate().all(|(place, shape)| shape.index() == place));
    }
}
