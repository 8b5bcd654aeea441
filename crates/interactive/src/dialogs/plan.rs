//! Shows a finished plan and asks what to do with it: run it, edit it first, go on planning, or leave plan mode.

use omp_session::{PLAN_APPROVED, PLAN_APPROVED_EDITED, PLAN_FILE};
use omp_tui::{Component as _, Editor, Input, Key, KeyCode, Line, ListWindow, Markdown, Mods, Reaction, Space, Token};

use super::quiet::Quiet;
use super::sheet::{Sheet, wrapped};
use super::{Dialog, DialogStep};
use crate::action::Action;
use crate::keymap::KeyContext;

const CHOICES: [(&str, &str); 4] = [
    ("1. Approve and run", "the project may be changed"),
    ("2. Approve with edits", "change the plan, then run it"),
    ("3. Keep planning", "say what is missing"),
    ("4. Leave plan mode", "the plan is not run"),
];
const RUN: usize = 0;
const EDIT: usize = 1;
/// Selected at first, so that an accidental Enter runs nothing.
const KEEP: usize = 2;
/// The rows of the screen that the plan leaves to the choices, the frame, and the rows outside the dialog.
const AROUND: usize = 12;
const LEAST_ROWS: usize = 2;
/// The rows below what is sent.
const KEYS_AND_BORDER: usize = 3;

/// What the user writes.
enum PlanWriting {
    /// The plan that is to run.
    Edits(Editor),
    /// What is missing in the plan.
    Words(Editor),
}

impl PlanWriting {
    fn editor(&mut self) -> &mut Editor {
        match self {
            PlanWriting::Edits(editor) | PlanWriting::Words(editor) => editor,
        }
    }
}

pub struct PlanDialog {
    plan: String,
    markdown: Markdown,
    pointer: ListWindow,
    writing: Option<PlanWriting>,
    quiet: Quiet,
    scroll: usize,
    /// The number of rows of the plan below the visible ones.
    below: usize,
    page: usize,
    /// Whether the window has room for what is sent. Nothing is sent that the user cannot read.
    shows_sent: bool,
}

impl PlanDialog {
    pub(crate) fn new(plan: String, quiet: Quiet) -> Self {
        let mut markdown = Markdown::default();
        markdown.set(if plan.trim().is_empty() { "The plan is empty, or not saved to a file." } else { &plan });
        markdown.finish();
        let mut pointer = ListWindow::default();
        pointer.select(KEEP);
        Self { plan, markdown, pointer, writing: None, quiet, scroll: 0, below: 0, page: 1, shows_sent: false }
    }

    fn choose(&mut self, at: usize) -> DialogStep {
        self.pointer.select(at);
        let mut editor = Editor::default();
        match at {
            RUN if !self.shows_sent => return DialogStep::Redraw,
            RUN => return DialogStep::Close(Some(Action::RunPlan(None))),
            EDIT => {
                editor.set_text(&self.plan);
                editor.set_cursor(0);
                self.writing = Some(PlanWriting::Edits(editor));
            }
            KEEP => {
                editor.set_placeholder("what is missing, or what should be different");
                self.writing = Some(PlanWriting::Words(editor));
            }
            _ => return DialogStep::Close(Some(Action::Say("/plan".to_owned()))),
        }
        DialogStep::Redraw
    }

    fn write(&mut self, input: &Input) -> DialogStep {
        let Some(writing) = &mut self.writing else { return DialogStep::Ignored };
        match input {
            Input::Key(key) if super::is_cancel(*key) => {
                self.writing = None;
                DialogStep::Redraw
            }
            Input::Key(key) if *key == Key::ctrl('g') => {
                DialogStep::Do(Action::EditDialogOutside(writing.editor().expanded_text()))
            }
            Input::Key(key) if *key == Key::plain(KeyCode::Enter) => self.written(),
            _ => super::picked(writing.editor().input(input) == Reaction::Taken),
        }
    }

    fn written(&mut self) -> DialogStep {
        let Some(writing) = &mut self.writing else { return DialogStep::Ignored };
        if writing.editor().continue_line() {
            return DialogStep::Redraw;
        }
        let text = writing.editor().expanded_text();
        let text = text.trim();
        match writing {
            PlanWriting::Edits(_) if text.is_empty() || !self.shows_sent => DialogStep::Ignored,
            PlanWriting::Edits(_) => {
                DialogStep::Close(Some(Action::RunPlan(is_edited(text, &self.plan).then(|| text.to_owned()))))
            }
            PlanWriting::Words(_) => DialogStep::Close((!text.is_empty()).then(|| Action::Say(text.to_owned()))),
        }
    }

