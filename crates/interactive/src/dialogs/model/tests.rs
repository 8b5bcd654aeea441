//! Choosing a model: for the session, for a role, with another level of thinking.

use omp_types::{Api, Prices};

use super::super::screen::{both, draw, press, says};
use super::*;

pub(in crate::dialogs) fn model(selector: &str, reasoning: bool) -> Model {
    let (provider, id) = selector.split_once('/').unwrap();
    Model {
        id: id.into(),
        name: id.to_uppercase(),
        api: Api::Demo,
        provider: provider.into(),
        base_url: String::new(),
        reasoning,
        input: Vec::new(),
        cost: Prices { input: 3.0, output: 15.5, ..Prices::default() },
        context_window: 200_000,
        max_tokens: 8000,
        headers: Default::default(),
        thinking: None,
        compat: Value::Null,
        context_promotion_target: None,
    }
}

pub(in crate::dialogs) fn choices(temporary: bool) -> ModelChoices {
    let mut free = model("local/qwen3-coder-with-a-name-that-is-long", true);
    free.cost = Prices::default();
    let models = [model("anthropic/claude-sonnet-4-5", true), model("openai/gpt-5", false), free];
    ModelChoices {
        models: models.into_iter().map(|model| OfferedModel::alone(Arc::new(model))).collect(),
        current: Some("openai/gpt-5".into()),
        thinking: ThinkingLevel::High,
        roles: vec![("smol".into(), "anthropic/claude-sonnet-4-5:low".into()), ("slow".into(), "openai/gpt-5".into())],
        temporary,
        favorites: Vec::new(),
    }
}

