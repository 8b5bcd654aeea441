//! `local://plan.md`: scratch files of the session, in a folder beside it. They can be read, written and edited like project
//! files.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use omp_workspace::{ResolvedPath, real_location};

use super::{Resource, UrlContent, joined};
use crate::artifacts::Artifacts;

const SCHEME: &str = "local://";
/// Limits the entries scanned for a listing.
const MAX_ENTRIES: usize = 2000;

/// Returns the folder of a session's scratch files.
pub fn folder_of(artifacts: &dyn Artifacts) -> Option<PathBuf> {
    Some(artifacts.folder()?.join("local"))
}

/// Returns the part after `local://`, or `None` for other text.
pub fn address_in(typed: &str) -> Option<&str> {
    super::unquoted(typed).strip_prefix(SCHEME)
}

/// Returns the file behind an address, which is inside the folder but may not exist.
pub fn locate(folder: Option<&Path>, address: &str) -> Result<ResolvedPath, String> {
    let folder = folder.ok_or("No session - local:// unavailable")?;
    if address.contains('\0') {
        return Err("the address contains a NUL character, which no file name can".to_owned());
    }
    let relative = Path::new(address.trim_matches('/'));
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let absolute = folder.join(relative);
    // Links in the folder are resolved before the comparison, because one could lead out.
    if !inside || address.contains('\\') || !real_location(&absolute).starts_with(real_location(folder)) {
        return Err(format!("local:// URL escapes local root: {SCHEME}{address}"));
    }
    Ok(ResolvedPath { absolute, display: format!("{SCHEME}{}", address.trim_matches('/')) })
}

pub struct LocalResource(pub Arc<dyn Artifacts>);

impl Resource for LocalResource {
    fn scheme(&self) -> &'static str {
        "local"
    }

    fn read(&self, address: &str) -> Result<UrlContent, String> {
        let path = locate(folder_of(&*self.0).as_deref(), address)?;
        if path.absolute.exists() {
            return Ok(UrlContent::File { path, editable: true });
        }
        let names = self.list()?;
        match names.len() {
            0 if address.is_empty() => Ok(UrlContent::Text("nothing is stored under local:// yet".to_owned())),
            0 => Err(format!("Local file not found: {}\nhint: nothing is stored under local:// yet", path.display)),
            _ => Err(format!("Local file not found: {}\nhint: there are: {}", path.display, joined(&names))),
        }
    }

    fn root_is_content(&self) -> bool {
        true
    }

    fn list(&self) -> Result<Vec<String>, String> {
        let Some(root) = folder_of(&*self.0) else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        let mut folders = vec![root.clone()];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                if kind.is_dir() && seen < MAX_ENTRIES {
                    folders.push(path);
                } else if let Ok(relative) = path.strip_prefix(&root) {
                    names.push(relative.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        names.sort();
        Ok(names)
    }
}
