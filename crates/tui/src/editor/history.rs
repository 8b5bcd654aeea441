//! Sent messages that up and down recall. The current draft is kept meanwhile.

use super::fragment::Fragment;

const MOST: usize = 1000;
const MOST_BYTES: usize = 8 << 20;

#[derive(Clone, Debug, Default)]
pub(crate) struct EditorHistory {
    /// Newest last.
    entries: Vec<String>,
    /// The index of the shown entry, and the draft from before.
    shown: Option<(usize, Fragment)>,
}

impl EditorHistory {
    pub fn new(entries: impl IntoIterator<Item = String>) -> Self {
        let mut history = Self { entries: entries.into_iter().collect(), shown: None };
        history.forget_the_oldest();
        history
    }

    /// Stores a repeated text once.
    pub fn push(&mut self, text: &str) {
        self.shown = None;
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return;
        }
        self.entries.push(text.to_owned());
        self.forget_the_oldest();
    }

    pub fn is_walking(&self) -> bool {
        self.shown.is_some()
    }

    /// Turns the shown entry into the draft.
    pub fn leave(&mut self) {
        self.shown = None;
    }

    /// Returns the entry before the shown one. `draft` is the current text if no entry is shown yet.
    pub fn older(&mut self, draft: &Fragment) -> Option<Fragment> {
        let at = self.shown.as_ref().map_or(self.entries.len(), |(at, _)| *at).checked_sub(1)?;
        let entry = self.entries.get(at)?;
        match &mut self.shown {
            Some((shown, _)) => *shown = at,
            None => self.shown = Some((at, draft.clone())),
        }
        Some(Fragment::plain(entry.as_str()))
    }

    /// Returns the entry after the shown one, and finally the draft.
    pub fn newer(&mut self) -> Option<Fragment> {
        let (at, draft) = self.shown.take()?;
        match self.entries.get(at + 1) {
            None => Some(draft),
            Some(entry) => {
                self.shown = Some((at + 1, draft));
                Some(Fragment::plain(entry.as_str()))
            }
        }
    }

    fn forget_the_oldest(&mut self) {
        let (mut bytes, mut kept) = (0, 0);
        for entry in self.entries.iter().rev().take(MOST) {
            bytes += entry.len();
            if bytes > MOST_BYTES && kept > 0 {
                break;
            }
            kept += 1;
        }
        self.entries.drain(..self.entries.len() - kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_back_and_forth_and_keeps_the_draft() {
        let mut history = EditorHistory::new(["one", "two"].map(str::to_owned));
        history.push("two");
        history.push("  ");
        let draft = Fragment::plain("draft");
        let mut seen = |older: bool| {
            let step = if older { history.older(&draft) } else { history.newer() };
            step.map(|fragment| fragment.text)
        };
        let walk = [true, true, true, false, false, false].map(&mut seen);
        assert_eq!(walk.map(Option::unwrap_or_default), ["two", "one", "", "two", "draft", ""]);
    }

    #[test]
    fn is_bounded() {
        let mut history = EditorHistory::new((0..MOST + 5).map(|number| number.to_string()));
        assert_eq!((history.entries.len(), history.entries[0].as_str()), (MOST, "5"));
        history.push(&"x".repeat(MOST_BYTES));
        assert_eq!(history.entries.len(), 1);
    }
}
