//! Tests that one setting changes and nothing else does.

use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn check(old: &str, key: &str, value: Value, new: &str) {
    let text = changed(old, key, &value).unwrap();
    assert_eq!(text, new, "{key} in {old:?}");
    assert_eq!(changed(&text, key, &value).unwrap(), text, "the second time nothing changes");
}

#[test]
fn a_value_changes_and_its_surroundings_stay() {
    check("", "a", json!(1), "a: 1\n");
    check("", "a.b.c", json!("x"), "a:\n  b:\n    c: x\n");
    check("# only a comment", "a", json!(true), "# only a comment\na: true\n");
    check("a: 1 # one\nb: 2\n", "a", json!(3), "a: 3 # one\nb: 2\n");
    check("a:   'x'   # c\r\nb: 2\r\n", "a", json!("z"), "a: z   # c\r\nb: 2\r\n");
    check("a: 1\n\n# last\n", "b", json!(2), "a: 1\nb: 2\n\n# last\n");
    check("a: 1", "b", json!(2), "a: 1\nb: 2\n");
    check("---\na: 1\n...\n", "b", json!(2), "---\na: 1\nb: 2\n...\n");
    check("\u{feff}a: 1\nb: 2\n", "a", json!(3), "\u{feff}a: 3\nb: 2\n");
    check("\"a b\": 1\n'c': 2\n", "c", json!(3), "\"a b\": 1\n'c': 3\n");
}

#[test]
fn nested_settings_are_found_however_deep_the_lines_are() {
    let old =
        "# head\ntools:\n    # mode\n    approvalMode: yolo   # why\n\n    approval:\n        bash: prompt\nz: 1\n";
    check(old, "tools.approvalMode", json!("write"), &old.replace("yolo", "write"));
    check(old, "tools.approval.bash", json!("deny"), &old.replace("prompt", "deny"));
    check(old, "tools.approval.read", json!("allow"), &old.replace("prompt\n", "prompt\n        read: allow\n"));
    check(old, "tools.x.z", json!(1), &old.replace("prompt\n", "prompt\n    x:\n        z: 1\n"));
    check("a:\nb: 1\n", "a.c", json!(2), "a:\n  c: 2\nb: 1\n");
    check("a: {} # none\nb: 1\n", "a.c", json!(2), "a: # none\n  c: 2\nb: 1\n");
    check("a:\n  # hint\nb: 1\n", "a.c", json!(2), "a:\n  c: 2\n  # hint\nb: 1\n");
}

#[test]
fn lists_and_texts_over_lines_are_one_value() {
    let old = "a:\n- 1\n- x: 2\nb: |\n  text\n  # no comment\n\n  more: 1\nc: \"two\n  lines: 1\"\nd: 1\n";
    check(old, "d", json!(2), &old.replace("d: 1", "d: 2"));
    check(old, "more", json!(2), &format!("{old}more: 2\n"));
    check(old, "a", json!(["x"]), &old.replace("a:\n- 1\n- x: 2\n", "a: [\"x\"]\n"));
    check(old, "b", json!("z"), &old.replace("b: |\n  text\n  # no comment\n\n  more: 1\n", "b: z\n"));
    check("a: |\n  text\n  # text\nb: 1\n", "a", json!(1), "a: 1\nb: 1\n");
    check(old, "c", json!(0.5), &old.replace("c: \"two\n  lines: 1\"\n", "c: 0.5\n"));
}

#[test]
fn dotted_keys_stay_dotted_and_braces_stay_braces() {
    check(
        "tools.approvalMode: yolo\ntools:\n  x: 1\n",
        "tools.approvalMode",
        json!("write"),
        "tools.approvalMode: write\ntools:\n  x: 1\n",
    );
    check("a: {b: 1, c: [x]} # c\nd: 1\n", "a.b", json!(2), "a: {\"b\":2,\"c\":[\"x\"]} # c\nd: 1\n");
    check("a: {\n  b: {c: 1}\n}\nd: 1\n", "a.b.e", json!(2), "a: {\"b\":{\"c\":1,\"e\":2}}\nd: 1\n");
    check("a: {b: ['x *', \"&\"]}\n", "a.c", json!(2), "a: {\"b\":[\"x *\",\"&\"],\"c\":2}\n");
}

