//! Moving in a tree: filters, search, folding, labels, and where Enter leads.

use super::super::screen::{both, draw, press, says, type_text};
use super::*;

/// Parses `id above depth who text`; a star marks active nodes.
fn nodes(rows: &[&str]) -> Vec<TreeNode> {
    let mut nodes: Vec<TreeNode> = Vec::new();
    for row in rows {
        let (active, row) = row.strip_prefix('*').map_or((false, *row), |row| (true, row));
        let [id, above, depth, who, text] = row.splitn(5, ' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let place = nodes.iter().position(|node| node.id.as_str() == above);
        nodes.push(TreeNode {
            id: id.into(),
            parent: (above != "-").then(|| above.into()),
            above: place,
            depth: depth.parse().unwrap(),
            active,
            label: (id == "u2").then(|| "first idea".into()),
            who: who.into(),
            tool: (who == "toolResult").then(|| "read".into()),
            text: text.into(),
        });
    }
    nodes
}

pub(in crate::dialogs) fn view() -> TreeView {
    let all = nodes(&[
        "*u1 - 0 user Start the task",
        "*a1 u1 0 assistant A plan of what to do, which is as long as plans are",
        "u2 a1 1 user Try A",
        "a2 u2 1 assistant A result",
        "t2 a2 1 toolResult output",
        "*u3 a1 1 user Try B",
        "*a3 u3 1 assistant B result",
    ]);
    let only = |keep: fn(&TreeNode) -> bool| {
        let mut kept: Vec<_> = all.iter().filter(|node| keep(node)).cloned().collect();
        kept.iter_mut().for_each(|node| node.above = None);
        kept
    };
    let no_tools = all.iter().filter(|node| node.who != "toolResult").cloned().collect();
    let no_tools = without(no_tools, &"t2".into());
    let users = only(|node| node.who == "user");
    let labelled = only(|node| node.label.is_some());
    let point = |entry: &str, parent: Option<&str>, text: &str| BranchPoint {
        entry: entry.into(),
        parent: parent.map(EntryId::from),
        text: text.into(),
    };
    TreeView {
        trees: vec![all.clone(), no_tools, users, labelled, all],
        points: vec![point("u1", None, "Start the task\nand more"), point("u2", Some("a1"), "Try A")],
        leaf: Some("a3".into()),
    }
}

#[test]
fn the_tree_with_its_branches() {
    insta::assert_snapshot!(both(&mut TreeDialog::new(view())), @"
    ╭─ Session tree  7 of 7 · default ─────────────────────────╮
    │ > type to search                                         │
    ├──────────────────────────────────────────────────────────┤
    │   ▾ • user: Start the task                               │
    │   ▾ • assistant: A plan of what to do, which is as long… │
    │     ▾ [first idea] user: Try A                           │
    │       assistant: A result                                │
    │       read: output                                       │
    │     ▾ • user: Try B                                      │
    │ ❯     • assistant: B result                              │
    ╰─ enter go here · esc close · shift+l label ──────────────╯
    ------------------------------
    ── Session tree  7 of 7 · … ──
    > type to search
      ▾ • user: Start the task
      ▾ • assistant: A plan of wh…
        ▾ [first idea] user: Try A
          assistant: A result
          read: output
        ▾ • user: Try B
    ❯     • assistant: B result
    enter go here · esc close
    ");
}

#[test]
fn a_folded_branch_and_a_label() {
    let mut dialog = TreeDialog::new(view());
    press(&mut dialog, "up up up up up down alt+left shift+l");
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Session tree  5 of 7 · default ─────────────────────────╮
    │ > type to search                                         │
    ├──────────────────────────────────────────────────────────┤
    │   ▾ • user: Start the task                               │
    │   ▾ • assistant: A plan of what to do, which is as long… │
    │ ❯   ▸ [first idea] user: Try A                           │
    │     ▾ • user: Try B                                      │
    │       • assistant: B result                              │
    ├──────────────────────────────────────────────────────────┤
    │ Label: first idea                                        │
    ╰─ enter keep · esc back ──────────────────────────────────╯
    ------------------------------
    ── Session tree  5 of 7 · … ──
    > type to search
      ▾ • user: Start the task
      ▾ • assistant: A plan of wh…
    ❯   ▸ [first idea] user: Try A
        ▾ • user: Try B
          • assistant: B result
    Label: first idea
    enter keep · esc back
    ");
}

#[test]
fn enter_goes_there() {
    let goes = |entry: &str, text: &str| {
        format!("Close(Some(GoTo(Destination {{ entry: {entry}, text: {text}, chosen_in: Tree }})))")
    };
    for (keys, step) in [
        ("enter", "Close(Some(Tell(\"The session is already here.\")))".to_owned()),
        ("up enter", goes(r#"Some(EntryId("a1"))"#, r#"Some("Try B")"#)),
        ("down enter", goes("None", r#"Some("Start the task\nand more")"#)),
        ("home down enter", goes(r#"Some(EntryId("a1"))"#, "None")),
        ("o u t p u t enter", goes(r#"Some(EntryId("t2"))"#, "None")),
        ("escape", "Close(None)".to_owned()),
        ("x escape", "Redraw".to_owned()),
        ("x ctrl+c", "Close(None)".to_owned()),
        ("z z z enter", "Ignored".to_owned()),
    ] {
        assert_eq!(says(&mut TreeDialog::new(view()), keys), step, "{keys}");
    }
}

#[test]
fn filters_go_round_and_have_keys() {
    for (keys, note) in [
        ("ctrl+o", "6 of 6 · no-tools"),
        ("ctrl+o ctrl+o", "3 of 3 · user-only"),
        ("ctrl+shift+o", "7 of 7 · all"),
        ("alt+l", "1 of 1 · labeled-only"),
        ("alt+a alt+u alt+t", "6 of 6 · no-tools"),
        ("alt+a alt+d", "7 of 7 · default"),
        ("T R Y", "2 of 7 · default"),
        ("r e s u l t space b", "1 of 7 · default"),
        ("i d e a", "1 of 7 · default"),
    ] {
        let mut dialog = TreeDialog::new(view());
        press(&mut dialog, keys);
        let screen = draw(&mut dialog, 60);
        assert!(screen.contains(note), "{keys}: {screen}");
    }
}

#[test]
fn branches_fold() {
    let mut dialog = TreeDialog::new(view());
    for (keys, rows) in [
        ("home down down alt+left", 5),
        ("alt+left", 5),
        ("alt+left", 2),
        ("ctrl+right", 5),
        ("alt+right alt+right", 7),
        ("alt+right alt+right alt+right", 7),
    ] {
        press(&mut dialog, keys);
        assert_eq!(dialog.shown.len(), rows, "{keys}\n{}", draw(&mut dialog, 60));
    }
}

#[test]
fn labels_are_set_and_taken_away() {
    let mut dialog = TreeDialog::new(view());
    press(&mut dialog, "L");
    type_text(&mut dialog, "done");
    let step = says(&mut dialog, "enter");
    assert_eq!(step, r#"Do(Label { entry: EntryId("a3"), label: Some("done") })"#);
    press(&mut dialog, "alt+l");
    assert!(draw(&mut dialog, 60).contains("[done] assistant"));
    let step = says(&mut dialog, "shift+l ctrl+u enter");
    assert_eq!(step, r#"Do(Label { entry: EntryId("a3"), label: None })"#);
    assert!(draw(&mut dialog, 60).contains("1 of 1 · labeled-only"));
    assert!(matches!(press(&mut dialog, "L x escape"), DialogStep::Redraw));
}

#[test]
fn a_session_without_entries_goes_nowhere() {
    let mut dialog = TreeDialog::new(TreeView::default());
    assert!(draw(&mut dialog, 30).contains("Nothing here."));
    for keys in ["enter", "L", "alt+left", "alt+right"] {
        assert!(matches!(press(&mut dialog, keys), DialogStep::Ignored), "{keys}");
    }
}
