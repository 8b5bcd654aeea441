//! Tests of merging catalogue, file, environment and discovery.

use std::path::Path;

use omp_types::InputKind;

use super::*;
use crate::auth::Credential;

fn load(file: &str, env: &[(&str, &str)]) -> Registry {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.yml");
    std::fs::write(&path, file).unwrap();
    let options = LoadOptions { env: env.iter().copied().collect(), models_file: Some(path), ..LoadOptions::default() };
    Registry::load(options)
}

fn model(registry: &Registry, selector: &str) -> Arc<Model> {
    let (provider, id) = selector.split_once('/').unwrap();
    registry.get(provider, id).unwrap()
}

#[test]
fn without_a_file_there_is_the_catalogue() {
    let registry = Registry::load(LoadOptions {
        models_file: Some(Path::new("/nowhere/models.yml").into()),
        ..Default::default()
    });
    assert_eq!(registry.problems(), []);
    assert_eq!(registry.all().len(), 4214);
    assert!(registry.available().is_empty());
    assert!(registry.get("anthropic", "claude-sonnet-5").is_some());
    assert!(registry.get("anthropic", "claude-sonnet-99").is_none());
}

#[test]
fn a_broken_file_leaves_the_catalogue() {
    let registry = load("providers: [", &[]);
    assert_eq!(registry.problems().len(), 1);
    assert_eq!(registry.all().len(), 4214);
}

#[test]
fn the_file_changes_and_adds_models_in_order() {
    let registry = load(
        r#"
providers:
  openrouter:
    baseUrl: https://proxy.example/v1/
    headers: {X-Team: platform}
    modelOverrides:
      anthropic/claude-sonnet-4: {name: Corp, contextWindow: 1000, compat: {openRouterRouting: {only: [anthropic]}}}
      not/there: {name: Nobody}
  mine:
    baseUrl: http://127.0.0.1:1/v1
    auth: none
    api: openai-completions
    modelOverrides: {a: {name: Changed}}
    models: [{id: a, name: A}]
  openai:
    baseUrl: http://127.0.0.1:2
    apiKey: k
    api: openai-completions
    models: [{id: gpt-5, name: Replaced}]
"#,
        &[],
    );
    assert_eq!(registry.problems(), []);
    let other = model(&registry, "openrouter/openai/gpt-5");
    assert_eq!(other.base_url, "https://proxy.example/v1");
    assert_eq!(other.headers["X-Team"], "platform");
    let changed = model(&registry, "openrouter/anthropic/claude-sonnet-4");
    assert_eq!((changed.name.as_str(), changed.context_window), ("Corp", 1000));
    assert_eq!(changed.base_url, "https://proxy.example/v1");
    assert_eq!(changed.headers["X-Team"], "platform");
    assert_eq!(changed.compat["openRouterRouting"]["only"][0], "anthropic");
    assert!(registry.get("openrouter", "not/there").is_none());
    assert_eq!(model(&registry, "mine/a").name, "Changed");
    let replaced = model(&registry, "openai/gpt-5");
    assert_eq!(
        (replaced.name.as_str(), &replaced.api, replaced.reasoning),
        ("Replaced", &Api::OpenaiCompletions, false)
    );
    assert_eq!(model(&registry, "openai/gpt-5.1").base_url, "http://127.0.0.1:2");
    let all = registry.all();
    assert_eq!(all.len(), 4215);
    assert_eq!(all.iter().filter(|model| model.selector() == "openai/gpt-5").count(), 1);
}

#[test]
fn available_means_key_wire_url_and_switched_on() {
    let names = |registry: &Registry| {
        let mut providers: Vec<String> = registry.available().into_iter().map(|model| model.provider.clone()).collect();
        providers.dedup();
        providers
    };
    let keys = [
        ("ANTHROPIC_API_KEY", "k"),
        ("CURSOR_ACCESS_TOKEN", "unknown wire"),
        ("CLOUDFLARE_AI_GATEWAY_API_KEY", "URL with blanks"),
        ("GOOGLE_CLOUD_API_KEY", "URL with blanks"),
        ("GROQ_API_KEY", "k"),
    ];
    assert_eq!(names(&load("", &keys)), ["anthropic", "groq"]);
    let gateway = "providers: {cloudflare-ai-gateway: {baseUrl: 'https://gateway.example/anthropic'}}";
    assert_eq!(names(&load(gateway, &keys)), ["anthropic", "cloudflare-ai-gateway", "groq"]);
    let options = LoadOptions {
        env: keys.into_iter().collect(),
        disabled_providers: vec!["groq".into()],
        ..LoadOptions::default()
    };
    assert_eq!(names(&Registry::load(options)), ["anthropic"]);
}

