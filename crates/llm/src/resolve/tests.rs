//! Tests of resolving names and patterns to models.

use std::collections::BTreeMap;

use omp_http::{Client, HttpConfig};

use super::*;
use crate::registry::LoadOptions;

const FILE: &str = r#"
providers:
  mock: {baseUrl: 'http://127.0.0.1:1', apiKey: k, api: anthropic-messages, models: [{id: mock-model}, {id: 'odd:high'}]}
  gate: {baseUrl: 'http://127.0.0.1:1', apiKey: k, api: openai-completions, models: [{id: cx}]}
equivalence: {overrides: {gate/cx: gpt-5.3-codex}}
"#;

fn options(env: &[&str]) -> LoadOptions {
    LoadOptions { env: env.iter().map(|name| (*name, "key")).collect(), ..LoadOptions::default() }
}

fn load(options: LoadOptions, file: &str) -> Registry {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.yml");
    std::fs::write(&path, file).unwrap();
    Registry::load(LoadOptions { models_file: Some(path), ..options })
}

fn registry(env: &[&str]) -> Registry {
    load(options(env), FILE)
}

fn shown(outcome: Result<Resolved, ResolveError>) -> String {
    match outcome {
        Ok(found) => match found.thinking {
            Some(level) => format!("{} {level}", found.model.selector()),
            None => found.model.selector(),
        },
        Err(error) => format!("{:?}", error.kind),
    }
}

#[track_caller]
fn check(registry: &Registry, pattern: &str, expect: &str) {
    assert_eq!(shown(registry.resolve(pattern)), expect, "{pattern}");
}

const ANTHROPIC: &str = "ANTHROPIC_API_KEY";
const OPENAI: &str = "OPENAI_API_KEY";
const OPENROUTER: &str = "OPENROUTER_API_KEY";
const COPILOT: &str = "COPILOT_GITHUB_TOKEN";

#[test]
fn exact_names() {
    let registry = registry(&[ANTHROPIC, OPENROUTER, COPILOT]);
    check(&registry, "mock/mock-model", "mock/mock-model");
    check(&registry, " mock/mock-model ", "mock/mock-model");
    check(&registry, "Mock-Model", "mock/mock-model");
    check(&registry, "mock/mock-model:high", "mock/mock-model high");
    check(&registry, "mock/mock-model:off", "mock/mock-model off");
    check(&registry, "mock/odd:high", "mock/odd:high");
    check(&registry, "mock/odd:high:low", "mock/odd:high low");
    check(&registry, "odd:high", "mock/odd:high");
    check(&registry, "anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5");
    check(&registry, "anthropic/Claude-Sonnet-5", "anthropic/claude-sonnet-5");
    check(&registry, "openrouter/anthropic/claude-sonnet-5", "openrouter/anthropic/claude-sonnet-5");
    check(&registry, "openrouter/openai/gpt-oss-120b:free", "openrouter/openai/gpt-oss-120b:free");
    check(&registry, "openrouter/openai/gpt-oss-120b:free:xhigh", "openrouter/openai/gpt-oss-120b:free xhigh");
    check(&registry, "openai/gpt-oss-120b:free", "openrouter/openai/gpt-oss-120b:free");
}

#[test]
fn canonical_names_go_to_a_provider_with_a_key() {
    check(&registry(&[ANTHROPIC, OPENROUTER, COPILOT]), "claude-opus-4-6", "anthropic/claude-opus-4-6");
    check(&registry(&[OPENROUTER, COPILOT]), "claude-opus-4-6", "openrouter/anthropic/claude-opus-4.6");
    check(&registry(&[OPENROUTER]), "claude-opus-4-6:low", "openrouter/anthropic/claude-opus-4.6 low");
    check(&registry(&[ANTHROPIC]), "claude-opus-4.6", "anthropic/claude-opus-4-6");
    check(&registry(&[OPENAI, COPILOT]), "gpt-5.4", "openai/gpt-5.4");
    check(&registry(&[]), "gpt-5.3-codex", "gate/cx");
    check(&registry(&[OPENAI]), "gpt-5.3-codex", "openai/gpt-5.3-codex");
    let ordered = LoadOptions {
        provider_order: vec!["openrouter".into(), "github-copilot".into()],
        ..options(&[ANTHROPIC, OPENROUTER, COPILOT])
    };
    let registry = load(ordered, "");
    check(&registry, "claude-opus-4-6", "openrouter/anthropic/claude-opus-4.6");
    check(&registry, "anthropic/claude-opus-4-6", "anthropic/claude-opus-4-6");
    let disabled = LoadOptions { disabled_providers: vec!["anthropic".into()], ..options(&[ANTHROPIC, COPILOT]) };
    check(&load(disabled, ""), "claude-opus-4-6", "NoKey");
}

