//! Data that programs keep in a session beside the conversation.

use serde_json::Value;

use crate::context::read_line;
use crate::entry::Custom;
use crate::open::LoadedSession;
use crate::scan::Kind;
use crate::window::Window;

/// Longer entries are not data of this program.
const LONGEST: u32 = 1024 * 1024;

impl LoadedSession {
    /// The data of all `custom` entries of a type, on whatever branch, in the order of the file.
    pub fn custom_data(&self, custom_type: &str) -> Vec<Value> {
        let mut window = Window::new(&self.file);
        let spots = self.scan.spots.iter().filter(|spot| spot.kind == Kind::Bookkeeping && spot.len <= LONGEST);
        let entries = spots.filter_map(|spot| {
            let (line, _) = read_line(&mut window, spot).ok()?;
            // Most entries of this kind are of other types; looking is cheaper than parsing.
            line.contains(custom_type).then(|| serde_json::from_str::<Custom>(&line).ok()).flatten()
        });
        entries.filter(|entry| entry.custom_type == custom_type).filter_map(|entry| entry.data).collect()
    }
}
