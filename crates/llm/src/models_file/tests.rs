//! Tests of valid and invalid `models.yml` files.

use omp_types::{Api, InputKind};

use super::*;

fn parse(text: &str) -> ModelsFile {
    ModelsFile::parse(Path::new("models.yml"), text)
}

#[track_caller]
fn parse_well(text: &str) -> ModelsFile {
    let file = parse(text);
    assert_eq!(file.problems, []);
    file
}

#[test]
fn a_small_custom_provider_is_read() {
    let file = parse_well(
        "providers:\n  mock:\n    baseUrl: http://127.0.0.1:4711\n    api: anthropic-messages\n    apiKey: mock-key\n    \
         models:\n      - id: mock-model\n        name: Mock\n        reasoning: false\n        input: [text]\n        \
         contextWindow: 100000000\n        maxTokens: 64000\n        cost: {input: 0, output: 0, cacheRead: 0, cacheWrite: 0}\n",
    );
    let (name, fields) = &file.providers[0];
    let model = fields.custom_models(name).next().unwrap();
    assert_eq!(model.selector(), "mock/mock-model");
    assert_eq!((model.context_window, model.max_tokens), (100_000_000, 64_000));
    assert_eq!((model.api, model.base_url.as_str()), (Api::AnthropicMessages, "http://127.0.0.1:4711"));
    assert_eq!(fields.api_key.as_deref(), Some("mock-key"));
}

const WHOLE: &str = r#"
providers:
  my-provider:
    baseUrl: https://api.example.com/v1
    apiKey: MY_PROVIDER_API_KEY
    api: openai-completions
    headers:
      X-Team: platform
      X-Number: 5
    authHeader: true
    auth: apiKey
    discovery:
      type: ollama
    modelOverrides:
      some-model-id:
        name: Renamed model
    models:
      - id: some-model-id
        name: Some Model
        api: openai-responses
        reasoning: true
        input: [text, image]
        cost: {input: 1.5, output: 2, cacheRead: 0, cacheWrite: 0}
        contextWindow: 64000
        maxTokens: 1024
        headers: {x-team: model, X-Model: value}
        compat:
          supportsStore: true
          openRouterRouting: {only: [anthropic]}
          extraBody: {gateway: m1-01}
      - id: other
equivalence:
  overrides:
    zenmux/codex: gpt-5.3-codex
  exclude:
    - demo/codex-preview
"#;

#[test]
fn every_field_of_the_page_is_read() {
    let file = parse_well(WHOLE);
    let (name, fields) = &file.providers[0];
    let models: Vec<_> = fields.custom_models(name).collect();
    let model = &models[0];
    assert_eq!(model.api, Api::OpenaiResponses);
    assert_eq!(model.input, [InputKind::Text, InputKind::Image]);
    assert_eq!((model.cost.input, model.cost.output), (1.5, 2.0));
    let headers: Vec<_> = model.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(headers, ["X-Model=value", "X-Number=5", "x-team=model"]);
    assert_eq!(model.compat["openRouterRouting"]["only"][0], "anthropic");
    let plain = &models[1];
    assert_eq!((plain.name.as_str(), plain.context_window, plain.max_tokens), ("other", 128_000, 16_384));
    assert_eq!(plain.api, Api::OpenaiCompletions);
    assert_eq!(file.same_as["zenmux/codex"], "gpt-5.3-codex");
    assert!(file.excluded.contains("demo/codex-preview"));
}

#[test]
fn compat_blocks_are_merged_deeply() {
    let mut model = parse_well(WHOLE).providers[0].1.custom_models("p").next().unwrap();
    let changes: fields::ModelFields =
        typed(&serde_json::json!({"compat": {"openRouterRouting": {"order": ["x"]}, "supportsStore": false}})).unwrap();
    changes.apply(&mut model);
    let expect = serde_json::json!({
        "supportsStore": false,
        "openRouterRouting": {"only": ["anthropic"], "order": ["x"]},
        "extraBody": {"gateway": "m1-01"},
    });
    assert_eq!(model.compat, expect);
}

#[test]
fn empty_files_say_nothing() {
    for text in [
        "",
        "  \n",
        "# only a comment\n",
        "providers:\n",
        "{}",
        "providers: {}\nequivalence:\n",
        "\u{feff}providers:\n",
    ] {
        assert!(parse_well(text).providers.is_empty(), "{text:?}");
    }
}

#[track_caller]
fn check_bad(text: &str, expect: &str) {
    let file = parse(text);
    let errors: Vec<_> = file.problems.iter().filter(|problem| problem.is_error).collect();
    assert_eq!(errors.len(), 1, "{:?}", file.problems);
    let message = &errors[0].message;
    assert!(message.contains(expect) && message.contains("\nhint: "), "{message}");
}