#[test]
fn loose_patterns_take_the_newest_plain_model() {
    let registry = registry(&[ANTHROPIC, OPENAI, OPENROUTER, "GEMINI_API_KEY"]);
    check(&registry, "sonnet", "anthropic/claude-sonnet-5");
    check(&registry, "Sonnet:high", "anthropic/claude-sonnet-5 high");
    check(&registry, "opus", "anthropic/claude-opus-5");
    check(&registry, "opus 4.6", "anthropic/claude-opus-4-6");
    check(&registry, "opus-4.6", "anthropic/claude-opus-4-6");
    check(&registry, "haiku", "anthropic/claude-haiku-4-5");
    check(&registry, "gpt", "openai/gpt-5.6");
    check(&registry, "codex", "openai/gpt-5.3-codex");
    check(&registry, "gemini", "google/gemini-3.6-flash");
    check(&registry, "openrouter/sonnet", "openrouter/anthropic/claude-sonnet-5");
    check(&registry, "openrouter/opus:minimal", "openrouter/anthropic/claude-opus-5 minimal");
    check(&registry, "mock", "mock/mock-model");
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    let registry = registry(&[]);
    check(&registry, "", "Unknown");
    check(&registry, "/", "Unknown");
    check(&registry, ":", "Unknown");
    check(&registry, "sonnet:turbo", "Unknown");
    check(&registry, "no-such-model", "Unknown");
    check(&registry, "anthropic/claude-sonnet-5", "NoKey");
    check(&registry, "sonnet", "NoKey");
    check(&registry, "gpt-5.4", "NoKey");
    check(&registry, "cursor/claude-4-sonnet", "Unusable");
    check(&registry, "cloudflare-ai-gateway/openai/gpt-5.5", "Unusable");
    let disabled = LoadOptions { disabled_providers: vec!["mock".into()], ..options(&[]) };
    check(&load(disabled, FILE), "mock/mock-model", "Unusable");
}

