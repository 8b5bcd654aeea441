//! Keys, their meanings, and files that change them.

use omp_tui::{Component as _, Editor, Input, KeyCode, Mods, Reaction};

use super::*;

fn key(name: &str) -> Key {
    Key::parse(name).unwrap()
}

#[test]
fn every_name_of_the_table_is_a_key_and_every_row_is_named_once() {
    for row in ROWS {
        for name in row.keys {
            assert!(Key::parse(name).is_ok(), "{}: {name}", row.name);
        }
        assert_eq!(ROWS.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        assert_eq!(table::action(row.name).is_some(), row.area == Area::App, "{}", row.name);
        assert!(table::RESERVED.iter().all(|reserved| *reserved != row.name));
    }
    for (at, row) in ROWS.iter().enumerate() {
        let same_area = ROWS[at + 1..].iter().filter(|other| other.area == row.area);
        for other in same_area {
            let both: Vec<_> = row.keys.iter().filter(|key| other.keys.contains(key)).collect();
            assert!(both.is_empty(), "{} and {}: {both:?}", row.name, other.name);
        }
    }
}

#[test]
fn a_key_means_what_it_means_where_it_is_pressed() {
    let keymap = Keymap::defaults();
    for (context, pressed, name) in [
        (KeyContext::Editor, "ctrl+p", Some("app.model.cycleForward")),
        (KeyContext::Editor, "shift+ctrl+p", Some("app.model.cycleBackward")),
        (KeyContext::Sessions, "ctrl+p", Some("app.session.togglePath")),
        (KeyContext::Sessions, "ctrl+s", Some("app.session.toggleSort")),
        (KeyContext::Sessions, "ctrl+d", Some("app.session.delete")),
        (KeyContext::Sessions, "ctrl+r", Some("app.session.rename")),
        (KeyContext::Sessions, "enter", Some("tui.select.confirm")),
        (KeyContext::Tree, "ctrl+left", Some("app.tree.foldOrUp")),
        (KeyContext::Tree, "ctrl+d", Some("tui.editor.deleteCharForward")),
        (KeyContext::List, "ctrl+c", Some("tui.select.cancel")),
        (KeyContext::Editor, "ctrl+d", Some("app.exit")),
        (KeyContext::Editor, "ctrl+r", Some("app.history.search")),
        (KeyContext::Editor, "alt+b", Some("tui.editor.cursorWordLeft")),
        (KeyContext::Editor, "a", None),
    ] {
        assert_eq!(keymap.name_of(context, &key(pressed)), name, "{context:?} {pressed}");
    }
}

#[test]
fn hints_name_the_key_to_press() {
    let file = "tui.select.cancel: [f2, f3]\ntui.select.up: ctrl+k\napp.tools.expand: [ctrl+e, ctrl+o]\n\
                app.approval.cycle: alt+m\napp.editor.external: null\ntui.editor.deleteToLineEnd: null\n\
                tui.editor.cursorLineEnd: end\napp.session.rename: f6";
    let (keymap, problems) = Keymap::parse(file);
    assert!(problems.is_empty(), "{problems:?}");
    for (context, default, shown) in [
        (KeyContext::List, "esc", Some("f2")),
        (KeyContext::List, "enter", Some("enter")),
        (KeyContext::List, "shift+tab", Some("alt+m")),
        (KeyContext::List, "↑↓", Some("ctrl+k/down")),
        (KeyContext::List, "alt+←→", Some("alt+←→")),
        (KeyContext::List, "y", Some("y")),
        (KeyContext::List, "type", Some("type")),
        (KeyContext::Sessions, "ctrl+r", Some("f6")),
        (KeyContext::Sessions, "del", Some("del")),
        (KeyContext::Editor, "esc", Some("esc")),
        (KeyContext::Editor, "ctrl+o", Some("ctrl+e")),
        (KeyContext::Editor, "ctrl+g", None),
    ] {
        assert_eq!(keymap.names(context).shown(default).as_deref(), shown, "{context:?} {default}");
        assert_eq!(Keymap::defaults().names(context).shown(default).as_deref(), Some(default), "{context:?}");
    }
}

#[test]
fn keys_of_the_application_work_over_dialogs() {
    let (keymap, problems) = Keymap::parse("app.suspend: ctrl+s");
    assert!(problems.is_empty(), "{problems:?}");
    let over = |context, pressed| keymap.action_over(context, &key(pressed)).map(|action| format!("{action:?}"));
    assert_eq!(over(KeyContext::List, "ctrl+s").as_deref(), Some("Suspend"));
    assert_eq!(over(KeyContext::Editor, "ctrl+s").as_deref(), Some("Suspend"));
    assert_eq!(over(KeyContext::Sessions, "ctrl+s"), None, "it sorts the list");
    assert_eq!(over(KeyContext::List, "ctrl+z"), None);
    assert_eq!(over(KeyContext::List, "shift+tab").as_deref(), Some("CycleApproval"));
    assert_eq!(over(KeyContext::List, "ctrl+l"), None);
}

#[test]
fn the_application_obeys() {
    let keymap = Keymap::defaults();
    let action = |name: &str| keymap.action(&key(name)).map(|action| format!("{action:?}"));
    for (pressed, expect) in [
        ("escape", Some("Interrupt")),
        ("enter", Some("Submit")),
        ("ctrl+shift+p", Some("CycleModel { backward: true }")),
        ("ctrl+o", Some("ToggleExpanded")),
        ("alt+r", Some("Say(\"/retry\")")),
        ("shift+enter", None),
        ("x", None),
    ] {
        assert_eq!(action(pressed).as_deref(), expect, "{pressed}");
    }
    // The form that some terminals send.
    let sent = Key::new(KeyCode::Char('P'), Mods::ALT.with(Mods::SHIFT));
    assert!(matches!(keymap.action(&sent), Some(Action::TogglePlan)));
}

#[test]
fn hints_and_help() {
    let keymap = Keymap::defaults();
    assert_eq!(keymap.shown("app.tools.expand"), "ctrl+o");
    assert_eq!(keymap.shown("app.interrupt"), "esc");
    assert_eq!(keymap.shown("app.clipboard.copyLine"), "shift+alt+l");
    assert_eq!((keymap.shown("app.session.new"), keymap.shown("no.such")), (String::new(), String::new()));
    assert_eq!(keymap.keys_of("app.tree.foldOrUp"), [key("ctrl+left"), key("alt+left")]);
    assert!(keymap.is("tui.select.down", &key("down")) && !keymap.is("tui.select.down", &key("up")));
    let help = keymap.help();
    assert!(help.iter().all(|row| !row.keys.is_empty() && !row.about.is_empty()));
    let undo = help.iter().find(|row| row.name == "tui.editor.undo").unwrap();
    assert_eq!((undo.keys.as_str(), undo.about, undo.area.title()), ("ctrl+-, ctrl+_", "undo", "Editor"));
}

#[track_caller]
fn check(text: &str, bound: &[(&str, &str)], problems: &[&str]) -> Keymap {
    let (keymap, told) = Keymap::parse(text);
    for (name, keys) in bound {
        let shown: Vec<String> = keymap.keys_of(name).iter().map(shown).collect();
        assert_eq!(shown.join(" "), *keys, "{name}");
    }
    assert_eq!(told, problems);
    keymap
}

#[test]
fn a_file_binds_anew() {
    check("", &[("app.tools.expand", "ctrl+o")], &[]);
    check("# nothing yet\n", &[("app.tools.expand", "ctrl+o")], &[]);
    check("app.tools.expand: ctrl+x\n", &[("app.tools.expand", "ctrl+x"), ("app.clear", "ctrl+c")], &[]);
    check("app.session.new: [Ctrl+N, alt+n, ctrl+n]", &[("app.session.new", "ctrl+n alt+n")], &[]);
    check(
        "app.suspend: null\napp.exit: ''\napp.retry: []\napp.clear:\n",
        &[("app.suspend", ""), ("app.exit", ""), ("app.retry", ""), ("app.clear", "")],
        &[],
    );
    check(
        "{\n\t// mine, not ours\n\t\"app.session.new\": \"ctrl+n\", /* // */ \"app.retry\": [\"alt+/\",],\n}",
        &[("app.session.new", "ctrl+n"), ("app.retry", "alt+/")],
        &[],
    );
    check("{app.session.new: ctrl+n}", &[("app.session.new", "ctrl+n")], &[]);
    // Names of older files, and of features that do not exist here.
    check(
        "expandTools: ctrl+x\nselectUp: [up, ctrl+k]\nundo: ctrl+/\napp.stt.toggle: alt+h\n",
        &[("app.tools.expand", "ctrl+x"), ("tui.select.up", "up ctrl+k"), ("tui.editor.undo", "ctrl+/")],
        &[],
    );
}

#[test]
fn what_is_wrong_is_told_and_the_rest_counts() {
    check(
        "app.tools.expnd: ctrl+x\napp.retry: ctlr+x\napp.session.new: ctrl+n\n",
        &[("app.tools.expand", "ctrl+o"), ("app.session.new", "ctrl+n"), ("app.retry", "")],
        &[
            "unknown action app.tools.expnd\nhint: did you mean app.tools.expand?",
            "app.retry: \"ctlr+x\" is not a key\nhint: did you mean ctrl instead of ctlr?",
        ],
    );
    check(
        "app.session.new: 1\n",
        &[("app.session.new", "1")],
        &["app.session.new: binding 1 would make it impossible to type\nhint: add ctrl or alt, as in alt+1"],
    );
    check("- a\n", &[], &["is not a map of actions to keys\nhint: write lines like \"app.tools.expand: ctrl+o\""]);
    let (keymap, told) = Keymap::parse("app.retry: [ctrl+x\nfoo: {");
    assert_eq!(keymap, Keymap::defaults());
    assert!(told.len() == 1 && told[0].starts_with("is neither YAML nor JSON: "), "{told:?}");
}

#[test]
fn one_key_has_one_meaning() {
    check(
        "app.session.new: ctrl+o\n",
        &[("app.session.new", "ctrl+o"), ("app.tools.expand", "")],
        &["app.tools.expand has no key left, because ctrl+o is bound to app.session.new"],
    );
    check("app.session.new: ctrl+a\n", &[("app.session.new", "ctrl+a"), ("tui.editor.cursorLineStart", "home")], &[]);
    check(
        "app.session.new: ctrl+n\napp.session.tree: ctrl+n\n",
        &[("app.session.new", "ctrl+n"), ("app.session.tree", "ctrl+n")],
        &["ctrl+n is bound to both app.session.new and app.session.tree; app.session.new wins"],
    );
    // The same key in another area is no conflict, nor are keys that the defaults share.
    check("app.session.delete: ctrl+o\n", &[("app.tools.expand", "ctrl+o")], &[]);
    check("app.exit: ctrl+d\n", &[("tui.editor.deleteCharForward", "delete ctrl+d")], &[]);
    // Two actions may swap keys.
    check(
        "app.tools.expand: ctrl+t\napp.thinking.toggle: ctrl+o\n",
        &[("app.tools.expand", "ctrl+t"), ("app.thinking.toggle", "ctrl+o")],
        &[],
    );
}

#[test]
fn components_get_the_keys_they_know() {
    let keymap = check("tui.editor.undo: ctrl+/\ntui.editor.yank: null\ntui.select.up: [up, ctrl+k]\n", &[], &[]);
    for (context, pressed, expect) in [
        (KeyContext::Editor, "ctrl+/", Some("ctrl+-")),
        (KeyContext::Editor, "ctrl+-", None),
        (KeyContext::Editor, "ctrl+y", None),
        (KeyContext::Editor, "ctrl+k", Some("ctrl+k")),
        (KeyContext::Editor, "x", Some("x")),
        (KeyContext::Editor, "ctrl+right", Some("ctrl+right")),
        (KeyContext::List, "ctrl+k", Some("up")),
        (KeyContext::Tree, "up", Some("up")),
        (KeyContext::List, "ctrl+/", Some("ctrl+-")),
        (KeyContext::Sessions, "ctrl+y", None),
    ] {
        let got = keymap.for_component(context, key(pressed));
        assert_eq!(got, expect.map(key), "{context:?} {pressed}");
    }
    // Both the list of sessions and the field in it know ctrl+d; without the first, it means the second.
    let keymap = check("app.session.delete: ctrl+x\n", &[], &[]);
    for (pressed, expect) in [("ctrl+x", "ctrl+d"), ("ctrl+d", "delete"), ("delete", "delete")] {
        assert_eq!(keymap.for_component(KeyContext::Sessions, key(pressed)), Some(key(expect)), "{pressed}");
    }
}

#[test]
fn the_editor_understands_its_default_keys() {
    for row in ROWS.iter().filter(|row| row.area == Area::Edit && !row.name.starts_with("tui.input")) {
        for name in row.keys {
            let mut editor = Editor::default();
            editor.set_text("one two\nthree four\nfive six");
            for known in ["up", "home", "ctrl+right", "ctrl+w", "x"] {
                editor.input(&Input::Key(key(known)));
            }
            assert_eq!(editor.input(&Input::Key(key(name))), Reaction::Taken, "{} {name}", row.name);
        }
    }
}

#[test]
fn the_documentation_names_every_action_and_its_example_works() {
    let page = include_str!("../../../../docs/keybindings.md");
    for row in ROWS {
        assert!(page.contains(&format!("| `{}` |", row.name)) && page.contains(row.about), "{}", row.name);
    }
    let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    check(example, &[("app.session.new", "ctrl+n"), ("app.model.select", "alt+m f2"), ("app.suspend", "")], &[]);
}

#[test]
fn the_folder_of_a_profile_wins_over_the_one_it_builds_on() {
    let (base, profile) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |folder: &tempfile::TempDir, name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    write(&base, "keybindings.json", "{\"app.session.new\": \"ctrl+x\", \"app.retry\": \"ctrl+x\"}");
    write(&base, "keybindings.yaml", "app.session.new: alt+1\napp.retry: alt+2\n");
    write(&profile, "keybindings.yml", "app.retry: alt+3\nnonsense: x\n");
    let (keymap, told) = Keymap::load(&[base.path(), profile.path()]);
    assert_eq!((keymap.shown("app.session.new"), keymap.shown("app.retry")), ("alt+1".into(), "alt+3".into()));
    assert_eq!(told, ["keybindings.yml: unknown action nonsense\nhint: /hotkeys lists the actions"]);
    assert_eq!(Keymap::load(&[&base.path().join("absent")]), (Keymap::defaults(), vec![]));
    write(&profile, "keybindings.yml", &"# x\n".repeat(20_000));
    assert_eq!(Keymap::load(&[profile.path()]).1, ["keybindings.yml: is larger than 64 KiB"]);
}
