//! How a request asks for thinking: by budget, by effort, or adaptively.

use omp_types::{Model, Request, ThinkingLevel};
use serde::Serialize;

use crate::wire::effort;

/// Output limit if the caller sets none. Older models refuse a request whose prompt and limit together exceed the window, so
/// their full limit cannot be the default.
const USUAL_OUTPUT: u64 = 32_000;

/// Minimum thinking budget of the API, and minimum number of tokens left for the answer.
const SMALLEST_BUDGET: u64 = 1024;

/// A server that accepts no effort may use this term for it.
const NO_EFFORT: &str = "adaptive";

/// Lets a model with a thinking budget think between tool calls.
pub(crate) const INTERLEAVED_BETA: &str = "interleaved-thinking-2025-05-14";

/// Thinking and length parameters of a request.
#[derive(Debug, PartialEq)]
pub(super) struct ThinkingPlan<'a> {
    pub model: &'a str,
    pub max_tokens: u64,
    pub thinking: Option<ThinkingParam>,
    pub effort: Option<&'a str>,
    interleaved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ThinkingParam {
    Enabled {
        budget_tokens: u64,
    },
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
}

impl<'a> ThinkingPlan<'a> {
    pub fn new(request: &'a Request) -> Self {
        let model = &*request.model;
        let level = level(model, request.thinking);
        let mut plan = Self {
            model: routed(model, level),
            max_tokens: output_limit(request),
            thinking: None,
            effort: None,
            interleaved: false,
        };
        // The API refuses thinking if a tool call is forced.
        if level != ThinkingLevel::Off && request.terms.tool.is_none() {
            plan.think(request, level);
        }
        plan
    }

    pub fn betas(&self) -> impl Iterator<Item = &'static str> {
        let effort = (self.effort.is_some() && self.interleaved).then_some("effort-2025-11-24");
        self.interleaved.then_some(INTERLEAVED_BETA).into_iter().chain(effort)
    }

    fn think(&mut self, request: &'a Request, level: ThinkingLevel) {
        let model = &*request.model;
        let support = model.thinking.as_ref();
        let word = effort::word(model, level).filter(|word| *word != NO_EFFORT);
        match support.map(|support| support.mode.as_str()) {
            Some("anthropic-adaptive") => {
                let shown = support.is_some_and(|support| support.supports_display);
                self.thinking = Some(ThinkingParam::Adaptive { display: shown.then_some("summarized") });
                self.effort = word;
            }
            mode => {
                self.spend(request, budget(model, level, word));
                if mode == Some("anthropic-budget-effort") {
                    self.effort = word.map(older_effort);
                }
            }
        }
    }

    /// A budget is part of the output limit, so the limit is raised by it up to the model's maximum.
    fn spend(&mut self, request: &Request, budget: u64) {
        if request.max_tokens.is_none() {
            self.max_tokens = limited(self.max_tokens + budget, request.model.max_tokens);
        }
        let budget = budget.min(self.max_tokens.saturating_sub(SMALLEST_BUDGET));
        if budget >= SMALLEST_BUDGET {
            self.thinking = Some(ThinkingParam::Enabled { budget_tokens: budget });
            self.interleaved = self.model.contains("claude");
        }
    }
}

fn level(model: &Model, wanted: ThinkingLevel) -> ThinkingLevel {
    match wanted {
        _ if !model.reasoning => ThinkingLevel::Off,
        ThinkingLevel::Off if effort::always_on(model) => ThinkingLevel::Minimal,
        wanted => wanted,
    }
}

/// Returns the ID to send: some providers offer thinking as a separate model.
fn routed(model: &Model, level: ThinkingLevel) -> &str {
    let support = model.thinking.as_ref();
    support.and_then(|support| support.effort_routing.get(level.as_str())).map_or(&model.id, String::as_str)
}

fn output_limit(request: &Request) -> u64 {
    limited(request.max_tokens.unwrap_or(USUAL_OUTPUT), request.model.max_tokens).max(1)
}

/// A model limit of zero means unknown.
fn limited(tokens: u64, model_limit: u64) -> u64 {
    if model_limit == 0 { tokens } else { tokens.min(model_limit) }
}

fn budget(model: &Model, level: ThinkingLevel, word: Option<&str>) -> u64 {
    let word = word.unwrap_or(level.as_str());
    let own = model.thinking.as_ref().and_then(|support| support.effort_budgets.get(word));
    own.copied().unwrap_or(match word {
        "minimal" => 1024,
        "low" => 2048,
        "medium" => 8192,
        "high" => 16_384,
        _ => 32_768,
    })
}