#[test]
fn refusals_say_what_to_do() {
    let registry = registry(&[]);
    let refusals = [
        "claude-sonet-5",
        "mock/mock-modle",
        "anthropic/claude-opus-9",
        "zebra-9000",
        "mock-model:turbo",
        "ollama/qwen3",
        "anthropic/claude-sonnet-5",
        "claude-opus-4-6",
        "cursor/claude-4-sonnet",
        "github-copilot/claude-opus-4.6",
        "cloudflare-ai-gateway/openai/gpt-5.5",
        "pi/nope",
    ]
    .map(|pattern| registry.resolve(pattern).unwrap_err().to_string());
    insta::assert_snapshot!(refusals.join("\n\n"), @"
    unknown model `claude-sonet-5`
    hint: did you mean `anthropic/claude-sonnet-5`, `opencode-zen/claude-sonnet-4` or `venice/claude-sonnet-45`?

    unknown model `mock/mock-modle`
    hint: did you mean `mock/mock-model`?

    unknown model `anthropic/claude-opus-9`
    hint: did you mean `anthropic/claude-opus-5`, `anthropic/claude-opus-4-0` or `anthropic/claude-opus-4-1`?

    unknown model `zebra-9000`
    hint: `omp --list-models` lists the models you can use now, `omp --list-models '*'` all 4217 that omp knows

    `mock-model` is a model, but `turbo` is not a thinking level
    hint: use off, minimal, low, medium, high or xhigh

    unknown model `ollama/qwen3`
    hint: check that Ollama is running and has that model; OLLAMA_BASE_URL sets its address

    model `anthropic/claude-sonnet-5`: no API key for provider `anthropic`
    hint: set ANTHROPIC_OAUTH_TOKEN or ANTHROPIC_API_KEY, give `--api-key`, or write `apiKey:` under `providers: anthropic:` in models.yml

    no API key for model `claude-opus-4-6`, which anthropic, openrouter, vercel-ai-gateway, opencode-zen, aimlapi, … have
    hint: set ANTHROPIC_API_KEY, OPENROUTER_API_KEY, AI_GATEWAY_API_KEY (or another provider's key), or give `--model provider/id` with `--api-key`

    `cursor/claude-4-sonnet` uses the API `cursor-agent`, which omp does not support
    hint: find another provider with `omp --list-models claude-4-sonnet`

    `github-copilot/claude-opus-4.6` is not available: omp cannot log in to github-copilot yet
    hint: find another provider with `omp --list-models claude-opus-4.6`

    `cloudflare-ai-gateway/openai/gpt-5.5` has no URL
    hint: set `baseUrl:` under `providers: cloudflare-ai-gateway:` in models.yml

    unknown role `nope`
    hint: roles are default, smol, slow, plan, commit and those of `modelRoles` in config.yml
    ");
}

fn with_roles(env: &[&str], roles: &[(&str, &str)]) -> Registry {
    let roles: BTreeMap<String, String> = roles.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    load(LoadOptions { roles, ..options(env) }, FILE)
}

#[test]
fn roles_lead_to_models() {
    let roles = [
        ("default", "mock/mock-model:low"),
        ("smol", "pi/default"),
        ("slow", "pi/default:high"),
        ("plan", "pi/slow"),
        ("mine", "sonnet"),
        ("loop", "pi/knot"),
        ("knot", "pi/loop"),
        ("broken", "no-such-model"),
    ];
    let registry = with_roles(&[ANTHROPIC], &roles);
    check(&registry, "pi/default", "mock/mock-model low");
    check(&registry, "pi/default:xhigh", "mock/mock-model xhigh");
    check(&registry, "pi/smol", "mock/mock-model low");
    check(&registry, "pi/slow", "mock/mock-model high");
    check(&registry, "pi/plan", "mock/mock-model high");
    check(&registry, "pi/plan:off", "mock/mock-model off");
    check(&registry, "pi/mine", "anthropic/claude-sonnet-5");
    check(&registry, "pi/loop", "BadRole");
    check(&registry, "pi/nope", "BadRole");
    check(&registry, "pi/broken", "Unknown");
    let error = registry.resolve("pi/broken").unwrap_err().to_string();
    assert!(error.starts_with("role `broken`: unknown model"), "{error}");
    check(&with_roles(&[ANTHROPIC], &[]), "pi/smol", "anthropic/claude-haiku-4-5");
    check(&with_roles(&[ANTHROPIC], &[]), "pi/commit", "anthropic/claude-sonnet-5");
}

#[test]
fn flags_beat_variables_beat_settings() {
    let mut options = options(&[]);
    options.roles.insert("smol".into(), "mock/odd:high".into());
    options.env = [("PI_SMOL_MODEL", "gate/cx")].into_iter().collect();
    check(&load(options.clone(), FILE), "pi/smol", "gate/cx");
    options.role_flags.insert("smol".into(), "mock/mock-model".into());
    check(&load(options, FILE), "pi/smol", "mock/mock-model");
}

#[test]
fn unset_roles_stay_with_the_current_model() {
    let registry = registry(&[ANTHROPIC]);
    let current = registry.resolve("opus").unwrap().model;
    assert_eq!(shown(registry.role("smol", &current)), "anthropic/claude-haiku-4-5");
    assert_eq!(shown(registry.role("slow", &current)), "anthropic/claude-opus-5");
    let mock = registry.resolve("mock/mock-model").unwrap().model;
    assert_eq!(shown(registry.role("smol", &mock)), "mock/mock-model");
}

#[track_caller]
fn check_scope(registry: &Registry, patterns: &[&str], expect: &[&str], unmatched: &[&str]) {
    let scope = registry.scope(patterns);
    let names: Vec<_> = scope.models.into_iter().map(|found| shown(Ok(found))).collect();
    assert_eq!(names, expect);
    assert_eq!(scope.unmatched, unmatched);
}

#[test]
fn scopes_expand_globs_and_canonical_names() {
    let registry = registry(&[ANTHROPIC, COPILOT]);
    check_scope(&registry, &["mock/*"], &["mock/mock-model", "mock/odd:high"], &[]);
    check_scope(&registry, &["MOCK/m*:low"], &["mock/mock-model low"], &[]);
    check_scope(&registry, &["*opus-5*", ""], &["anthropic/claude-opus-5"], &[]);
    check_scope(&registry, &["claude-opus-4-6:high"], &["anthropic/claude-opus-4-6 high"], &[]);
    check_scope(&registry, &["anthropic/claude-opus-4-6", "claude-opus-4-6"], &["anthropic/claude-opus-4-6"], &[]);
    check_scope(&registry, &["haiku"], &["anthropic/claude-haiku-4-5"], &[]);
    check_scope(
        &registry,
        &["openai/*", "zebra", "[", "mock/mock-model"],
        &["mock/mock-model"],
        &["openai/*", "zebra", "["],
    );
}

#[track_caller]
fn check_initial(mut registry: Registry, choice: InitialChoice, expect: &str) {
    assert_eq!(shown(registry.initial(&choice)), expect);
}

#[test]
fn the_first_model_follows_the_order_of_wishes() {
    let named = |model: &str| InitialChoice { model: Some(model.into()), ..InitialChoice::default() };
    let scoped = InitialChoice { scope: vec!["zebra".into(), "haiku".into()], ..InitialChoice::default() };
    let resumed = InitialChoice { recorded: Some("gate/cx".into()), ..scoped.clone() };
    let lost = InitialChoice { recorded: Some("gone/gone".into()), ..scoped.clone() };
    let nothing = InitialChoice::default;
    let saved = || with_roles(&[ANTHROPIC, OPENAI], &[("default", "mock/mock-model:high")]);
    check_initial(saved(), InitialChoice { model: Some("opus".into()), ..resumed.clone() }, "anthropic/claude-opus-5");
    check_initial(saved(), resumed, "gate/cx");
    check_initial(saved(), scoped, "anthropic/claude-haiku-4-5");
    check_initial(saved(), lost, "mock/mock-model high");
    check_initial(saved(), nothing(), "mock/mock-model high");
    check_initial(load(options(&[ANTHROPIC, OPENAI]), FILE), nothing(), "anthropic/claude-sonnet-5");
    check_initial(load(options(&[OPENAI]), FILE), nothing(), "openai/gpt-5.6");
    check_initial(load(options(&[]), FILE), nothing(), "mock/mock-model");
    check_initial(load(options(&["VENICE_API_KEY"]), ""), named("venice/nope"), "Unknown");
    check_initial(load(options(&[]), ""), nothing(), "NothingAvailable");
    check_initial(load(options(&[]), ""), named("sonnet"), "NoKey");
    let provider = |provider: &str, model: Option<&str>| InitialChoice {
        provider: Some(provider.into()),
        model: model.map(str::to_owned),
        ..InitialChoice::default()
    };
    check_initial(saved(), provider("openai", None), "openai/gpt-5.6");
    check_initial(saved(), provider("mock", None), "mock/mock-model");
    check_initial(saved(), provider("anthropic", Some("opus:low")), "anthropic/claude-opus-5 low");
    check_initial(saved(), provider("anthropic", Some("anthropic/claude-opus-5")), "anthropic/claude-opus-5");
    check_initial(saved(), provider("google", None), "NoKey");
    check_initial(saved(), provider("nowhere", None), "Unknown");
}

#[test]
fn a_saved_default_that_is_gone_is_told() {
    let mut registry = with_roles(&[ANTHROPIC], &[("default", "gone/gone")]);
    let found = registry.initial(&InitialChoice::default()).unwrap();
    assert_eq!(found.model.selector(), "anthropic/claude-sonnet-5");
    let note = found.note.unwrap();
    assert!(
        note.starts_with("the default model is not available: role `default`: unknown model `gone/gone`"),
        "{note}"
    );
}

#[test]
fn the_key_of_the_command_line_goes_to_the_named_provider() {
    let given = || load(LoadOptions { api_key: Some("run".into()), ..options(&[]) }, "");
    let mut registry = given();
    let choice = InitialChoice { model: Some("openai/gpt-5.4".into()), ..InitialChoice::default() };
    let found = registry.initial(&choice).unwrap();
    assert_eq!(registry.auth().known_credential(&found.model).unwrap(), crate::auth::Credential::ApiKey("run".into()));
    check(&registry, "sonnet", "NoKey");
    check_initial(
        given(),
        InitialChoice { model: Some("sonnet".into()), ..InitialChoice::default() },
        "anthropic/claude-sonnet-5",
    );
    check_initial(given(), InitialChoice::default(), "KeyWithoutModel");
}

#[test]
fn overflow_leads_to_a_larger_sibling() {
    let file = "providers:\n  p:\n    baseUrl: http://x\n    auth: none\n    api: openai-completions\n    models:\n      \
                - {id: s, contextWindow: 10}\n      - {id: m, contextWindow: 20}\n      - {id: l, contextWindow: 30}\n      \
                - {id: named, contextWindow: 10, contextPromotionTarget: l}\n      \
                - {id: full, contextWindow: 10, contextPromotionTarget: p/m}\n      \
                - {id: lost, contextWindow: 10, contextPromotionTarget: gone}\n      \
                - {id: other, contextWindow: 15, api: openai-responses}\n";
    let registry = load(options(&[]), file);
    for (from, expect) in
        [("s", Some("m")), ("m", Some("l")), ("l", None), ("named", Some("l")), ("full", Some("m")), ("lost", None)]
    {
        let target = registry.promotion_target(&registry.get("p", from).unwrap());
        assert_eq!(target.as_deref().map(|model| model.id.as_str()), expect, "{from}");
    }
}

#[tokio::test]
async fn the_client_is_not_made_for_a_model_that_is_configured() {
    let mut registry = registry(&[]);
    let choice = InitialChoice { model: Some("mock/mock-model".into()), ..InitialChoice::default() };
    let found = registry.choose(&choice, || panic!("no client is needed")).await;
    assert_eq!(shown(found), "mock/mock-model");
}

#[tokio::test]
async fn servers_are_asked_when_nothing_else_helps() {
    let closed = "http://127.0.0.1:1";
    let env: omp_types::Env =
        [("OLLAMA_BASE_URL", closed), ("LLAMA_CPP_BASE_URL", closed), ("LM_STUDIO_BASE_URL", closed)]
            .into_iter()
            .collect();
    let mut registry = Registry::load(LoadOptions { env: env.clone(), ..LoadOptions::default() });
    let mut asked = false;
    let outcome = registry
        .choose(&InitialChoice::default(), || {
            asked = true;
            Client::new(&env, HttpConfig::default())
        })
        .await;
    assert_eq!(shown(outcome), "NothingAvailable");
    assert!(asked);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

    #[test]
    fn any_text_is_answered(pattern in "(pi/|mock/|anthropic/)?[a-z0-9:/*.\\[\u{e4} -]{0,12}(:high)?") {
        let registry = registry(&[ANTHROPIC]);
        match registry.resolve(&pattern) {
            Ok(found) => proptest::prop_assert!(registry.is_available(&found.model)),
            Err(error) => proptest::prop_assert!(error.to_string().contains("hint: "), "{}", error),
        }
        registry.scope(&[pattern]);
    }
}
