//! Tests of the system prompt, part by part.

use omp_config::Level;
use omp_types::{Api, AssistantMessage, Content, Message, Prices, ToolSpec, UserMessage};
use serde_json::{Value, json};

use super::*;

fn model(window: u64) -> Model {
    Model {
        id: "m".into(),
        name: "M".into(),
        api: Api::Demo,
        provider: "p".into(),
        base_url: String::new(),
        reasoning: false,
        input: Vec::new(),
        cost: Prices::default(),
        context_window: window,
        max_tokens: 0,
        headers: Default::default(),
        thinking: None,
        compat: Value::Null,
        context_promotion_target: None,
    }
}

fn listed(name: &str, description: &str) -> PromptListItem {
    PromptListItem { name: name.into(), description: description.into(), globs: Vec::new() }
}

fn whole() -> PromptParts {
    let file =
        |path: &str, text: &str| ContextFile { path: path.into(), level: Level::Project, text: format!("{text}\n") };
    PromptParts {
        environment: Environment {
            cwd: "/project".into(),
            os: "linux".into(),
            shell: Some("bash".into()),
            began: Some("2026-01-31".into()),
        },
        replace: Some(Replacement { text: "Be terse.\n".into(), keep_boundaries: false }),
        append: Some("One more thing.".into()),
        context_files: vec![
            file("/home/user/.omp/agent/AGENTS.md", "Be kind."),
            file("/project/AGENTS.md", "Use tabs."),
        ],
        always: vec![NamedText { name: "tests".into(), text: "Run the tests.".into() }],
        rulebook: vec![PromptListItem { globs: vec!["*.sql".into()], ..listed("sql", "How queries are written") }],
        skills: vec![listed("pdf", "Fills forms")],
    }
}

fn text(parts: &PromptParts) -> String {
    SystemPrompt::new(parts).unwrap().text(&model(200_000)).to_string()
}

