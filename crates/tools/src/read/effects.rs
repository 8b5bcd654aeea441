//! Reports which files a `read` call will open, so that rules can apply to them.

use std::path::Path;

use omp_agent::{Approval, Effect, Tier};

use super::{locate, missing};
use crate::files::{Files, reads};

/// A colon may precede lines, precede an archive member, or be part of a name, so every possible file is reported.
pub fn approval(files: &Files, typed: &str) -> Approval {
    let bare = typed.trim().trim_matches(['"', '\'', '`']);
    if bare.contains("://") {
        return Tier::Read.into();
    }
    let ends = bare.match_indices(':').map(|(at, _)| at).chain([bare.len()]);
    let existing = ends.filter_map(|end| files.resolve(&bare[..end]).ok()).filter(|path| path.absolute.exists());
    let mut effects: Vec<Effect> = existing.flat_map(|path| reads(files, &path)).collect();
    if effects.is_empty()
        && let Ok((path, _)) = locate(files, typed)
    {
        let meant = Path::new(bare).is_relative().then(|| missing::only_one_meant(files, &path)).flatten();
        effects.extend([Some(path), meant].into_iter().flatten().flat_map(|path| reads(files, &path)));
    }
    Approval { effects, ..Tier::Read.into() }
}
