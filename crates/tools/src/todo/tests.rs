//! Tests `todo` as the agent loop calls it, and the Markdown round trip.

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

/// Formats the list as `one/ two three`: in progress `/`, completed `x`, abandoned `-`.
fn short(tool: &Todo) -> String {
    let mark = |status| match status {
        Status::Pending => "",
        Status::InProgress => "/",
        Status::Completed => "x",
        Status::Abandoned => "-",
    };
    let phases = tool.board.phases();
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
        assert_eq!(details["phases"], serde_json::to_value(tool.board.phases()).unwrap());
    }
}

#[test]
fn an_empty_list_says_how_to_begin() {
    let tool = Todo::new(Storage::Memory);
    let (text, _, failed) = call(&tool, json!([{"op": "done", "task": "x"}]));
    assert!(failed);
    assert_eq!(text, "Errors: Task \"x\" not found (the todo list is empty: create one with init first)");
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
fn the_card_is_one_row() {
    let items: Vec<String> = (1..=9).map(|n| format!("task {n}")).collect();
    let arguments = json!({"ops": [{"op": "init", "list": [{"phase": "P", "items": items}]}]});
    let view = Scratch::new(&[]).view(&Todo::new(Storage::Memory), arguments);
    assert_eq!(view.notes, ["0/9 done", "now task 1"]);
    let omp_view::Block::Lines { lines, hidden } = &view.blocks[0] else { panic!() };
    assert_eq!((lines.len(), *hidden, view.shown_beside), (10, 0, true));
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

const LIST: &str = "# Build\n- [x] parser\n- [/] printer\n- [ ] print tests\n\n# Ship it\n- [ ] release notes\n";

#[test]
fn what_the_user_asks_of_the_board() {
    for (line, want) in [
        ("append write docs", "Build: parser printer print tests write docs; Ship it: release notes"),
        ("append build  write \t docs", "Build: parser printer print tests write docs; Ship it: release notes"),
        ("append 'ship IT' tag", "Build: parser printer print tests; Ship it: release notes tag"),
        ("append \"New one\" 'a task'", "Build: parser printer print tests; Ship it: release notes; New one: a task"),
        ("append 'only quoted'", "Build: parser printer print tests only quoted; Ship it: release notes"),
        ("rm release", "Build: parser printer print tests"),
        ("rm Build", "Ship it: release notes"),
        ("rm", ""),
    ] {
        let board = TodoList::default();
        board.import(LIST).unwrap();
        let edit = TodoEdit::parse(line, &board.phases()).unwrap();
        board.edit(&edit).unwrap();
        let phase = |phase: &Phase| {
            let tasks: Vec<&str> = phase.tasks.iter().map(|task| task.content.as_str()).collect();
            format!("{}: {}", phase.name, tasks.join(" "))
        };
        assert_eq!(board.phases().iter().map(phase).collect::<Vec<_>>().join("; "), want, "{line}");
    }
}

#[test]
fn what_the_user_marks() {
    for (line, said, want) in [
        (
            "start notes",
            "started \"release notes\"",
            "# Build\n- [x] parser\n- [ ] printer\n- [ ] print tests\n\n# Ship it\n- [/] release notes\n",
        ),
        (
            "done printer",
            "completed \"printer\"",
            "# Build\n- [x] parser\n- [x] printer\n- [/] print tests\n\n# Ship it\n- [ ] release notes\n",
        ),
        (
            "drop ship",
            "dropped all of Ship it",
            "# Build\n- [x] parser\n- [/] printer\n- [ ] print tests\n\n# Ship it\n- [-] release notes\n",
        ),
        (
            "done",
            "completed everything",
            "# Build\n- [x] parser\n- [x] printer\n- [x] print tests\n\n# Ship it\n- [x] release notes\n",
        ),
    ] {
        let board = TodoList::default();
        board.import(LIST).unwrap();
        assert_eq!(board.edit(&TodoEdit::parse(line, &board.phases()).unwrap()).unwrap(), said);
        assert_eq!(board.export(), want, "{line}");
    }
}

#[test]
fn what_the_board_refuses() {
    let board = TodoList::default();
    board.import(LIST).unwrap();
    for (line, want) in [
        ("", "hint: append [<phase>] <task>, start <task>, done|drop|rm [<task or phase>]"),
        (
            "sort",
            "unknown argument `sort`\nhint: append [<phase>] <task>, start <task>, done|drop|rm [<task or phase>]",
        ),
        ("start", "start needs a task\nhint: /todo start <task>"),
        ("append", "append needs a task\nhint: /todo append [<phase>] <task>"),
        ("append 'open", "a quote is not closed: 'open"),
        ("append parser", "Task \"parser\" already exists"),
        ("start nine", "no task is called \"nine\""),
        ("start ship", "no task is called \"ship\""),
        ("done nine", "no task or phase is called \"nine\""),
        ("rm pr", "\"pr\" is ambiguous: \"printer\", \"print tests\"\nhint: write more of it"),
    ] {
        let said = TodoEdit::parse(line, &board.phases()).and_then(|edit| board.edit(&edit)).unwrap_err();
        assert_eq!(said, want, "{line}");
    }
    for (markdown, want) in [
        ("# A\n- [ ] x\n# A\n- [ ] x\n", "Phase \"A\" appears twice; Task \"x\" appears twice"),
        ("words", "Line 1: unrecognized syntax \"words\""),
        (&"- [ ] x\n".repeat(501), "501 tasks are too many for one list; at most 500 fit"),
    ] {
        let problems = board.import(markdown).unwrap_err();
        assert!(problems.join("; ").contains(want), "{problems:?}");
    }
    let nameless = vec![Phase { name: " ".into(), tasks: vec![super::list::pending_task("\n")] }];
    assert_eq!(board.set(nameless).unwrap_err(), ["Missing phase name", "Missing task content"]);
    assert_eq!(board.export(), LIST);
}

#[test]
fn one_board_for_the_model_and_the_user() {
    let board = TodoList::default();
    let tool = Todo::on(board.clone(), Storage::Memory);
    let list = json!([{"phase": " Two\nwords ", "items": ["a  task", "b"]}]);
    assert!(!call(&tool, json!([{"op": "init", "list": list}])).2);
    assert_eq!(board.export(), "# Two words\n- [/] a task\n- [ ] b\n");
    board.edit(&TodoEdit::Remove(Some("b".into()))).unwrap();
    assert!(!call(&tool, json!([{"op": "done", "task": "a \n task"}])).2);
    assert_eq!(board.export(), "# Two words\n- [x] a task\n");
    let blank = call(&tool, json!([{"op": "init", "list": [{"phase": "", "items": [" "]}]}])).0;
    assert!(blank.starts_with("Errors: Missing phase name; Missing task content\n"), "{blank}");
}

#[test]
fn what_the_model_is_told() {
    let board = TodoList::default();
    assert_eq!(remind::of_open_tasks(&board.phases(), 1, 3), None);
    let emptied = remind::after_user_edit("removed everything", &board.phases());
    assert!(emptied.contains("(removed everything). It is empty now. Do not create a new one"), "{emptied}");
    board.import("# Build\n- [x] one\n- [ ] two\n").unwrap();
    let edited = remind::after_user_edit("completed \"one\"", &board.phases());
    assert!(
        edited.starts_with("<system-reminder>\n") && edited.contains("\n# Build\n- [x] one\n- [/] two\n"),
        "{edited}"
    );
    let open = remind::of_open_tasks(&board.phases(), 1, 3).unwrap();
    assert!(open.contains("with 1 task of the todo list open:\n- two (Build)\n") && open.contains("1 of 3"), "{open}");
    assert!(!open.contains("- one"));
    assert!(remind::after_error("Task \"x\" not found").contains("Task \"x\" not found"));
}

mod round_trip {
    use proptest::prelude::*;

    use super::*;

    fn status() -> impl Strategy<Value = Status> {
        prop_oneof![Just(Status::Pending), Just(Status::InProgress), Just(Status::Completed), Just(Status::Abandoned)]
    }

    fn lists() -> impl Strategy<Value = Vec<Phase>> {
        let text = || prop_oneof![any::<String>(), "[-#*\\[\\]x/~> \t\n\r]{0,12}", "[a-z ]{1,8}"];
        let task = (text(), status()).prop_map(|(content, status)| Task { content, status });
        let phase = (text(), proptest::collection::vec(task, 0..6)).prop_map(|(name, tasks)| Phase { name, tasks });
        proptest::collection::vec(phase, 0..5)
    }

    proptest! {
        #[test]
        fn a_list_that_is_taken_over_survives_markdown(phases in lists()) {
            let board = TodoList::default();
            if board.set(phases).is_ok() {
                let kept = board.phases();
                let again = from_markdown(&board.export()).unwrap();
                // An empty phase with the default name is how an empty list is written.
                let nothing = kept.len() == 1 && kept[0].name == "Todos" && kept[0].tasks.is_empty();
                prop_assert_eq!(&again, if nothing { &[][..] } else { &kept[..] });
                prop_assert_eq!(to_markdown(&again), board.export());
            }
        }

        #[test]
        fn no_text_is_half_understood(text in any::<String>()) {
            if let Ok(phases) = from_markdown(&text) {
                prop_assert_eq!(from_markdown(&to_markdown(&phases)).unwrap(), phases);
            }
        }
    }
}
