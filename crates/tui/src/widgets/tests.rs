//! Tests widgets: keys in, rows out.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use proptest::prelude::*;

use super::testing::{press, rows, screen, type_text};
use super::*;
use crate::component::{Component, Reaction, Space};
use crate::input::Input;
use crate::line::Line;
use crate::style::Attrs;
use crate::theme::{SymbolPreset, Symbols, Theme};

fn models() -> Vec<ListChoice> {
    vec![
        ListChoice::new("claude-sonnet").detail("anthropic, 200k").hint("current"),
        ListChoice::new("gpt").detail("a\tb\u{1b}[31m"),
        ListChoice::new("日本-model-with-a-long-name").detail("somewhere"),
        ListChoice::new("small"),
    ]
}

#[test]
fn a_list_is_walked_around() {
    for (keys, want) in [
        ("", 0),
        ("down down", 2),
        ("up", 3),
        ("down down down down", 0),
        ("end", 3),
        ("end home", 0),
        ("pageDown", 2),
        ("pageDown pageDown pageDown", 3),
        ("end pageUp", 1),
    ] {
        let mut list = SelectList::new(models()).max_rows(2);
        rows(&mut list, 40);
        press(&mut list, keys);
        assert_eq!(list.selected(), Some(want), "{keys}");
    }
    let mut list = SelectList::new(models());
    assert_eq!(["enter", "escape", "x", "tab"].map(|key| press(&mut list, key)), [Reaction::Ignored; 4]);
}

