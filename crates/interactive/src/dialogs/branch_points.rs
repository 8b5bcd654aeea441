//! The list behind a double escape: earlier messages of the user to branch from.

use omp_session::BranchPoint;
use omp_tui::{Input, KeyCode, Line, Mods, Space};

use super::picker::{Picker, Search};
use super::sheet::{Sheet, start_of};
use super::{Dialog, DialogStep};
use crate::action::{Action, Chooser, Destination};

#[derive(Debug)]
pub struct BranchPointsDialog {
    points: Vec<BranchPoint>,
    picker: Picker,
}

impl BranchPointsDialog {
    /// Oldest first; the newest is selected.
    pub fn new(points: Vec<BranchPoint>) -> Self {
        let mut picker = Picker::new(points.iter().map(|point| point.text.clone()), Search::Words);
        picker.point_at(points.len().saturating_sub(1));
        Self { points, picker }
    }
}

impl Dialog for BranchPointsDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let note = format!("{} of {}", self.picker.matches().len(), self.picker.total());
        let mut sheet = Sheet::new(space, "Go back to", &note);
        let space = &sheet.inner();
        let row = |at: usize, selected| Sheet::item(space, selected, &start_of(&self.points[at].text), "");
        self.picker.draw(&mut sheet, "type to search", row);
        sheet.finish(&[("enter", "edit and resend"), ("esc", "close")])
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        let Input::Key(key) = input else { return super::picked(self.picker.input(input)) };
        match (key.mods, key.code) {
            _ if super::is_cancel(*key) => DialogStep::Close(None),
            (Mods::NONE, KeyCode::Enter) => match self.picker.pointed().map(|at| self.points[at].clone()) {
                Some(point) => {
                    let (entry, text) = (point.parent, Some(point.text));
                    DialogStep::Close(Some(Action::GoTo(Destination { entry, text, chosen_in: Chooser::BranchPoints })))
                }
                None => DialogStep::Ignored,
            },
            _ => super::picked(self.picker.input(input)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::{both, says};
    use super::*;

    fn points() -> Vec<BranchPoint> {
        let texts = ["first thing", "second\nthing, which is longer than a narrow row has room for"];
        let parents = [None, Some("a".into())];
        let point = |(text, parent): (&str, _)| BranchPoint { entry: "x".into(), parent, text: text.into() };
        texts.into_iter().zip(parents).map(point).collect()
    }

    #[test]
    fn what_was_said() {
        insta::assert_snapshot!(both(&mut BranchPointsDialog::new(points())), @"
        ╭─ Go back to  2 of 2 ─────────────────────────────────────╮
        │ > type to search                                         │
        ├──────────────────────────────────────────────────────────┤
        │   first thing                                            │
        │ ❯ second thing, which is longer than a narrow row has r… │
        ├──────────────────────────────────────────────────────────┤
        │ enter edit and resend · esc close                        │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Go back to  2 of 2 ────────
        > type to search
          first thing
        ❯ second thing, which is long…
        enter edit and resend
        ");
    }

    #[test]
    fn keys_choose() {
        for (points, keys, step) in [
            (
                points(),
                "up enter",
                r#"Close(Some(GoTo(Destination { entry: None, text: Some("first thing"), chosen_in: BranchPoints })))"#,
            ),
            (
                points(),
                "f i r s t enter",
                r#"Close(Some(GoTo(Destination { entry: None, text: Some("first thing"), chosen_in: BranchPoints })))"#,
            ),
            (points(), "escape", "Close(None)"),
            (Vec::new(), "enter", "Ignored"),
        ] {
            assert_eq!(says(&mut BranchPointsDialog::new(points), keys), step, "{keys}");
        }
        let newest = says(&mut BranchPointsDialog::new(points()), "enter");
        assert!(newest.contains(r#"Some(EntryId("a"))"#), "{newest}");
    }
}
