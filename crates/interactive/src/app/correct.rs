//! `/compact edit`: edits the compaction summary in a dialog, or in the user's own editor.

use omp_compaction::Compacted;

use super::screen::Dirty;
use super::{News, Running};
use crate::dialogs::SummaryDialog;
use crate::transcript::Tone;

/// The result of a correction.
pub struct Corrected {
    text: String,
    outcome: Result<Compacted, String>,
}

impl Running {
    /// Shows the compaction summary. Returns `false` if there is none, which the session's own command reports.
    pub(super) fn offer_summary(&mut self) -> bool {
        let Some(summary) = self.summary() else { return false };
        self.show_dialog(Box::new(SummaryDialog::new(summary.clone(), &summary)));
        true
    }

    fn summary(&self) -> Option<String> {
        self.live.as_ref()?.session.summary()
    }

    pub(super) async fn edit_summary_outside(&mut self, text: String) {
        let edited = self.edit_outside(&text).await;
        self.show_dialog(Box::new(SummaryDialog::new(
            self.summary().unwrap_or_default(),
            edited.as_deref().unwrap_or(&text).trim_end_matches('\n'),
        )));
    }

    /// Runs in a task: a session that is working applies the change afterwards.
    pub(super) fn correct_summary(&mut self, text: String) {
        let Some(live) = &self.live else { return };
        let session = live.session.clone();
        self.beside(async move {
            let outcome = session.edit_summary(text.clone()).await;
            News::Corrected(Box::new(Corrected { text, outcome }))
        });
    }

    pub(super) fn corrected(&mut self, corrected: Corrected) {
        self.screen.mark(Dirty::Now);
        match corrected.outcome {
            Ok(compacted) => self.note(Tone::Told, &compacted.told_corrected()),
            Err(problem) => {
                self.note(Tone::Error, &problem);
                let before = self.summary().unwrap_or_default();
                self.show_dialog(Box::new(SummaryDialog::new(before, &corrected.text)));
            }
        }
    }
}