#[test]
fn a_list_shows_columns() {
    let mut list = SelectList::new(models()).max_rows(3);
    list.select(2);
    assert_snapshot!(screen(&mut list, 60), @"
      claude-sonnet                anthropic, 200k       current
      gpt                          a b
    ❯ 日本-model-with-a-long-name  somewhere
      (3/4)
    ");
    assert_snapshot!(screen(&mut list, 30), @"
      claude-sonnet        current
      gpt               a b
    ❯ 日本-model-with…  somewhere
      (3/4)
    ");
    assert_snapshot!(screen(&mut list, 12), @"
      claude-so…
      gpt
    ❯ 日本-mode…
      (3/4)
    ");
}

#[test]
fn a_filter_finds_letters_and_marks_them() {
    let mut list = SelectList::new(models());
    list.select(3);
    list.set_filter("mo");
    assert_eq!(list.selected(), Some(2));
    let theme = Theme::colorless();
    let lines = list.draw(&Space { width: 40, height: 24, theme: &theme, focused: true, keys: &crate::DefaultKeys });
    let marked: String =
        lines[0].spans.iter().filter(|span| span.style.attrs.has(Attrs::BOLD)).map(|span| &*span.text).collect();
    assert_eq!(marked, "mo");
    list.set_filter("zzz");
    assert_eq!((list.selected(), rows(&mut list, 20)), (None, vec!["Nothing matches".to_owned()]));
    press(&mut list, "down up pageDown end");
    assert_eq!(list.selected(), None);
    list.set_filter("");
    list.set_filter("anthropic");
    assert_eq!(list.selected(), Some(0), "details are searched as well");
}

#[test]
fn a_filter_can_be_typed() {
    let mut list = SelectList::new(models()).with_filter_line().empty_text("No model");
    type_text(&mut list, "gp");
    assert_snapshot!(screen(&mut list, 30), @"
    / gp▏
    ❯ gpt               a b
    ");
    press(&mut list, "ctrl+u");
    assert_eq!((list.filter(), list.selected()), ("", Some(1)));
    type_text(&mut list, "#");
    assert_eq!(rows(&mut list, 30)[1], "No model");
}

#[test]
fn other_choices_keep_the_selection() {
    let mut list = SelectList::new(models());
    list.select(3);
    list.set_choices(vec![ListChoice::new("new"), ListChoice::new("small")]);
    assert_eq!(list.selected(), Some(1));
}

fn settings() -> SettingsList {
    let setting = |id: &str, value: &str, kind| Setting {
        id: id.into(),
        label: id.to_uppercase(),
        value: value.into(),
        description: format!("What {id} does, told in a few words."),
        kind,
    };
    let one_of = |values: &[&str]| SettingKind::OneOf(values.iter().map(|&value| value.to_owned()).collect());
    SettingsList::new(vec![
        setting("hide", "off", one_of(&["on", "off"])),
        setting("level", "b", one_of(&["a", "b", "c", "d"])),
        setting("name", "old", SettingKind::Text),
        setting("key", "hush", SettingKind::Secret),
        setting("file", "", SettingKind::Fixed),
    ])
}

#[test]
fn settings_are_changed_in_place() {
    for (keys, want) in [
        ("enter", Some(("hide", "on"))),
        ("space", Some(("hide", "on"))),
        ("space space", Some(("hide", "off"))),
        ("down enter down enter", Some(("level", "c"))),
        ("down enter down escape", None),
        ("down enter enter", None),
        ("down down enter ctrl+u n e w enter", Some(("name", "new"))),
        ("down down enter x escape", None),
        ("down down down enter s enter", Some(("key", "s"))),
        ("down down down enter enter", None),
        ("up enter", None),
        ("l e v enter down enter", Some(("level", "c"))),
    ] {
        let mut list = settings();
        press(&mut list, keys);
        let change = list.take_change();
        assert_eq!(change.as_ref().map(|change| (change.id.as_str(), change.value.as_str())), want, "{keys}");
        assert!(!list.is_open() && list.take_change().is_none());
        if let Some(SettingChange { index, value, .. }) = change {
            assert_eq!(list.settings()[index].value, value);
        }
    }
    assert_eq!(press(&mut settings(), "up enter"), Reaction::Ignored);
    assert_eq!(press(&mut settings(), "escape"), Reaction::Ignored);
}

#[test]
fn settings_are_shown_with_their_values() {
    let mut list = settings();
    assert_snapshot!(screen(&mut list, 30), @"
    / ▏type to filter
    ❯ HIDE   off
      LEVEL  b
      NAME   old
      KEY    ••••
      FILE   —

    What hide does, told in a few
    words.
    ");
    press(&mut list, "down enter");
    assert_snapshot!(screen(&mut list, 30), @"
    LEVEL
    / ▏type to filter
      a
    ❯ b
      c
      d

    What level does, told in a few
    words.
    ");
    press(&mut list, "escape down down enter a b");
    assert_snapshot!(screen(&mut list, 30), @"
    KEY
    > ••▏

    What key does, told in a few
    words.
    ");
}

/// Two branches below a chain, one of them with its own chain.
fn tree() -> TreeList {
    let node =
        |parent: Option<usize>, label: &str| TreeListNode { parent, label: label.into(), ..TreeListNode::default() };
    let mut nodes = vec![
        node(None, "start"),
        node(Some(0), "question"),
        node(Some(1), "first answer"),
        node(Some(2), "more"),
        node(Some(1), "second answer"),
        node(Some(4), "left"),
        node(Some(4), "right"),
    ];
    nodes[6].current = true;
    nodes[6].hint = "now".into();
    TreeList::new(nodes)
}

#[test]
fn a_tree_has_guides() {
    assert_snapshot!(screen(&mut tree(), 30), @"
      start
      question
      ├─ first answer
      │  more
      └─ second answer
         ├─ left
    ❯    └─ • right            now
    ");
    assert_snapshot!(screen(&mut tree().indent_chains(), 30), @"
      start
      └─ question
         ├─ first answer
         │  └─ more
         └─ second answer
            ├─ left
    ❯       └─ • right         now
    ");
}

#[test]
fn a_tree_folds() {
    let mut tree = tree();
    assert_eq!(tree.selected(), Some(6));
    press(&mut tree, "left left");
    assert_eq!((tree.selected(), tree.is_folded(4)), (Some(4), true));
    assert_snapshot!(screen(&mut tree, 30), @"
      start
      question
      ├─ first answer
      │  more
    ❯ └─ ▸ second answer
    ");
    press(&mut tree, "ctrl+right alt+right");
    assert_eq!((tree.selected(), tree.is_folded(4)), (Some(5), false));
    press(&mut tree, "home left");
    assert_eq!(rows(&mut tree, 30), ["❯ ▸ start"]);
    tree.select(3);
    assert_eq!((tree.selected(), rows(&mut tree, 30).len()), (Some(3), 7));
}

#[test]
fn a_filtered_tree_keeps_what_leads_to_the_match() {
    let mut tree = tree();
    press(&mut tree, "left left");
    tree.set_filter("left");
    assert_eq!(tree.selected(), Some(5), "though it was folded away");
    assert_snapshot!(screen(&mut tree, 30), @"
      start
      question
      second answer
    ❯ left
    ");
    tree.set_filter("");
    assert_eq!(rows(&mut tree, 30).len(), 5);
    tree.set_filter("zzz");
    assert_eq!(rows(&mut tree, 30), ["Nothing matches"]);
}

#[test]
fn a_deep_tree_leaves_room_for_labels() {
    let mut nodes = vec![TreeListNode::default()];
    for depth in 0..5000 {
        let parent = Some(nodes.len().saturating_sub(2) * usize::from(depth > 0));
        nodes.push(TreeListNode { parent, label: format!("deep {depth}"), ..TreeListNode::default() });
        nodes.push(TreeListNode { parent, label: "other".into(), ..TreeListNode::default() });
    }
    let mut tree = TreeList::new(nodes).max_rows(4);
    tree.select(9999);
    assert_snapshot!(screen(&mut tree, 30), @"
      … │  │  │  │  ├─ deep 4996
      … │  │  │  │  ├─ deep 4997
      … │  │  │  │  ├─ deep 4998
    ❯ … │  │  │  │  ├─ deep 4999
      (5001/10001)
    ");
}

#[test]
fn tabs_stay_in_sight() {
    let mut tabs = TabBar::new(["One", "Two", "Three", "Four"]);
    assert_eq!(rows(&mut tabs, 40), [" One  Two  Three  Four"]);
    for (keys, want, row) in [
        ("", 0, " One  Two  ›"),
        ("right tab", 2, "‹  Two  Three  ›"),
        ("right", 3, "‹  Three  Four"),
        ("right", 0, " One  Two  ›"),
        ("shift+tab left", 2, "‹  Two  Three  ›"),
    ] {
        press(&mut tabs, keys);
        assert_eq!((tabs.selected(), rows(&mut tabs, 16)), (want, vec![row.to_owned()]), "{keys}");
    }
}

#[test]
fn rows_scroll() {
    let mut view = ScrollView::new((1..=9).map(|row| Line::from(row.to_string())).collect()).max_rows(3);
    assert_eq!(rows(&mut view, 20), ["1", "2", "3", "  (1–3/9)"]);
    for (keys, top) in [("down", 1), ("pageDown", 3), ("end", 6), ("down", 6), ("pageUp up", 3), ("home up", 0)] {
        press(&mut view, keys);
        assert_eq!(view.top(), top, "{keys}");
    }
    press(&mut view, "end");
    view.set_rows((1..=20).map(|row| Line::from(row.to_string())).collect());
    assert_eq!(view.top(), 17, "stays at the end");
    view.set_rows(vec![Line::from("only")]);
    assert_eq!(rows(&mut view, 20), ["only"]);
}

#[test]
fn a_loader_turns_with_the_clock_of_the_application() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut loader = Loader::new("Working…", start);
    loader.set_hint("esc to interrupt");
    assert_eq!([10, 79, 80, 100, 161].map(|millis| loader.tick(at(millis))), [false, false, true, false, true]);
    assert_eq!(rows(&mut loader, 60), ["⠹ Working… (0s, esc to interrupt)"]);
    loader.tick(at(3_725_000));
    assert_eq!(rows(&mut loader, 22), ["⠹ Working… (1h 02m, e…"]);
    loader.set_message("a\nb");
    loader.tick(at(61_000));
    assert_eq!(rows(&mut loader, 22), ["⠹ a b (1m 01s, esc to…"]);
}

#[test]
fn a_countdown_ends() {
    let start = Instant::now();
    let mut countdown = Countdown::new("Retrying", start, Duration::from_secs(2));
    assert_eq!(rows(&mut countdown, 30), ["Retrying (2s)"]);
    assert!(!countdown.tick(start + Duration::from_millis(900)));
    assert!(countdown.tick(start + Duration::from_millis(1100)) && !countdown.is_over());
    assert_eq!(rows(&mut countdown, 30), ["Retrying (1s)"]);
    assert!(countdown.tick(start + Duration::from_secs(9)) && countdown.is_over());
}

#[test]
fn progress_is_a_bar() {
    let mut progress = ProgressBar::new("model.gguf", 200);
    for (done, total, row) in [
        (0, 200, "░░░░░░░░░░   0% mod…"),
        (100, 200, "█████░░░░░  50% mod…"),
        (300, 200, "██████████ 100% mod…"),
        (0, 0, "██████████ 100% mod…"),
    ] {
        progress.set(done, total);
        assert_eq!(rows(&mut progress, 20), [row]);
    }
    let theme = Theme::colorless().with_symbols(Symbols::new(SymbolPreset::Ascii));
    progress.set(1, 2);
    let lines =
        progress.draw(&Space { width: 60, height: 24, theme: &theme, focused: true, keys: &crate::DefaultKeys });
    assert_eq!(lines[0].text(), "###############---------------  50% model.gguf");
}

/// A panel with a filter, a list and a footer of one or two rows.
fn panel(width: usize, height: usize, items: usize, keys: &[&'static str]) -> String {
    let theme = Theme::colorless();
    let space = Space { width, height, theme: &theme, focused: true, keys: &crate::DefaultKeys };
    let mut panel = Panel::new(&space, Line::from("Name").with("  2 of 2", crate::style::Style::PLAIN));
    let mut filter = Line::from("> a");
    filter.cursor = Some(3);
    panel.push(filter);
    panel.section();
    panel.section();
    (0..items).for_each(|at| panel.push(Line::from(format!("item {at}"))));
    let rows = panel.finish(keys.iter().map(|keys| Line::from(*keys)).collect());
    assert!(rows.iter().all(|row| row.width() <= width), "{rows:?}");
    let inset = if width < 32 || height < 14 { 0 } else { 2 };
    assert!(rows.iter().filter_map(|row| row.cursor).eq([3 + inset].into_iter().filter(|_| width > 3)) || width <= 3);
    rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
}

#[test]
fn a_panel_drops_decoration_before_content() {
    assert_snapshot!(panel(32, 24, 2, &["enter choose"]), @"
    ╭─ Name  2 of 2 ───────────────╮
    │ > a                          │
    ├──────────────────────────────┤
    │ item 0                       │
    │ item 1                       │
    ├──────────────────────────────┤
    │ enter choose                 │
    ╰──────────────────────────────╯
    ");
    assert_snapshot!(panel(32, 14, 5, &["enter choose"]), @"
    ╭─ Name  2 of 2 ───────────────╮
    │ > a                          │
    ├──────────────────────────────┤
    │ item 0                       │
    │ item 1                       │
    │ item 2                       │
    │ item 3                       │
    │ item 4                       │
    ╰─ enter choose ───────────────╯
    ");
    assert_snapshot!(panel(32, 14, 7, &["enter choose", "esc close"]), @"
    ╭─ Name  2 of 2 ───────────────╮
    │ > a                          │
    │ item 0                       │
    │ item 1                       │
    │ item 2                       │
    │ item 3                       │
    │ item 4                       │
    │ item 5                       │
    │ item 6                       │
    │ enter choose                 │
    ╰─ esc close ──────────────────╯
    ");
    assert_snapshot!(panel(31, 24, 2, &["enter choose"]), @"
    ── Name  2 of 2 ───────────────
    > a
    item 0
    item 1
    enter choose
    ");
    assert_snapshot!(panel(40, 10, 2, &["enter choose"]), @"
    ── Name  2 of 2 ────────────────────────
    > a
    item 0
    item 1
    enter choose
    ");
    for width in 0..12 {
        panel(width, 24, 2, &["esc"]);
    }
}

#[test]
fn an_input_line_scrolls_sideways() {
    let mut line = InputLine::new("> ");
    line.set_placeholder("name");
    assert_eq!(rows(&mut line, 10), ["> ▏name"]);
    type_text(&mut line, "hello wörld");
    assert_eq!(rows(&mut line, 10), ["> o wörld▏"]);
    press(&mut line, "home");
    assert_eq!(rows(&mut line, 10), ["> ▏hello wö"]);
    press(&mut line, "ctrl+k");
    assert_eq!(line.text(), "");
    press(&mut line, "ctrl+y left left X");
    assert_eq!(line.text(), "hello wörXld");
    assert_eq!(["enter", "up", "shift+enter", "escape"].map(|key| press(&mut line, key)), [Reaction::Ignored; 4]);
    line.input(&Input::Paste("a\nb\r\n".into()));
    assert_eq!(line.take(), "hello wörXa bld");
    assert_eq!(press(&mut line, "backspace"), Reaction::Ignored);
}

#[test]
fn a_secret_shows_as_dots_and_cannot_be_yanked_later() {
    let mut line = InputLine::new("key: ");
    line.set_secret(true);
    type_text(&mut line, "se日");
    assert_eq!(rows(&mut line, 20), ["key: •••▏"]);
    press(&mut line, "ctrl+u ctrl+y");
    assert_eq!(line.take(), "se日");
    press(&mut line, "ctrl+y ctrl+-");
    assert!(line.is_empty());
}

#[test]
fn space_is_empty() {
    assert_eq!(rows(&mut Spacer(2), 5), ["", ""]);
    assert_eq!(rows(&mut TextWidget::new("a b"), 1), ["a", "b"]);
}

const KEYS: &[&str] = &[
    "up",
    "down",
    "left",
    "right",
    "pageUp",
    "pageDown",
    "home",
    "end",
    "enter",
    "escape",
    "space",
    "tab",
    "shift+tab",
    "backspace",
    "a",
    "m",
    "ctrl+u",
    "ctrl+w",
    "ctrl+y",
    "ctrl+k",
];

proptest! {
    #[test]
    fn nothing_is_wider_than_its_space(keys in prop::collection::vec(prop::sample::select(KEYS), 0..30), width in 0usize..40) {
        let mut parts: Vec<Box<dyn Component>> = vec![
            Box::new(SelectList::new(models()).with_filter_line().max_rows(2)),
            Box::new(settings().max_rows(3)),
            Box::new(tree().max_rows(4)),
            Box::new(TabBar::new(["One", "日本", "Three"])),
            Box::new(InputLine::new("> ")),
            Box::new(ProgressBar::new("x", 3)),
            Box::new(Loader::new("Working", Instant::now())),
            Box::new(Countdown::new("Wait", Instant::now(), Duration::from_secs(3))),
        ];
        let theme = Theme::colorless();
        for part in &mut parts {
            for key in &keys {
                press(&mut **part, key);
                let lines = part.draw(&Space { width, height: 10, theme: &theme, focused: true, keys: &crate::DefaultKeys });
                let widest = lines.iter().map(Line::width).max().unwrap_or_default();
                prop_assert!(widest <= width.max(2), "{widest} > {width}: {:?}", lines.iter().map(Line::text).collect::<Vec<_>>());
            }
        }
    }
}