#[track_caller]
fn check_anthropic(env: &[(&str, &str)], file: &str, base_url: &str, headers: &[(&str, &str)]) {
    let registry = load(file, env);
    let model = model(&registry, "anthropic/claude-sonnet-5");
    assert_eq!(model.base_url, base_url);
    let got: Vec<_> = model.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(got, headers);
}

#[test]
fn anthropic_goes_where_the_environment_says() {
    const OFFICIAL: &str = "https://api.anthropic.com";
    let base = ("ANTHROPIC_BASE_URL", "https://gateway.example/v1/");
    let headers = ("ANTHROPIC_CUSTOM_HEADERS", "X-A: 1\nX-B: 2");
    let foundry = ("CLAUDE_CODE_USE_FOUNDRY", "true");
    let foundry_url = ("FOUNDRY_BASE_URL", "https://foundry.example");
    let both = [("X-A", "1"), ("X-B", "2")];
    check_anthropic(&[], "", OFFICIAL, &[]);
    check_anthropic(&[headers], "", OFFICIAL, &[]);
    check_anthropic(&[headers, ("ANTHROPIC_BASE_URL", OFFICIAL)], "", OFFICIAL, &[]);
    check_anthropic(&[base], "", "https://gateway.example", &[]);
    check_anthropic(&[base, headers], "", "https://gateway.example", &both);
    check_anthropic(&[base, foundry_url], "", "https://gateway.example", &[]);
    check_anthropic(&[foundry, headers], "", OFFICIAL, &both);
    check_anthropic(&[foundry, foundry_url, base, headers], "", "https://foundry.example", &both);
    let file = "providers: {anthropic: {baseUrl: 'https://file.example', headers: {x-a: file}}}";
    check_anthropic(&[], file, "https://file.example", &[("x-a", "file")]);
    check_anthropic(&[base, headers], file, "https://gateway.example", &both);
    let registry = load("", &[base]);
    assert_eq!(model(&registry, "anthropic/claude-3-7-sonnet-20250219").base_url, "https://gateway.example");
    assert_eq!(model(&registry, "openai/gpt-5").base_url, "https://api.openai.com/v1");
}

#[test]
fn keys_of_the_file_open_its_providers() {
    let registry = load(
        "providers:\n  a: {baseUrl: http://x, apiKey: MY_KEY, authHeader: true, api: openai-completions, models: [{id: m}]}\n  \
         b: {baseUrl: http://x, auth: none, api: openai-completions, models: [{id: m}]}\n  \
         c: {baseUrl: http://x, apiKey: NOT_SET, api: openai-completions, models: [{id: m}]}\n",
        &[("MY_KEY", "secret")],
    );
    let credential = |name: &str| registry.auth().known_credential(&model(&registry, name)).unwrap();
    assert_eq!(credential("a/m"), Credential::Bearer("secret".into()));
    assert_eq!(credential("b/m"), Credential::None);
    assert_eq!(credential("c/m"), Credential::ApiKey("NOT_SET".into()));
    let [problem] = registry.problems() else { panic!("{:?}", registry.problems()) };
    assert!(!problem.is_error && problem.message.contains("NOT_SET is not set"), "{problem}");
}

fn discovered(provider: &str, id: &str) -> Model {
    let mut model = catalog::find("openai", "gpt-4.1").unwrap().to_model();
    (model.provider, model.id, model.base_url) = (provider.into(), id.into(), "http://127.0.0.1:9/v1".into());
    model
}

#[test]
fn discovered_models_are_added_and_overridden() {
    let mut registry = load(
        "providers:\n  ollama:\n    baseUrl: http://127.0.0.1:9\n    auth: none\n    api: openai-completions\n    \
         discovery: {type: ollama}\n    headers: {X-A: b}\n    modelOverrides: {qwen: {contextWindow: 7}}\n    \
         models: [{id: fixed, contextWindow: 5}]\n",
        &[],
    );
    registry.add_discovered(vec![
        discovered("ollama", "qwen"),
        discovered("ollama", "fixed"),
        discovered("lm-studio", "x"),
    ]);
    let qwen = model(&registry, "ollama/qwen");
    assert_eq!((qwen.context_window, qwen.base_url.as_str()), (7, "http://127.0.0.1:9/v1"));
    assert_eq!(qwen.headers["X-A"], "b");
    assert_eq!(model(&registry, "ollama/fixed").context_window, 5);
    assert_eq!(registry.available().len(), 3);
}