#[test]
fn a_setting_is_taken_out() {
    check("a: 1\nb: 2 # two\n# end\n", "b", Value::Null, "a: 1\n# end\n");
    check("a:\n  # why\n  b: 1\n  c: 2\n", "a.b", Value::Null, "a:\n  # why\n  c: 2\n");
    check("a: # group\n  # why\n  b: 1\nc: 2\n", "a.b", Value::Null, "a: {} # group\n  # why\nc: 2\n");
    check("a: {b: 1, c: 2}\n", "a.b", Value::Null, "a: {\"c\":2}\n");
    check("a:\n  b:\n    - 1\n    - 2\n  c: 1\n", "a.b", Value::Null, "a:\n  c: 1\n");
    check("a: 1\n", "b", Value::Null, "a: 1\n");
    check("a:\n", "a.b", Value::Null, "a:\n");
    check("", "b.c", Value::Null, "");
}

#[test]
fn what_cannot_be_changed_safely_is_refused() {
    for (old, key, why) in [
        ("{a: 1}\n", "b", "in braces"),
        ("a: &x {b: 1}\nc: *x\n", "a.b", "anchor"),
        ("a: &x 1\nc: *x\n", "a", "anchor"),
        ("c: &x {b: 1}\na: *x\n", "a.b", "anchor"),
        ("c: &x 1\na: {b: 'it''s', c: *x}\n", "a.b", "anchor"),
        ("c: &x 1\na: {b: don't, c: *x, d: can't}\n", "a.b", "anchor"),
        ("a: 5\n", "a.b", "has a value"),
        ("a:\n  - 1\n", "a.b", "has a value"),
        ("a: [1, 2\n", "b", ""),
        ("- a\n", "b", "`name: value` lines"),
        ("a: 1\n", "b..c", "not a valid setting name"),
        ("a: 1\n", "", "not a valid setting name"),
        ("? a\n: 1\nb: 1\n", "a", "cannot change a file of this format safely"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        fs::write(&path, old).unwrap();
        let error = save_setting(&path, key, &json!(7)).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("hint:") && error.contains("config.yml"), "{old:?}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), old);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left lying around");
    }
}

#[test]
fn a_missing_file_is_made_with_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/agent/config.yml");
    save_setting(&path, "nothing.here", &Value::Null).unwrap();
    assert!(!path.exists());
    save_setting(&path, "theme", &json!("dark")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "theme: dark\n");
}

#[test]
fn a_change_of_another_program_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.yml");
    fs::write(&path, "a: 1\n").unwrap();
    let mut times = 0;
    let mut other = || {
        times += 1;
        if times == 1 {
            fs::write(&path, "a: 1\nother: 2\n").unwrap();
        }
    };
    save_watched(&path, "a", &json!(3), &mut other).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a: 3\nother: 2\n");
    let mut count = 0;
    let mut always = || {
        count += 1;
        fs::write(&path, format!("a: {count}\n")).unwrap();
    };
    let error = save_watched(&path, "a", &json!(9), &mut always).unwrap_err().to_string();
    assert!(error.contains("another program"), "{error}");
}

#[cfg(unix)]
#[test]
fn who_may_read_the_file_stays_and_links_stay_links() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("real.yml"), dir.path().join("config.yml"));
    save_setting(&path, "a", &json!(1)).unwrap();
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    save_setting(&link, "a", &json!(2)).unwrap();
    assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (0o640, "a: 2\n"));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-1000..1000i64).prop_map(Value::from),
        "[a-z #:'\"{}&*-]{0,8}".prop_map(Value::from),
        prop::collection::vec("[a-z]{1,3}", 0..3).prop_map(Value::from),
    ]
}