#[test]
fn mistakes_are_told_with_their_line_and_column() {
    let whole = "providers:\n  llama.cpp:\n    baseUrl: http://x\n    apiKey: k\n    api: openai-completions\n";
    for (rest, expect) in [
        (
            "    models:\n      - id: a\n        maxTokens: many\n",
            "models.yml:8:9: providers.llama.cpp.models[0].maxTokens: ",
        ),
        ("    models: [{name: a}]\n", "models.yml:6:14: providers.llama.cpp.models[0]: `id` is required"),
        ("    auth: maybe\n", "models.yml:6:5: providers.llama.cpp.auth: unknown value"),
        (
            "    modelOverrides: {a.b: {cost: {in: 1}}}\n",
            "models.yml:6:35: providers.llama.cpp.modelOverrides.a.b.cost: ",
        ),
        ("  q: {}\n", "models.yml:6:3: providers.q: without `models`"),
        ("equivalence: {exclude: 5}\n", "models.yml:6:15: equivalence.exclude: expected a list"),
    ] {
        let file = parse(&format!("{whole}{rest}"));
        let told: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].starts_with(expect) && told[0].contains("\nhint: "), "{expect}: {told:?}");
    }
    let json = ModelsFile::parse(Path::new("models.json"), "{\n // mine\n \"providers\": {\"p\": {\"auth\": 5,},},\n}");
    assert!(json.problems[0].message.starts_with("models.json:3:22: providers.p.auth: "), "{:?}", json.problems);
}

#[test]
fn mistakes_are_told() {
    let provider = |body: &str| format!("providers:\n  p: {{{body}}}\n");
    let whole = "baseUrl: http://x, apiKey: k, api: openai-completions";
    check_bad("providers: [1]", "`providers` must be a mapping");
    check_bad("[1, 2]", "expected a mapping");
    check_bad("just text", "expected a mapping");
    check_bad("providers: {p: 5}", "providers.p: expected a mapping");
    check_bad(&provider("api: openai-completions"), "models.yml:2:3: providers.p: without `models` it must have");
    check_bad(&provider("models: [{id: a}], apiKey: k, api: openai-completions"), "`baseUrl` is required");
    let slip = parse(&provider("models: [{id: a}], baseURL: http://x, apiKey: k, api: openai-completions"));
    let told: Vec<String> = slip.problems.iter().map(ToString::to_string).collect();
    assert!(told[0].ends_with("unknown key `baseURL` is ignored\nhint: did you mean `baseUrl`?"), "{told:?}");
    assert!(told[1].contains("`baseUrl` is required"), "{told:?}");
    check_bad(&provider("models: [{id: a}], baseUrl: http://x, api: openai-completions"), "hint: write `auth: none`");
    check_bad(&provider("models: [{id: a}], baseUrl: http://x, apiKey: k"), "models[0]: `api` is required");
    check_bad(&provider(&format!("{whole}, models: [{{name: a}}]")), "models[0]: `id` is required");
    check_bad(&provider(&format!("{whole}, models: [{{id: '  '}}]")), "models[0]: `id` is required");
    check_bad(
        &provider(&format!("{whole}, models: [{{id: a, contextWindow: 0}}]")),
        "contextWindow: must be a positive",
    );
    check_bad(&provider(&format!("{whole}, models: [{{id: a, maxTokens: -5}}]")), "maxTokens: must be a positive");
    check_bad(
        &provider(&format!("{whole}, models: [{{id: a, maxTokens: many}}]")),
        "p.models[0].maxTokens: expected a number",
    );
    check_bad(&provider(&format!("{whole}, models: [{{id: a, input: [smell]}}]")), "unknown value `smell`");
    check_bad(&provider(&format!("{whole}, models: [{{id: a, compat: yes}}]")), "compat: must be a mapping");
    check_bad(&provider(&format!("{whole}, models: [{{id: a, api: soap}}]")), "models[0].api: unknown API `soap`");
    check_bad(&provider("baseUrl: http://x, api: soap"), "hint: use one of openai-completions");
    check_bad(&provider("baseUrl: localhost:80"), "is not a URL");
    check_bad(&provider("baseUrl: 'http://'"), "is not a URL");
    check_bad(&provider("baseUrl: http://x, auth: maybe"), "unknown value `maybe`");
    check_bad(&provider("baseUrl: http://x, discovery: {type: ollama}"), "`discovery` needs `api`");
    check_bad(&provider("discovery: {type: x}, api: openai-completions"), "unknown value `x`");
    check_bad(&provider("modelOverrides: {m: {contextWindow: 0}}"), "modelOverrides.m.contextWindow: must be");
    check_bad("equivalence: {overrides: [1]}", "equivalence.overrides: expected a mapping");
}

