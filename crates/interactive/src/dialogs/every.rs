//! Every dialog: how it looks in windows of three sizes and in both themes, and that random keys never make it panic.

use omp_tui::{Input, Key, KeyCode, Mods, Space, Theme};

use super::*;
use crate::keymap::Keymap;
use crate::looks::looks;

/// Every dialog, with a name for its snapshot.
fn dialogs() -> Vec<(&'static str, Box<dyn Dialog>)> {
    let model = model::tests::model("a/one", true);
    let names = vec!["dark".to_owned(), "light".to_owned()];
    let prompts = vec!["one\ntwo".to_owned(), "日本語 👨\u{200d}👩\u{200d}👧".to_owned()];
    vec![
        ("approve-diff", Box::new(ApproveDialog::new(approve::tests::edit(40), Quiet::default()))),
        ("approve-empty-diff", Box::new(ApproveDialog::new(approve::tests::edit(0), Quiet::after(true)))),
        ("ask-one", Box::new(AskDialog::new(1, ask::tests::colors(false)))),
        ("ask-many", Box::new(AskDialog::new(1, ask::tests::colors(true)))),
        ("ask-text", Box::new(AskDialog::new(1, omp_agent::Choice::default()))),
        ("model", Box::new(ModelDialog::new(model::tests::choices(false)))),
        ("model-none", Box::new(ModelDialog::new(ModelChoices::default()))),
        ("thinking", Box::new(ThinkingDialog::new(&model, omp_types::ThinkingLevel::Xhigh))),
        ("sessions", Box::new(SessionsDialog::new(sessions::tests::sessions()))),
        ("tree", Box::new(TreeDialog::new(tree::tests::view()))),
        ("tree-empty", Box::new(TreeDialog::new(TreeView::default()))),
        ("branch-note", Box::new(branch_note::tests::dialog())),
        ("open-url", Box::new(open_url::tests::dialog())),
        ("summary", Box::new(summary::tests::dialog())),
        ("plan", Box::new(plan::tests::dialog())),
        ("branch-points", Box::new(BranchPointsDialog::new(tree::tests::view().points))),
        ("settings-none", Box::new(SettingsDialog::new(&[], |_| None))),
        ("settings", Box::new(settings::tests::dialog())),
        ("theme", Box::new(ThemeDialog::new(names, "gone"))),
        ("history", Box::new(HistoryDialog::new(prompts))),
        ("hotkeys", Box::new(HotkeysDialog::new(Keymap::defaults().help()))),
        ("menu", Box::new(menu::tests::menu())),
        ("page", Box::new(page::tests::log())),
        ("copy", Box::new(CopyDialog::new(copyables(Some("```\na"), None)))),
    ]
}

/// A deterministic random generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn input(&mut self) -> Input {
        use KeyCode::{
            Backspace, Char, Delete, Down, End, Enter, Escape, F, Home, Left, PageDown, PageUp, Right, Tab, Up,
        };
        let codes = [Up, Down, Left, Right, PageUp, PageDown, Home, End, Enter, Escape, Tab, Backspace, Delete, F(5)];
        let chars = ['a', 'e', 'L', 'o', 'd', 'r', 's', 'p', 't', 'y', '1', '9', ' ', 'é', '日', '\u{301}'];
        let code = match self.below(3) {
            0 => Char(chars[self.below(chars.len() as u64) as usize]),
            _ => codes[self.below(codes.len() as u64) as usize],
        };
        let mods = [Mods::NONE, Mods::NONE, Mods::NONE, Mods::SHIFT, Mods::CTRL, Mods::ALT][self.below(6) as usize];
        match self.below(40) {
            0 => Input::Paste("a\nb\u{1b}[2J\u{202e}日".into()),
            1 => Input::Focus(true),
            _ => Input::Key(Key::new(code, mods)),
        }
    }
}

#[test]
fn no_key_makes_a_dialog_fall_over() {
    let theme = Theme::colorless();
    for (at, (which, mut dialog)) in dialogs().into_iter().enumerate() {
        let mut dice = Dice(at as u64);
        for _ in 0..400 {
            let width = if dice.below(4) == 0 { dice.below(20) } else { 20 + dice.below(60) } as usize;
            let space = Space {
                width,
                height: dice.below(30) as usize,
                theme: &theme,
                focused: true,
                keys: &omp_tui::DefaultKeys,
            };
            let rows = dialog.draw(&space);
            assert!(!rows.is_empty());
            for row in rows.iter().filter(|_| width >= 20) {
                assert!(row.width() <= width, "dialog {which}: {:?} is wider than {width}", row.text());
                assert!(row.cursor.is_none_or(|column| column <= width), "dialog {which}");
            }
            dialog.input(&dice.input());
        }
    }
}

#[test]
fn every_dialog_at_three_sizes_and_in_both_themes() {
    for (name, mut dialog) in dialogs() {
        insta::assert_snapshot!(name, looks(|space| dialog.draw(space)));
    }
}