/// Models that accept both a budget and an effort support fewer efforts than budgets.
fn older_effort(word: &str) -> &str {
    match word {
        "minimal" => "low",
        "xhigh" => "high",
        word => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::{Api, ThinkingSupport};

    fn plan_of(support: Option<ThinkingSupport>, level: ThinkingLevel, max_tokens: Option<u64>) -> String {
        let model = Model { id: "claude-x".into(), thinking: support, ..sample::model(Api::AnthropicMessages) };
        let mut request = sample::request(model, Vec::new());
        request.thinking = level;
        request.max_tokens = max_tokens;
        let plan = ThinkingPlan::new(&request);
        let thinking = plan.thinking.map(|thinking| serde_json::to_string(&thinking).unwrap());
        let betas: Vec<_> = plan.betas().map(|beta| beta.split('-').next().unwrap()).collect();
        format!(
            "{} {} {} {} {}",
            plan.model,
            plan.max_tokens,
            thinking.as_deref().unwrap_or("-"),
            plan.effort.unwrap_or("-"),
            betas.join("+")
        )
        .trim_end()
        .to_owned()
    }

    fn support(mode: &str, efforts: &[&str]) -> ThinkingSupport {
        let efforts = efforts.iter().map(|effort| (*effort).to_owned()).collect();
        ThinkingSupport { mode: mode.into(), efforts, ..ThinkingSupport::default() }
    }

    #[track_caller]
    fn check(support: ThinkingSupport, level: ThinkingLevel, expect: &str) {
        assert_eq!(plan_of(Some(support), level, None), expect);
    }

    use ThinkingLevel::{High, Low, Medium, Minimal, Off, Xhigh};

    #[test]
    fn budgets_follow_the_level() {
        let all = || support("budget", &["minimal", "low", "medium", "high", "xhigh"]);
        check(all(), Off, "claude-x 32000 - -");
        check(all(), Minimal, r#"claude-x 33024 {"type":"enabled","budget_tokens":1024} - interleaved"#);
        check(all(), Medium, r#"claude-x 40192 {"type":"enabled","budget_tokens":8192} - interleaved"#);
        check(all(), Xhigh, r#"claude-x 64000 {"type":"enabled","budget_tokens":32768} - interleaved"#);
        let few = support("budget", &["low", "high", "max"]);
        check(few, Medium, r#"claude-x 48384 {"type":"enabled","budget_tokens":16384} - interleaved"#);
        let always = ThinkingSupport { requires_effort: true, ..all() };
        check(always, Off, r#"claude-x 33024 {"type":"enabled","budget_tokens":1024} - interleaved"#);
        let own = ThinkingSupport { effort_budgets: [("low".to_owned(), 5000)].into(), ..all() };
        check(own, Low, r#"claude-x 37000 {"type":"enabled","budget_tokens":5000} - interleaved"#);
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        let plan = |max_tokens| plan_of(None, High, Some(max_tokens));
        assert_eq!(plan(10_000), r#"claude-x 10000 {"type":"enabled","budget_tokens":8976} - interleaved"#);
        assert_eq!(plan(2000), "claude-x 2000 - -");
        assert_eq!(plan(0), "claude-x 1 - -");
        assert_eq!(plan(1 << 40), r#"claude-x 64000 {"type":"enabled","budget_tokens":16384} - interleaved"#);
    }

    #[test]
    fn newer_models_take_an_effort() {
        let adaptive = support("anthropic-adaptive", &["low", "medium", "high", "xhigh", "max"]);
        check(adaptive.clone(), Off, "claude-x 32000 - -");
        check(adaptive.clone(), Xhigh, r#"claude-x 32000 {"type":"adaptive"} xhigh"#);
        let shown = ThinkingSupport { supports_display: true, ..adaptive.clone() };
        check(shown, Low, r#"claude-x 32000 {"type":"adaptive","display":"summarized"} low"#);
        check(
            support("anthropic-adaptive", &["low", "high", "max"]),
            Xhigh,
            r#"claude-x 32000 {"type":"adaptive"} max"#,
        );
        let wordless = ["low", "medium", "high"].map(|word| (word.to_owned(), NO_EFFORT.to_owned()));
        let wordless =
            ThinkingSupport { effort_map: wordless.into(), ..support("anthropic-adaptive", &["low", "high"]) };
        check(wordless, High, r#"claude-x 32000 {"type":"adaptive"} -"#);
        let both = support("anthropic-budget-effort", &["minimal", "low", "medium", "high", "xhigh"]);
        check(both, Minimal, r#"claude-x 33024 {"type":"enabled","budget_tokens":1024} low interleaved+effort"#);
    }

    #[test]
    fn a_level_may_be_another_model() {
        let routing = [("off", "plain"), ("high", "thinker")].map(|(level, id)| (level.to_owned(), id.to_owned()));
        let routed = ThinkingSupport { effort_routing: routing.into(), ..support("budget", &["high"]) };
        check(routed.clone(), Off, "plain 32000 - -");
        check(routed, High, r#"thinker 48384 {"type":"enabled","budget_tokens":16384} -"#);
    }

    #[test]
    fn a_model_that_does_not_reason_is_not_asked_to() {
        let model = Model { reasoning: false, ..sample::model(Api::AnthropicMessages) };
        let request = sample::request(model, Vec::new());
        assert_eq!(ThinkingPlan::new(&request).thinking, None);
    }
}
