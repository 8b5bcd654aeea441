//! The body of a Gemini request: constant parts first, the contents last.

use std::borrow::Cow;

use omp_types::{Model, ModelError, Request, ThinkingLevel, ToolSpec};
use serde::Serialize;
use serde_json::Value;

use super::contents::{NAME_LIMIT, RequestContent, contents};
use super::{is_gemini_3, schema};
use crate::wire::{self, effort, history, json};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GoogleBody<'a> {
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[FunctionTools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    contents: Vec<RequestContent<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: CallingConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallingConfig<'a> {
    mode: &'static str,
    allowed_function_names: [Cow<'a, str>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: [SystemText<'a>; 1],
}

#[derive(Serialize)]
struct SystemText<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionTools<'a> {
    function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
struct FunctionDeclaration<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

impl GenerationConfig {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none() && self.thinking_config.is_none()
    }
}

pub(super) fn body(request: &Request) -> Result<Vec<u8>, ModelError> {
    let system = Some(&*request.system).filter(|text| !text.trim().is_empty());
    let body = GoogleBody {
        generation_config: GenerationConfig {
            max_output_tokens: request.max_tokens,
            thinking_config: thinking(&request.model, request.thinking),
        },
        system_instruction: system.map(|text| SystemInstruction { parts: [SystemText { text }] }),
        tools: (!request.tools.is_empty())
            .then(|| [FunctionTools { function_declarations: request.tools.iter().map(function).collect() }]),
        tool_config: request.terms.tool.as_deref().map(tool_config),
        contents: contents(request),
    };
    json::write(&body)
}

fn tool_config(name: &str) -> ToolConfig<'_> {
    let allowed_function_names = [history::portable_id(name, NAME_LIMIT)];
    ToolConfig { function_calling_config: CallingConfig { mode: "ANY", allowed_function_names } }
}

fn function(tool: &ToolSpec) -> FunctionDeclaration<'_> {
    let name = history::portable_id(&tool.name, NAME_LIMIT);
    FunctionDeclaration {
        name,
        description: &tool.description,
        parameters: schema::parameters(&wire::schema::parameters(tool)),
    }
}

/// Sets thinking by level for Gemini 3 and by token budget for earlier models. Off is sent explicitly, because these models
/// think by default; those that cannot disable it get the minimum.
fn thinking(model: &Model, level: ThinkingLevel) -> Option<ThinkingConfig> {
    if !model.reasoning {
        return None;
    }
    let mode = model.thinking.as_ref().map_or("", |thinking| thinking.mode.as_str());
    let by_level = mode.contains("level") || (mode.is_empty() && is_gemini_3(model));
    let on = level != ThinkingLevel::Off;
    let (mut thinking_level, mut thinking_budget) = (None, None);
    if by_level {
        let word = if on { effort::word(model, level) } else { effort::weakest(model) };
        thinking_level = word.map(str::to_ascii_uppercase);
    } else {
        thinking_budget = Some(budget(model, level));
    }
    Some(ThinkingConfig { include_thoughts: on, thinking_level, thinking_budget })
}

/// Returns the thinking budget in tokens: the Gemini 2.5 models accept at most 32,768 (pro) or 24,576 (the others), and at
/// least 128 (pro), 512 (flash-lite) or none.
fn budget(model: &Model, level: ThinkingLevel) -> u32 {
    let is_pro = model.id.contains("pro");
    let least = if model.id.contains("flash-lite") { 512 } else { 128 };
    match level {
        ThinkingLevel::Off if is_pro || effort::always_on(model) => least,
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => least,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High | ThinkingLevel::Xhigh if is_pro => 32_768,
        ThinkingLevel::High | ThinkingLevel::Xhigh => 24_576,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::{Api, ThinkingSupport};

    #[track_caller]
    fn check(id: &str, support: Option<(&str, &[&str], bool)>, expect: &str) {
        let mut model = Model { id: id.into(), ..sample::model(Api::GoogleGenerativeAi) };
        model.thinking = support.map(|(mode, efforts, requires_effort)| ThinkingSupport {
            mode: mode.into(),
            efforts: efforts.iter().map(|effort| (*effort).to_owned()).collect(),
            requires_effort,
            ..ThinkingSupport::default()
        });
        let told = ThinkingLevel::ALL.map(|level| {
            let config = thinking(&model, level).unwrap();
            assert_eq!(config.include_thoughts, level != ThinkingLevel::Off);
            config.thinking_level.unwrap_or_else(|| config.thinking_budget.unwrap().to_string())
        });
        assert_eq!(told.join(" "), expect);
    }

    #[test]
    fn thinking_is_asked_for_in_each_models_way() {
        let all: &[&str] = &["minimal", "low", "medium", "high"];
        check("gemini-2.5-flash", Some(("budget", all, false)), "0 128 2048 8192 24576 24576");
        check("gemini-2.5-flash-lite", Some(("budget", all, false)), "0 512 2048 8192 24576 24576");
        check("gemini-2.5-pro", Some(("budget", all, true)), "128 128 2048 8192 32768 32768");
        check("gemini-3-flash-preview", Some(("google-level", all, true)), "MINIMAL MINIMAL LOW MEDIUM HIGH HIGH");
        check("gemini-3-pro-preview", Some(("google-level", &["low", "high"], true)), "LOW LOW LOW HIGH HIGH HIGH");
        check("gemini-3.1-pro", None, "LOW LOW LOW MEDIUM HIGH HIGH");
        check("my-model", None, "0 128 2048 8192 24576 24576");
    }

    #[test]
    fn a_model_that_does_not_think_is_not_asked_to() {
        let model = Model { reasoning: false, ..sample::model(Api::GoogleGenerativeAi) };
        assert_eq!(thinking(&model, ThinkingLevel::High), None);
    }
}
