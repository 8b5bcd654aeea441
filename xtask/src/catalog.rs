//! Turns the model catalogue (JSON, one object per provider) into the two sorted tables that `omp-llm` embeds.
//!
//! `providers.tsv` has a line per provider, `models.tsv` a line per model, sorted by `provider/id` so that omp finds
//! a model by binary search. An unknown key is an error, so that no data is lost unnoticed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Reads the JSON at `source` and writes both tables into the folder `out`.
pub fn generate(source: &Path, out: &Path) -> Result<(), String> {
    let json = std::fs::read_to_string(source).map_err(|error| format!("cannot read {}: {error}", source.display()))?;
    let tables = tables(&json)?;
    std::fs::create_dir_all(out).map_err(|error| format!("cannot create {}: {error}", out.display()))?;
    for (name, text) in [("providers.tsv", &tables.providers), ("models.tsv", &tables.models)] {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

const PROVIDERS_HEADER: &str = "# provider\tapi\tbase URL\n";
const MODELS_HEADER: &str = "# provider/id\tname\tcontext\tmax output\tprice: input,output,cache read,cache write\tinput\
                             \treasoning\tthinking: mode efforts\tmore of thinking\tapi\tbase URL\tpromotes to\n";

struct Tables {
    providers: String,
    models: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CatalogProvider {
    api: String,
    base_url: String,
    models: Vec<CatalogModel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CatalogModel {
    id: String,
    name: String,
    ctx: Option<u64>,
    max: Option<u64>,
    cost: Option<[Number; 4]>,
    #[serde(default)]
    input: Vec<String>,
    #[serde(default)]
    reasoning: bool,
    thinking: Option<CatalogThinking>,
    api: Option<String>,
    base_url: Option<String>,
    promotes_to: Option<String>,
}

/// Mode and efforts have a column of their own; the rest, which few models have, is one JSON object.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct CatalogThinking {
    #[serde(skip_serializing)]
    mode: String,
    #[serde(skip_serializing)]
    efforts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_level: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    effort_map: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    requires_effort: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    effort_budgets: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    effort_routing: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    supports_display: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suppress_when_off: bool,
}

fn tables(json: &str) -> Result<Tables, String> {
    let catalogue: BTreeMap<String, CatalogProvider> =
        serde_json::from_str(json).map_err(|error| format!("cannot parse the catalogue: {error}"))?;
    let mut providers = PROVIDERS_HEADER.to_owned();
    let mut models = BTreeMap::new();
    for (name, provider) in &catalogue {
        providers += &line(&[name.clone(), provider.api.clone(), provider.base_url.clone()])?;
        for model in &provider.models {
            let key = format!("{name}/{}", model.id);
            let text = model_line(&key, model)?;
            if models.insert(key.clone(), text).is_some() {
                return Err(format!("`{key}` is listed twice"));
            }
        }
    }
    let models = std::iter::once(MODELS_HEADER.to_owned()).chain(models.into_values()).collect();
    Ok(Tables { providers, models })
}

fn model_line(key: &str, model: &CatalogModel) -> Result<String, String> {
    let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let cost = model.cost.as_ref().map(|prices| prices.each_ref().map(Number::to_string).join(","));
    let (thinking, more) = match &model.thinking {
        None => (String::new(), String::new()),
        Some(thinking) => (format!("{} {}", thinking.mode, efforts(model, thinking).join(",")), more_text(thinking)?),
    };
    line(&[
        key.to_owned(),
        model.name.clone(),
        number(model.ctx),
        number(model.max),
        cost.unwrap_or_default(),
        model.input.join(","),
        if model.reasoning { "reasoning".to_owned() } else { String::new() },
        thinking,
        more,
        model.api.clone().unwrap_or_default(),
        model.base_url.clone().unwrap_or_default(),
        model.promotes_to.clone().unwrap_or_default(),
    ])
}

/// The efforts that the vendor accepts, if the catalogue lists others.
fn efforts<'a>(model: &'a CatalogModel, thinking: &'a CatalogThinking) -> Vec<&'a str> {
    // Resellers put the vendor before the model's name, and some a variant after it.
    let id = model.id.rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default();
    match openai_efforts(id) {
        Some(known) if !thinking.efforts.is_empty() => known.to_vec(),
        _ => thinking.efforts.iter().map(String::as_str).collect(),
    }
}

/// `reasoning.effort` as OpenAI documents it for each model. Any other value is refused with status 400.
fn openai_efforts(id: &str) -> Option<&'static [&'static str]> {
    const USUAL: &[&str] = &["low", "medium", "high"];
    let is = |family: &str| id == family || id.strip_prefix(family).is_some_and(|rest| rest.starts_with('-'));
    if id.contains("-deep-research") || (is("gpt-5.1-chat") || is("gpt-5.2-chat")) {
        return Some(&["medium"]);
    }
    if ["o1", "o3", "o4-mini", "o1-pro", "o3-pro", "o3-mini", "codex-mini", "gpt-5-codex"].iter().any(|it| is(it)) {
        return Some(USUAL);
    }
    if is("gpt-5-pro") {
        return Some(&["high"]);
    }
    if is("gpt-5.1-codex-max") {
        return Some(&["low", "medium", "high", "xhigh"]);
    }
    if is("gpt-5.1") && !is("gpt-5.1-codex-mini") {
        return Some(USUAL);
    }
    if is("gpt-5.2-pro") || is("gpt-5.4-pro") || is("gpt-5.5-pro") {
        return Some(&["medium", "high", "xhigh"]);
    }
    None
}

fn more_text(thinking: &CatalogThinking) -> Result<String, String> {
    let text = serde_json::to_string(thinking).map_err(|error| error.to_string())?;
    Ok(if text == "{}" { String::new() } else { text })
}

/// Empty columns at the end are left out.
fn line(columns: &[String]) -> Result<String, String> {
    if let Some(bad) = columns.iter().find(|column| column.contains(['\t', '\n', '\r'])) {
        return Err(format!("{bad:?} contains a tab or a line break"));
    }
    Ok(format!("{}\n", columns.join("\t").trim_end_matches('\t')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{
        "b": {"api": "openai-completions", "baseUrl": "https://b.example/v1", "models": [
            {"id": "z:free", "name": "Z", "ctx": null, "max": null},
            {"id": "a/x", "name": "X", "reasoning": true, "input": ["text", "image"], "cost": [0.15, 3, 0, 3.75],
             "ctx": 200000, "max": 8192, "api": "anthropic-messages", "baseUrl": "https://b.example", "promotesTo": "b/z",
             "thinking": {"mode": "effort", "efforts": ["low", "high"], "requiresEffort": true, "effortMap": {"low": "none"}}}
        ]},
        "a": {"api": "openai-responses", "baseUrl": "", "models": [
            {"id": "m", "name": "M", "ctx": 10, "max": 5, "thinking": {"mode": "budget", "efforts": ["low"]}}
        ]}
    }"#;

    #[test]
    fn a_line_a_provider_and_a_line_a_model_in_order() {
        let tables = tables(SAMPLE).unwrap();
        let lines = |text: &str| text.lines().skip(1).map(|line| line.replace('\t', "|")).collect::<Vec<_>>();
        assert_eq!(lines(&tables.providers), ["a|openai-responses", "b|openai-completions|https://b.example/v1"]);
        assert_eq!(
            lines(&tables.models),
            [
                "a/m|M|10|5||||budget low",
                r#"b/a/x|X|200000|8192|0.15,3,0,3.75|text,image|reasoning|effort low,high|{"effortMap":{"low":"none"},"requiresEffort":true}|anthropic-messages|https://b.example|b/z"#,
                "b/z:free|Z",
            ]
        );
    }

    #[test]
    fn efforts_that_the_vendor_refuses_are_not_listed() {
        let model = |id: &str| {
            format!(
                r#"{{"id": "{id}", "name": "M", "ctx": 1, "max": 1, "thinking":
            {{"mode": "effort", "efforts": ["minimal", "low", "medium", "high", "xhigh"]}}}}"#
            )
        };
        let check = |id: &str, expect: &str| {
            let json = format!(r#"{{"a": {{"api": "x", "baseUrl": "", "models": [{}]}}}}"#, model(id));
            let tables = tables(&json).unwrap();
            assert!(tables.models.trim_end().ends_with(&format!("effort {expect}")), "{}", tables.models);
        };
        check("o3", "low,medium,high");
        check("openai/o4-mini-2025-04-16", "low,medium,high");
        check("gpt-5.1", "low,medium,high");
        check("openai/gpt-5.1:free", "low,medium,high");
        check("gpt-5.1-codex-max", "low,medium,high,xhigh");
        check("gpt-5-codex", "low,medium,high");
        check("gpt-5-pro", "high");
        check("gpt-5.1-chat-latest", "medium");
        check("o3-deep-research", "medium");
        check("gpt-5.4-pro", "medium,high,xhigh");
        check("o3x", "minimal,low,medium,high,xhigh");
        check("gpt-5-mini", "minimal,low,medium,high,xhigh");
    }

    #[track_caller]
    fn check_error(json: &str, expect: &str) {
        let error = tables(json).err().unwrap();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn nothing_is_dropped_in_silence() {
        let model = |text: &str| format!(r#"{{"a": {{"api": "x", "baseUrl": "", "models": [{text}]}}}}"#);
        check_error("{", "cannot parse the catalogue");
        check_error(r#"{"a": {"api": "x", "baseUrl": "", "models": [], "new": 1}}"#, "unknown field `new`");
        check_error(&model(r#"{"id": "m", "name": "M", "ctx": 1, "max": 1, "new": 1}"#), "unknown field `new`");
        let thinking =
            r#"{"id": "m", "name": "M", "ctx": 1, "max": 1, "thinking": {"mode": "m", "efforts": [], "new": 1}}"#;
        check_error(&model(thinking), "unknown field `new`");
        check_error(&model(r#"{"id": "m", "name": "a\tb", "ctx": 1, "max": 1}"#), "contains a tab");
        let one = r#"{"id": "m", "name": "M", "ctx": 1, "max": 1}"#;
        check_error(&model(&format!("{one}, {one}")), "`a/m` is listed twice");
    }
}
