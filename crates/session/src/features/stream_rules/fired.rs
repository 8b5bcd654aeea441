//! Events for front ends about broken stream rules.

use std::sync::Arc;

use omp_config::{Level, Provider, Rule};
use serde_json::{Value, json};

/// Stream rules that the model has broken, for front ends.
#[derive(Clone, Debug)]
pub struct RulesFired {
    pub rules: Vec<Arc<Rule>>,
    /// Whether the answer is stopped because of them. Its end, which comes next, is then not a failure.
    pub interrupts: bool,
}

impl RulesFired {
    /// A one-line description.
    pub fn line(&self) -> String {
        let names = self.rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join(", ");
        let rules = if self.rules.len() == 1 { "rule" } else { "rules" };
        match self.interrupts {
            true => format!("{rules} broken: {names}; the answer was stopped and starts again"),
            false => format!("{rules} broken: {names}; the model is reminded"),
        }
    }

    /// The rules in the format that clients know.
    pub fn wire_rules(&self) -> Value {
        self.rules.iter().map(|rule| wire_rule(rule)).collect()
    }
}

/// Omits fields that are not set.
fn wire_rule(rule: &Rule) -> Value {
    let path = rule.source.path.display().to_string();
    let (provider, provider_name) = names(rule.source.provider);
    let level = match rule.source.level {
        Level::User => "user",
        Level::Project => "project",
    };
    let mut wire = json!({
        "name": rule.name,
        "path": path,
        "content": rule.content,
        "globs": rule.globs,
        "alwaysApply": rule.always_apply,
        "description": rule.description,
        "condition": rule.condition,
        "astCondition": rule.ast_condition,
        "scope": rule.scope,
        "interruptMode": rule.interrupt_mode,
        "_source": {"provider": provider, "providerName": provider_name, "path": path, "level": level},
    });
    if let Some(fields) = wire.as_object_mut() {
        fields.retain(|_, value| {
            !value.is_null() && *value != Value::Bool(false) && value.as_array().is_none_or(|list| !list.is_empty())
        });
    }
    wire
}

/// The provider's name in files and its display name.
fn names(provider: Provider) -> (&'static str, &'static str) {
    match provider {
        Provider::Native => ("native", "OMP"),
        Provider::Custom => ("custom", "Custom"),
        Provider::ClaudePlugins => ("claude-plugins", "Claude Code Marketplace"),
        Provider::Claude => ("claude", "Claude Code"),
        Provider::Codex => ("codex", "OpenAI Codex"),
        Provider::Agents => ("agents", "Agents"),
        Provider::Gemini => ("gemini", "Gemini CLI"),
        Provider::OpenCode => ("opencode", "OpenCode"),
        Provider::Cursor => ("cursor", "Cursor"),
        Provider::Windsurf => ("windsurf", "Windsurf"),
        Provider::Cline => ("cline", "Cline"),
        Provider::Copilot => ("github", "GitHub Copilot"),
        Provider::VsCode => ("vscode", "VS Code"),
        Provider::McpJson => ("mcp-json", "MCP JSON"),
        Provider::Builtin => ("builtin-defaults", "Built-in defaults"),
    }
}