    fn scrolled(&mut self, key: Key) -> bool {
        let step = match (key.mods, key.code) {
            (Mods::NONE, KeyCode::PageDown) => self.page.min(self.below) as isize,
            (Mods::NONE, KeyCode::PageUp) => -(self.page.min(self.scroll) as isize),
            (Mods::SHIFT, KeyCode::Down) => 1.min(self.below) as isize,
            (Mods::SHIFT, KeyCode::Up) => -(1.min(self.scroll) as isize),
            _ => return false,
        };
        self.scroll = self.scroll.saturating_add_signed(step);
        self.below = self.below.saturating_add_signed(-step);
        true
    }

    /// Draws the plan in the rows that `others` leave.
    fn draw_plan(&mut self, sheet: &mut Sheet<'_>, others: usize) {
        let inner = sheet.inner();
        let rows = self.markdown.draw(&inner);
        self.page = inner.height.saturating_sub(AROUND + others).max(LEAST_ROWS);
        self.scroll = self.scroll.min(rows.len().saturating_sub(self.page));
        self.below = rows.len().saturating_sub(self.scroll + self.page);
        sheet.extend(rows.iter().skip(self.scroll).take(self.page).cloned());
        if self.below + self.scroll > 0 {
            sheet.muted(&sheet.hidden(self.scroll, self.below, ["pageUp", "pageDown"]));
        }
        sheet.section();
    }

    fn draw_writing(&mut self, space: &Space<'_>) -> Vec<Line> {
        let Some(writing) = &mut self.writing else { return Vec::new() };
        let (title, note, enter) = match writing {
            PlanWriting::Edits(_) => ("Edit the plan", PLAN_FILE, "approve and run"),
            PlanWriting::Words(_) => ("Keep planning", "", "send"),
        };
        let mut sheet = Sheet::wide(space, title, note);
        let editor = writing.editor();
        editor.set_max_rows(sheet.room());
        sheet.extend(editor.draw(&sheet.inner()));
        if let PlanWriting::Edits(editor) = writing {
            let sent = match is_edited(&editor.expanded_text(), &self.plan) {
                true => sent_rows("Sends, with the plan:", PLAN_APPROVED_EDITED, &sheet),
                false => sent_rows("Sends:", PLAN_APPROVED, &sheet),
            };
            sheet.section();
            self.shows_sent = sent.fit;
            sheet.extend(sent.rows);
        }
        sheet.finish_with_all(&[("enter", enter), ("shift+enter", "new line"), ("ctrl+g", "editor"), ("esc", "back")])
    }
}

fn is_edited(text: &str, plan: &str) -> bool {
    text.trim() != plan.trim()
}

/// What a choice sends in the user's name, as rows at the end of the dialog.
struct SentRows {
    rows: Vec<Line>,
    /// Whether the window is high enough for them; otherwise they say so.
    fit: bool,
}

