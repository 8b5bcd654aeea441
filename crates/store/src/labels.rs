//! Labels that the user gave to entries. A label is an entry itself; the last one for an entry counts.

use std::collections::HashMap;

use crate::context::read_line;
use crate::entry::{EntryId, Label};
use crate::open::LoadedSession;
use crate::scan::ContextEntryKind;
use crate::window::Window;

impl LoadedSession {
    /// Returns the current labels, in the order of their entries.
    pub fn labels(&self) -> Vec<(EntryId, String)> {
        let found = self.labels_among(0..self.scan.spots.len() as u32);
        let mut labels: Vec<_> = found.into_iter().collect();
        labels.sort_by_key(|(target, _)| self.scan.ids.position(crate::ids::hash(target.as_str())));
        labels
    }

    /// Returns the last label of each entry among these label entries.
    pub(crate) fn labels_among(&self, positions: impl Iterator<Item = u32>) -> HashMap<EntryId, String> {
        let mut window = Window::new(&self.file);
        let mut found = HashMap::new();
        for position in positions {
            let spot = &self.scan.spots[position as usize];
            if spot.kind != ContextEntryKind::Label {
                continue;
            }
            let line = read_line(&mut window, spot).ok();
            let Some(label) = line.and_then(|(line, _)| serde_json::from_str::<Label>(&line).ok()) else { continue };
            match label.label.filter(|name| !name.is_empty()) {
                Some(name) => found.insert(label.target_id.into(), name),
                None => found.remove(&EntryId::from(label.target_id)),
            };
        }
        found
    }
}
