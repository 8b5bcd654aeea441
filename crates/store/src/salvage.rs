//! A clean copy of a damaged session: everything that can be read, in its place in the tree, under a new id. The damaged
//! file stays as it is.

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

/// What became of a damaged session.
#[derive(Clone, Debug, PartialEq)]
pub struct Salvaged {
    pub copy: CopiedSession,
    pub kept: usize,
    /// Entries of which nothing could be read.
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
    /// Ids of the new file.
    ids: Ids,
    /// The id behind which children of each old entry are put; `None` for the root.
    given: Vec<Option<String>>,
    kept: usize,
    lost: usize,
}

impl Salvage<'_> {
    fn entries(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut window = Window::new(&self.session.file);
        // An id that stands for another entry later must not be given to one that has none.
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

    /// Brings what older versions wrote into the present form.
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

/// The entry of a line, or the whole entries in a damaged one.
fn pieces(line: &str) -> Vec<Map<String, Value>> {
    match serde_json::from_str(line) {
        Ok(entry) => vec![entry],
        Err(_) => whole_entries(line).into_iter().filter_map(|piece| serde_json::from_str(piece).ok()).collect(),
    }
}