fn on_one_row(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn sent_rows(label: &str, text: &str, sheet: &Sheet<'_>) -> SentRows {
    let space = sheet.inner();
    let rows = wrapped(&format!("{label} {}", on_one_row(text)), space.width, space.theme.fg(Token::Muted));
    if rows.len() + KEYS_AND_BORDER <= space.height {
        return SentRows { rows, fit: true };
    }
    let told = "Make the terminal larger to read what is sent and run the plan.";
    SentRows { rows: wrapped(told, space.width, space.theme.fg(Token::Warning)), fit: false }
}

impl Dialog for PlanDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.quiet.seen();
        if self.writing.is_some() {
            return self.draw_writing(space);
        }
        let mut sheet = Sheet::wide(space, "The plan", PLAN_FILE);
        let sent = sent_rows("1 sends:", PLAN_APPROVED, &sheet);
        self.shows_sent = sent.fit;
        self.draw_plan(&mut sheet, sent.rows.len());
        sheet.choices(self.pointer.selected(), CHOICES);
        sheet.extend(sent.rows);
        sheet.finish(&[("enter", "choose"), ("esc", "close"), ("/plan-review", "shows it again")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if let Some(step) = self.quiet.astray(input) {
            return step;
        }
        if self.writing.is_some() {
            return self.write(input);
        }
        let Input::Key(key) = input else { return DialogStep::Ignored };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(None),
            _ if self.scrolled(*key) => DialogStep::Redraw,
            (Mods::NONE, KeyCode::Enter) => self.choose(self.pointer.selected()),
            (Mods::NONE, KeyCode::Char(digit @ '1'..='4')) => self.choose(digit as usize - '1' as usize),
            _ => super::picked(self.pointer.key(key, CHOICES.len())),
        }
    }

    fn edited(&mut self, text: &str) {
        if let Some(writing) = &mut self.writing {
            writing.editor().set_text(text);
        }
    }

    fn context(&self) -> KeyContext {
        if self.writing.is_some() { KeyContext::Editor } else { KeyContext::List }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use omp_tui::Theme;

    use super::super::screen::{both, draw, press, says, typed};
    use super::*;

    pub fn dialog() -> PlanDialog {
        let steps: String = (1..=12).map(|step| format!("{step}. Step {step}\n")).collect();
        PlanDialog::new(format!("# Plan\n\nRead **first**, then write.\n\n{steps}"), Quiet::default())
    }

    fn small() -> PlanDialog {
        PlanDialog::new("a".to_owned(), Quiet::default())
    }

    #[test]
    fn a_plan_runs_only_when_that_was_chosen() {
        for (keys, step) in [
            ("enter", "Redraw"),
            ("enter enter", "Close(None)"),
            ("enter m o r e enter", "Close(Some(Say(\"more\")))"),
            ("up up enter", "Close(Some(RunPlan(None)))"),
            ("1", "Close(Some(RunPlan(None)))"),
            ("2 enter", "Close(Some(RunPlan(None)))"),
            ("2 x enter", "Close(Some(RunPlan(Some(\"xa\"))))"),
            ("2 x shift+enter enter", "Close(Some(RunPlan(Some(\"x\\na\"))))"),
            ("2 delete enter", "Ignored"),
            ("2 escape escape", "Close(None)"),
            ("2 x ctrl+g", "Do(EditDialogOutside(\"xa\"))"),
            ("3 w ctrl+g", "Do(EditDialogOutside(\"w\"))"),
            ("4", "Close(Some(Say(\"/plan\")))"),
            ("escape", "Close(None)"),
            ("y", "Ignored"),
        ] {
            assert_eq!(says(&mut small(), keys), step, "{keys}");
        }
        let mut dialog = small();
        press(&mut dialog, "2");
        dialog.edited("another plan");
        assert_eq!(says(&mut dialog, "enter"), "Close(Some(RunPlan(Some(\"another plan\"))))");
    }

    #[test]
    fn the_plan_is_shown_and_can_be_read_to_its_end() {
        let mut dialog = dialog();
        insta::assert_snapshot!(both(&mut dialog), @"
        ╭─ The plan  local://PLAN.md ──────────────────────────────╮
        │ Plan                                                     │
        │                                                          │
        │ … 14 more (pageDown)                                     │
        │   1. Approve and run     the project may be changed      │
        │   2. Approve with edits  change the plan, then run it    │
        │ ❯ 3. Keep planning       say what is missing             │
        │   4. Leave plan mode     the plan is not run             │
        │ 1 sends: I approve the plan in local://PLAN.md. Read it  │
        │ again if you no longer have it before you, carry it out  │
        │ step by step, and tell me where you deviated from it.    │
        ╰─ enter choose · esc close · /plan-review shows it again ─╯
        ------------------------------
        ── The plan  local://PLAN.… ──
        Plan

        … 14 more (pageDown)
          1. Approve and run
          2. Approve with edits
        ❯ 3. Keep planning
          4. Leave plan mode
        1 sends: I approve the plan in
        local://PLAN.md. Read it again
        if you no longer have it
        before you, carry it out step
        by step, and tell me where you
        deviated from it.
        enter choose · esc close
        ");
        press(&mut dialog, &"pageDown ".repeat(9));
        assert!(draw(&mut dialog, 60).contains("12. Step 12"));
    }

    /// The text of a dialog without the frame and line breaks.
    fn words(dialog: &mut PlanDialog, width: usize, height: usize) -> String {
        let theme = Theme::colorless();
        let rows = dialog.draw(&Space { width, height, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys });
        let last = &rows[rows.len().saturating_sub(height)..];
        let text: Vec<String> = last.iter().map(|row| row.text().replace('│', " ")).collect();
        on_one_row(&text.join(" "))
    }

    #[test]
    fn what_is_sent_is_seen_before_it_is_sent() {
        let (approved, edited) = (on_one_row(PLAN_APPROVED), on_one_row(PLAN_APPROVED_EDITED));
        for (width, height) in [(200, 50), (120, 40), (80, 24), (60, 16), (40, 12), (30, 16), (20, 8), (20, 4)] {
            let mut dialog = dialog();
            let shown = words(&mut dialog, width, height).contains(&format!("1 sends: {approved}"));
            assert_eq!(shown, height > 8, "{width}x{height}");
            let runs = matches!(dialog.input(&typed("1")[0]), DialogStep::Close(_));
            assert_eq!(runs, shown, "{width}x{height}: what cannot be read is not sent");
            let mut dialog = self::dialog();
            words(&mut dialog, width, height);
            dialog.input(&typed("2")[0]);
            let shown = words(&mut dialog, width, height).contains(&format!("Sends: {approved}"));
            let runs = matches!(dialog.input(&typed("enter")[0]), DialogStep::Close(_));
            assert_eq!((shown, runs), (height > 8, height > 8), "{width}x{height}: an unchanged plan");
        }
        let mut dialog = dialog();
        words(&mut dialog, 80, 24);
        dialog.input(&typed("2")[0]);
        dialog.input(&typed("x")[0]);
        let text = words(&mut dialog, 80, 24);
        assert!(text.contains(&format!("Sends, with the plan: {edited}")) && !text.contains(&approved), "{text}");
    }
}