#[test]
fn equal_models_share_a_canonical_id() {
    let registry = load(
        "equivalence:\n  overrides: {groq/qwen/qwen3-32b: qwen3}\n  exclude: [openrouter/anthropic/claude-opus-4.6]\n",
        &[],
    );
    let id = |provider, id| registry.canonical_id(provider, id).map(|id| id.into_owned());
    assert_eq!(id("anthropic", "claude-opus-4-6").as_deref(), Some("claude-opus-4-6"));
    assert_eq!(id("github-copilot", "claude-opus-4.6").as_deref(), Some("claude-opus-4-6"));
    assert_eq!(id("openrouter", "anthropic/claude-opus-4.6"), None);
    assert_eq!(id("groq", "qwen/qwen3-32b").as_deref(), Some("qwen3"));
    assert_eq!(id("groq", "gemma2-9b-it").as_deref(), Some("gemma2-9b-it"));
    let variants = registry.variants("claude-opus-4-6");
    let names: Vec<_> = variants.iter().map(|candidate| candidate.selector()).collect();
    assert!(names.iter().any(|name| name == "github-copilot/claude-opus-4.6"), "{names:?}");
    assert!(names.iter().any(|name| name == "vercel-ai-gateway/anthropic/claude-opus-4.6"), "{names:?}");
    assert!(names.iter().all(|name| name != "openrouter/anthropic/claude-opus-4.6"), "{names:?}");
    assert_eq!(registry.variants("qwen3").len(), 1);
}