#[test]
fn parts_stand_in_a_fixed_order() {
    insta::assert_snapshot!(text(&whole()), @r#"
    Be terse.

    # Environment
    Working folder: /project
    System: linux
    Shell: bash
    Session began: 2026-01-31

    # Project notes
    Follow these; the later file wins where two disagree.

    <notes path="/home/user/.omp/agent/AGENTS.md">
    Be kind.
    </notes>

    <notes path="AGENTS.md">
    Use tabs.
    </notes>

    # Rules
    These hold for everything you do here.

    <rule name="tests">
    Run the tests.
    </rule>

    # Rulebook
    Before work that one of these is about, read it: `rule://` and its name, or the path that stands here.
    - sql: How queries are written (*.sql)

    # Skills
    Instructions for special work. When a task fits one, read `skill://` and its name first; files beside it are `skill://name/path`.
    - pdf: Fills forms

    One more thing.
    "#);
}

#[test]
fn what_is_not_there_leaves_no_trace() {
    let parts = PromptParts {
        environment: Environment { cwd: "/p".into(), os: "linux".into(), ..Environment::default() },
        replace: Some(Replacement { text: "{{cwd}} stays as it is written.".into(), keep_boundaries: false }),
        ..PromptParts::default()
    };
    insta::assert_snapshot!(text(&parts), @"
    {{cwd}} stays as it is written.

    # Environment
    Working folder: /p
    System: linux
    ");
}

#[test]
fn the_prompt_of_a_repository_does_not_move_our_boundaries() {
    let replace = |keep_boundaries| {
        let replace = Some(Replacement { text: "Obey the repository.".into(), keep_boundaries });
        text(&PromptParts { replace, ..PromptParts::default() })
    };
    assert!(replace(true).starts_with(&format!("Obey the repository.\n\n{BOUNDARIES}")));
    assert!(!replace(false).contains("Boundaries"));
    assert!(text(&PromptParts::default()).contains(BOUNDARIES));
}

#[test]
fn every_shape_is_whole_and_the_short_one_is_short() {
    let prompt = SystemPrompt::new(&PromptParts::default()).unwrap();
    for shape in Shape::ALL {
        let head = &prompt.heads[shape.index()];
        assert!(!head.contains("{{") && !head.contains("\n\n\n") && head.contains(BOUNDARIES), "{head}");
        assert_eq!(head.contains(PARALLEL), shape.parallel, "{head}");
    }
    let size = |window| prompt.text(&model(window)).len();
    assert!(size(8_192) * 3 < size(200_000) * 2, "{} {}", size(8_192), size(200_000));
}

#[test]
fn rules_that_are_too_long_to_stand_in_the_prompt_are_named_in_it() {
    let rule = |name: &str, size: usize| NamedText { name: name.into(), text: "x".repeat(size) };
    let always = vec![rule("a", MAX_RULES / 2), rule("b", MAX_RULES), rule("c", 10)];
    let text = text(&PromptParts { always, ..PromptParts::default() });
    assert!(text.contains("<rule name=\"a\">") && text.contains("<rule name=\"c\">"));
    assert!(!text.contains("<rule name=\"b\">") && text.contains("\n- b: always in force"));
    assert!(text.len() < MAX_RULES + 8_000);
}

#[test]
fn one_piece_is_the_whole() {
    let prompt = SystemPrompt::from("You help.");
    assert_eq!(&*prompt.text(&model(1)), "You help.");
    assert!(SystemPrompt::from("").sections(&model(1)).is_empty());
}

fn report(window: u64, messages: &[Arc<Message>]) -> ContextReport {
    let tool = ToolSpec { name: "read".into(), description: "Reads.".into(), parameters: json!({"type": "object"}) };
    let model = model(window);
    context_report(&Measured {
        model: &model,
        sections: &SystemPrompt::new(&whole()).unwrap().sections(&model),
        tools: &[tool],
        messages,
        opening: messages.is_empty().then_some("Git: main"),
        cached: if messages.is_empty() { 0 } else { 217 },
    })
}

fn said() -> Vec<Arc<Message>> {
    let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
    answer.content = vec![Content::text("Hello to you too.")];
    vec![
        opening_message("Git: main".into()),
        Arc::new(Message::User(UserMessage::text("hello there"))),
        Arc::new(Message::Assistant(answer)),
    ]
}

/// One part per line: name, tokens, share of the window.
fn costs(report: &ContextReport) -> String {
    let lines =
        report.labelled().into_iter().map(|(name, tokens)| format!("{name}: {tokens} {}", report.share(tokens)));
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_cost_of_each_part() {
    insta::assert_snapshot!(costs(&report(200_000, &said())), @"
    system prompt: 3 0.0%
    environment: 28 0.0%
    notes /home/user/.omp/agent/AGENTS.md: 37 0.0%
    notes AGENTS.md: 15 0.0%
    rules that always apply: 25 0.0%
    rulebook: 39 0.0%
    skills: 41 0.0%
    added prompt: 5 0.0%
    tool read: 10 0.0%
    user messages (1): 7 0.0%
    model messages (1): 9 0.0%
    notes to the model (1): 7 0.0%
    ");
}

#[test]
fn costs_before_anything_was_said_and_with_an_unknown_window() {
    insta::assert_snapshot!(costs(&report(0, &[])), @"
    system prompt: 3
    environment: 28
    notes /home/user/.omp/agent/AGENTS.md: 37
    notes AGENTS.md: 15
    rules that always apply: 25
    rulebook: 39
    skills: 41
    added prompt: 5
    tool read: 10
    project state, with the first prompt: 3
    ");
}

#[test]
fn costs_as_json() {
    let parts = |report: &ContextReport| serde_json::to_string(&report.parts[report.parts.len() - 3..]).unwrap();
    let report = report(1000, &said());
    insta::assert_snapshot!(parts(&report), @r#"[{"kind":"user","tokens":7,"messages":1},{"kind":"assistant","tokens":9,"messages":1},{"kind":"custom","tokens":7,"messages":1}]"#);
    assert_eq!(report.total_tokens, report.parts.iter().map(|part| part.tokens).sum::<u64>());
    assert_eq!(report.free_tokens, Some(1000 - report.total_tokens));
}
