//! `rule://`, `skill://` and `memory://`: named resources that the creator of the session provides.

use std::path::{Component, Path, PathBuf};

use omp_workspace::{ResolvedPath, real_location};

use super::{Resource, UrlContent, joined};

/// Named texts under one scheme: `rule://`.
pub struct TextsResource {
    pub scheme: &'static str,
    /// Name and text.
    pub texts: Vec<(String, String)>,
}

/// Named folders under one scheme, each with a main file: `skill://`, `memory://`.
pub struct FoldersResource {
    pub scheme: &'static str,
    pub folders: Vec<NamedFolder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFolder {
    pub name: String,
    pub folder: PathBuf,
    /// The file that the bare name opens, such as `SKILL.md`.
    pub main_file: String,
}

impl Resource for TextsResource {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn read(&self, name: &str) -> Result<UrlContent, String> {
        let found = self.texts.iter().find(|(known, _)| known == name);
        found
            .map(|(_, text)| UrlContent::Text(text.clone()))
            .ok_or_else(|| unknown(self.scheme, name, &names(&self.texts)))
    }

    fn list(&self) -> Result<Vec<String>, String> {
        Ok(names(&self.texts))
    }
}

impl Resource for FoldersResource {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn read(&self, address: &str) -> Result<UrlContent, String> {
        let (name, file) = address.split_once('/').unwrap_or((address, ""));
        let Some(known) = self.folders.iter().find(|known| known.name == name) else {
            return Err(unknown(self.scheme, name, &self.list()?));
        };
        let file = if file.is_empty() { known.main_file.as_str() } else { file };
        check(self.scheme, file)?;
        let absolute = known.folder.join(file);
        let display = format!("{}://{address}", self.scheme);
        // Links are resolved before the comparison, because one could lead out.
        if !real_location(&absolute).starts_with(real_location(&known.folder)) {
            return Err(format!("{display} points outside its folder"));
        }
        if !absolute.exists() {
            return Err(format!("File not found: {display}"));
        }
        Ok(UrlContent::File { path: ResolvedPath { absolute, display }, editable: false })
    }

    fn list(&self) -> Result<Vec<String>, String> {
        Ok(self.folders.iter().map(|known| known.name.clone()).collect())
    }
}

fn names(texts: &[(String, String)]) -> Vec<String> {
    texts.iter().map(|(name, _)| name.clone()).collect()
}

fn unknown(scheme: &str, name: &str, known: &[String]) -> String {
    let available = if known.is_empty() { "none".to_owned() } else { joined(known) };
    format!("Unknown {scheme}: {name}\nAvailable: {available}")
}

fn check(scheme: &str, file: &str) -> Result<(), String> {
    let path = Path::new(file);
    if path.is_absolute() || file.contains(['\\', '\0']) {
        return Err(format!("Absolute paths are not allowed in {scheme}:// URLs"));
    }
    if path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("Path traversal (..) is not allowed in {scheme}:// URLs"));
    }
    Ok(())
}