#[test]
fn syntax_errors_have_a_line_and_show_no_key() {
    let file = parse("providers:\n  p:\n    apiKey: sesame\n   baseUrl: [\n");
    assert_eq!(file.problems.len(), 1);
    let message = &file.problems[0].message;
    assert!(message.starts_with("models.yml:4:4: not valid YAML: "), "{message}");
    assert!(message.contains("hint: built-in models still work"), "{message}");
    assert!(!message.contains("sesame"), "{message}");
    let twice = parse("providers:\n  p: {baseUrl: http://x}\n  p: {baseUrl: http://y}\n");
    assert!(twice.problems[0].message.contains(":3:"), "{}", twice.problems[0].message);
}

#[test]
fn one_bad_provider_leaves_the_others() {
    let file = parse("providers:\n  bad: {}\n  good: {baseUrl: http://x}\n");
    assert_eq!(file.providers.len(), 1);
    assert_eq!(file.providers[0].0, "good");
    assert!(file.problems[0].is_error);
}

#[test]
fn unknown_keys_are_remarked() {
    let file = parse(
        "extra: 1\nproviders:\n  p:\n    baseURL: x\n    baseUrl: http://x\n    apiKey: k\n    api: openai-completions\n    \
         models: [{id: a, contextwindow: 5, cost: {in: 1}}]\n",
    );
    assert_eq!(file.providers.len(), 1);
    assert!(file.problems.iter().all(|problem| !problem.is_error));
    let text: Vec<_> = file.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @"
    models.yml:1:1: unknown key `extra` is ignored
    hint: the keys here are providers, equivalence
    models.yml:4:5: providers.p: unknown key `baseURL` is ignored
    hint: did you mean `baseUrl`?
    models.yml:8:22: providers.p.models[0]: unknown key `contextwindow` is ignored
    hint: did you mean `contextWindow`?
    models.yml:8:47: providers.p.models[0].cost: unknown key `in` is ignored
    hint: did you mean `input`?
    ");
}

#[test]
fn older_json_is_read_when_there_is_no_yaml_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = folder.path().join("models.yml");
    assert_eq!(ModelsFile::read(&yaml).path, None);
    let json = folder.path().join("models.json");
    let text = "{\n // mine\n \"providers\": {\"p\": {\"baseUrl\": \"http://x\",},},\n}";
    std::fs::write(&json, text).unwrap();
    let file = ModelsFile::read(&yaml);
    assert_eq!((file.path.as_deref(), file.problems.len(), file.providers.len()), (Some(json.as_path()), 0, 1));
    assert_eq!(std::fs::read_to_string(&json).unwrap(), text);
    assert!(!yaml.exists());
    std::fs::write(&yaml, "providers:\n  q: {baseUrl: http://y}\n").unwrap();
    assert_eq!(ModelsFile::read(&yaml).providers[0].0, "q");
    std::fs::remove_file(&yaml).unwrap();
    std::fs::write(&json, "{\n \"providers\": nope\n}").unwrap();
    let broken = ModelsFile::read(&yaml).problems.remove(0).message;
    assert!(broken.contains("models.json:2:16: not valid JSON: expected ident"), "{broken}");
}

#[test]
fn what_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.yml");
    std::fs::create_dir(&path).unwrap();
    assert!(ModelsFile::read(&path).problems[0].message.contains("not a regular file"));
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert!(ModelsFile::read(&path).problems[0].message.contains("not UTF-8"));
    std::fs::write(&path, "#".repeat(MAX_BYTES as usize + 1)).unwrap();
    assert!(ModelsFile::read(&path).problems[0].message.contains("larger than 4 MB"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_breaks_the_reader(text in "[ -~\\n\u{e4}]{0,60}", path in "models\\.(yml|json)") {
        let file = ModelsFile::parse(Path::new(&path), &text);
        proptest::prop_assert!(file.problems.iter().all(|problem| problem.message.starts_with(&path)));
    }

    #[test]
    fn comments_are_blanked_in_place(text in "[a\u{e4},:/*\"\\\\{}\\[\\]\\n ]{0,40}") {
        let json = jsonc::to_json(&text);
        proptest::prop_assert_eq!(json.len(), text.len());
        proptest::prop_assert_eq!(json.matches('\n').count(), text.matches('\n').count());
    }
}
