//! What a call of `read` opens, told before it does: a rule may speak of it.

use std::path::Path;

use omp_agent::{Approval, Effect, Tier};
use omp_workspace::real_location;

use super::{locate, missing};
use crate::files::Files;

/// A colon may stand before lines, before a part of an archive, or be part of a name: every file that could be meant is
/// told.
pub fn approval(files: &Files, typed: &str) -> Approval {
    let bare = typed.trim().trim_matches(['"', '\'', '`']);
    if bare.contains("://") {
        return Tier::Read.into();
    }
    let ends = bare.match_indices(':').map(|(at, _)| at).chain([bare.len()]);
    let existing = ends.filter_map(|end| files.resolve(&bare[..end]).ok()).filter(|path| path.absolute.exists());
    let mut effects: Vec<Effect> = existing.map(|path| Effect::Read(real_location(&path.absolute))).collect();
    if effects.is_empty()
        && let Ok((path, _)) = locate(files, typed)
    {
        let meant = Path::new(bare).is_relative().then(|| missing::only_one_meant(files, &path)).flatten();
        effects
            .extend([Some(path), meant].into_iter().flatten().map(|path| Effect::Read(real_location(&path.absolute))));
    }
    Approval { effects, ..Tier::Read.into() }
}
