//! Creates a clean copy of a damaged session: everything readable, at its position in the tree, under a new ID. The damaged
//! file is unchanged.

use std::collections::HashSet;
use std::io::{self, Write};

use serde_json::{Map, Value};

use crate::context::{read_line, whole_entries};
use crate::copy::{CopiedSession, CopyTo};
use crate::error::CopyError;
use crate::ids::{Ids, hash};
use crate::open::LoadedSession;
use crate::scan::Spot;
use crate::window::Window;

/// Result of repairing a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Salvaged {
    pub copy: CopiedSession,
    pub kept: usize,
    /// Number of entries that could not be read at all.
    pub lost: usize,
}

impl LoadedSession {
    pub fn salvage(&self, to: CopyTo<'_>) -> Result<Salvaged, CopyError> {
        let mut salvage = Salvage { session: self, ids: Ids::default(), given: Vec::new(), kept: 0, lost: 0 };
        let copy = self.copy_as(to, |out| salvage.entries(out))?;
        Ok(Salvaged { copy, kept: salvage.kept, lost: salvage.lost })
    }
}

struct Salvage<'a> {
    session: &'a LoadedSession,
    /// IDs of the new file.
    ids: Ids,
    /// For each old entry, the new parent ID of its children; `None` for the root.
    given: Vec<Option<String>>,
    kept: usize,
    lost: usize,
}

impl Salvage<'_> {
    fn entries(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut window = Window::new(&self.session.file);
        // An ID that a later entry uses must not be assigned to an entry without one.
        let taken: HashSet<u64> = self.session.scan.spots.iter().map(|spot| spot.id_hash).collect();
        for spot in &self.session.scan.spots {
            let mut parent = spot.parent().and_then(|parent| self.given[parent as usize].clone());
            let pieces = read_line(&mut window, spot).map_or(Vec::new(), |(line, _)| pieces(&line));
            if pieces.is_empty() {
                self.lost += 1;
            }
            for piece in pieces {
                parent = Some(self.write(piece, parent, spot, &taken, out)?);
            }
            self.given.push(parent);
        }
        Ok(())
    }

    fn write(
        &mut self,
        mut entry: Map<String, Value>,
        parent: Option<String>,
        spot: &Spot,
        taken: &HashSet<u64>,
        out: &mut dyn Write,
    ) -> io::Result<String> {
        let own = entry.get("id").and_then(Value::as_str).map(str::to_owned);
        let id = own.filter(|id| self.ids.position(hash(id)).is_none()).unwrap_or_else(|| self.unused(taken));
        self.ids.insert(hash(&id), spot.line);
        entry.insert("id".into(), id.as_str().into());
        entry.insert("parentId".into(), parent.map_or(Value::Null, Value::from));
        self.update(&mut entry);
        serde_json::to_writer(&mut *out, &entry)?;
        out.write_all(b"\n")?;
        self.kept += 1;
        Ok(id)
    }

    fn unused(&self, taken: &HashSet<u64>) -> String {
        loop {
            let id = self.ids.unused();
            if !taken.contains(&hash(&id)) {
                return id;
            }
        }
    }

    /// Converts entries of older versions to the current form.
    fn update(&self, entry: &mut Map<String, Value>) {
        if let Some(index) = entry.shift_remove("firstKeptEntryIndex").and_then(|index| index.as_u64()) {
            let kept = usize::try_from(index).ok().and_then(|index| self.given.get(index.checked_sub(1)?)?.clone());
            entry.insert("firstKeptEntryId".into(), kept.unwrap_or_default().into());
        }
        let role = entry.get_mut("message").and_then(|message| message.get_mut("role"));
        if let Some(role) = role.filter(|role| *role == "hookMessage") {
            *role = "custom".into();
        }
    }
}

/// Returns the entry of a line, or the complete entries in a damaged one.
fn pieces(line: &str) -> Vec<Map<String, Value>> {
    match serde_json::from_str(line) {
        Ok(entry) => vec![entry],
        Err(_) => whole_entries(line).into_iter().filter_map(|piece| serde_json::from_str(piece).ok()).collect(),
    }
}