fn group() -> impl Strategy<Value = Value> {
    let inner = scalar().prop_recursive(3, 24, 4, |inner| {
        prop::collection::btree_map("[a-d]{1,2}", inner, 1..4).prop_map(|map| Value::Object(map.into_iter().collect()))
    });
    prop::collection::btree_map("[a-d]{1,2}", inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// Formats settings as a person might type them: `style` selects comments, blank lines, quotes and braces.
fn typed(value: &Value, indent: usize, style: &mut impl Iterator<Item = u8>, text: &mut String) {
    let Value::Object(fields) = value else { return };
    for (name, value) in fields {
        let spaces = " ".repeat(indent);
        let die = style.next().unwrap_or(0);
        if die.is_multiple_of(3) {
            text.push_str(&format!("{spaces}# about {name} {}\n", text.len()));
        }
        if die.is_multiple_of(5) {
            text.push('\n');
        }
        let name = if die.is_multiple_of(4) { format!("'{name}'") } else { name.clone() };
        let comment = if die.is_multiple_of(7) { " # why" } else { "" };
        match value {
            Value::Object(_) if die % 6 != 1 => {
                text.push_str(&format!("{spaces}{name}:{comment}\n"));
                typed(value, indent + 2 + usize::from(die % 2), style, text);
            }
            Value::Array(items) if die.is_multiple_of(2) && !items.is_empty() => {
                text.push_str(&format!("{spaces}{name}:{comment}\n"));
                items.iter().for_each(|item| text.push_str(&format!("{spaces}- {item}\n")));
            }
            value => text.push_str(&format!("{spaces}{name}: {value}{comment}\n")),
        }
    }
}

/// Content of other programs in the file: unknown names, anchors, text that looks like a comment.
const FOREIGN: &str = "\
    # their own\n\
    xbase: &base   # shared\n    deep: [1, 'two']\n    more: {k: v}  # flow\n\
    xuser: *base\n\
    'x.dotted key': \"# no comment\" # one\n\
    # of the text\n\
    xtext: |\n  # text\n\n  a: 1\n";

/// Whether all lines of `some` are in `all`, in order.
fn in_order<'a>(some: impl Iterator<Item = &'a str>, all: &'a str) -> bool {
    let mut all = all.lines();
    some.into_iter().all(|line| all.any(|other| other == line))
}

fn is_comment(line: &&str) -> bool {
    line.trim_start().starts_with('#')
}

proptest! {
    #[test]
    fn whatever_is_set_and_reset_comments_anchors_order_and_unknown_names_stay(
        settings in group(),
        style in prop::collection::vec(any::<u8>(), 0..40),
        foreign_first in any::<bool>(),
        steps in prop::collection::vec(
            (prop::collection::vec("[a-d]{1,2}", 1..4), prop_oneof![scalar(), Just(Value::Null)]),
            1..16,
        ),
    ) {
        let mut own = String::new();
        typed(&settings, 0, &mut style.iter().copied(), &mut own);
        let begun = if foreign_first { format!("{FOREIGN}{own}") } else { format!("{own}{FOREIGN}") };
        let mut text = begun.clone();
        let mut says = parse(&text).unwrap();
        for (path, value) in &steps {
            // A replaced group loses its comments.
            if says.pointer(&format!("/{}", path.join("/"))).is_some_and(Value::is_object) {
                continue;
            }
            let Ok(new) = changed(&text, &path.join("."), value) else { continue };
            let parts: Vec<&str> = path.iter().map(String::as_str).collect();
            says = expected(says, &parts, value);
            // Compared as text, so that the order counts.
            prop_assert_eq!(parse(&new).unwrap().to_string(), says.to_string(), "{}\n{}", text, new);
            prop_assert!(new.contains(FOREIGN), "{}\n{}", text, new);
            prop_assert!(in_order(begun.lines().filter(is_comment), &new), "{}\n{}", text, new);
            text = new;
        }
    }

    #[test]
    fn after_a_save_the_file_says_what_it_said_with_the_change(
        settings in group(),
        style in prop::collection::vec(any::<u8>(), 0..40),
        path in prop::collection::vec("[a-d]{1,2}", 1..4),
        value in prop_oneof![scalar(), Just(Value::Null)],
    ) {
        let mut text = String::new();
        typed(&settings, 0, &mut style.iter().copied(), &mut text);
        prop_assert_eq!(&parse(&text).unwrap(), &settings, "{}", text);
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        match changed(&text, &path.join("."), &value) {
            Ok(new) => {
                let wanted = expected(settings.clone(), &parts, &value);
                prop_assert_eq!(parse(&new).unwrap(), wanted, "{}\n{}", text, new);
                // At most the line of the setting is removed, and the line of a group that became empty changes.
                let mut left: Vec<&str> = new.lines().collect();
                let is_gone = |line: &&str| match left.iter().position(|other| other == line) {
                    Some(at) => {
                        left.remove(at);
                        false
                    }
                    None => true,
                };
                let gone = text.lines().filter(is_gone).count();
                let replaced = settings.pointer(&format!("/{}", path.join("/")));
                if !replaced.is_some_and(|value| value.is_object() || value.is_array()) {
                    prop_assert!(gone <= 2, "{}\n{}", text, new);
                }
            }
            Err((problem, _)) => {
                let above = (1..parts.len()).filter_map(|end| settings.pointer(&format!("/{}", parts[..end].join("/"))));
                let blocked = above.into_iter().any(|value| !value.is_object());
                let special = text.contains(['&', '*', '!']);
                prop_assert!(blocked || special, "{}: {:?} in\n{}", problem, path, text);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic_or_lose_something(text in "[a-c:{}\\[\\]#'\"&*|>\n -]{0,60}", value in scalar()) {
        if let (Ok(new), Ok(old)) = (changed(&text, "a.b", &value), parse(&text)) {
            let path: &[&str] = if old.get("a.b").is_some() { &["a.b"] } else { &["a", "b"] };
            prop_assert_eq!(parse(&new).unwrap(), expected(old, path, &value));
        }
    }
}
