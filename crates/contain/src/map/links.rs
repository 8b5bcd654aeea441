//! Links on the way to a guarded path: replacing one would replace what is guarded.

use std::path::{Path, PathBuf};

use super::looks::Looks;

/// Maximum chain of links; a longer one is a loop.
const LONGEST: usize = 16;

/// Resolves `path`, existing or not. Adds the links on the way that are in writable folders (`is_reached`).
pub(super) fn follow(
    path: &Path,
    looks: &Looks,
    is_reached: &dyn Fn(&Path) -> bool,
    links: &mut Vec<PathBuf>,
) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LONGEST {
        let Some((link, rest)) = first_link(&path, looks, is_reached) else { break };
        let Ok(to) = std::fs::read_link(&link) else { break };
        let folder = link.parent().map(Path::to_owned).unwrap_or_default();
        let mut end = folder.join(to);
        end.extend(rest.iter());
        if !links.contains(&link) {
            links.push(link);
        }
        path = end;
    }
    path
}

/// The first link, by its real folder and name, and the rest of the path after it.
fn first_link(path: &Path, looks: &Looks, is_reached: &dyn Fn(&Path) -> bool) -> Option<(PathBuf, PathBuf)> {
    let mut outer: Vec<&Path> = path.ancestors().collect();
    outer.reverse();
    for place in outer {
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { continue };
        if !looks.is_link(place) {
            continue;
        }
        let link = looks.real(folder).join(name);
        if is_reached(&link) {
            return Some((link, path.strip_prefix(place).ok()?.to_owned()));
        }
    }
    None
}