#[test]
fn favourites_come_first_and_are_kept() {
    let mut dialog = ModelDialog::new(choices(true));
    let step = press(&mut dialog, "ctrl+f");
    let DialogStep::Do(action) = step else { panic!("{step:?}") };
    assert_eq!(short(&action), r#"SetSetting "favoriteModels" ["openai/gpt-5"]"#);
    let shown = draw(&mut dialog, 80);
    let first = shown.lines().find(|line| line.contains('/') && line.contains("200k")).unwrap_or_default();
    assert!(first.contains("❯ openai/gpt-5 ★ ✓"), "{shown}");
    let DialogStep::Do(action) = press(&mut dialog, "ctrl+f") else { panic!() };
    assert_eq!(short(&action), r#"SetSetting "favoriteModels" []"#);
}

#[test]
fn a_model_with_its_providers_and_models_out_of_scope() {
    let mut several = choices(true);
    several.roles.push(("review".into(), "local/x".into()));
    several.models.push(OfferedModel {
        canonical: "gpt-5".into(),
        in_scope: true,
        model: Arc::new(model("openrouter/openai/gpt-5", true)),
    });
    several.models[0].in_scope = false;
    let mut dialog = ModelDialog::new(several);
    press(&mut dialog, "ctrl+g");
    insta::assert_snapshot!(draw(&mut dialog, 80), @"
    ╭─ Model  3 of 3 · all providers · --models or enabledModels ──────────────────╮
    │ > type to filter                                                             │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │                                                      context  $/M in $/M out │
    │   gpt-5 (2 providers)                                                        │
    │ ❯   openai/gpt-5 ✓ [slow]                               200k      $3   $15.5 │
    │     openrouter/openai/gpt-5                             200k      $3   $15.5 │
    │   local/qwen3-coder-with-a-name-that-is-long            200k       ?       ? │
    ├──────────────────────────────────────────────────────────────────────────────┤
    │ for this session only · thinking none                                        │
    │ enter choose · tab role · ←→ thinking · ctrl+f favourite                     │
    ╰─ ctrl+g by provider · ctrl+a all models · ctrl+←→ provider · esc close ──────╯
    ");
    // The name of a model stands for its first provider.
    let DialogStep::Close(Some(action)) = press(&mut dialog, "up enter") else { panic!("nothing was chosen") };
    assert_eq!(short(&action), r#"SetModel { "openai/gpt-5", None }"#);
    let shown = draw(&mut dialog, 80);
    assert!(!shown.contains("claude"), "{shown}");
    press(&mut dialog, "ctrl+a");
    let shown = draw(&mut dialog, 80);
    assert!(shown.contains("claude") && shown.contains("all models"), "{shown}");
    press(&mut dialog, "shift+tab");
    assert!(draw(&mut dialog, 80).contains("for review"), "roles of the settings are offered");
}

#[test]
fn models_with_what_they_hold_and_cost() {
    insta::assert_snapshot!(both(&mut ModelDialog::new(choices(false))), @"
    ╭─ Model  3 of 3 · all providers ──────────────────────────╮
    │ > type to filter                                         │
    ├──────────────────────────────────────────────────────────┤
    │                                  context  $/M in $/M out │
    │   anthropic/claude-sonn… [smol]     200k      $3   $15.5 │
    │ ❯ openai/gpt-5 ✓ [slow]             200k      $3   $15.5 │
    │   local/qwen3-coder-with-a-nam…     200k       ?       ? │
    ├──────────────────────────────────────────────────────────┤
    │ for default · thinking none                              │
    │ enter choose · tab role · ←→ thinking                    │
    │ ctrl+f favourite · ctrl+g by model · ctrl+←→ provider    │
    ╰─ esc close ──────────────────────────────────────────────╯
    ------------------------------
    ── Model  3 of 3 · all pro… ──
    > type to filter
      anthropic/claude-son… [smol]
    ❯ openai/gpt-5 ✓ [slow]
      local/qwen3-coder-with-a-na…
    for default · thinking none
    enter choose · tab role
    ←→ thinking · ctrl+f favourite
    ctrl+g by model
    ctrl+←→ provider · esc close
    ");
}

#[test]
fn a_search_and_a_role() {
    let mut dialog = ModelDialog::new(choices(true));
    press(&mut dialog, "c l a 4 tab tab left");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Model  1 of 3 · all providers ──────────────────────────╮
    │ > cla4                                                   │
    ├──────────────────────────────────────────────────────────┤
    │                                  context  $/M in $/M out │
    │ ❯ anthropic/claude-sonn… [smol]     200k      $3   $15.5 │
    ├──────────────────────────────────────────────────────────┤
    │ for smol · thinking medium                               │
    ├──────────────────────────────────────────────────────────┤
    │ enter choose · tab role · ←→ thinking                    │
    │ ctrl+f favourite · ctrl+g by model · ctrl+←→ provider    │
    │ esc close                                                │
    ╰──────────────────────────────────────────────────────────╯
    ------------------------------
    ── Model  1 of 3 · all pro… ──
    > cla4
    ❯ anthropic/claude-son… [smol]
    for smol · thinking medium
    enter choose · tab role
    ←→ thinking · ctrl+f favourite
    ctrl+g by model
    ctrl+←→ provider · esc close
    ");
}

#[test]
fn keys_choose() {
    for (temporary, keys, step) in [
        (false, "enter", r#"SetModel { "openai/gpt-5", Some("default") }"#),
        (true, "enter", r#"SetModel { "openai/gpt-5", None }"#),
        (true, "tab enter", r#"SetModel { "openai/gpt-5", Some("default") }"#),
        (true, "tab shift+tab up enter", r#"SetModel { "anthropic/claude-sonnet-4-5", None }"#),
        (true, "up left enter", r#"SetModel { "anthropic/claude-sonnet-4-5", None } SetThinking(Medium)"#),
        (true, "up right right left enter", r#"SetModel { "anthropic/claude-sonnet-4-5", None } SetThinking(Medium)"#),
        (true, "left enter", r#"SetModel { "openai/gpt-5", None } SetThinking(Off)"#),
        (true, "q w e n enter", r#"SetModel { "local/qwen3-coder-with-a-name-that-is-long", None }"#),
        (true, "ctrl+left enter", r#"SetModel { "local/qwen3-coder-with-a-name-that-is-long", None }"#),
        (false, "tab tab up left enter", r#"SetSetting "modelRoles.slow" "anthropic/claude-sonnet-4-5:medium""#),
        (false, "tab enter", r#"SetSetting "modelRoles.smol" "openai/gpt-5""#),
    ] {
        let step = match press(&mut ModelDialog::new(choices(temporary)), keys) {
            DialogStep::Close(Some(Action::All(all))) => all.iter().map(short).collect::<Vec<_>>().join(" "),
            DialogStep::Close(Some(action)) => short(&action),
            other => format!("{other:?}"),
        } == step;
        assert!(step, "{temporary} {keys}: {:?}", press(&mut ModelDialog::new(choices(temporary)), keys));
    }
}

fn short(action: &Action) -> String {
    match action {
        Action::SetModel { model, role } => format!("SetModel {{ {:?}, {role:?} }}", model.selector()),
        Action::SetSetting { key, value } => format!("SetSetting {key:?} {value}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn nothing_to_choose_from_chooses_nothing() {
    let mut dialog = ModelDialog::new(ModelChoices::default());
    assert!(draw(&mut dialog, 60).contains("Nothing here."));
    for keys in ["enter", "left", "right"] {
        assert!(matches!(press(&mut dialog, keys), DialogStep::Ignored), "{keys}");
    }
    press(&mut dialog, "ctrl+right tab down");
    assert_eq!(says(&mut dialog, "escape"), "Close(None)");
    let mut dialog = ModelDialog::new(choices(false));
    assert!(matches!(press(&mut dialog, "z z z enter"), DialogStep::Ignored));
    assert!(draw(&mut dialog, 30).contains("No matches."));
}

#[test]
fn levels_are_those_the_model_knows() {
    let mut known = model("a/b", true);
    let check = |model: &Model, want: &str| {
        let levels: Vec<_> = levels_of(model).iter().map(|level| level.as_str()).collect();
        assert_eq!(levels.join(" "), want);
    };
    check(&known, "off minimal low medium high");
    known.thinking =
        Some(omp_types::ThinkingSupport { efforts: vec!["low".into(), "xhigh".into()], ..Default::default() });
    check(&known, "off low xhigh");
    known.reasoning = false;
    check(&known, "off");
}
