//! Statistics of a session file. All branches are counted, because all of them were paid for.

use omp_types::Tally;

use crate::context::read_line;
use crate::message;
use crate::open::LoadedSession;
use crate::scan::ContextEntryKind;
use crate::window::Window;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileStats {
    pub entries: usize,
    /// Message counts and usage.
    pub tally: Tally,
    pub compactions: usize,
    /// Number of entries from the program or an extension, and of branch summaries: sent to the model, but written by
    /// nobody.
    pub told_entries: usize,
    /// Number of messages that could not be read.
    pub unreadable: usize,
}

impl LoadedSession {
    /// Reads every message, one at a time.
    pub fn stats(&self) -> FileStats {
        let mut stats = FileStats { entries: self.scan.spots.len(), ..FileStats::default() };
        let mut window = Window::new(&self.file);
        for spot in &self.scan.spots {
            match spot.kind {
                ContextEntryKind::Message => {
                    let line = read_line(&mut window, spot).ok();
                    match line.and_then(|(line, _)| message::of_message_entry(&line).ok()) {
                        Some((message, _)) => stats.tally.add(&message),
                        None => stats.unreadable += 1,
                    }
                }
                ContextEntryKind::Compaction => stats.compactions += 1,
                ContextEntryKind::CustomMessage | ContextEntryKind::BranchSummary => stats.told_entries += 1,
                _ => {}
            }
        }
        stats
    }
}
