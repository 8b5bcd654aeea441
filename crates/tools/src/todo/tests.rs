//! `todo` through the eyes of the loop, and the Markdown round trip.

use omp_agent::AnyTool;
use serde_json::{Value, json};

use super::*;
use crate::scratch::Scratch;

fn call(tool: &Todo, ops: Value) -> (String, Value, bool) {
    let output = Scratch::new(&[]).call(tool, json!({"ops": ops})).unwrap();
    let text = output.content.iter().filter_map(|content| content.as_text()).collect();
    (text, output.details.unwrap(), output.is_error)
}

fn plan() -> Todo {
    let tool = Todo::new(Storage::Memory);
    let list = json!([{"phase": "Build", "items": ["one", "two"]}, {"phase": "Ship", "items": ["three"]}]);
    assert!(!call(&tool, json!([{"op": "init", "list": list}])).2);
    tool
}

/// `one/ two three`: in progress `/`, completed `x`, abandoned `-`.
fn short(tool: &Todo) -> String {
    let mark = |status| match status {
        Status::Pending => "",
        Status::InProgress => "/",
        Status::Completed => "x",
        Status::Abandoned => "-",
    };
    let phases = tool.phases();
    let tasks =
        phases.iter().flat_map(|phase| &phase.tasks).map(|task| format!("{}{}", task.content, mark(task.status)));
    tasks.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_operations_do() {
    for (ops, want) in [
        (json!([{"op": "view"}]), "one/ two three"),
        (json!([{"op": "start", "task": "two"}]), "one two/ three"),
        (json!([{"op": "done", "task": "one"}]), "onex two/ three"),
        (json!([{"op": "done", "phase": "Build"}]), "onex twox three/"),
        (json!([{"op": "done"}]), "onex twox threex"),
        (json!([{"op": "drop", "task": "one"}]), "one- two/ three"),
        (json!([{"op": "done", "task": "one"}, {"op": "start", "task": "one"}]), "one/ two three"),
        (json!([{"op": "drop", "phase": "Build"}, {"op": "done", "task": "two"}]), "one- twox three/"),
        (json!([{"op": "rm", "task": "one"}]), "two/ three"),
        (json!([{"op": "rm", "phase": "Build"}]), "three/"),
        (json!([{"op": "rm"}]), ""),
        (json!([{"op": "append", "phase": "Build", "items": ["four"]}]), "one/ two four three"),
        (json!([{"op": "append", "phase": "New", "items": ["four", "five"]}]), "one/ two three four five"),
        (json!([{"op": "init", "list": [{"phase": "P", "items": ["x"]}]}]), "x/"),
    ] {
        let tool = plan();
        let (text, _, failed) = call(&tool, ops.clone());
        assert!(!failed, "{text}");
        assert_eq!(short(&tool), want, "{ops}");
    }
}

#[test]
fn any_problem_leaves_the_list_as_it_was() {
    for (ops, want) in [
        (json!([{"op": "init"}]), "Missing list for init operation"),
        (json!([{"op": "start"}]), "Missing task content"),
        (json!([{"op": "start", "task": "nine"}]), "Task \"nine\" not found"),
        (json!([{"op": "done", "phase": "Nine"}]), "Phase \"Nine\" not found"),
        (json!([{"op": "rm", "phase": ""}]), "Missing phase name"),
        (json!([{"op": "append", "items": ["x"]}]), "Missing phase name for append operation"),
        (json!([{"op": "append", "phase": "Build"}]), "Missing items for append operation"),
        (json!([{"op": "append", "phase": "Build", "items": ["new", "one"]}]), "Task \"one\" already exists"),
        (json!([{"op": "append", "phase": "Build", "items": ["new", "new"]}]), "Task \"new\" already exists"),
        (
            json!([{"op": "init", "list": [{"phase": "P", "items": ["a", "a"]}, {"phase": "P", "items": ["b"]}]}]),
            "Duplicate task \"a\" in init list; Duplicate phase \"P\" in init list",
        ),
        (json!([{"op": "done", "task": "one"}, {"op": "done", "task": "nine"}]), "Task \"nine\" not found"),
        (
            json!([{"op": "start", "task": "x"}, {"op": "rm", "task": "y"}]),
            "Task \"x\" not found; Task \"y\" not found",
        ),
    ] {
        let tool = plan();
        let (text, details, failed) = call(&tool, ops.clone());
        assert!(failed, "{ops}");
        assert_eq!(text.lines().next().unwrap(), format!("Errors: {want}"), "{ops}");
        assert_eq!(short(&tool), "one/ two three", "{ops}");
        assert_eq!(details["phases"], serde_json::to_value(&*tool.phases()).unwrap());
    }
}

#[test]
fn an_empty_list_says_how_to_begin() {
    let tool = Todo::new(Storage::Memory);
    let (text, _, failed) = call(&tool, json!([{"op": "done", "task": "x"}]));
    assert!(failed);
    assert_eq!(text, "Errors: Task \"x\" not found (the todo list is empty: make one with init first)");
    assert_eq!(call(&tool, json!([{"op": "view"}])).0, "Todo list is empty.");
    assert_eq!(call(&tool, json!([{"op": "rm"}])).0, "Todo list cleared.");
    assert!(Scratch::new(&[]).text(&tool, json!({"ops": []})).starts_with("error: `ops` is empty"));
    let many: Vec<String> = (0..501).map(|n| n.to_string()).collect();
    let (text, _, failed) = call(&tool, json!([{"op": "init", "list": [{"phase": "P", "items": many}]}]));
    assert!(failed && text == "Errors: 501 tasks are too many for one list; at most 500 fit", "{text}");
}

#[test]
fn what_the_model_and_the_file_get() {
    let tool = plan();
    let (text, details, _) = call(&tool, json!([{"op": "done", "task": "one"}, {"op": "drop", "task": "three"}]));
    insta::assert_snapshot!(text, @r#"
    Remaining items (1):
      - two [in_progress] (Build)
    Overall: 2/3 done, 1 open.
    Active phase 1/2 "Build" (1/2).
      Build:
        - [X] one
        - [ ] two (in progress)
      Ship:
        - [ ] three (dropped)
    "#);
    assert_eq!(
        details,
        json!({
            "phases": [
                {"name": "Build", "tasks": [
                    {"content": "one", "status": "completed"},
                    {"content": "two", "status": "in_progress"},
                ]},
                {"name": "Ship", "tasks": [{"content": "three", "status": "abandoned"}]},
            ],
            "storage": "memory",
            "completedTasks": [{"phase": "Build", "content": "one"}],
        })
    );
    let again = call(&tool, json!([{"op": "done", "task": "one"}])).1;
    assert_eq!(again.get("completedTasks"), None);
}

#[test]
fn a_resumed_list_has_what_is_still_open() {
    let (_, details, _) = call(&plan(), json!([{"op": "done", "task": "one"}]));
    let resumed = Todo::new(Storage::Session);
    AnyTool::restore(&resumed, &details);
    assert_eq!(short(&resumed), "two/ three");
    AnyTool::restore(&resumed, &json!({"phases": "nonsense"}));
    assert_eq!(short(&resumed), "two/ three");
}

#[test]
fn the_card_is_folded() {
    let items: Vec<String> = (1..=9).map(|n| format!("task {n}")).collect();
    let arguments = json!({"ops": [{"op": "init", "list": [{"phase": "P", "items": items}]}]});
    let view = Scratch::new(&[]).view(&Todo::new(Storage::Memory), arguments);
    assert_eq!(view.notes, ["0/9 done"]);
    let omp_view::Block::Lines { lines, hidden } = &view.blocks[0] else { panic!() };
    assert_eq!((lines.len(), *hidden), (8, 2));
    assert_eq!(lines[1], "  [ ] task 1 (in progress)");
}

#[test]
fn markdown_round_trip() {
    let text = "# Build\n- [x] one\n- [/] two\n\n# Ship it\n- [ ] three\n- [-] four [with] brackets\n";
    let phases = from_markdown(text).unwrap();
    assert_eq!(to_markdown(&phases), text);
    assert_eq!(from_markdown(&to_markdown(&[])).unwrap(), []);
    assert_eq!(to_markdown(&[]), "# Todos\n");
}

#[test]
fn markdown_as_people_write_it() {
    for (text, want) in [
        ("- [ ] a\n* [X] b", "# Todos\n- [/] a\n- [x] b\n"),
        ("### P\r\n+ [>] a\r\n- [~] b\r\n", "# P\n- [/] a\n- [-] b\n"),
        ("# P\n-[] a\n - [/] b\n- [/] c", "# P\n- [ ] a\n- [/] b\n- [ ] c\n"),
    ] {
        assert_eq!(to_markdown(&from_markdown(text).unwrap()), want, "{text:?}");
    }
    assert_eq!(
        from_markdown("# P\n- [?] a\nwords\n- [x]b\n").unwrap_err(),
        [
            "Line 2: unknown status marker \"[?]\" (use [ ], [x], [/], [-])",
            "Line 3: unrecognized syntax \"words\"",
            "Line 4: unrecognized syntax \"- [x]b\"",
        ]
    );
}