#[test]
fn the_list_shows_what_can_be_picked() {
    let registry = load(
        "providers:\n  mine: {baseUrl: http://x, auth: none, api: openai-completions, models: [{id: a, reasoning: true}, \
         {id: b, input: [text, image], contextWindow: 1500000, cost: {input: 0.25, output: 10}}]}\n  \
         copy: {baseUrl: http://x, auth: none, api: openai-completions, models: [{id: a}]}\n",
        &[],
    );
    insta::assert_snapshot!(registry.list_text(None), @"
    canonical
      a  mine* copy*

       model   context  max out  $/M in  $/M out  thinking  images
    *  mine/a     128K      16K       -        -  yes       -
    *  mine/b     1.5M      16K    0.25       10  -         yes
    *  copy/a     128K      16K       -        -  -         -

    3 models available of 4217 known; `omp --list-models WORD` searches all
    ");
    insta::assert_snapshot!(registry.list_text(Some("claude-opus-4.1 anthropic/")), @"
    canonical
      claude-opus-4-1  anthropic cloudflare-ai-gateway kilo openrouter vercel-ai-gateway zenmux

      model                                            context  max out  $/M in  $/M out  thinking                       images
      anthropic/claude-opus-4-1                           200K      32K      15       75  minimal,low,medium,high,xhigh  yes
      anthropic/claude-opus-4-1-20250805                  200K      32K      15       75  -                              yes
      cloudflare-ai-gateway/anthropic/claude-opus-4-1     200K      32K      15       75  minimal,low,medium,high,xhigh  yes
      kilo/anthropic/claude-opus-4.1                      200K      32K      15       75  minimal,low,medium,high,xhigh  yes
      openrouter/anthropic/claude-opus-4.1                200K      32K      15       75  minimal,low,medium,high        yes
      openrouter/anthropic/claude-opus-4.1:batch          200K      32K     7.5     37.5  minimal,low,medium,high        yes
      vercel-ai-gateway/anthropic/claude-opus-4.1         200K      32K      15       75  minimal,low,medium,high,xhigh  yes
      zenmux/anthropic/claude-opus-4.1                    200K      64K      15       75  minimal,low,medium,high,xhigh  yes

    8 models, 0 available (*), of 4217 known
    hint: these need a key, such as ANTHROPIC_API_KEY, OPENROUTER_API_KEY, AI_GATEWAY_API_KEY; `omp setup` takes one
    ");
    insta::assert_snapshot!(registry.list_text(Some("claud-sonnet-5")), @"
    no model matches `claud-sonnet-5`
    hint: did you mean `anthropic/claude-sonnet-5`, `opencode-zen/claude-sonnet-4` or `venice/claude-sonnet-45`?
    hint: more models need a key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; `omp setup` takes one
    ");
    insta::assert_snapshot!(registry.list_text(Some("zzz")), @"
    no model matches `zzz`
    hint: `omp --list-models` lists the models you can use now, `omp --list-models '*'` all 4217 that omp knows
    hint: more models need a key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; `omp setup` takes one
    ");
    assert!(!registry.list_text(Some("nope")).contains("hint: try"), "what is near to a short word is not meant");
    insta::assert_snapshot!(registry.list_text(Some("sonet")), @"
    no model matches `sonet`
    hint: try `omp --list-models sonnet`
    hint: `omp --list-models` lists the models you can use now, `omp --list-models '*'` all 4217 that omp knows
    hint: more models need a key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; `omp setup` takes one
    ");
    insta::assert_snapshot!(registry.list_text(Some("claude zzz")), @"
    no model matches `claude zzz`
    hint: try `omp --list-models claude`
    hint: `omp --list-models` lists the models you can use now, `omp --list-models '*'` all 4217 that omp knows
    hint: more models need a key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY; `omp setup` takes one
    ");
    insta::assert_snapshot!(Registry::load(LoadOptions::default()).list_text(None), @"
    no model is available
    hint: set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY;
          or describe a provider in ~/.omp/agent/models.yml (docs/models.md);
          or start a local server: Ollama, llama.cpp and LM Studio are found automatically;
          or try omp without a model: `omp demo`
    hint: `omp --list-models WORD` searches all known models
    ");
    assert!(registry.list_text(Some("*")).ends_with("\n4217 models, 3 available (*), of 4217 known\n"));
    assert!(model(&registry, "mine/b").accepts(InputKind::Image));
}

#[test]
fn models_of_providers_that_want_a_login_are_not_offered() {
    let keys = [
        ("COPILOT_GITHUB_TOKEN", "k"),
        ("GITLAB_TOKEN", "k"),
        ("AZURE_OPENAI_API_KEY", "k"),
        ("GOOGLE_CLOUD_API_KEY", "k"),
        ("CURSOR_ACCESS_TOKEN", "k"),
        ("OLLAMA_CLOUD_API_KEY", "k"),
        ("AWS_ACCESS_KEY_ID", "k"),
    ];
    let registry = load("providers: {}", &keys);
    let available: Vec<_> = registry.available_candidates().map(|it| it.selector().into_owned()).collect();
    assert!(available.is_empty(), "{available:?}");
    // The check does not apply to a user-defined address.
    let registry = load("providers:\n  github-copilot: {baseUrl: 'https://proxy.example/v1', apiKey: k}\n", &keys);
    assert!(registry.available_candidates().all(|candidate| candidate.provider() == "github-copilot"));
    assert!(registry.available_candidates().count() > 0);
}

#[test]
fn a_key_that_goes_to_another_host_is_told() {
    let told = |file: &str| -> Vec<String> {
        let registry = load(file, &[("OPENAI_API_KEY", "sesame")]);
        registry.problems().iter().map(|problem| problem.message.clone()).collect()
    };
    let found = told("providers:\n  openai: {baseUrl: 'https://proxy.example/v1'}\n");
    insta::assert_snapshot!(found.join("\n"), @"
    models.yml: providers.openai: the key in OPENAI_API_KEY is sent to proxy.example, not to api.openai.com
    hint: write that server's key as `apiKey:`; `apiKey: OPENAI_API_KEY` confirms this one, `auth: none` sends no key
    ");
    for silent in [
        "{baseUrl: 'https://api.openai.com/v2'}",
        "{baseUrl: 'http://127.0.0.1:8000/v1'}",
        "{baseUrl: 'https://proxy.example/v1', apiKey: OPENAI_API_KEY}",
        "{baseUrl: 'https://proxy.example/v1', apiKey: other}",
        "{baseUrl: 'https://proxy.example/v1', auth: none}",
    ] {
        assert_eq!(told(&format!("providers:\n  openai: {silent}\n")), Vec::<String>::new(), "{silent}");
    }
}
